internal import CPeriluneSQLite
internal import Foundation
public import GRDB
internal import PeriluneBindings
internal import PeriluneDependencies
internal import PeriluneRecords

/// Methods that apply a plan to a database or undo it.
extension PreviewPlan {
    /// The columns of updated rows that are compared with the plan before it is applied. For deleted rows, all columns are always compared.
    public enum Comparison: Sendable {
        /// All columns.
        case allColumns
        /// Only the columns that the plan changes. The other columns may have changed since the plan was made.
        case changedColumns
    }

    /// Applies all changes of the plan to a database. If one change fails, none is applied.
    ///
    /// Triggers and foreign key actions are disabled: the plan contains their effects.
    ///
    /// - Parameters:
    ///   - path: The path of an existing file, or the URL of a database in a cluster. A cluster rejects changes of tables with triggers.
    ///   - comparison: The columns that must be unchanged.
    ///   - inEveryContext: Whether a test or a preview may write to any database. By default, they can write only to files in the
    ///     system's temporary folder.
    /// - Throws: ``PlanError``, or a `DatabaseError` if the database cannot be used.
    public func apply(
        to path: String, comparing comparison: Comparison = .allColumns, inEveryContext: Bool = false
    ) async throws {
        try await run(in: path, .apply, comparison, inEveryContext)
    }

    /// Undoes all changes of the plan in a database. If one change cannot be undone, none is undone.
    ///
    /// - Parameters:
    ///   - path: The path of an existing file, or the URL of a database in a cluster.
    ///   - comparison: The columns that must be unchanged since the plan was applied.
    ///   - inEveryContext: Whether a test or a preview may write to any database.
    /// - Throws: ``PlanError``, or a `DatabaseError` if the database cannot be used.
    public func revert(
        in path: String, comparing comparison: Comparison = .allColumns, inEveryContext: Bool = false
    ) async throws {
        try await run(in: path, .undo, comparison, inEveryContext)
    }

