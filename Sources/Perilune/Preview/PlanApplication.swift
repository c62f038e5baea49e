internal import CPeriluneSQLite
internal import Foundation
public import GRDB
internal import PeriluneBindings
internal import PeriluneCluster
internal import PeriluneDependencies
internal import PeriluneRecords

/// Applying a plan to a database, and undoing it.
extension PreviewPlan {
    /// The columns of an updated row that must be unchanged since the plan was made. For deleted rows, all columns must be.
    public enum Comparison: Sendable {
        /// All columns.
        case allColumns
        /// Only the columns that the plan changes: others may have written to the rest.
        case changedColumns
    }

    /// Makes the changes of the plan to a database: all of them, or none.
    ///
    /// Triggers and foreign key actions are disabled: the plan contains their effects.
    ///
    /// - Parameters:
    ///   - path: The file, which must exist; or the URL of a database in a cluster, where tables that have triggers are refused.
    ///   - comparison: Which columns must be unchanged.
    ///   - inEveryContext: Allows a test or a preview to write to the database, wherever it is. By default these write only to files in
    ///     the temporary folder of the system.
    /// - Throws: ``PlanError``, or a `DatabaseError` if the database cannot be used.
    public func apply(
        to path: String, comparing comparison: Comparison = .allColumns, inEveryContext: Bool = false
    ) async throws {
        try await run(in: path, changes.changeset, comparison, inEveryContext)
    }

    /// Undoes the changes of the plan in a database: all of them, or none.
    ///
    /// - Parameters:
    ///   - path: The file or the URL of a database in a cluster, as in `apply(to:)`.
    ///   - comparison: Which columns must still be as the plan has left them.
    ///   - inEveryContext: Allows a test or a preview to write to the database, wherever it is.
    /// - Throws: ``PlanError``, or a `DatabaseError` if the database cannot be used.
    public func revert(
        in path: String, comparing comparison: Comparison = .allColumns, inEveryContext: Bool = false
    ) async throws {
        try await run(in: path, changes.changeset.inverted(), comparison, inEveryContext)
    }

