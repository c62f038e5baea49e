import GRDB
import Perilune
import PeriluneTestTools
import Testing

/// Programs that close a database while scripts use it get errors and never crash.
@Suite(.patience) struct ClosedDatabaseTests {
    private static let uses = [
        "db:fetch_one('SELECT 1')", "db:execute('DELETE FROM author')", "for row in db:rows('SELECT 1') do end",
        "db:read(function(db) return db:fetch_one('SELECT 1') end)", "db:write(function() end)",
        "db:in_transaction(function() end)",
        "db:write_without_transaction(function() end)", "perilune.record('author'):fetch_all()",
        "perilune.record('author'):find(1)", "perilune.record('author'){ name = 'a' }:insert()",
        "db:prepare('SELECT 1')",
        "db:observe_transactions{ did_commit = function() end }",
        "db:observe(function(db) return db:fetch_one('SELECT 1') end, print)",
        "perilune.migrator():register('a', function() end):migrate(db)", "perilune.queue():backup_to(db)",
        "db:backup_to(perilune.queue())", "db:create_table('x', function(t) t:integer('a') end)", "db:interrupt() error('x')",
        "db:add_function('f', function() return 1 end) db:fetch_one('SELECT f()')",
    ]

    @Test(arguments: [false, true], uses) func `scripts fail with errors after Swift has closed the database`(
        isPool: Bool, use: String
    )
        async throws
    {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/x.sqlite"
            let database: any DatabaseWriter = isPool ? try DatabasePool(path: path) : try DatabaseQueue(path: path)
            try await database.write { db in try db.execute(sql: "CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT)") }
            let host = try await ScriptHost(database: .existing(database))
            try database.close()
            await #expect(throws: LuaError.self) { try await host.run(source: use) }
        }
    }

    @Test(arguments: [false, true]) func `a database cannot be closed while a host keeps prepared statements`(isPool: Bool)
        async throws
    {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/x.sqlite"
            let database: any DatabaseWriter = isPool ? try DatabasePool(path: path) : try DatabaseQueue(path: path)
            let host = try await ScriptHost(database: .existing(database))
            try await host.run(source: "db:execute('CREATE TABLE a (b)')")
            let error = #expect(throws: DatabaseError.self) { try database.close() }
            #expect(error?.resultCode == .SQLITE_BUSY)
            try await host.run(source: "db:execute('INSERT INTO a VALUES (1)') assert(db:fetch_value('SELECT b FROM a') == 1)")
        }
    }
}
