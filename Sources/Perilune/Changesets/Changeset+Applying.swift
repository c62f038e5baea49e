internal import CPeriluneSQLite
public import GRDB
internal import PeriluneRecords

/// A conflict that prevents a change.
public struct ChangesetConflict: Sendable, Equatable {
    /// The kinds of conflicts.
    @nonexhaustive
    public enum Kind: String, Sendable {
        /// The row is there, with other values than the change has found.
        case data
        /// The row to update or delete is not there.
        case notFound = "not_found"
        /// A row with the key of the one to insert is there.
        case conflict
        /// The change would violate another constraint.
        case constraint
    }

    /// The kind of the conflict.
    public let kind: Kind
    /// The change.
    public let change: ChangesetRow
    /// The values of the conflicting row, for kinds that have one.
    public let found: [StoredValue]?
}

extension Changeset {
    /// How to resolve a conflict.
    public enum Resolution: Sendable {
        /// Nothing at all is applied.
        case abort
        /// The change is left out.
        case omit
        /// The change replaces the conflicting row: for the kinds `data` and `conflict`.
        case replace
    }

    /// Makes the changes, or none of them, in the schema "main" of a database, within a transaction that is open.
    ///
    /// Triggers and foreign key actions are disabled: the changeset contains their effects. Foreign keys are checked at the end. Applies
    /// the changes of `tables`, by default of all tables; `resolve` is called for each conflict, and must not use the connection.
    ///
    /// - Returns: How many changes were made, and how many left out.
    /// - Throws: ``ChangesetError`` with the code `conflict` at the first unresolved conflict; any error of `resolve`.
    @discardableResult
    public func apply(
        to db: Database, tables: Set<String>? = nil, resolving resolve: (ChangesetConflict) throws -> Resolution = { _ in .abort }
    ) throws -> (applied: Int, omitted: Int) {
        let folded = tables.map { Set($0.map(\.foldedName)) }
        let outline = try stream.outline()
        let count = try outline.countChanges(in: db, only: folded) { table in
            ChangesetError(
                .schema, "the table `\(table)` is missing, or has other columns or another key than in the changeset", table: table)
        }
        guard count > 0 else { return (0, 0) }
        return try ForeignKeyActions.leavingOut(of: outline, in: db) { try apply(count, to: db, only: folded, resolving: resolve) }
    }

    private func apply(
        _ count: Int, to db: Database, only folded: Set<String>?, resolving resolve: (ChangesetConflict) throws -> Resolution
    ) throws -> (applied: Int, omitted: Int) {
        var omitted = 0
        try stream.run(on: db, only: folded) { code, iterator in
            guard Int(code) != PSQL_CHANGESET_FOREIGN_KEY, let iterator else {
                throw ChangesetError(.foreignKey, "the changes would leave a row that refers to one that does not exist")
            }
            let conflict = try ChangesetConflict(code, iterator)
            switch try resolve(conflict) {
            case .abort: throw ChangesetError(.conflict, conflict.message, conflict: conflict)
            case .omit:
                omitted += 1
                return PSQL_CHANGESET_OMIT
            case .replace:
                guard conflict.kind == .data || conflict.kind == .conflict else {
                    throw ChangesetError(
                        .resolution, "a conflict of kind \(conflict.kind.rawValue) cannot be resolved by \"replace\"; use \"omit\" or \"abort\"",
                        conflict: conflict)
                }
                return PSQL_CHANGESET_REPLACE
            }
        }
        return (count - omitted, omitted)
    }
}

extension ChangesetOutline {
    /// SQLite skips the changes of tables that it does not find, or finds different: none may be skipped.
    ///
    /// - Parameter mismatch: The error for the name of such a table.
    /// - Returns: The number of changes to make.
    func countChanges(in db: Database, only names: Set<String>? = nil, mismatch: (String) -> any Error) throws -> Int {
        let tables = tables.filter { $0.count > 0 && names?.contains($0.name.foldedName) != false }
        for table in tables {
            let keys = try Bool.fetchAll(
                db, sql: "SELECT pk <> 0 FROM pragma_table_info(?, 'main') ORDER BY cid", arguments: [table.name])
            guard keys == table.isKey, !table.name.foldedName.hasPrefix("sqlite_") else { throw mismatch(table.name) }
        }
        return tables.reduce(0) { $0 + $1.count }
    }
}

