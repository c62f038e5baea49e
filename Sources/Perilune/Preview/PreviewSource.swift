public import GRDB

/// The initial database of a preview: always a private copy.
public enum PreviewSource: Sendable {
    /// The database in a file, which is only read. If the file does not exist, the preview begins with an empty database. Or the URL of a
    /// database in a cluster, `dqlite://host:port/name`, which is copied completely into memory.
    case live(String)
    /// A database that the program has open.
    case database(any DatabaseReader)
    /// A database that a Lua script creates from an empty one. The script's changes are not in the report.
    case seed(String)
    /// An empty database.
    case empty
}
