internal import Foundation
internal import GRDB

/// Databases with a write-ahead log in folders that this user cannot write to.
///
/// SQLite makes files next to such a database even to read it, unless it is told that nobody writes to the file.
enum UnwritableFolder {
    /// Whether the file is in write-ahead mode, in a folder where the files that SQLite needs to read it cannot be made.
    private static func contains(_ path: String) -> Bool {
        let file = URL(filePath: path).resolvingSymlinksInPath(), folder = file.deletingLastPathComponent().path
        guard DatabaseFile.isFile(file.path), access(folder, W_OK) != 0, access(file.path + "-shm", W_OK) != 0,
            let handle = FileHandle(forReadingAtPath: file.path), let header = try? handle.read(upToCount: 20), header.count == 20
        else { return false }
        // The versions of the file format for reading and writing: 2 is write-ahead mode.
        return header[19] == 2
    }

    private static func hasLog(_ path: String) -> Bool {
        let log = URL(filePath: path).resolvingSymlinksInPath().path + "-wal"
        return ((try? FileManager.default.attributesOfItem(atPath: log))?[.size] as? Int ?? 0) > 0
    }

    /// Opens the database as a file that does not change, if that is possible; otherwise returns nil.
    static func open(_ path: String, _ configuration: Configuration) throws -> DatabaseQueue? {
        guard contains(path), !hasLog(path) else { return nil }
        return try DatabaseQueue(path: URL(filePath: path).absoluteString + "?immutable=1", configuration: configuration)
    }

    /// Returns why the database cannot be opened, if the folder is the reason.
    static func obstacle(to path: String) -> String? {
        guard contains(path) else { return nil }
        return hasLog(path)
            ? "it has a write-ahead log, which can only be read in a folder that you may write to; copy the database and its -wal file"
            : "it is in write-ahead mode, in a folder that you may not write to; only commands that read can open it"
    }
}
