internal import CPeriluneSQLite
public import GRDB
internal import PeriluneRecords

/// A conflict between a change and the database.
public struct ChangesetConflict: Sendable, Equatable {
    /// The kind of a conflict.
    @nonexhaustive
    public enum Kind: String, Sendable {
        /// The row no longer has the values that it had before the change was recorded.
        case data
        /// The row to update or delete does not exist.
        case notFound = "not_found"
        /// A row with the key of the inserted row already exists.
        case conflict
        /// The change would violate another constraint.
        case constraint
    }

    /// The kind of the conflict.
    public let kind: Kind
    /// The change that cannot be applied.
    public let change: ChangesetRow
    /// The values of the conflicting row, for the kinds `data` and `conflict`.
    public let found: [StoredValue]?
}

extension Changeset {
    /// The resolution of a conflict.
    public enum Resolution: Sendable {
        /// No change is applied.
        case abort
        /// The change is skipped.
        case omit
        /// The change replaces the conflicting row. Allowed only for conflicts of kind `data` and `conflict`.
        case replace
    }

    /// Applies all changes to the schema "main" of a database within an open transaction. If one change fails, none is applied.
    ///
    /// Triggers and foreign key actions are disabled, because the changeset contains their effects. Foreign keys are checked at the end. If
    /// `tables` is given, only the changes of these tables are applied. `resolve` is called for each conflict, and must not use the
    /// connection.
    ///
    /// - Returns: The number of applied changes, and the number of skipped changes.
    /// - Throws: ``ChangesetError`` with the code `conflict` at the first unresolved conflict; an error of `resolve`.
    @discardableResult
    public func apply(
        to db: Database, tables: Set<String>? = nil, resolving resolve: (ChangesetConflict) throws -> Resolution = { _ in .abort }
    ) throws -> (applied: Int, omitted: Int) {
        let folded = tables.map { Set($0.map(\.foldedName)) }
        let outline = try stream.outline()
        let count = try outline.countChanges(in: db, only: folded) { table in
            ChangesetError(
                .schema, "the table `\(table)` is missing, or has other columns or another key than in the changeset",
                table: table)
        }
        guard count > 0 else { return (0, 0) }
        return try ForeignKeyActions.leavingOut(of: outline, in: db) {
            try apply(count, to: db, only: folded, resolving: resolve)
        }
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
                        .resolution,
                        "a conflict of kind \(conflict.kind.rawValue) cannot be resolved by \"replace\"; use \"omit\" or \"abort\"",
                        conflict: conflict)
                }
                return PSQL_CHANGESET_REPLACE
            }
        }
        return (count - omitted, omitted)
    }
}

extension ChangesetOutline {
    /// Counts the changes of all tables, or of the given tables, and checks that each table exists with the same key columns. Without this
    /// check, SQLite would silently skip the changes of other tables.
    ///
    /// - Parameter mismatch: Creates the error for a table that does not match.
    /// - Returns: The number of changes to apply.
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
    /// Applies the changes with SQLite, without triggers.
    ///
    /// - Parameters:
    ///   - usesSavepoint: Whether SQLite undoes the changes after a failure. Otherwise, the caller must roll back the transaction.
    ///   - answer: A closure that receives the kind and the change of each conflict, and returns SQLite's code for the resolution. If the
    ///     closure throws an error, no further change is applied.
    func run(
        on db: Database, only tables: Set<String>? = nil, usesSavepoint: Bool = true,
        answering answer: (CInt, OpaquePointer?) throws -> Int
    ) throws {
        try withoutActuallyEscaping(answer) { answer in
            try ChangesetApplication(tables: tables, answer: answer).run(self, on: db, usesSavepoint: usesSavepoint)
        }
    }
}

/// The context of SQLite's callbacks during the application of a changeset.
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
            // Does not use the connection's last error message, which describes the rollback instead of the failure.
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
    /// Creates a conflict from SQLite's iterator.
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
        case .conflict: "conflict: cannot insert \(row): it already exists"
        case .constraint: "conflict: \(row) would violate a constraint, such as another row with the same unique value"
        }
    }
}