    private func run(
        in path: String, _ direction: PlanDirection, _ comparison: Comparison, _ inEveryContext: Bool
    ) async throws {
        if !inEveryContext { try Self.requireNotLive(path) }
        let seen = comparison == .allColumns ? changes.seen : nil
        if ClusterAddress.isMeant(by: path) {
            let application = ClusterPlanApplication(
                changeset: direction.changeset(of: changes), outline: changes.outline, seen: seen, schemaHash: origin.schemaHash)
            return try application.run(in: path)
        }
        guard LiveFile(path: path).exists else {
            throw PlanError(.file, "cannot open the database \(path): \(String(cString: strerror(ENOENT)))")
        }
        var configuration = GRDB.Configuration()
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .standard
        configuration.prepareDatabase { db in
            UnicodeCollation.install(on: db)
            DoubleQuotedStrings.install(on: db)
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try await run(on: queue, direction, seen)
        try queue.close()
    }

    /// Applies all changes of the plan to an open database, such as an in-memory database. If one change fails, none is applied. Observers
    /// of this database object are notified.
    ///
    /// Triggers and foreign key actions are disabled: the plan contains their effects.
    ///
    /// - Parameters:
    ///   - database: The database, which must not be in a cluster. Any database can be used in every context.
    ///   - comparison: The columns that must be unchanged.
    /// - Throws: ``PlanError``, or a `DatabaseError` if the database cannot be used.
    public func apply(
        to database: any DatabaseWriter, comparing comparison: Comparison = .allColumns
    ) async throws {
        try await run(in: database, .apply, comparison)
    }

    /// Undoes all changes of the plan in an open database. If one change cannot be undone, none is undone. Observers of this database
    /// object are notified.
    ///
    /// - Parameters:
    ///   - database: The database, which must not be in a cluster. Any database can be used in every context.
    ///   - comparison: The columns that must be unchanged since the plan was applied.
    /// - Throws: ``PlanError``, or a `DatabaseError` if the database cannot be used.
    public func revert(in database: any DatabaseWriter, comparing comparison: Comparison = .allColumns) async throws {
        try await run(in: database, .undo, comparison)
    }

    private func run(
        in database: any DatabaseWriter, _ direction: PlanDirection, _ comparison: Comparison
    ) async throws {
        let place = DatabasePlaces.of(database)
        try place.refuse(PlanError(.file, "apply: name a database in a cluster by its URL, \(place.address ?? "")"))
        try await run(on: database, direction, comparison == .allColumns ? changes.seen : nil)
    }

    private func run(on database: any DatabaseWriter, _ direction: PlanDirection, _ seen: SeenRows?) async throws {
        let application = PlanApplication(
            direction: direction, changeset: direction.changeset(of: changes), outline: changes.outline, seen: seen,
            schemaHash: origin.schemaHash)
        try await database.writeWithoutTransaction { db in
            let enforcesForeignKeys = try Bool.fetchOne(db, sql: OwnSQL.marked("PRAGMA foreign_keys")) == true
            if enforcesForeignKeys { try db.execute(sql: OwnSQL.marked("PRAGMA foreign_keys = OFF")) }
            defer { if enforcesForeignKeys { try? db.execute(sql: OwnSQL.marked("PRAGMA foreign_keys = ON")) } }
            do {
                try db.inTransaction(.immediate) {
                    try application.run(on: db)
                    return .commit
                }
            } catch let error as PlanError where error.code == .conflict {
                throw application.isRepeated(on: db) ? error.forRepetition(of: application.changeset) : error
            }
        }
    }

    /// Throws an error if the path may be a live database and the context is a test or a preview.
    private static func requireNotLive(_ path: String) throws {
        let context = try DependencyContainer.current.context
        guard context != .live else { return }
        func resolved(_ path: String) -> String { URL(filePath: path).standardizedFileURL.resolvingSymlinksInPath().path }
        if !ClusterAddress.isMeant(by: path), resolved(path).hasPrefix(resolved(NSTemporaryDirectory()) + "/") { return }
        throw PlanError(
            .context,
            "the context is \(context.rawValue), in which plans are not applied to \(path), which may be a live database; "
                + "use apply(to:inEveryContext: true) if that is meant")
    }
}

/// Whether the changes of a plan are applied or undone.
private enum PlanDirection {
    case apply, undo

    func changeset(of changes: PlanChanges) -> ChangesetStream {
        self == .apply ? changes.changeset : changes.changeset.inverted()
    }
}

/// The application of a changeset within an open transaction.
private struct PlanApplication {
    let direction: PlanDirection
    let changeset: ChangesetStream
    /// The outline of the changeset, which is the same for the inverted changeset.
    let outline: ChangesetOutline
    /// The updated rows whose other columns must also be unchanged; `nil` if they are not compared.
    let seen: SeenRows?
    let schemaHash: String

    func run(on db: Database) throws {
        let schema = try SchemaSnapshot(db)
        guard schema.hash == schemaHash else {
            throw PlanError(
                .schema,
                "the schema of the database has changed since the plan was made; make the plan again"
            )
        }
        let foreignKeys = try ForeignKeyCheck(db, schema, outline)
        let violations = try foreignKeys.countViolations()
        if var conflict = try seen?.firstDifference(in: db, schema: schema) {
            conflict.isInUnchangedColumns = true
            throw PlanError(
                .conflict, "conflict: \(conflict.row) has changed since the plan was made\(conflict.differences)",
                conflict: conflict)
        }
        _ = try outline.countChanges(in: db) { table in
            PlanError(.schema, "the table \(table) is missing, or has changed since the plan was made")
        }
        try changeset.apply(to: db, only: tables, schema: schema)
        try recordTriggers(in: db)
        // GRDB does not observe changes that SQLite makes while it applies a changeset, so observers are notified here.
        for table in outline.tables where table.count > 0 {
            try db.notifyChanges(in: SQLRequest<Row>(sql: "SELECT * FROM main.\(table.name.quotedName)"))
        }
        guard try foreignKeys.countViolations() <= violations else {
            throw PlanError(.foreignKey, "conflict: \(try foreignKeys.describeViolation())")
        }
    }

