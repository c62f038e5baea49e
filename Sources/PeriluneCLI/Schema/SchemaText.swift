internal import Perilune
internal import PeriluneRecords

/// A schema as text in several formats.
enum SchemaText {
    // MARK: - JSON

    static func json(_ tables: [TableDescription]) -> String {
        JSONText.object([("tables", .list(tables.map(object)))]).text + "\n"
    }

    private static func object(_ table: TableDescription) -> JSONText {
        .object([
            ("name", .string(table.name)), ("type", .string(table.kind)), ("strict", table.isStrict ? true : nil),
            ("without_rowid", table.isWithoutRowID ? true : nil),
            ("columns", .list(table.columns.filter { $0.hidden != 1 }.map(object))), ("primary_key", .strings(table.key)),
            ("foreign_keys", .list(table.foreignKeys.map(object))), ("indexes", .list(table.indexes.map(object))),
            ("sql", .string(table.sql)),
            ("error", table.flaw.map { .string($0) }),
        ])
    }

    private static func object(_ column: TableDescription.Column) -> JSONText {
        .object([
            ("name", .string(column.name)), ("type", .string(column.type)), ("not_null", .boolean(column.isNotNull)),
            ("default", column.defaultValue.map { .string($0) }),
            ("generated", column.hidden > 1 ? .string(column.hidden == 2 ? "virtual" : "stored") : nil),
        ])
    }

    private static func object(_ key: TableDescription.ForeignKey) -> JSONText {
        .object([
            ("columns", .strings(key.columns)), ("table", .string(key.table)),
            ("referenced_columns", key.references.contains(nil) ? nil : .strings(key.references.compactMap { $0 })),
            ("on_update", .string(key.onUpdate.lowercased())), ("on_delete", .string(key.onDelete.lowercased())),
        ])
    }

    private static func object(_ index: TableDescription.Index) -> JSONText {
        .object([
            ("name", .string(index.name)), ("columns", .list(index.columns.map { $0.map { .string($0) } ?? "" })),
            ("unique", .boolean(index.isUnique)), ("partial", .boolean(index.isPartial)),
        ])
    }

    // MARK: - Mermaid

    /// Returns an entity relationship diagram with a box per table and a line per foreign key.
    ///
    /// - SeeAlso: mermaid.js.org/syntax/entityRelationshipDiagram.html
    static func diagram(_ tables: [TableDescription]) -> String {
        var text = "erDiagram\n"
        for table in tables {
            text += "    \(mermaidName(table.name)) {\n"
            let foreign = Set(table.foreignKeys.flatMap(\.columns).map { $0.lowercased() })
            for column in table.columns where column.hidden != 1 {
                let marks = [column.keyPosition > 0 ? "PK" : nil, foreign.contains(column.name.lowercased()) ? "FK" : nil]
                    .compactMap { $0 }
                let type = mermaidWord(column.type.isEmpty ? "ANY" : column.type)
                text += "        \(type) \(mermaidWord(column.name))\(marks.isEmpty ? "" : " " + marks.joined(separator: ", "))\n"
            }
            text += "    }\n"
        }
        for table in tables {
            for key in table.foreignKeys {
                let isNullable = key.columns.contains { name in
                    table.columns.contains { $0.name.lowercased() == name.lowercased() && !$0.isNotNull && $0.keyPosition == 0 }
                }
                let isOne = table.indexes.contains { $0.isUnique && !$0.isPartial && Set($0.columns) == Set(key.columns) }
                let line = (isNullable ? "|o" : "||") + "--" + (isOne ? "o|" : "o{")
                text +=
                    "    \(mermaidName(key.table)) \(line) \(mermaidName(table.name)) : \"\(key.columns.joined(separator: ", "))\"\n"
            }
        }
        return text
    }

    private static func mermaidName(_ name: String) -> String {
        let isPlain = name.utf8.allSatisfy { ($0 | 0x20) &- 0x61 < 26 || $0 &- 0x30 < 10 || $0 == 0x5F || $0 == 0x2D }
        return isPlain ? name : "\"" + name.replacing("\"", with: "'") + "\""
    }

    /// Returns a Mermaid word. In Mermaid, types and columns consist of letters, digits, `_`, `-`, `()` and `[]`.
    private static func mermaidWord(_ text: String) -> String {
        let characters = text.map { $0.isLetter || $0.isNumber || "_-()[]".contains($0) ? $0 : "_" }
        let word = String(characters)
        return word.first?.isLetter == true || word.first == "_" ? word : "_" + word
    }
}
