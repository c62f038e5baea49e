internal import Foundation
internal import GRDB
internal import PeriluneDependencies

/// Local copies of a cluster database.
extension ClusterDatabase {
    func withContents<Result>(
        of writer: any DatabaseWriter, _ body: (any DatabaseWriter) throws -> Result
    ) throws -> Result {
        try Self.asDatabaseErrors {
            let folder = try TemporaryFolder.makeFolder("copy")
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let path = folder + "/copy.sqlite"
            try writeCopy(to: path)
            let queue = try DatabaseQueue(path: path)
            defer { try? queue.close() }
            return try body(queue)
        }
    }

    /// Writes the database to a new file, and its write-ahead log to a file next to it.
    private func writeCopy(to path: String) throws {
        for file in try session.dump() {
            // The node chooses the file names, so they are used only to distinguish the two files and never as paths.
            let target = file.name.hasSuffix("-wal") ? path + "-wal" : path
            try Data(file.bytes).write(to: URL(filePath: target), options: .withoutOverwriting)
        }
    }
}
