internal import CPeriluneRows
internal import Foundation
internal import GRDB
internal import PeriluneLua

/// The functions that copy whole databases: `backup_to`, `serialize` and `perilune.deserialize`.
struct DatabaseCopies {
    /// The offsets of the write and read versions in the file header. A version is 1 for a rollback journal and 2 for a write-ahead
    /// log.
    private static let versionOffsets = [18, 19]
    private static let header = Array("SQLite format 3\0".utf8)

    /// Adds the functions to the table of database methods and the table of native functions.
    static func install(in methods: LuaTable, copies: LuaTable) throws {
        // (database, target, pages per step, seconds between steps, function or nil)
        try copies.setFunction("backup") { arguments in
            let source = try DatabaseHandle(arguments, 1, for: "db:backup_to")
            let target = try DatabaseHandle(arguments, 2, for: "db:backup_to: argument 1")
            let steps = try Steps(
                pages: arguments.get(3), pause: arguments.get(4), progress: arguments.get(5, as: LuaFunction?.self),
                state: arguments.state)
            try SQLiteError.telling { try backup(source, to: target, steps) }
            return []
        }
        try methods.setFunction("serialize") { arguments in
            let handle = try DatabaseHandle(arguments, 1, for: "db:serialize")
            return [.string(LuaString(try SQLiteError.telling { try serialize(handle) }))]
        }
    }

    // MARK: - Backups

    /// The options of a backup.
    private struct Steps {
        let pages: Int
        /// The pause between two steps in seconds.
        let pause: Double
        let progress: LuaFunction?
        let state: LuaState

        /// Runs after each step. Reports progress to the script, pauses, and throws if the run must end.
        func after(_ backup: DatabaseBackupProgress) throws {
            if let progress {
                let values = [backup.completedPageCount, backup.totalPageCount].map { LuaValue.integer(Int64($0)) }
                _ = try DatabaseHandle.calling(progress, values, at: .backupProgress, in: state)
            }
            guard !backup.isCompleted else { return }
            let end = ContinuousClock.now + .seconds(pause)
            repeat {
                if state.hasToEnd() { throw CancellationError() }
                let rest = (end - .now) / .seconds(1)
                if rest > 0 { Thread.sleep(forTimeInterval: min(rest, 0.01)) }
            } while .now < end
        }
    }

    private static func backup(_ handle: DatabaseHandle, to targetHandle: DatabaseHandle, _ steps: Steps) throws {
        let (source, target) = (handle.database, targetHandle.database)
        try source.requireOpen()
        try target.requireOpen()
        try target.refuseInCluster(
            "db:backup_to: a database in a cluster cannot be replaced as a whole; insert the rows: perilune import, or insert_all"
        )
        guard source.writer !== target.writer, !FileIdentity.isSame(source.writer.path, target.writer.path) else {
            throw BindingError("argument", "db:backup_to: a database cannot be copied onto itself")
        }
        for handle in [handle, targetHandle] where handle.access != nil {
            throw BindingError("nested_access", "db:backup_to: cannot be called inside a block of either database")
        }
        guard !target.writer.configuration.readonly else {
            throw BindingError("readonly", "db:backup_to: the target is read-only")
        }
        // GRDB ignores errors thrown after the last step, so such an error is stored and thrown later.
        var last: (any Error)?
        try source.entering {
            try target.entering(.alone) {
                for database in [source, target] { try database.writer.unsafeReentrantWrite { db in try db.requireOpen() } }
                let isInLog = try leaveLog(target, for: source)
                defer {
                    if isInLog {
                        try? target.writer.writeWithoutTransaction { db in try FileJournal.set(.wal, isRequired: false, of: db) }
                    }
                }
                try copy(source, to: target, steps) { last = $0 }
            }
        }
        if let last { throw last }
    }

    /// Switches the target from a write-ahead log to a rollback journal if the page sizes differ, because SQLite cannot change the
    /// page size in WAL mode. Returns whether it switched the target.
    private static func leaveLog(_ target: ScriptDatabase, for source: ScriptDatabase) throws -> Bool {
        guard target.writer is DatabaseQueue else { return false }
        let pageSize = OwnSQL.marked("PRAGMA page_size")
        let size = try source.writer.unsafeRead { db in try Int.fetchOne(db, sql: pageSize) }
        return try target.writer.unsafeReentrantWrite { db in
            guard try Int.fetchOne(db, sql: pageSize) != size,
                try String.fetchOne(db, sql: OwnSQL.marked("PRAGMA journal_mode")) == "wal"
            else { return false }
            try FileJournal.set(.delete, isRequired: true, of: db)
            return true
        }
    }