    private func run(
        in path: String, _ changeset: ChangesetStream, _ comparison: Comparison, _ inEveryContext: Bool
    ) async throws {
        if !inEveryContext { try Self.requireNotLive(path) }
        let seen = comparison == .allColumns ? changes.seen : nil
        if ClusterAddress.isMeant(by: path) {
            let application = ClusterPlanApplication(
                changeset: changeset, outline: changes.outline, seen: seen, schemaHash: origin.schemaHash)
            return try application.run(in: path)
        }
        guard LiveFile(path: path).exists else {
            throw PlanError(.file, "cannot open the database \(path): \(String(cString: strerror(ENOENT)))")
        }
        var configuration = GRDB.Configuration()
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { db in
            UnicodeCollation.install(on: db)
            DoubleQuotedStrings.install(on: db)
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try await run(on: queue, changeset, seen)
        try queue.close()
    }

    /// Makes the changes of the plan to an open database, in memory for example: all of them, or none. Observers of this database object
    /// are notified.
    ///
    /// Triggers and foreign key actions are disabled: the plan contains their effects.
    ///
    /// - Parameters:
    ///   - database: Not one in a cluster. It is used in every context.
    ///   - comparison: Which columns must be unchanged.
    /// - Throws: ``PlanError``, or a `DatabaseError` if the database cannot be used.
    public func apply(
        to database: any DatabaseWriter, comparing comparison: Comparison = .allColumns
    ) async throws {
        try await run(in: database, changes.changeset, comparison)
    }

    /// Undoes the changes of the plan in an open database: all of them, or none. Observers of this database object are notified.
    ///
    /// - Parameters:
    ///   - database: Not one in a cluster. It is used in every context.
    ///   - comparison: Which columns must still be as the plan has left them.
    /// - Throws: ``PlanError``, or a `DatabaseError` if the database cannot be used.
    public func revert(in database: any DatabaseWriter, comparing comparison: Comparison = .allColumns) async throws {
        try await run(in: database, changes.changeset.inverted(), comparison)
    }

    private func run(in database: any DatabaseWriter, _ changeset: ChangesetStream, _ comparison: Comparison) async throws {
        if let cluster = ClusterDatabase.of(database) {
            throw PlanError(.file, "apply: name a database in a cluster by its URL, \(cluster.address)")
        }
        try await run(on: database, changeset, comparison == .allColumns ? changes.seen : nil)
    }

    private func run(on database: any DatabaseWriter, _ changeset: ChangesetStream, _ seen: SeenRows?) async throws {
        let application = PlanApplication(
            changeset: changeset, outline: changes.outline, seen: seen, schemaHash: origin.schemaHash)
        try await database.writeWithoutTransaction { db in
            let enforcesForeignKeys = try Bool.fetchOne(db, sql: OwnSQL.marked("PRAGMA foreign_keys")) == true
            if enforcesForeignKeys { try db.execute(sql: OwnSQL.marked("PRAGMA foreign_keys = OFF")) }
            defer { if enforcesForeignKeys { try? db.execute(sql: OwnSQL.marked("PRAGMA foreign_keys = ON")) } }
            try db.inTransaction(.immediate) {
                try application.run(on: db)
                return .commit
            }
        }
    }

    /// Refuses, in a test or a preview, a file that may be of the program.
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

/// Applies a changeset within a transaction that is open.
private struct PlanApplication {
    let changeset: ChangesetStream
    /// The outline of the changeset, inverted or not: the tables are the same.
    let outline: ChangesetOutline
    /// Rows that must be unchanged, in addition to the changed ones.
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
                .conflict, "conflict: \(conflict.row) has changed since the plan was made\(conflict.differences)", conflict: conflict)
        }
        _ = try outline.countChanges(in: db) { table in
            PlanError(.schema, "the table \(table) is missing, or has changed since the plan was made")
        }
        try changeset.apply(to: db, schema: schema)
        // SQLite makes the changes without GRDB statements, which would notify observers.
        for table in outline.tables where table.count > 0 { try db.notifyChanges(in: SQLRequest<Row>(sql: "SELECT * FROM main.\(table.name.quotedName)")) }
        guard try foreignKeys.countViolations() <= violations else {
            throw PlanError(.foreignKey, "conflict: \(try foreignKeys.describeViolation())")
        }
    }
}

extension ChangesetStream {
    /// Makes the changes of some tables, or of all, within a transaction that is open, and to be rolled back if this fails.
    ///
    /// - Throws: ``PlanError`` at the first conflict.
    func apply(to db: Database, only tables: Set<String>? = nil, schema: SchemaSnapshot) throws {
        let conflicts = ConflictReport(schema: schema)
        try run(on: db, only: tables, usesSavepoint: false) { kind, iterator in
            throw conflicts.describe(Int(kind), try Changeset.Change(iterator!))
        }
    }
}

/// Makes errors of the conflicts that SQLite reports.
private struct ConflictReport {
    let schema: SchemaSnapshot

    func describe(_ kind: Int, _ change: Changeset.Change) -> PlanError {
        let positions = 0..<change.columnCount
        let hasRow = kind == PSQL_CHANGESET_DATA || kind == PSQL_CHANGESET_CONFLICT
        let found = hasRow ? positions.compactMap { change.found($0) } : []
        let described = PlanConflict(
            change, in: schema, expected: positions.map { change.kind == .inserted ? nil : change.old($0) },
            found: found.isEmpty ? nil : found)
        return PlanError(.conflict, Self.message(kind, described), conflict: described)
    }

    private static func message(_ kind: Int, _ conflict: PlanConflict) -> String {
        let row = conflict.row
        return switch kind {
        case PSQL_CHANGESET_DATA: "conflict: \(row) has changed since the plan was made\(conflict.differences)"
        case PSQL_CHANGESET_NOTFOUND: "conflict: \(row) no longer exists"
        case PSQL_CHANGESET_CONFLICT: "conflict: \(row), which the plan inserts, already exists"
        default: "conflict: \(row) would violate a constraint, such as another row with the same unique value"
        }
    }
}

extension StoredValue {
    /// The value for messages, on one line.
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
