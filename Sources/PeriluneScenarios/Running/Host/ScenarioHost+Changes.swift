internal import GRDB
internal import Perilune
internal import PeriluneBindings
internal import PeriluneLua
internal import PeriluneRecords

/// The functions `begin_changes` and `end_changes`, which record the row changes between their calls.
extension ScenarioHost {
    func installChanges() throws {
        try function("begin_changes") { host, arguments in
            try host.requireNoAccess(arguments.state, "t.changes")
            return [.integer(Int64(host.recordings.add(.changes(host.stage.recordChanges()))))]
        }
        try function("end_changes") { host, arguments in
            guard case .changes(let recorder) = try host.recordings.take(arguments.get(1)) else { return [] }
            return [try host.stage.finish(recorder).get().table(in: arguments.state)]
        }
    }
}

/// Changed rows, with the details that are needed to show them in Lua.
struct RecordedChanges {
    let tables: [TableChanges]
    /// Tables with changes that cannot be recorded, with the reasons.
    private let unrecorded: [(name: String, reason: String)]
    /// The columns with the declared type BOOLEAN, by table.
    private let booleans: [String: Set<String>]

    init(_ found: (tables: [TableChanges], unrecorded: [(name: String, reason: String)]), _ db: Database) throws {
        tables = found.tables
        unrecorded = found.unrecorded
        booleans = try Dictionary(
            uniqueKeysWithValues: found.tables.map { table in
                let columns = try Row.fetchAll(db, sql: "SELECT name, type FROM pragma_table_info(?)", arguments: [table.name])
                return (table.name, Set(columns.filter { DeclaredType($0["type"]).content == .boolean }.map { $0["name"] }))
            })
    }

    /// Returns the changes as a Lua list, sorted by table and key.
    func table(in state: LuaState) throws -> LuaValue {
        let list = try state.makeTable()
        var count: Int64 = 0
        for table in tables {
            for row in table.rows {
                count += 1
                try list.rawSet(.integer(count), .table(entry(row, of: table, in: state)))
            }
        }
        if !unrecorded.isEmpty {
            try list.rawSet("unrecorded", state.encode(unrecorded.map { "\($0.name): \($0.reason)" }))
        }
        return .table(list)
    }

    private func entry(_ row: RowChange, of table: TableChanges, in state: LuaState) throws -> LuaTable {
        let entry = try state.makeTable()
        let before = try row.oldValues.map { try fields($0, of: table, in: state) }
        let after = try row.newValues.map { try fields($0, of: table, in: state) }
        try entry.rawSet("op", .string(LuaString(row.kind.rawValue)))
        try entry.rawSet("table", .string(LuaString(table.name)))
        try entry.rawSet("columns", state.encode(table.columns))
        try entry.rawSet("key_columns", state.encode(table.key))
        let key = try state.makeTable()
        for (index, name) in table.key.enumerated() {
            let value = try (before ?? after)?.rawGet(.string(LuaString(name))) ?? .nil
            try key.rawSet(.integer(Int64(index + 1)), value)
        }
        try entry.rawSet("key", .table(key))
        try entry.rawSet("before", before.map { .table($0) } ?? .nil)
        try entry.rawSet("after", after.map { .table($0) } ?? .nil)
        if row.kind == .update { try entry.rawSet("changed", state.encode(row.changedColumns)) }
        return entry
    }

    private func fields(_ values: [StoredValue], of table: TableChanges, in state: LuaState) throws -> LuaTable {
        let fields = try state.makeTable(fieldCount: values.count)
        for (name, value) in zip(table.columns, values) {
            let isBoolean = booleans[table.name]?.contains(name) == true
            try fields.rawSet(.string(LuaString(name)), Self.value(value, isBoolean: isBoolean, in: state))
        }
        return fields
    }

    private static func value(_ value: StoredValue, isBoolean: Bool, in state: LuaState) throws -> LuaValue {
        switch value {
        case .null: .nil
        case .integer(let number): isBoolean ? .boolean(number != 0) : .integer(number)
        case .real(let number): .number(number)
        case .text(let bytes): .string(LuaString(bytes))
        case .blob(let bytes): try state.makeBlob(bytes)
        }
    }
}
