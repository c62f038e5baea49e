internal import PeriluneLua
internal import PeriluneRecords

/// A migration as the Lua part of the library hands it over.
struct ScriptMigration {
    let name: String
    let foreignKeyChecks: Migration.ForeignKeyChecks
    let merges: [String]
    /// Gets a handle and, if it merges others, the set of those that were applied.
    let body: LuaFunction
    /// Its text, if it is SQL.
    let sql: LuaString?
    /// The file that the text is from.
    let file: String?
    /// The checksum of that file.
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

    /// The migrations of a list, to be run by a runner.
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
