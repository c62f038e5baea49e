internal import CPeriluneRows
internal import CPeriluneSQLite
internal import GRDB
internal import PeriluneRecords

/// The rows of a connection that SQLite's preupdate hook has reported as changed.
///
/// Each row is kept in its state before the first change. At the end of the recording, this state is compared with the current row, so
/// changes that a savepoint has rolled back are not in the changeset. SQLite's sessions work similarly, but are inconsistent for different
/// keys that compare equal because of a collation or a type, such as 1 and 1.0: they treat such keys sometimes as one row and sometimes as
/// two. Here, a row is identified by its stored key.
final class RecordedRows {
    private final class Table {
        /// A column, as declared in the table definition.
        struct Column: Equatable {
            let name: String
            let type: String
            /// The position in the key, from 1; 0 for other columns.
            let keyPosition: UInt8
        }

        let name: String
        let columns: [Column]
        /// Whether each column has REAL affinity, and thus stores integers as floats.
        let isReal: [Bool]
        /// The positions of the key columns.
        let key: [Int]
        let rows: FormerRows
        /// The values of columns in rows that do not store them, by position. Copies that are freed with the table.
        var defaults: [Int: OpaquePointer] = [:]

        init(_ name: String, _ columns: [Column], in memory: RecordingMemory) {
            (self.name, self.columns) = (name, columns)
            rows = FormerRows(in: memory)
            isReal = columns.map { DeclaredType($0.type).affinity == .real }
            key = columns.indices.filter { columns[$0].keyPosition > 0 }
        }

        deinit {
            for value in defaults.values { sqlite3_value_free(value) }
        }
    }

    private let connection: SQLiteConnection
    private let memory: RecordingMemory
    private var tables: [Table] = []
    /// The value that the hook returns for columns that the row does not store, to be compared by its address.
    private let missing = psql_missing_value()
    /// A buffer for encoding values.
    private var scratch = ChangesetWriter()
    /// The approximate memory of the rows, in bytes.
    private(set) var memoryInBytes = 0
    /// Whether the recording failed because the columns of a table changed. If so, later changes are missing.
    private(set) var hasFailed = false
    /// Whether memory ran out. If so, later changes are missing.
    private(set) var isOutOfMemory = false
    /// The tables in which a key was replaced by a different key that SQLite considers equal. Complete only after a call of
    /// `changeset(in:)`.
    private(set) var tablesWithReplacedKeys: Set<String> = []

    init(_ connection: SQLiteConnection, in memory: RecordingMemory) {
        self.connection = connection
        self.memory = memory
    }

    /// Removes all rows and frees their memory.
    func removeAll() {
        tables = []
        memoryInBytes = 0
    }

    /// Records the change that SQLite's preupdate hook is reporting.
    func take(_ kind: CInt, of name: UnsafePointer<CChar>) {
        guard !hasFailed, let table = table(name) else { return }
        guard Int(sqlite3_preupdate_count(connection)) == table.columns.count else {
            hasFailed = true
            return
        }
        if kind != SQLITE_INSERT { keep(isFormer: true, of: table, sqlite3_preupdate_old) }
        // An update may change the key, so the row with the new key is recorded, too.
        if kind != SQLITE_DELETE { keep(isFormer: false, of: table, psql_preupdate_new) }
    }

    private typealias Reader = (OpaquePointer?, CInt, UnsafeMutablePointer<OpaquePointer?>) -> CInt

    private func keep(isFormer: Bool, of table: Table, _ read: Reader) {
        guard !isOutOfMemory else { return }
        scratch.removeAll()
        // A row whose key contains NULL cannot be identified. Recording a table with such rows fails later.
        guard write(table.key, of: table, read, stopsAtNull: true) else { return }
        let keyCount = scratch.bytes.count
        let isIndirect = sqlite3_preupdate_depth(connection) > 0
        guard !scratch.bytes.withUnsafeBytes({ table.rows.note($0, isIndirect: isIndirect) }) else { return }
        guard !isFormer || write(table.columns.indices, of: table, read) else { return }
        guard
            scratch.bytes.withUnsafeBytes({ table.rows.add($0, keyCount: keyCount, wasThere: isFormer, isIndirect: isIndirect) })
        else {
            isOutOfMemory = true
            return
        }
        memoryInBytes += FormerRows.memoryOfRow + scratch.bytes.count
    }

    /// Writes the values of columns. Returns whether all values were written.
    private func write(_ columns: some Collection<Int>, of table: Table, _ read: Reader, stopsAtNull: Bool = false) -> Bool {
        for index in columns {
            var value: OpaquePointer?
            let isRead = read(connection, CInt(index), &value) == SQLITE_OK
            if value == missing { value = defaultValue(of: index, in: table) }
            guard isRead, let value else {
                hasFailed = true
                return false
            }
            if stopsAtNull, sqlite3_value_type(value) == SQLITE_NULL { return false }
            // For inserted rows, the hook returns whole numbers in REAL columns as integers. Without the conversion, 1 and 1.0 would be
            // different keys.
            scratch.append(value, asReal: table.isReal[index])
        }
        return true
    }

