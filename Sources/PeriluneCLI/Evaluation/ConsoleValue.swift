internal import Perilune
internal import PeriluneLua

/// A value in the form that `lib/console/display.lua` prepares for the console.
enum ConsoleValue: Equatable, Sendable {
    /// Text with the type of the value, which determines its color.
    case text(String, type: String)
    case rows(ConsoleRows)
    /// The effect of a statement, such as "3 rows changed".
    case outcome(String)
}

extension ConsoleValue {
    /// Creates a value from the Lua table that describes it.
    init(_ table: LuaTable) throws {
        let kind: String = try table.get("kind")
        switch kind {
        case "text":
            let text: LuaString = try table.get("text")
            self = .text(DisplayText.escaped(text.bytes, keepingLineBreaks: true), type: try table.get("type"))
        case "outcome": self = .outcome(try table.get("text"))
        default: self = .rows(try ConsoleRows(table))
        }
    }
}

extension ConsoleRows {
    init(_ table: LuaTable) throws {
        columns = try Self.list(table, "columns").map { value in
            guard case .string(let name) = value else { return "" }
            return DisplayText.escaped(name.bytes)
        }
        head = try Self.cells(table, "head", columns.count)
        tail = try Self.cells(table, "tail", columns.count)
        count = try table.get("count")
        title = try table.get("title", as: String?.self)
        sql = try table.get("sql", as: String?.self)
        note = try table.get("note", as: String?.self)
        isSingle = try table.get("is_single").isTruthy
        hidesCount = try table.get("hides_count").isTruthy
    }

    private static func list(_ table: LuaTable, _ name: String) throws -> [LuaValue] {
        guard case .table(let list) = try table.get(.string(LuaString(name))) else { return [] }
        return try list.array()
    }

    private static func cells(_ table: LuaTable, _ name: String, _ width: Int) throws -> [[Cell]] {
        try list(table, name).map { row in
            guard case .table(let row) = row else { return [] }
            // NULL is nil in Lua, so the length of the table may be less than the column count.
            return try (0..<width).map { index in try Cell(row.rawGet(.integer(Int64(index + 1)))) }
        }
    }
}

extension Cell {
    /// Creates a cell from a Lua value.
    init(_ value: LuaValue) throws {
        switch value {
        case .boolean(let value): self = .boolean(value)
        case .integer(let value): self = .integer(value)
        case .number(let value): self = .real(value)
        case .string(let text): self = .text(text.bytes)
        case .table(let blob):
            let bytes: LuaString = try blob.get("blob")
            self = .blob(bytes.bytes)
        default: self = .null
        }
    }
}
