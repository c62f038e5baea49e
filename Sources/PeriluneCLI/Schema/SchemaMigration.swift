internal import GRDB
internal import Perilune
internal import PeriluneRecords

/// A Lua migration that recreates a schema. Tables use the schema builder if its result is identical, otherwise SQL.
///
/// To test this, both variants of a table are created in memory and compared.
struct SchemaMigration {
    /// Returns the text of a migration for sorted tables and for other statements.
    ///
    /// - Parameter statements: All statements that create the schema, tables first.
    static func text(_ tables: [TableDescription], _ statements: [String]) async throws -> String {
        let bySQL = Dictionary(tables.map { ($0.sql, $0) }) { first, _ in first }
        var parts: [String] = []
        for statement in statements {
            if let table = bySQL[statement], let lua = builder(table), try await makesSame(lua, as: table, among: tables) {
                parts.append(indented(lua))
            } else {
                // The statement is kept unchanged, because SQLite stores its text in the schema.
                parts.append("  db:execute(\(longString(statement)))")
            }
        }
        return "return function(db)\n" + parts.joined(separator: "\n\n") + "\nend\n"
    }

    private static func indented(_ lua: String) -> String {
        lua.split(separator: "\n").map { "  " + $0 }.joined(separator: "\n")
    }

    /// SQL keywords for features that the builder lacks, or that SQLite reports only in the text of the schema.
    private static let unspoken: Set<String> = [
        "check", "collate", "conflict", "deferrable", "generated", "as", "virtual", "match", "temp", "temporary",
    ]

    /// Returns the builder call for a table; `nil` if it cannot express the whole statement.
    private static func builder(_ table: TableDescription) -> String? {
        guard table.kind == "table" else { return nil }
        let words = SolidTokens(table.sql).list.filter { $0.kind == .word }.map { $0.text.lowercased() }
        guard !words.contains(where: unspoken.contains) else { return nil }
        let options = [table.isStrict ? "strict = true" : nil, table.isWithoutRowID ? "without_rowid = true" : nil].compactMap {
            $0
        }
        var text =
            "db:create_table(\(quoted(table.name))\(options.isEmpty ? "" : ", { \(options.joined(separator: ", ")) }"), function(t)\n"
        let isAutoIncremented = words.contains("autoincrement"), key = table.key
        for column in table.columns {
            text += "  " + line(column, key, isAutoIncremented: isAutoIncremented) + "\n"
        }
        if key.count > 1 { text += "  t:primary_key\(list(key))\n" }
        for index in table.indexes where index.origin == "u" {
            guard let columns = index.columns as? [String] else { return nil }
            text += "  t:unique_key\(list(columns))\n"
        }
        for foreign in table.foreignKeys { text += "  " + line(foreign) + "\n" }
        return text + "end)"
    }

    private static func line(_ column: TableDescription.Column, _ key: [String], isAutoIncremented: Bool) -> String {
        if key == [column.name] {
            if isAutoIncremented { return "t:auto_incremented_primary_key(\(quoted(column.name)))" }
            let notNull = column.isNotNull ? ":not_null()" : ""
            return "t:primary_key(\(quoted(column.name)), \(quoted(column.type.lowercased())))" + notNull
        }
        var text = "t:column(\(quoted(column.name))" + (column.type.isEmpty ? ")" : ", \(quoted(column.type.lowercased())))")
        if column.isNotNull { text += ":not_null()" }
        if let value = column.defaultValue { text += ":default_sql(\(quoted(value)))" }
        return text
    }

    private static func line(_ key: TableDescription.ForeignKey) -> String {
        var options: [String] = []
        let references = key.references.compactMap { $0 }
        if !references.isEmpty { options.append("columns = \(list(references))") }
        if key.onDelete != "NO ACTION" { options.append("on_delete = \(quoted(key.onDelete.lowercased()))") }
        if key.onUpdate != "NO ACTION" { options.append("on_update = \(quoted(key.onUpdate.lowercased()))") }
        return
            "t:foreign_key(\(list(key.columns).trimmed), \(quoted(key.table))\(options.isEmpty ? "" : ", { \(options.joined(separator: ", ")) }"))"
    }

    // MARK: - Comparing

    /// Returns whether a builder call creates the same table as its statement.
    private static func makesSame(_ lua: String, as table: TableDescription, among tables: [TableDescription]) async throws
        -> Bool
    {
        // The referenced tables must exist, because the builder reads their keys.
        let names = Set(table.foreignKeys.map { $0.table.lowercased() }).subtracting([table.name.lowercased()])
        let others = tables.filter { names.contains($0.name.lowercased()) && $0.kind == "table" }
        let start = others.map { "db:execute(\(longString($0.sql)))\n" }.joined()
        do {
            guard var left = try await made(table.name, by: start + lua),
                var right = try await made(table.name, by: start + "db:execute(\(longString(table.sql)))")
            else { return false }
            normalize(&left.table, others)
            normalize(&right.table, others)
            return left == right
        } catch {
            return false
        }
    }

    /// Creates a table and returns its description and the descending columns of its indexes.
    private static func made(_ name: String, by lua: String) async throws -> (table: TableDescription, descending: [String])? {
        let queue = try DatabaseQueue()
        let host = try await ScriptHost(database: .existing(queue))
        try await host.run(source: lua, named: "schema")
        return try await queue.read { db in
            guard let table = try TableDescription.readAll(in: db, named: name).first else { return nil }
            let sql =
                "SELECT list.seq || ' ' || info.seqno FROM pragma_index_list(?) AS list, pragma_index_xinfo(list.name) AS info WHERE info.desc ORDER BY 1"
            return (table, try String.fetchAll(db, sql: sql, arguments: [name]))
        }
    }

    /// Removes differences that are allowed: the text, the case of types, the names of automatic indexes, and whether a foreign key
    /// names the referenced columns.
    private static func normalize(_ table: inout TableDescription, _ others: [TableDescription]) {
        let columns = table.columns.map {
            TableDescription.Column(
                name: $0.name, type: $0.type.lowercased(), isNotNull: $0.isNotNull, defaultValue: $0.defaultValue,
                keyPosition: $0.keyPosition,
                hidden: $0.hidden)
        }
        let indexes = table.indexes.map {
            TableDescription.Index(
                name: "", columns: $0.columns, isUnique: $0.isUnique, isPartial: $0.isPartial, origin: $0.origin)
        }
        let keys = Dictionary((others + [table]).map { ($0.name.lowercased(), $0.key) }) { first, _ in first }
        var foreignKeys = table.foreignKeys
        for index in foreignKeys.indices where foreignKeys[index].references.contains(nil) {
            foreignKeys[index].references = keys[foreignKeys[index].table.lowercased()] ?? []
        }
        table = TableDescription(
            name: table.name, kind: table.kind, isWithoutRowID: table.isWithoutRowID, isStrict: table.isStrict, sql: "")
        (table.columns, table.foreignKeys) = (columns, foreignKeys)
        table.indexes = indexes.sorted { "\($0.columns)" < "\($1.columns)" }
    }

    // MARK: - Lua

    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n") + "\""
    }

    private static func list(_ names: [String]) -> String {
        "{ " + names.map(quoted).joined(separator: ", ") + " }"
    }

    /// Returns a Lua long string whose brackets do not occur in the text.
    private static func longString(_ text: String) -> String {
        var level = ""
        while text.contains("]\(level)]") || text.hasSuffix("]\(level)") { level += "=" }
        // Lua ignores a line end right after the opening bracket.
        return "[\(level)[\n\(text)]\(level)]"
    }
}
