internal import Foundation

/// Read access to databases in WAL mode in folders that this user cannot write to.
///
/// Even to read such a database, SQLite creates files next to it, unless the connection declares the file immutable.
package enum UnwritableFolder {
    /// Returns whether a database is in WAL mode and in a folder where SQLite cannot create the files that it needs for reading.
    private static func contains(_ path: String) -> Bool {
        let file = URL(filePath: path).resolvingSymlinksInPath(), folder = file.deletingLastPathComponent().path
        guard access(folder, W_OK) != 0, access(file.path + "-shm", W_OK) != 0,
            let handle = FileHandle(forReadingAtPath: file.path), let header = try? handle.read(upToCount: 20), header.count == 20
        else { return false }
        // Bytes 18 and 19 are the format versions for writing and reading: 2 means WAL mode.
        return header[19] == 2
    }

    private static func hasLog(_ path: String) -> Bool {
        let log = URL(filePath: path).resolvingSymlinksInPath().path + "-wal"
        return ((try? FileManager.default.attributesOfItem(atPath: log))?[.size] as? Int ?? 0) > 0
    }

    /// Returns whether a read-only connection must declare the file immutable.
    package static func requiresImmutable(_ path: String) -> Bool {
        !path.hasPrefix("file:") && contains(path) && !hasLog(path)
    }

    /// Returns the reason why the database cannot be opened, if its folder is the cause.
    package static func obstacle(to path: String) -> String? {
        guard contains(path) else { return nil }
        return hasLog(path)
            ? "it has a write-ahead log, which can only be read in a folder that you may write to; copy the database and its -wal file"
            : "it is in write-ahead mode, in a folder that you may not write to; it can be read by `perilune query`, and by "
                + "`perilune run` and `perilune console` with --readonly"
    }
}
