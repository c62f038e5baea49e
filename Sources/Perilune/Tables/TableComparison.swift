internal import GRDB
internal import PeriluneRecords

/// A comparison of a table with its previous state, which is attached as ``PreviewCopy/formerSchema``, in SQL. Used for changes that cannot
/// be recorded.
struct TableComparison {
    /// The way in which current rows are matched with previous rows.
    private enum Matching {
        case key([String])
        case rowID(new: String, old: String)
        /// By all values: a changed row counts as deleted and inserted.
        case content
    }

    private let db: Database
    private let new: PreviewTable?
    private let old: PreviewTable?
    private let rowLimit: Int
    private let matching: Matching
    private var result: TableChanges

    /// Creates a comparison.
    ///
    /// - Parameters:
    ///   - new: The current table; `nil` if the table was dropped.
    ///   - old: The previous table; `nil` if the table was created.
    ///   - keepsRowIDs: Whether equal row IDs identify the same row. Pass `false` after VACUUM, which assigns new row IDs in tables without
    ///     a key.
    init(_ db: Database, new: PreviewTable?, old: PreviewTable?, keepsRowIDs: Bool, rowLimit: Int) throws {
        self.db = db
        self.new = new
        self.old = old
        self.rowLimit = rowLimit
        result = TableChanges(name: (new ?? old)!.name)
        result.columns = (new ?? old)!.columns.map(\.name)
        result.unrecordable = (new ?? old)!.unrecordable
        matching = try Self.matching(db, new, old, keepsRowIDs: keepsRowIDs)
        if case .key(let names) = matching { result.key = names }
    }

    private static func matching(
        _ db: Database, _ new: PreviewTable?, _ old: PreviewTable?, keepsRowIDs: Bool
    ) throws -> Matching {
        guard let new, let old else { return .content }
        let key = new.key
        if new.kind == .table, !key.isEmpty, key == old.key, try !hasNullKey(db, new, "main"),
            try !hasNullKey(db, old, PreviewCopy.formerSchema)
        {
            return .key(key)
        }
        guard keepsRowIDs || new.kind == .virtual, let newName = new.rowIDName, let oldName = old.rowIDName else {
            return .content
        }
        return .rowID(new: newName, old: oldName)
    }

    /// Returns whether any key contains NULL. Several rows may share such a key.
    static func hasNullKey(_ db: Database, _ table: PreviewTable, _ schema: String) throws -> Bool {
        guard !table.nullableKey.isEmpty else { return false }
        let condition = table.nullableKey.map { "\($0.quotedName) IS NULL" }.joined(separator: " OR ")
        let sql = "SELECT EXISTS(SELECT 1 FROM \(schema).\(table.name.quotedName) WHERE \(condition))"
        return try Bool.fetchOne(db, sql: sql) ?? false
    }

    /// Returns whether any stored key was replaced by a different key that SQLite considers equal.
    static func hasRestoredKey(_ db: Database, _ new: PreviewTable, _ old: PreviewTable) throws -> Bool {
        guard new.hasLooseKey, !new.key.isEmpty, new.key == old.key else { return false }
        let names = new.key.map(\.quotedName)
        let match = names.map { "a.\($0) = b.\($0)" }.joined(separator: " AND ")
        let difference = names.map { "a.\($0) <> b.\($0) COLLATE BINARY OR typeof(a.\($0)) <> typeof(b.\($0))" }.joined(
            separator: " OR ")
        let source = "\(newName(new)) AS a JOIN \(oldName(old)) AS b ON \(match)"
        return try Bool.fetchOne(db, sql: "SELECT EXISTS(SELECT 1 FROM \(source) WHERE \(difference))") ?? false
    }

    /// Counts the changed rows, and reads the first rows of each kind.
    consuming func run() throws -> TableChanges {
        if new != nil, old != nil, case .content = matching {
            try compareContent()
        } else {
            try findInserted()
            try findDeleted()
            if new != nil, old != nil { try findUpdated() }
            result.sortRows()
        }
        result.nameValues()
        return result
    }

    // MARK: - By key

    private mutating func findInserted() throws {
        guard let new else { return }
        var source = "\(Self.newName(new)) AS a"
        if let old { source += " WHERE NOT EXISTS (SELECT 1 FROM \(Self.oldName(old)) AS b WHERE \(match))" }
        result.inserted = try count(source)
        try read("SELECT \(list(new.columns.map(\.name), of: "a")) FROM \(source)\(order("a"))", if: result.inserted) {
            row in
            RowChange(kind: .insert, after: row)
        }
    }

    private mutating func findDeleted() throws {
        guard let old else { return }
        var source = "\(Self.oldName(old)) AS b"
        if let new { source += " WHERE NOT EXISTS (SELECT 1 FROM \(Self.newName(new)) AS a WHERE \(match))" }
        result.deleted = try count(source)
        try read("SELECT \(list(formerColumns, of: "b")) FROM \(source)\(order("b"))", if: result.deleted) { row in
            RowChange(kind: .delete, before: row)
        }
    }

