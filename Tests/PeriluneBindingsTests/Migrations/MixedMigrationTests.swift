import Foundation
import GRDB
import PeriluneBindings
import PeriluneLua
import PeriluneLuaFileTools
import PeriluneRecords
import Testing

/// Migrations in Swift, in Lua and in files, as one list that Swift runs.
@Suite struct MixedMigrationTests {
    private func makeFolder(_ files: [String: String]) throws -> String {
        let path = temporaryPath("migrations")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for (name, text) in files { try Data(text.utf8).write(to: URL(filePath: "\(path)/\(name)")) }
        return path
    }

    private func makeState(_ database: any DatabaseWriter) throws -> LuaState {
        let state = try LuaState(libraries: .trusted)
        try ScriptSetup(database: database, allowsFiles: true).install(in: state)
        return state
    }

    @Test func `migrations in Swift, Lua and SQL run in the order of registration`() throws {
        let queue = try DatabaseQueue()
        let state = try makeState(queue)
        let folder = try makeFolder([
            "b.sql": "INSERT INTO t VALUES ('b')",
            "c.lua": "return function(db) db:execute(\"INSERT INTO t VALUES ('c')\") end",
        ])
        let migrations = try ScriptMigrations(in: state)
        try migrations.register(Migration("a") { db, _ in try db.execute(sql: "CREATE TABLE t (x)") })
        try migrations.register(folder: folder)
        try migrations.register(
            Migration("d", foreignKeyChecks: .immediate, merges: ["b0"]) { db, applied in
                #expect(applied == [])
                try db.execute(sql: "INSERT INTO t VALUES ('d')")
            })
        let status = try migrations.status()
        #expect((status.names, status.pending, status.unknown) == (["a", "b", "c", "d"], ["a", "b", "c", "d"], []))
        var told: [String] = []
        try migrations.migrate(upTo: "c") { name, _ in told.append(name) }
        try migrations.migrate { name, _ in told.append(name) }
        #expect(told == ["a", "b", "c", "d"])
        #expect(try queue.read { db in try String.fetchAll(db, sql: "SELECT x FROM t") } == ["b", "c", "d"])
        #expect(try migrations.status().pending == [])
    }

    @Test func `an error of a Swift migration names the migration`() throws {
        let queue = try DatabaseQueue()
        let migrations = try ScriptMigrations(in: makeState(queue))
        try migrations.register(Migration("a") { db, _ in try db.execute(sql: "CREATE TABLE t (x); SELECT missing") })
        let error = #expect(throws: LuaError.self) { try migrations.migrate() }
        #expect(error?.kind == "sql")
        #expect(error?.fields["migration"] == .string("a"))
        #expect((error?.underlying as? DatabaseError)?.message == "no such column: missing")
        #expect(try queue.read { db in try db.tableExists("t") } == false)
    }

    @Test func `Lua records follow the changes of a Swift migration`() throws {
        let queue = try DatabaseQueue()
        let state = try makeState(queue)
        try state.run("db:execute('CREATE TABLE t (id INTEGER PRIMARY KEY)') T = perilune.record('t') T{}:insert()")
        let migrations = try ScriptMigrations(in: state)
        try migrations.register(Migration("a") { db, _ in try db.execute(sql: "ALTER TABLE t ADD COLUMN x") })
        try migrations.register(
            folder: makeFolder(["b.lua": "return function() T{ x = 7 }:insert() end"]))
        try migrations.migrate()
        try state.run("assert(T:find(2).x == 7)")
    }

    @Test func `a faulty migration folder is reported`() throws {
        let migrations = try ScriptMigrations(in: makeState(DatabaseQueue()))
        let error = #expect(throws: LuaError.self) { try migrations.register(folder: "/nowhere/at/all") }
        #expect(error?.underlying is MigrationFolderError)
    }

    @Test func `migrating a pool leaves no connection or transaction open`() throws {
        let path = temporaryPath("pool.sqlite")
        let pool = try DatabasePool(path: path)
        do {
            let state = try makeState(pool)
            let migrations = try ScriptMigrations(in: state)
            try migrations.register(Migration("a") { db, _ in try db.execute(sql: "CREATE TABLE t (x)") })
            try migrations.register(
                folder: makeFolder([
                    "b.lua": "return function(db) db:rows('SELECT 1')() kept = db:prepare('SELECT * FROM t') end"
                ]))
            try migrations.migrate()
            #expect(try pool.read { db in try db.tableExists("t") })
            state.close()
        }
        try pool.close()
        #expect(openFiles(at: path) == 0)
        try FileManager.default.removeItem(atPath: path)
    }
}
