internal import Foundation
internal import GRDB
internal import Perilune
internal import PeriluneBindings
internal import PeriluneRecords

// Functions that open databases for commands without scripts.

extension DatabaseFile {
    /// Opens an existing database for reading; a cluster database is copied into memory.
    static func openForReading(_ path: String, extensions: [String] = []) throws -> DatabaseQueue {
        guard isCluster(path) else { return try open(path, isReadonly: true, extensions: extensions) }
        return try inCluster(path) { queue, place in try place.copyInMemory(of: queue) }
    }

    /// Opens an existing database to read its schema; for a cluster database, the connection is to an empty copy of the schema.
    static func openForSchema(_ path: String, extensions: [String] = []) throws -> DatabaseQueue {
        guard isCluster(path) else { return try open(path, isReadonly: true, extensions: extensions) }
        return try inCluster(path) { queue, _ in queue }
    }

    /// Returns a warning if a cluster database is empty: clusters create missing databases, so the name may be mistyped. Returns `nil` for
    /// files.
    static func remarkOnEmpty(_ queue: DatabaseQueue, _ path: String) throws -> String? {
        guard isCluster(path),
            try queue.read({ try Bool.fetchOne($0, sql: "SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)") }) == true
        else { return nil }
        return "there is nothing in \(path); is that its name?"
    }

    /// Installs the Unicode collation and the rule for double-quoted strings on a connection that is opened without a script host.
    static func prepare(_ db: Database) {
        UnicodeCollation.install(on: db)
        DoubleQuotedStrings.install(on: db)
    }

    /// Opens a cluster database and runs a closure with it.
    static func inCluster<Result>(
        _ path: String, isReadonly: Bool = false, _ body: (DatabaseQueue, any DatabasePlace) throws -> Result
    ) throws -> Result {
        do {
            var configuration = Configuration()
            configuration.readonly = isReadonly
            configuration.prepareDatabase { db in prepare(db) }
            let queue = try DatabasePlaces.open(url: path, configuration: configuration)
            return try body(queue, DatabasePlaces.of(queue))
        } catch {
            throw CommandFailure(ErrorReport(opening: path, error: error))
        }
    }

    /// Opens a database, creating it if allowed.
    ///
    /// - Parameters:
    ///   - option: The option that would create the file, which the error message suggests.
    ///   - extensions: The paths of the SQLite extensions to load.
    static func open(
        _ path: String, isReadonly: Bool, makesFile: Bool = false, option: String? = nil, extensions: [String] = []
    ) throws -> DatabaseQueue {
        if isCluster(path) { return try inCluster(path, isReadonly: isReadonly) { queue, _ in queue } }
        if !makesFile { try requireExisting(path, option: option) }
        var configuration = Configuration()
        configuration.readonly = isReadonly
        configuration.busyMode = .standard
        configuration.prepareDatabase { db in prepare(db) }
        FileJournal.standard.install(in: &configuration, for: path)
        SQLiteExtensions(extensions).install(in: &configuration)
        do {
            return try queue(path, configuration)
        } catch {
            throw CommandFailure(ErrorReport(opening: path, error: error))
        }
    }

    /// Opens a database file. A read-only connection also works in an unwritable folder, and after a program was killed during a write.
    static func queue(_ path: String, _ configuration: Configuration) throws -> DatabaseQueue {
        if configuration.readonly {
            OpenHosts.addReading(path)
            if UnwritableFolder.requiresImmutable(path) {
                return try DatabaseQueue(path: SQLEnvironment.immutableURI(of: path), configuration: configuration)
            }
        }
        do {
            return try DatabaseQueue(path: path, configuration: configuration)
        } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_READONLY_ROLLBACK {
            try rollBackInterruptedWrite(to: path)
            return try DatabaseQueue(path: path, configuration: configuration)
        }
    }

    /// Rolls back an interrupted write with a writable connection, because a read-only connection could not open the file.
    private static func rollBackInterruptedWrite(to path: String) throws {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        try queue.read { db in _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") }
    }

    /// Removes a database that a command created and left empty, following symbolic links. Keeps the file if another process uses it or has
    /// filled it in the meantime.
    static func removeIfEmpty(_ path: String) {
        OpenHosts.close()
        let path = URL(filePath: path).resolvingSymlinksInPath().path
        guard isFile(path), let queue = try? open(path, isReadonly: false) else { return }
        defer { try? queue.close() }
        try? queue.writeWithoutTransaction { db in
            guard try isEmpty(db) else { return }
            // This fails while another process has the WAL database open. Afterward, the exclusive lock keeps other processes out.
            guard try String.fetchOne(db, sql: "PRAGMA journal_mode = DELETE") == "delete" else { return }
            try db.inTransaction(.exclusive) {
                if try isEmpty(db) { remove(path) }
                return .rollback
            }
        }
    }

    /// Returns whether the database contains nothing except empty migration tables.
    private static func isEmpty(_ db: Database) throws -> Bool {
        let names = try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite@_%' ESCAPE '@'")
        return try names.allSatisfy { name in
            try [OwnTables.migrations, OwnTables.checksums].contains(name)
                && Bool.fetchOne(db, sql: "SELECT NOT EXISTS (SELECT 1 FROM \(name))") == true
        }
    }

    /// Reads from a database and converts database errors to command failures.
    ///
    /// - Parameter isTransaction: Whether all statements read the same snapshot. In a damaged file, the COMMIT of this transaction fails.
    static func reading<Value: Sendable>(
        _ queue: DatabaseQueue, isTransaction: Bool = true, _ read: @Sendable (Database) throws -> Value
    ) async throws -> Value {
        do {
            return isTransaction ? try await queue.read(read) : try await queue.unsafeRead(read)
        } catch let error as DatabaseError {
            throw CommandFailure(ErrorReport(error))
        }
    }
}
