internal import CPeriluneSQLite
public import GRDB
internal import PeriluneRecords

/// What is in the way of a change.
public struct ChangesetConflict: Sendable, Equatable {
    /// What a conflict is about.
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

    /// What the conflict is about.
    public let kind: Kind
    /// The change.
    public let change: ChangesetRow
    /// The values of the row that is in the way, for kinds that have one.
    public let found: [PreviewValue]?
}

extension Changeset {
    /// What becomes of a change that meets a conflict.
    public enum Resolution: Sendable {
        /// Nothing at all is applied.
        case abort
        /// The change is left out.
        case omit
        /// The change is made in place of what is there: for the kinds `data` and `conflict`.
        case replace
    }

    /// Makes the changes, or none of them, in the schema "main" of a database, within a transaction that is open.
    ///
    /// Triggers do nothing meanwhile: what they did is part of the changeset. Foreign keys are checked at the end. The changes of `tables`
    /// are made, those of all by default; `resolve` is called for each conflict, and must not use the connection.
    ///
    /// - Returns: How many changes were made, and how many left out.
    /// - Throws: ``ChangesetError`` with the code `conflict` at the first conflict that is not resolved; what `resolve` throws.
    @discardableResult
    public func apply(
        to db: Database, tables: Set<String>? = nil, resolving resolve: (ChangesetConflict) throws -> Resolution = { _ in .abort }
    ) throws -> (applied: Int, omitted: Int) {
        let folded = tables.map { Set($0.map(\.foldedName)) }
        let count = try checkTables(of: db, only: folded)
        guard count > 0 else { return (0, 0) }
        return try withoutActuallyEscaping(resolve) { resolve in
            let application = ChangesetApplication(tables: folded, resolve: resolve)
            try application.run(self, on: db)
            return (count - application.omitted, application.omitted)
        }
    }

    /// SQLite skips the changes of tables that it does not find, or finds different: none may be skipped. Returns how many changes there
    /// are to be made.
    private func checkTables(of db: Database, only tables: Set<String>?) throws -> Int {
        var (count, former): (Int, String?) = (0, nil)
        try forEach { change in
            guard tables?.contains(change.table.foldedName) != false else { return }
            count += 1
            guard change.table != former else { return }
            let keys = try Bool.fetchAll(
                db, sql: "SELECT pk <> 0 FROM pragma_table_info(?, 'main') ORDER BY cid", arguments: [change.table])
            let isSame = keys.count == change.columnCount && keys.indices.filter { keys[$0] } == change.keyColumns
            guard isSame, !change.table.foldedName.hasPrefix("sqlite_") else {
                throw ChangesetError(
                    .schema, "the table `\(change.table)` is missing, or has other columns or another key than in the changeset",
                    table: change.table)
            }
            former = change.table
        }
        return count
    }
}

/// One application of a changeset, which SQLite calls.
private final class ChangesetApplication {
    private let tables: Set<String>?
    private let resolve: (ChangesetConflict) throws -> Changeset.Resolution
    private(set) var omitted = 0
    private var error: (any Error)?

    init(tables: Set<String>?, resolve: @escaping (ChangesetConflict) throws -> Changeset.Resolution) {
        (self.tables, self.resolve) = (tables, resolve)
    }

    func run(_ changeset: Changeset, on db: Database) throws {
        let connection = db.sqliteConnection
        let hadTriggers = psql_enable_triggers(connection, 0)
        defer { _ = psql_enable_triggers(connection, hadTriggers) }
        let context = Unmanaged.passUnretained(self).toOpaque()
        let code = changeset.bytes.withUnsafeBytes { buffer in
            sqlite3changeset_apply(
                connection, CInt(buffer.count), UnsafeMutableRawPointer(mutating: buffer.baseAddress),
                { context, table in ChangesetApplication.of(context!).wants(String(cString: table!)) ? 1 : 0 },
                { context, kind, iterator in CInt(ChangesetApplication.of(context!).answer(kind, iterator)) }, context)
        }
        if let error { throw error }
        guard code == SQLITE_OK else {
            // What the connection says last is of the rollback.
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errstr(code)))
        }
    }

    private static func of(_ context: UnsafeMutableRawPointer) -> ChangesetApplication {
        Unmanaged<ChangesetApplication>.fromOpaque(context).takeUnretainedValue()
    }

    private func wants(_ table: String) -> Bool { tables?.contains(table.foldedName) != false }

    private func answer(_ code: CInt, _ iterator: OpaquePointer?) -> Int {
        guard error == nil else { return PSQL_CHANGESET_ABORT }
        do {
            guard Int(code) != PSQL_CHANGESET_FOREIGN_KEY, let iterator else {
                throw ChangesetError(.foreignKey, "the changes would leave a row that refers to one that does not exist")
            }
            let conflict = try Self.conflict(code, iterator)
            switch try resolve(conflict) {
            case .abort: throw ChangesetError(.conflict, Self.message(of: conflict), conflict: conflict)
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
        } catch {
            self.error = error
            return PSQL_CHANGESET_ABORT
        }
    }

    private static func conflict(_ code: CInt, _ iterator: OpaquePointer) throws -> ChangesetConflict {
        let change = try Changeset.Change(iterator)
        let kind: ChangesetConflict.Kind =
            switch Int(code) {
            case PSQL_CHANGESET_DATA: .data
            case PSQL_CHANGESET_NOTFOUND: .notFound
            case PSQL_CHANGESET_CONFLICT: .conflict
            default: .constraint
            }
        let hasRow = kind == .data || kind == .conflict
        return ChangesetConflict(
            kind: kind, change: ChangesetRow(change),
            found: hasRow ? (0..<change.columnCount).map { change.found($0) ?? .null } : nil)
    }

    private static func message(of conflict: ChangesetConflict) -> String {
        let row = conflict.change.rowText
        return switch conflict.kind {
        case .data: "conflict: \(row) has other values than when the changes were recorded"
        case .notFound: "conflict: \(row) does not exist"
        case .conflict: "conflict: \(row), which is to be inserted, already exists"
        case .constraint: "conflict: \(row) would violate a constraint, such as another row with the same unique value"
        }
    }
}