    private static func copy(
        _ source: ScriptDatabase, to target: ScriptDatabase, _ steps: Steps, _ keepLast: @escaping (any Error) -> Void
    ) throws {
        func after(_ progress: DatabaseBackupProgress) throws {
            do {
                try steps.after(progress)
            } catch  where progress.isCompleted {
                keepLast(error)
            }
        }
        // GRDB's `backup(to:)` would begin a transaction on the source, but a snapshot already has an open transaction.
        guard source.isSnapshot else {
            return try source.place.withContents(of: source.writer) { contents in
                try contents.backup(to: target.writer, pagesPerStep: CInt(steps.pages), progress: after)
            }
        }
        try target.writer.writeWithoutTransaction { targetDB in
            try source.writer.unsafeRead { db in try db.backup(to: targetDB, pagesPerStep: CInt(steps.pages), progress: after) }
        }
    }

    // MARK: - Bytes

    private static func serialize(_ handle: DatabaseHandle) throws -> [UInt8] {
        let database = handle.database
        try database.requireOpen()
        if let db = handle.connection {
            try database.place.refuse(
                BindingError(
                    "nested_access",
                    "db:serialize: cannot be called inside a block of a database in a cluster, whose changes are not in its copy")
            )
            return try serialize(db, handle.state)
        }
        return try database.entering(.reading) {
            if database.isSnapshot { return try database.writer.unsafeRead { db in try serialize(db, handle.state) } }
            return try database.place.withContents(of: database.writer) { contents in
                try contents.read { db in
                    try db.requireOpen()
                    return try serialize(db, handle.state)
                }
            }
        }
    }

    private static func serialize(_ db: Database, _ state: LuaState) throws -> [UInt8] {
        let pages = try Int.fetchOne(db, sql: "PRAGMA main.page_count") ?? 0
        let size = try pages * (Int.fetchOne(db, sql: "PRAGMA main.page_size") ?? 0)
        let limit = try state.withUnsafeStack { L, _ in plua_context_of(L).pointee.limit }
        guard limit == 0 || size < limit else {
            throw BindingError(
                "memory", "db:serialize: the database has \(size) bytes, more than the script may use; use db:backup_to")
        }
        var length: Int64 = 0
        guard let start = sqlite3_serialize(db.sqliteConnection, "main", &length, 0) else {
            // SQLite returns no image for an empty in-memory database.
            if size == 0 { return [] }
            throw DatabaseError(resultCode: .SQLITE_NOMEM, message: "db:serialize: not enough memory for \(size) bytes")
        }
        defer { sqlite3_free(start) }
        var bytes = Array(UnsafeBufferPointer(start: start, count: Int(length)))
        useRollbackJournal(&bytes)
        return bytes
    }

    /// Changes the journal mode in an image's header from WAL to a rollback journal, because SQLite cannot open WAL databases in
    /// memory.
    private static func useRollbackJournal(_ bytes: inout [UInt8]) {
        for offset in versionOffsets where bytes.count >= 100 { bytes[offset] = 1 }
    }

    /// Checks an image, and replaces the contents of a database with it.
    static func fill(_ queue: DatabaseQueue, with image: [UInt8]) throws {
        if image.isEmpty { return }
        guard image.count >= 512, image.starts(with: header) else {
            throw BindingError("malformed_database", "perilune.deserialize: the bytes are not a database")
        }
        var bytes = image
        useRollbackJournal(&bytes)
        let scratch = try DatabaseQueue()
        try scratch.inDatabase { db in
            guard let copy = sqlite3_malloc64(UInt64(bytes.count)) else { throw DatabaseError(resultCode: .SQLITE_NOMEM) }
            copy.copyMemory(from: bytes, byteCount: bytes.count)
            // SQLite takes ownership of the copy and frees it even after an error.
            let code = sqlite3_deserialize(
                db.sqliteConnection, "main", copy.assumingMemoryBound(to: UInt8.self), Int64(bytes.count), Int64(bytes.count),
                UInt32(SQLITE_DESERIALIZE_FREEONCLOSE))
            guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
            do {
                try db.execute(sql: "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
                let verdict = try String.fetchOne(db, sql: "PRAGMA integrity_check(1)")
                guard verdict == "ok" else {
                    throw BindingError("malformed_database", "perilune.deserialize: the database is damaged: \(verdict ?? "")")
                }
            } catch let error as DatabaseError where [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode) {
                throw BindingError("malformed_database", "perilune.deserialize: the database is damaged: \(error.reason)")
            }
        }
        try scratch.backup(to: queue)
    }
}
