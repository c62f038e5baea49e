internal import CPeriluneRows
internal import GRDB
package import PeriluneLua
package import PeriluneRecords

/// The native functions with which the Lua library reads table schemas: `perilune.native.schema`.
enum SchemaBinding {
    static func install(in native: LuaTable) throws {
        try native.setFunction("table") { arguments in
            let handle = try DatabaseHandle(arguments, 1, for: "schema")
            guard case .string(let name) = arguments[2] else {
                throw BindingError("argument", "expected the name of a table, got \(arguments[2].shortDescription)")
            }
            return try SQLiteError.telling {
                [.table(try luaTable(for: handle.table(name.description), of: handle))]
            }
        }
        try defineStatements(in: native)
    }

    /// Defines `sql`: (database, name of a table or nil) returns the SQL statements of the whole schema or of one table.
    private static func defineStatements(in native: LuaTable) throws {
        try native.setFunction("sql") { arguments in
            let handle = try DatabaseHandle(arguments, 1, for: "schema")
            let name: String? = if case .string(let name) = arguments[2] { name.description } else { nil }
            return try SQLiteError.telling {
                [string(SchemaStatements.text(try handle.withConnection { db in try SchemaStatements.read(in: db, of: name) }))]
            }
        }
    }

    // MARK: - The table in Lua

    /// Returns the Lua table that describes a database table. The same Lua table is returned until the schema changes.
    private static func luaTable(for table: TableSchema, of handle: DatabaseHandle) throws -> LuaTable {
        let database = handle.database
        if let known = database.schemaTables[table.name.foldedName], known.id == table.id { return known.table }
        let result = try makeTable(table, in: handle.state)
        database.schemaTables[table.name.foldedName] = (table.id, result)
        return result
    }

    private static func makeTable(_ schema: TableSchema, in state: LuaState) throws -> LuaTable {
        let table = try state.makeTable()
        try table.set("name", string(schema.name))
        try table.set("database", string(schema.databaseName))
        try table.set("kind", string(schema.kind.rawValue))
        try table.set("without_rowid", .boolean(schema.isWithoutRowID))
        try table.set("strict", .boolean(schema.isStrict))
        try table.set("row_id_names", list(schema.rowIDNames, in: state, string))
        try table.set("columns", list(schema.columns, in: state) { .table(try makeColumn($0, in: state)) })
        let key = try state.makeTable()
        try key.set("columns", names(schema.primaryKey, of: schema, in: state))
        try key.set("rowid", .boolean(schema.primaryKeyIsRowID))
        try table.set("primary_key", .table(key))
        try table.set("unique_keys", list(schema.uniqueKeys, in: state) { try names($0, of: schema, in: state) })
        try table.set("distinct_keys", list(schema.distinctKeys, in: state) { try names($0, of: schema, in: state) })
        try table.set("has_unlisted_keys", .boolean(schema.hasUnlistedKeys))
        try table.set("foreign_keys", list(schema.foreignKeys, in: state) { .table(try makeForeignKey($0, in: state)) })
        return table
    }

    private static func makeColumn(_ column: TableSchema.Column, in state: LuaState) throws -> LuaTable {
        let table = try state.makeTable()
        try table.set("name", string(column.name))
        try table.set("type", string(column.type.text))
        try table.set("affinity", string(column.type.affinity.rawValue))
        try table.set("content", column.type.content.map { string($0.rawValue) } ?? .nil)
        try table.set("not_null", .boolean(column.isNotNull))
        try table.set("default", column.defaultSQL.map(string) ?? .nil)
        try table.set("primary_key", column.primaryKeyPosition.map { .integer(Int64($0)) } ?? .nil)
        try table.set("generated", column.generation.map { string($0.rawValue) } ?? .nil)
        try table.set("hidden", .boolean(column.isHidden))
        try table.set("collation", column.collation.map(string) ?? .nil)
        return table
    }

    private static func makeForeignKey(_ key: TableSchema.ForeignKey, in state: LuaState) throws -> LuaTable {
        let table = try state.makeTable()
        try table.set("table", string(key.table))
        try table.set("columns", list(key.columns, in: state, string))
        try table.set("referenced_columns", list(key.referencedColumns, in: state, string))
        try table.set("on_delete", string(key.onDelete))
        try table.set("on_update", string(key.onUpdate))
        return table
    }

    private static func names(_ positions: [Int], of schema: TableSchema, in state: LuaState) throws -> LuaValue {
        try list(positions, in: state) { string(schema.columns[$0].name) }
    }

    private static func list<Element>(
        _ elements: [Element], in state: LuaState, _ value: (Element) throws -> LuaValue
    ) throws -> LuaValue {
        let table = try state.makeTable()
        for (index, element) in elements.enumerated() { try table.set(.integer(Int64(index + 1)), value(element)) }
        return .table(table)
    }

    private static func string(_ text: String) -> LuaValue { .string(LuaString(text)) }
}

extension RequestError: LuaErrorDescribing {
    package var luaKind: String { kind }
    package var luaMessage: String { message }
    package var luaFields: [String: ScriptValue] { fields.mapValues { .string($0) } }
}
