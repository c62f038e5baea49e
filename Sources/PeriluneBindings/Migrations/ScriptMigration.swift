internal import PeriluneLua
internal import PeriluneRecords

/// A migration as passed by the Lua library.
struct ScriptMigration {
    let name: String
    let foreignKeyChecks: Migration.ForeignKeyChecks
    let merges: [String]
    /// The function, which receives a handle and, if it merges other migrations, the set of the applied ones.
    let body: LuaFunction
    /// The text, if the migration is SQL.
    let sql: LuaString?
    /// The file of the text.
    let file: String?
    /// The checksum of the file.
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

    /// Returns the migrations of a list, to be executed by a runner.
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
