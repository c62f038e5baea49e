internal import GRDB
internal import Perilune
internal import PeriluneBindings

// Opening databases for commands that read or write them without scripts.

extension DatabaseFile {
    /// Opens a database that exists, to read it.
    static func openForReading(_ path: String) throws -> DatabaseQueue {
        try open(path, isReadonly: true)
    }

    /// Opens a database, which is made where it does not exist.
    static func open(_ path: String, isReadonly: Bool, makesFile: Bool = false) throws -> DatabaseQueue {
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
