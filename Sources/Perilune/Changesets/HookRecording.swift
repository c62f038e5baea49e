internal import CPeriluneRows
internal import CPeriluneSQLite
internal import Foundation
internal import GRDB
internal import PeriluneRecords

/// Records changes as a session of SQLite's would, from the hook of the observers of a connection.
///
/// SQLite has one hook for changes of rows, which a session takes for itself. So where observers have it, they pass on what it reports.
/// As in a session, what is kept of a row is how it was when it was first changed. In the end this is compared with how it is then, so
/// what savepoints have undone is not in the changeset.
///
/// - SeeAlso: SQLite's `ext/session/sqlite3session.c`.
final class HookRecording {
    private final class Table {
        /// As a definition of the table has it.
        struct Column: Equatable {
            let name: String
            let type: String
            /// The position in the key, from 1; 0 for others.
            let keyPosition: UInt8
        }

        let name: String
        let columns: [Column]
        /// For each column, whether it holds floats in place of integers.
        let isReal: [Bool]
        /// The columns of the key.
        let key: [Int]
        var rows: [[PreviewValue]: FormerRow] = [:]
        /// The keys of the rows, in the order in which they were first changed.
        var order: [[PreviewValue]] = []

        init(_ name: String, _ columns: [Column]) {
            (self.name, self.columns) = (name, columns)
            isReal = columns.map { DeclaredType($0.type).affinity == .real }
            key = columns.indices.filter { columns[$0].keyPosition > 0 }
        }
    }

    private struct FormerRow {
        /// `nil`: there was none.
        let values: [PreviewValue]?
        /// Whether triggers and foreign keys alone have changed it.
        var isIndirect: Bool
    }

    private let connection: SQLiteConnection
    private var tables: [Table] = []
    /// About how much memory the rows take.
    private(set) var memoryInBytes = 0
    /// Whether a table has got other columns, or memory is short: what came after that is missing.
    private(set) var hasFailed = false

    init(_ connection: SQLiteConnection) {
        self.connection = connection
    }

    /// Forgets all rows, which are too many.
    func removeAll() {
        tables = []
        memoryInBytes = 0
    }

    /// Takes the change that SQLite reports now.
    func take(_ kind: CInt, of name: String) {
        guard !hasFailed, let table = table(name) else { return }
        guard Int(sqlite3_preupdate_count(connection)) == table.columns.count else {
            hasFailed = true
            return
        }
        if kind != SQLITE_INSERT, let row = row(of: table, sqlite3_preupdate_old) { keep(row, isFormer: true, of: table) }
        // An update may change the key.
        if kind != SQLITE_DELETE, let row = row(of: table, sqlite3_preupdate_new) { keep(row, isFormer: false, of: table) }
    }

    private func keep(_ row: [PreviewValue], isFormer: Bool, of table: Table) {
        let key = table.key.map { row[$0] }
        // A session leaves such rows out, too: recordings fail for tables that have them.
        guard !key.contains(.null) else { return }
        let isIndirect = sqlite3_preupdate_depth(connection) > 0
        if let known = table.rows[key] {
            if known.isIndirect, !isIndirect { table.rows[key]?.isIndirect = false }
            return
        }
        table.rows[key] = FormerRow(values: isFormer ? row : nil, isIndirect: isIndirect)
        table.order.append(key)
        memoryInBytes += 128 + (isFormer ? row : key).reduce(0) { $0 + $1.memoryInBytes }
    }

    private func row(of table: Table, _ read: (OpaquePointer?, CInt, UnsafeMutablePointer<OpaquePointer?>) -> CInt) -> [PreviewValue]? {
        var row: [PreviewValue] = []
        row.reserveCapacity(table.columns.count)
        for index in table.columns.indices {
            var value: OpaquePointer?
            guard read(connection, CInt(index), &value) == SQLITE_OK, let value else {
                hasFailed = true
                return nil
            }
            // The hook gives the whole numbers of inserted rows as they are stored, and sessions take them so: 1 and 1.0 are two keys then.
            var copy = PreviewValue(value)
            if table.isReal[index], case .integer(let number) = copy { copy = .real(Double(number)) }
            row.append(copy)
        }
        return row
    }

