internal import GRDB
internal import Perilune
internal import PeriluneBindings
internal import PeriluneCluster

// Opening databases for commands that read or write them without scripts.

extension DatabaseFile {
    /// Opens a database that exists, to read it: one in a cluster as a copy in memory.
    static func openForReading(_ path: String) throws -> DatabaseQueue {
        guard isCluster(path) else { return try open(path, isReadonly: true) }
        return try inCluster(path) { _, cluster in try cluster.copyInMemory() }
    }

    /// Opens a database that exists, to read its schema: what stands for one in a cluster has no rows.
    static func openForSchema(_ path: String) throws -> DatabaseQueue {
        guard isCluster(path) else { return try open(path, isReadonly: true) }
        return try inCluster(path) { queue, _ in queue }
    }

    /// Opens a database in a cluster, and runs a closure with it.
    static func inCluster<Result>(_ path: String, _ body: (DatabaseQueue, ClusterDatabase) throws -> Result) throws -> Result {
        do {
            var configuration = Configuration()
            configuration.prepareDatabase { db in UnicodeCollation.install(on: db) }
            let queue = try ClusterDatabase.open(url: path, configuration: configuration)
            guard let cluster = ClusterDatabase.of(queue) else { throw ClusterFailure(.unreachable, "the cluster is closed") }
            return try ClusterDatabase.asDatabaseErrors { try body(queue, cluster) }
        } catch {
            throw CommandFailure(ErrorReport(opening: path, error: error))
        }
    }

    /// Opens a database, which is made where it does not exist.
    static func open(_ path: String, isReadonly: Bool, makesFile: Bool = false) throws -> DatabaseQueue {
        if isCluster(path) { return try inCluster(path) { queue, _ in queue } }
        if !makesFile { try requireExisting(path) }
        var configuration = Configuration()
        configuration.readonly = isReadonly
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { db in UnicodeCollation.install(on: db) }
        do {
            return try DatabaseQueue(path: path, configuration: configuration)
        } catch {
            throw CommandFailure(ErrorReport(opening: path, error: error))
        }
    }

    /// Reads from a database; what goes wrong is reported.
    static func reading<Value: Sendable>(_ queue: DatabaseQueue, _ read: @Sendable (Database) throws -> Value) async throws -> Value {
        do {
            return try await queue.read(read)
        } catch let error as DatabaseError {
            throw CommandFailure(ErrorReport(error))
        }
    }
}
