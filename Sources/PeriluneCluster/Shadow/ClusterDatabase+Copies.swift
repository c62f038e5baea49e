internal import Foundation
package import GRDB
internal import PeriluneDependencies

/// Copies of a database in a cluster.
extension ClusterDatabase {
    /// Runs a closure with a copy of the whole database, in a file that is removed afterwards. The copy contains only committed
    /// changes.
    ///
    /// - Throws: Errors of the closure; ``ClusterFailure``.
    package func withCopy<Result>(_ body: (DatabaseQueue) throws -> Result) throws -> Result {
        let folder = try TemporaryFolder.makeFolder("copy")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/copy.sqlite"
        try writeCopy(to: path)
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try body(queue)
    }

    /// Returns a copy of the whole database in memory.
    package func copyInMemory(_ configuration: Configuration = Configuration()) throws -> DatabaseQueue {
        try withCopy { copy in
            let queue = try DatabaseQueue(configuration: configuration)
            try copy.backup(to: queue)
            return queue
        }
    }

    /// Copies the whole database at a URL into another database.
    ///
    /// - Throws: ``ClusterFailure``; an error of GRDB.
    package static func copy(of url: String, into target: any DatabaseWriter) throws {
        let queue = try open(url: url)
        guard let cluster = of(queue) else { throw ClusterFailure(.unreachable, "the connection to the cluster has ended") }
        try asDatabaseErrors { try cluster.withCopy { try $0.backup(to: target) } }
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
