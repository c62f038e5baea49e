internal import Foundation
internal import GRDB
internal import PeriluneDependencies

/// Copies of a database in a cluster.
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

    /// Writes the database to a new file and its log to a second file next to it, as a node stores them.
    private func writeCopy(to path: String) throws {
        for file in try session.dump() {
            // The node chooses the names, so they decide only which of the two files it is.
            let target = file.name.hasSuffix("-wal") ? path + "-wal" : path
            try Data(file.bytes).write(to: URL(filePath: target), options: .withoutOverwriting)
        }
    }
}