    /// The tables to which the changeset is applied: all except the table of triggers, to which `recordTriggers` adds rows.
    private var tables: Set<String> { Set(outline.tables.map(\.name)).subtracting([OwnTables.changes]) }

    /// Records the changes of the plan that trigger durable automations. They get new numbers, because automations may have read changes
    /// with higher numbers since the preview.
    private func recordTriggers(in db: Database) throws {
        guard outline.tables.contains(where: { $0.name == OwnTables.changes }) else { return }
        let sql = OwnSQL.marked("INSERT INTO \(OwnTables.changes) (table_name, operation, row_key) VALUES (?, ?, ?)")
        try changeset.forEach { change in
            // Skips deletions by the library, which removes rows that all automations have read.
            guard change.table == OwnTables.changes, change.kind == (direction == .apply ? .insert : .delete) else { return }
            let values = (1...3).map { position -> String? in
                guard case .text(let bytes) = direction == .apply ? change.new(position) : change.old(position) else {
                    return nil
                }
                return String(decoding: bytes, as: UTF8.self)
            }
            let operation = direction == .apply ? values[1] : Self.opposite[values[1] ?? ""] ?? values[1]
            try db.execute(sql: sql, arguments: [values[0], operation, values[2]])
        }
    }

    private static let opposite = ["insert": "delete", "delete": "insert"]

    /// Returns whether the database already contains all changes: their inverse could be applied. Changes nothing.
    func isRepeated(on db: Database) -> Bool {
        var isRepeated = false
        try? db.inTransaction(.immediate) {
            try changeset.inverted().apply(to: db, only: tables, schema: SchemaSnapshot(db))
            isRepeated = true
            return .rollback
        }
        return isRepeated
    }
}

extension ChangesetStream {
    /// Applies the changes of all tables, or of the given tables, within an open transaction. After an error, the caller must roll back the
    /// transaction.
    ///
    /// - Throws: ``PlanError`` at the first conflict.
    func apply(to db: Database, only tables: Set<String>? = nil, schema: SchemaSnapshot) throws {
        let conflicts = ConflictReport(schema: schema)
        try run(on: db, only: tables, usesSavepoint: false) { kind, iterator in
            throw conflicts.describe(Int(kind), try Changeset.Change(iterator!))
        }
    }
}

/// A converter from SQLite's changeset conflicts to errors.
private struct ConflictReport {
    let schema: SchemaSnapshot

    func describe(_ kind: Int, _ change: Changeset.Change) -> PlanError {
        let positions = 0..<change.columnCount
        let hasRow = kind == PSQL_CHANGESET_DATA || kind == PSQL_CHANGESET_CONFLICT
        let found = hasRow ? positions.compactMap { change.found($0) } : []
        let described = PlanConflict(
            change, in: schema, expected: positions.map { change.kind == .insert ? nil : change.old($0) },
            found: found.isEmpty ? nil : found)
        return PlanError(.conflict, Self.message(kind, described), conflict: described)
    }

    private static func message(_ kind: Int, _ conflict: PlanConflict) -> String {
        let row = conflict.row
        return switch kind {
        case PSQL_CHANGESET_DATA: "conflict: \(row) has changed since the plan was made\(conflict.differences)"
        case PSQL_CHANGESET_NOTFOUND: "conflict: \(row) no longer exists"
        case PSQL_CHANGESET_CONFLICT: "conflict: cannot insert \(row): it already exists"
        default: "conflict: \(row) would violate a constraint, such as another row with the same unique value"
        }
    }
}

extension StoredValue {
    /// A short form of the value for messages.
    package var shortText: String {
        switch self {
        case .null: return "NULL"
        case .integer(let value): return "\(value)"
        case .real(let value): return "\(value)"
        case .text(let bytes):
            let text = String(decoding: bytes, as: UTF8.self)
            return "'" + (text.count > 40 ? text.prefix(37) + "..." : text) + "'"
        case .blob(let bytes): return "a blob of \(bytes.count) bytes"
        }
    }
}
