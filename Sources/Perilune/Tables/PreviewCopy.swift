internal import CPeriluneRows
internal import Foundation
internal import GRDB
internal import PeriluneBindings
internal import PeriluneDependencies

/// The copy of a database on which a preview runs scripts, and its state before the scripts.
final class PreviewCopy: Sendable {
    /// The copy that the script uses.
    let writer: DatabaseQueue
    /// The private folder of the database files, which is removed with this object; `nil` for an in-memory copy.
    private let folder: String?
    private let former = FormerState()
    private let configuration: GRDB.Configuration

    /// The schema name of the attached previous state.
    static let formerSchema = "perilune_former"

    /// Creates an empty database.
    ///
    /// - Parameters:
    ///   - inMemory: Whether the database is in memory. Otherwise it is in a private temporary folder.
    ///   - configuration: The configuration of the original, whose `prepareDatabase` closures also apply to the copy.
    ///   - extensions: The SQLite extensions that the database needs, for example for its virtual tables.
    ///   - keepsTransactions: Whether transactions may stay open between accesses.
    init(
        inMemory: Bool, environment: ScriptEnvironment, configuration: GRDB.Configuration = GRDB.Configuration(),
        extensions: SQLiteExtensions = .none, keepsTransactions: Bool = false
    ) throws {
        var configuration = configuration
        (configuration.readonly, configuration.journalMode, configuration.label) = (false, .default, nil)
        configuration.allowsUnsafeTransactions = keepsTransactions
        extensions.install(in: &configuration)
        // The copy does not need to survive a power failure.
        configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA synchronous = OFF") }
        self.configuration = configuration
        func open(_ path: String?) throws -> DatabaseQueue {
            try environment.opening(path, configuration) { try DatabaseQueue(path: $0, configuration: $1) }
        }
        if inMemory {
            folder = nil
            writer = try open(nil)
        } else {
            let folder = try TemporaryFolder.makeFolder("preview")
            self.folder = folder
            do {
                writer = try open(folder + "/copy.sqlite")
            } catch {
                try? FileManager.default.removeItem(atPath: folder)
                throw error
            }
        }
    }

    deinit {
        // Does not close the connection, because the host may outlive this object. The connection is closed with the host.
        former.free()
        if let folder { try? FileManager.default.removeItem(atPath: folder) }
    }

    /// Returns another copy with the same contents and the same previous state.
    func clone(in environment: ScriptEnvironment) throws -> PreviewCopy {
        let clone = try PreviewCopy(
            inMemory: folder == nil, environment: environment, configuration: configuration,
            keepsTransactions: configuration.allowsUnsafeTransactions)
        try writer.backup(to: clone.writer)
        if let folder, let other = clone.folder {
            try FileManager.default.copyItem(atPath: folder + "/former.sqlite", toPath: other + "/former.sqlite")
        } else {
            writer.writeWithoutTransaction { _ in clone.former.take(from: former) }
        }
        return clone
    }

    // MARK: - The previous state

    /// Saves the current state as the previous state for later comparisons.
    func keepFormerState() throws {
        if let folder {
            let kept = try DatabaseQueue(path: folder + "/former.sqlite")
            try writer.backup(to: kept)
            try kept.close()
        } else {
            try writer.writeWithoutTransaction { db in try former.keep(db) }
        }
    }

    /// Attaches the saved previous state to the connection of the copy. Must be called only once.
    func attachFormerState(_ db: Database) throws {
        // Detaches other databases, because scripts may have attached the maximum number. A database that is still being read cannot be
        // detached.
        for name in try String.fetchAll(db, sql: "SELECT name FROM pragma_database_list WHERE name NOT IN ('main', 'temp')") {
            try? db.execute(literal: "DETACH \(name)")
        }
        if let folder {
            try db.execute(literal: "ATTACH \(folder + "/former.sqlite") AS \(sql: Self.formerSchema)")
        } else {
            try db.execute(literal: "ATTACH ':memory:' AS \(sql: Self.formerSchema)")
            try former.attach(db, as: Self.formerSchema)
        }
    }
}

/// A lazy attachment of the previous state to the connection of the copy.
final class FormerStateAttachment {
    private let copy: PreviewCopy
    private let db: Database
    private var isAttached = false

    init(_ copy: PreviewCopy, to db: Database) {
        (self.copy, self.db) = (copy, db)
    }

    /// Attaches the previous state as ``PreviewCopy/formerSchema``, unless it is already attached.
    func attach() throws {
        guard !isAttached else { return }
        try copy.attachFormerState(db)
        isAttached = true
    }
}

/// A serialized database. `@unchecked Sendable` is safe, because only the queue of the copy's connection uses the object, and finally
/// `deinit`.
private final class FormerState: @unchecked Sendable {
    private var bytes: UnsafeMutablePointer<UInt8>?
    private var count: Int64 = 0

    func keep(_ db: Database) throws {
        free()
        bytes = sqlite3_serialize(db.sqliteConnection, "main", &count, 0)
        // An empty database has no bytes.
        if bytes == nil, count > 0 { throw DatabaseError(resultCode: .SQLITE_NOMEM) }
    }

    /// Replaces the bytes by a copy of another object's bytes.
    func take(from other: FormerState) {
        free()
        guard let source = other.bytes, other.count > 0, let memory = sqlite3_malloc64(sqlite3_uint64(other.count)) else {
            return
        }
        memcpy(memory, source, Int(other.count))
        (bytes, count) = (memory.assumingMemoryBound(to: UInt8.self), other.count)
    }

    /// Makes the bytes the contents of an attached database, and transfers their ownership to SQLite.
    func attach(_ db: Database, as schema: String) throws {
        guard let bytes, count > 0 else { return }
        // Resets WAL mode in the header, because an in-memory database cannot have a write-ahead log.
        if count >= 20 { (bytes[18], bytes[19]) = (1, 1) }
        self.bytes = nil
        let flags = UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY)
        let code = sqlite3_deserialize(db.sqliteConnection, schema, bytes, count, count, flags)
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }

    func free() {
        sqlite3_free(bytes)
        bytes = nil
    }
}
