public import GRDB

/// What a preview begins with: always a private copy.
public enum PreviewSource: Sendable {
    /// The database in a file, which is only read. If there is none, the preview begins with an empty database. Or the URL of a database in a
    /// cluster, `dqlite://host:port/name`, which is copied whole into memory.
    case live(String)
    /// A database that the program has open.
    case database(any DatabaseReader)
    /// What a script of Lua makes of an empty database; what it does is not part of the report.
    case seed(String)
    /// An empty database.
    case empty
}