    /// A table with its columns, read when it is first changed; `nil` for one without a key.
    private func table(_ name: String) -> Table? {
        if let known = tables.last(where: { sqlite3_stricmp($0.name, name) == 0 }) { return known.key.isEmpty ? nil : known }
        guard let columns = columns(of: name) else {
            hasFailed = true
            return nil
        }
        let table = Table(name, columns)
        tables.append(table)
        return table.key.isEmpty ? nil : table
    }

    /// SQLite lets a hook prepare statements: sessions do so, too.
    private func columns(of table: String) -> [Table.Column]? {
        var columns: [Table.Column] = []
        let isRead = rows(of: "SELECT name, type, pk FROM pragma_table_info(?, 'main')", [.text(Array(table.utf8))]) { statement in
            columns.append(
                Table.Column(
                    name: String(cString: sqlite3_column_text(statement, 0)), type: sqlite3_column_text(statement, 1).map { String(cString: $0) } ?? "",
                    keyPosition: UInt8(clamping: sqlite3_column_int(statement, 2))))
        }
        return isRead ? columns : nil
    }

    // MARK: - The end

    /// The net changes; `nil` if the recording is not complete.
    func changeset() -> Changeset? {
        var writer = ChangesetWriter()
        for table in tables where !table.key.isEmpty {
            guard !hasFailed, let now = columns(of: table.name), now == table.columns, write(table, to: &writer) else {
                hasFailed = true
                return nil
            }
        }
        return Changeset(bytes: Data(writer.bytes))
    }

    private func write(_ table: Table, to writer: inout ChangesetWriter) -> Bool {
        let match = table.key.map { "\(table.columns[$0].name.quotedName) IS ?" }.joined(separator: " AND ")
        let names = table.columns.map(\.name.quotedName).joined(separator: ", ")
        guard let statement = prepare("SELECT \(names) FROM main.\(table.name.quotedName) WHERE \(match)") else { return false }
        defer { sqlite3_finalize(statement) }
        for key in table.order {
            guard let former = table.rows[key] else { continue }
            var found: [PreviewValue]?
            let isRead = run(statement, key) { statement in
                let row = table.columns.indices.map { PreviewValue(statement, column: $0) }
                // Not one whose key is the same by a collation alone.
                if table.key.map({ row[$0] }) == key { found = row }
            }
            guard isRead else { return false }
            add(former, found, of: table, to: &writer)
        }
        return true
    }

    private func add(_ former: FormerRow, _ found: [PreviewValue]?, of table: Table, to writer: inout ChangesetWriter) {
        guard former.values != found else { return }
        writer.begin(table.name, keyPositions: table.columns.map(\.keyPosition))
        switch (former.values, found) {
        case (let old?, let new?):
            let isChanged = table.columns.indices.map { old[$0] != new[$0] }
            writer.add(
                .updated, isIndirect: former.isIndirect,
                table.columns.indices.map { isChanged[$0] || table.key.contains($0) ? old[$0] : nil },
                table.columns.indices.map { isChanged[$0] ? new[$0] : nil })
        case (let old?, nil): writer.add(.deleted, isIndirect: former.isIndirect, old)
        case (nil, let new?): writer.add(.inserted, isIndirect: former.isIndirect, new)
        case (nil, nil): break
        }
    }

    // MARK: - Statements, which GRDB does not see

    private func prepare(_ sql: String) -> OpaquePointer? {
        var statement: OpaquePointer?
        return sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK ? statement : nil
    }

    private func rows(of sql: String, _ arguments: [PreviewValue], _ body: (OpaquePointer) -> Void) -> Bool {
        guard let statement = prepare(sql) else { return false }
        defer { sqlite3_finalize(statement) }
        return run(statement, arguments, body)
    }

    private func run(_ statement: OpaquePointer, _ arguments: [PreviewValue], _ body: (OpaquePointer) -> Void) -> Bool {
        defer { sqlite3_reset(statement) }
        for (index, value) in arguments.enumerated() { value.bind(to: statement, at: CInt(index + 1)) }
        var code = sqlite3_step(statement)
        while code == SQLITE_ROW {
            body(statement)
            code = sqlite3_step(statement)
        }
        return code == SQLITE_DONE
    }
}

extension PreviewValue {
    fileprivate var memoryInBytes: Int {
        switch self {
        case .text(let bytes), .blob(let bytes): 48 + bytes.count
        case .null, .integer, .real: 16
        }
    }
}