    private mutating func findUpdated() throws {
        guard let new, let old, let difference else { return }
        let source = "\(Self.newName(new)) AS a JOIN \(Self.oldName(old)) AS b ON \(match) WHERE \(difference)"
        result.updated = try count(source)
        let columns = list(formerColumns, of: "b") + ", " + list(new.columns.map(\.name), of: "a")
        let width = new.columns.count
        try read("SELECT \(columns) FROM \(source)\(order("a"))", if: result.updated) { row in
            RowChange(kind: .update, before: Array(row[..<width]), after: Array(row[width...]))
        }
    }

    /// The previous names of the columns, in the order of the current table; `nil` for new columns.
    private var formerColumns: [String?] {
        guard let new, let old else { return old?.columns.map(\.name) ?? [] }
        return new.columns.map { old.column($0.name)?.name }
    }

    private func list(_ columns: [String?], of table: String) -> String {
        columns.map { $0.map { "\(table).\($0.quotedName)" } ?? "NULL" }.joined(separator: ", ")
    }

    private var match: String {
        switch matching {
        case .key(let names):
            names.map(\.quotedName).map { "a.\($0) IS b.\($0)" }.joined(separator: " AND ")
        case .rowID(let new, let old): "a.\(new) = b.\(old)"
        case .content: "0"
        }
    }

    private func order(_ table: String) -> String {
        switch matching {
        case .key(let names):
            " ORDER BY " + names.map { "\(table).\($0.quotedName)" }.joined(separator: ", ")
        case .rowID(let new, let old): " ORDER BY \(table).\(table == "a" ? new : old)"
        case .content: ""
        }
    }

    /// An SQL condition that is true if any value differs; `nil` if no columns can be compared.
    private var difference: String? {
        guard let new, let old else { return nil }
        let terms = new.columns.filter { !$0.isGenerated }.map { column in
            let name = "a." + column.name.quotedName
            guard let former = old.column(column.name) else {
                // In a new column, a row that existed before has the default value unless it was updated.
                return "\(name) IS NOT \(Self.constantDefault(of: column))"
            }
            let formerName = "b." + former.name.quotedName
            return "(\(name) IS NOT \(formerName) COLLATE BINARY OR typeof(\(name)) <> typeof(\(formerName)))"
        }
        return terms.isEmpty ? nil : "(" + terms.joined(separator: " OR ") + ")"
    }

    private static func constantDefault(of column: PreviewTable.Column) -> String {
        guard let sql = column.defaultSQL else { return "NULL" }
        let isText = sql.hasPrefix("'") && sql.hasSuffix("'")
        let isConstant = isText || Double(sql) != nil || ["true", "false"].contains(sql.lowercased())
        return isConstant ? sql : "NULL"
    }

    // MARK: - By content

    /// Compares how often each row occurs. Additional occurrences count as inserted rows, missing occurrences as deleted rows.
    private mutating func compareContent() throws {
        guard let new, let old else { return }
        let columns = new.columns.filter { old.column($0.name) != nil }.map(\.name)
        let names = columns.enumerated().map { "c\($0.offset)" }
        func select(_ table: String, _ alias: String, _ sign: String) -> String {
            let values =
                zip(columns, names).map { "\(alias).\($0.quotedName) AS \($1)" } + ["\(sign)1 AS n"]
            return "SELECT \(values.joined(separator: ", ")) FROM \(table) AS \(alias)"
        }
        let groups = names.flatMap { ["\($0) COLLATE BINARY", "typeof(\($0))"] }.joined(separator: ", ")
        let both = select(Self.newName(new), "a", "") + " UNION ALL " + select(Self.oldName(old), "b", "-")
        let source =
            "SELECT \((names + ["SUM(n) AS n"]).joined(separator: ", ")) FROM (\(both))"
            + (groups.isEmpty ? "" : " GROUP BY \(groups)") + " HAVING SUM(n) <> 0"
        let counts = try Row.fetchOne(db, sql: "SELECT TOTAL(MAX(n, 0)), TOTAL(MAX(-n, 0)) FROM (\(source))")
        result.inserted = Int(counts?[0] as Double? ?? 0)
        result.deleted = Int(counts?[1] as Double? ?? 0)
        // The reported rows contain only columns that exist in both states.
        result.columns = columns
        for (sign, kind, count) in [(">", RowChange.Kind.insert, result.inserted), ("<", .delete, result.deleted)] {
            guard !names.isEmpty else { break }
            try read("SELECT \(names.joined(separator: ", ")) FROM (\(source)) WHERE n \(sign) 0", if: count) { row in
                RowChange(kind: kind, before: kind == .delete ? row : nil, after: kind == .insert ? row : nil)
            }
        }
    }

    // MARK: - Reading

    private static func newName(_ table: PreviewTable) -> String {
        "main.\(table.name.quotedName)"
    }

    private static func oldName(_ table: PreviewTable) -> String {
        "\(PreviewCopy.formerSchema).\(table.name.quotedName)"
    }

    private func count(_ source: String) throws -> Int {
        try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM \(source)") ?? 0
    }

    private mutating func read(_ sql: String, if count: Int, _ makeChange: ([StoredValue]) -> RowChange) throws {
        guard count > 0, rowLimit > 0 else { return }
        let statement = try db.makeStatement(sql: "\(sql) LIMIT \(rowLimit)")
        let cursor = try Row.fetchCursor(statement)
        while try cursor.next() != nil {
            let row = (0..<statement.columnCount).map { StoredValue(statement.sqliteStatement, column: $0) }
            result.rows.append(makeChange(row))
        }
    }
}
