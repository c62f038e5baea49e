internal import GRDB
internal import PeriluneRecords

/// The part of a dump for full-text tables, whose contents SELECT does not return completely.
extension DatabaseDump {
    /// Returns whether a full-text table is contentless: it stores only an index, so its rows cannot be read.
    static func hasNoContents(_ table: TableDescription) -> Bool {
        table.kind == "virtual"
            && table.sql.lowercased().contains(/using\s+fts[345]\b.*\bcontent\s*=\s*(''|"")/.dotMatchesNewlines())
    }

    /// Writes a virtual table as a row of `sqlite_schema`, without its shadow tables, like SQLite's shell.
    func writeDescription(of table: TableDescription, _ output: inout [UInt8]) {
        func literal(_ text: String) -> [UInt8] {
            var literal: [UInt8] = []
            SQLLiteral.append(.text(Array(text.utf8)), to: &literal)
            return literal
        }
        let name = literal(table.name)
        output.append(
            "PRAGMA writable_schema=ON;\nINSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES ('table',")
        output += name + [UInt8(ascii: ",")] + name + Array(",0,".utf8) + literal(table.sql)
        output.append(");\nPRAGMA writable_schema=OFF;\n")
    }

    /// Writes the shadow tables of a contentless full-text table, with their rows.
    func writeIndex(of table: TableDescription, _ output: inout [UInt8], _ incomplete: inout [String]) throws {
        if parts != .data { writeDescription(of: table, &output) }
        let pattern = table.name.replacing("@", with: "@@").replacing("_", with: "@_").replacing("%", with: "@%") + "@_%"
        let members = try Row.fetchAll(
            db, sql: "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name LIKE ? ESCAPE '@' AND sql IS NOT NULL",
            arguments: [pattern])
        let shadows = try Set(
            String.fetchAll(db, sql: "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'shadow'"))
        for part in members where shadows.contains(part["name"]) {
            let (name, sql): (String, String) = (part["name"], part["sql"])
            output.append(parts == .data ? "DELETE FROM \(name.quotedName);\n" : SchemaStatements.text([sql]))
            let columns = try String.fetchAll(db, sql: "SELECT name FROM pragma_table_info(?) ORDER BY cid", arguments: [name])
            var last: Int64?
            do {
                _ = try writeRows(of: name, columns.map(\.quotedName).joined(separator: ", "), nil, nil, &last, &output)
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
                incomplete.append(table.name)
            }
        }
    }

    /// Writes the configuration of an FTS5 table, such as its rank.
    func writeConfiguration(of table: TableDescription, _ output: inout [UInt8]) throws {
        guard table.sql.lowercased().contains(/using\s+fts5\b/), try db.tableExists("\(table.name)_config") else { return }
        let name = table.name.quotedName
        let sql = "SELECT quote(k) || ',' || quote(v) FROM \("\(table.name)_config".quotedName) WHERE k <> 'version' ORDER BY k"
        for values in try String.fetchAll(db, sql: sql) {
            output.append("INSERT INTO \(name) (\(name), rank) VALUES (\(values));\n")
        }
    }
}