    /// Returns the value of a column in rows that were written before ALTER TABLE added it; `nil` on failure.
    private func defaultValue(of column: Int, in table: Table) -> OpaquePointer? {
        if let known = table.defaults[column] { return known }
        var value: OpaquePointer?
        guard psql_default_value(connection, "main", table.name, CInt(column), &value) == SQLITE_OK else {
            sqlite3_value_free(value)
            return nil
        }
        table.defaults[column] = value
        return value
    }

    /// Returns a table, whose columns are read at its first change; `nil` for a table without a key.
    private func table(_ name: UnsafePointer<CChar>) -> Table? {
        if let known = tables.last(where: { sqlite3_stricmp($0.name, name) == 0 }) { return known.key.isEmpty ? nil : known }
        let name = String(cString: name)
        guard let columns = columns(of: name) else {
            hasFailed = true
            return nil
        }
        let table = Table(name, columns, in: memory)
        tables.append(table)
        return table.key.isEmpty ? nil : table
    }

    /// Reads the columns of a table. SQLite allows this in a hook, because its session extension also prepares statements there. Traces
    /// recognize and skip the statement by its first characters.
    private func columns(of table: String) -> [Table.Column]? {
        guard let statement = prepare("PRAGMA 'main'.table_info(\(table.quotedName))") else { return nil }
        defer { sqlite3_finalize(statement) }
        var columns: [Table.Column] = []
        let isRead = forEachRow(of: statement) {
            columns.append(
                Table.Column(
                    name: String(cString: sqlite3_column_text(statement, 1)),
                    type: sqlite3_column_text(statement, 2).map { String(cString: $0) } ?? "",
                    keyPosition: UInt8(clamping: sqlite3_column_int(statement, 5))))
        }
        return isRead ? columns : nil
    }

    // MARK: - The end

    /// Returns the net changes; `nil` if the recording is incomplete.
    ///
    /// - Throws: ``StorageError``.
    func changeset(in spool: ByteSpool = ByteSpool()) throws -> StoredBytes? {
        var writer = ChangesetWriter()
        for table in tables where !table.key.isEmpty {
            guard !hasFailed, let now = columns(of: table.name), now == table.columns, try write(table, to: &writer, spool) else {
                hasFailed = true
                return nil
            }
        }
        try writer.flush(to: spool, ifMoreThan: 0)
        return try spool.finish()
    }

    private func write(_ table: Table, to writer: inout ChangesetWriter, _ spool: ByteSpool) throws -> Bool {
        let match = table.key.map { "\(table.columns[$0].name.quotedName) IS ?" }.joined(separator: " AND ")
        let names = table.columns.map(\.name.quotedName).joined(separator: ", ")
        guard let statement = prepare("SELECT \(names) FROM main.\(table.name.quotedName) WHERE \(match)") else { return false }
        defer { sqlite3_finalize(statement) }
        for former in table.rows.rows {
            ChangesetValues(former.key).bind(to: statement)
            var isThere = false
            let isRead = forEachRow(of: statement) {
                write(table.key, of: statement)
                if scratch.bytes.withUnsafeBytes(former.key.hasSameBytes) {
                    write(table.columns.indices, of: statement)
                    isThere = true
                } else if former.values != nil {
                    tablesWithReplacedKeys.insert(table.name)
                }
            }
            guard isRead else { return false }
            scratch.bytes.withUnsafeBytes { add(former, isThere ? $0 : nil, of: table, to: &writer) }
            try writer.flush(to: spool)
        }
        return true
    }

    private func write(_ columns: some Collection<Int>, of statement: OpaquePointer) {
        scratch.removeAll()
        for index in columns { scratch.append(sqlite3_column_value(statement, CInt(index))) }
    }

    private func add(
        _ former: FormerRows.Row, _ found: UnsafeRawBufferPointer?, of table: Table, to writer: inout ChangesetWriter
    ) {
        let kind: RowChange.Kind
        switch (former.values, found) {
        case (nil, nil): return
        case (nil, _): kind = .insert
        case (_, nil): kind = .delete
        case (let old?, let new?):
            if old.hasSameBytes(as: new) { return }
            kind = .update
        }
        writer.begin(table.name, keyPositions: table.columns.map(\.keyPosition))
        writer.beginChange(kind, isIndirect: former.isIndirect)
        guard let old = former.values, let new = found else { return writer.append(encoded: former.values ?? found!) }
        for (column, value) in zip(table.columns, zip(ChangesetValues(old), ChangesetValues(new))) {
            let isWritten = column.keyPosition > 0 || !value.0.hasSameBytes(as: value.1)
            if isWritten { writer.append(encoded: value.0) } else { writer.leaveOut() }
        }
        for value in zip(ChangesetValues(old), ChangesetValues(new)) {
            if value.0.hasSameBytes(as: value.1) { writer.leaveOut() } else { writer.append(encoded: value.1) }
        }
    }

    // MARK: - Statements, which GRDB does not see

    private func prepare(_ sql: String) -> OpaquePointer? {
        var statement: OpaquePointer?
        return sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK ? statement : nil
    }

    /// Calls a closure for each row of a statement. Returns whether all rows were read.
    private func forEachRow(of statement: OpaquePointer, _ body: () -> Void) -> Bool {
        defer { sqlite3_reset(statement) }
        var code = sqlite3_step(statement)
        while code == SQLITE_ROW {
            body()
            code = sqlite3_step(statement)
        }
        return code == SQLITE_DONE
    }
}
