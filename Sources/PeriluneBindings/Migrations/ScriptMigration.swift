internal import PeriluneLua
internal import PeriluneRecords

/// A migration that the Lua library has passed to Swift.
struct ScriptMigration {
    let name: String
    let foreignKeyChecks: Migration.ForeignKeyChecks
    let merges: [String]
    /// The Lua function of the migration. It receives a database handle, and if the migration merges others, the set of applied
    /// migrations.
    let body: LuaFunction
    /// The SQL text; `nil` for a Lua migration.
    let sql: LuaString?
    /// The file that contains the SQL text.
    let file: String?
    /// The checksum of the migration's file.
    let checksum: String?

    init(_ table: LuaTable) throws {
        name = try table.get("name")
        foreignKeyChecks = try Migration.ForeignKeyChecks(rawValue: table.get("foreign_keys")) ?? .deferred
        merges = try table.get("merges")
        body = try table.get("body")
        sql = try table.get("sql")
        file = try table.get("file")
        checksum = try table.get("checksum")
    }

    /// Converts the library's list of migrations. Each migration is executed by calling `run`.
    static func list(_ table: LuaTable, run: @escaping (ScriptMigration, MigrationRunner.Step) throws -> Void) throws
        -> MigrationList
    {
        var list = MigrationList()
        for entry in try table.array() {
            let migration = try ScriptMigration(LuaTable.fromLua(entry))
            try list.register(
                Migration(migration.name, foreignKeyChecks: migration.foreignKeyChecks, merges: migration.merges) {
                    db, applied in
                    try run(migration, MigrationRunner.Step(db: db, applied: applied))
                })
        }
        return list
    }
}