extension ChangesetStream {
    /// Makes SQLite apply the changes, without triggers.
    ///
    /// - Parameters:
    ///   - usesSavepoint: Whether a failure undoes the changes; otherwise the caller must roll back the transaction.
    ///   - answer: Called with the kind of each conflict and the change; returns SQLite's next step. An error ends the application.
    func run(
        on db: Database, only tables: Set<String>? = nil, usesSavepoint: Bool = true,
        answering answer: (CInt, OpaquePointer?) throws -> Int
    ) throws {
        try withoutActuallyEscaping(answer) { answer in
            try ChangesetApplication(tables: tables, answer: answer).run(self, on: db, usesSavepoint: usesSavepoint)
        }
    }
}

/// One application of a changeset, which SQLite calls.
private final class ChangesetApplication {
    private let tables: Set<String>?
    private let answer: (CInt, OpaquePointer?) throws -> Int
    private var error: (any Error)?

    init(tables: Set<String>?, answer: @escaping (CInt, OpaquePointer?) throws -> Int) {
        (self.tables, self.answer) = (tables, answer)
    }

    func run(_ changeset: ChangesetStream, on db: Database, usesSavepoint: Bool) throws {
        let connection = db.sqliteConnection
        let hadTriggers = psql_enable_triggers(connection, 0)
        defer { _ = psql_enable_triggers(connection, hadTriggers) }
        let callbacks = ChangesetStream.ApplicationCallbacks(
            filter: { context, table in ChangesetApplication.of(context!).wants(String(cString: table!)) ? 1 : 0 },
            resolve: { context, kind, iterator in CInt(ChangesetApplication.of(context!).take(kind, iterator)) },
            context: Unmanaged.passUnretained(self).toOpaque())
        let code = try changeset.apply(to: connection, usesSavepoint: usesSavepoint, callbacks)
        if let error { throw error }
        guard code == SQLITE_OK else {
            // The connection's last message concerns the rollback.
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errstr(code)))
        }
    }

    private static func of(_ context: UnsafeMutableRawPointer) -> ChangesetApplication {
        Unmanaged<ChangesetApplication>.fromOpaque(context).takeUnretainedValue()
    }

    private func wants(_ table: String) -> Bool { tables?.contains(table.foldedName) != false }

    private func take(_ code: CInt, _ iterator: OpaquePointer?) -> Int {
        guard error == nil else { return PSQL_CHANGESET_ABORT }
        do {
            return try answer(code, iterator)
        } catch {
            self.error = error
            return PSQL_CHANGESET_ABORT
        }
    }
}

extension ChangesetConflict {
    /// Converts SQLite's description of a conflict.
    fileprivate init(_ code: CInt, _ iterator: OpaquePointer) throws {
        let change = try Changeset.Change(iterator)
        kind =
            switch Int(code) {
            case PSQL_CHANGESET_DATA: .data
            case PSQL_CHANGESET_NOTFOUND: .notFound
            case PSQL_CHANGESET_CONFLICT: .conflict
            default: .constraint
            }
        self.change = ChangesetRow(change)
        found = kind == .data || kind == .conflict ? (0..<change.columnCount).map { change.found($0) ?? .null } : nil
    }

    fileprivate var message: String {
        let row = change.rowText
        return switch kind {
        case .data: "conflict: \(row) has other values than when the changes were recorded"
        case .notFound: "conflict: \(row) does not exist"
        case .conflict: "conflict: \(row), which is to be inserted, already exists"
        case .constraint: "conflict: \(row) would violate a constraint, such as another row with the same unique value"
        }
    }
}
