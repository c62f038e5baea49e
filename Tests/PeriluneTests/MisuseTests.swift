import Foundation
import GRDB
import Perilune
import PeriluneTestSupport
import PeriluneTestTools
import Synchronization
import Testing

/// Mistakes of programs and scripts, which must be reported without harm. Other tests cover preparation, contexts and Swift
/// functions.
@Suite(.defaultDatabase(migrations: library), .patience)
struct MisuseTests {
    @Test func `a script can keep a database between runs, but not the handles of a block`() async throws {
        let host = try await ScriptHost()
        try await host.run(
            source: """
                kept = db
                statement = db:prepare("SELECT COUNT(*) FROM author")
                db:read(function(db)
                  handle = db
                  inner = db:prepare("SELECT 1")
                  cursor = db:rows("SELECT 1 UNION SELECT 2")
                end)
                """)
        try await host.run(
            source: """
                assert(kept:fetch_value("SELECT 1") == 1 and statement:fetch_value() == 0)
                for _, use in ipairs{
                  function() handle:fetch_value("SELECT 1") end, function() inner:fetch_value() end, function() cursor() end,
                  function() handle:write(function() end) end,
                } do
                  local ok, err = pcall(use)
                  assert(not ok and err.kind == "dead_handle", tostring(err))
                end
                """)
    }

    @Test func `a database that is kept in a finalizer or a coroutine does not outlive its host`() async throws {
        weak var database: (any DatabaseWriter)?
        try await DependencyContainer.withTestScope {
            try await DependencyContainer.prepare { $0.defaultDatabase = .inMemory(migrations: library) }
            let host = try await ScriptHost()
            try await host.run(
                source: """
                    local kept = db
                    waiting = coroutine.wrap(function() for row in kept:rows("SELECT 1 UNION SELECT 2") do coroutine.yield(row) end end)
                    waiting()
                    setmetatable({}, { __gc = function() kept:fetch_value("SELECT 1") end })
                    """)
            database = try await DependencyContainer.defaultDatabase
        }
        #expect(await eventually { database == nil })
    }

    @Test func `a hundred tasks share a host without interfering`() async throws {
        let host = try await ScriptHost()
        try await host.run(
            source: """
                busy = false
                function use(n)
                  assert(not busy)
                  busy = true
                  db:write(function(db) db:execute("INSERT INTO author (name) VALUES (?)", "n" .. n) end)
                  busy = false
                  return n * 2
                end
                """)
        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 1...100 { group.addTask { try await host.call("use", number) } }
            return try await group.reduce(0, +)
        }
        #expect(sum == 10_100)
        #expect(try await DependencyContainer.defaultDatabase.value("SELECT COUNT(*) FROM author", as: Int.self) == 100)
    }

    @Test(
        arguments: ScriptPlace.allCases,
        [
            ("add(math.maxinteger, 1)", "overflow", "the sum is no integer of 64 bits"),
            ("narrow(70000)", "argument", "m.narrow: argument 1: expected an integer from -32768 to 32767, got 70000"),
            (
                "narrow(2^53)", "argument",
                "m.narrow: argument 1: expected an integer from -32768 to 32767, got 9007199254740992.0"
            ),
            ("unsigned(-1)", "argument", "m.unsigned: argument 1: expected an integer from 0 to 18446744073709551615, got -1"),
            ("beyond()", "conversion", "m.beyond: the result: 18446744073709551615 is out of range for an integer in Lua"),
        ])
    func `numbers that do not fit a Swift type are errors instead of traps`(
        _ place: ScriptPlace, _ values: (String, String, String)
    )
        async throws
    {
        let (call, kind, message) = values
        struct Overflow: LuaErrorDescribing {
            var luaKind: String { "overflow" }
            var luaMessage: String { "the sum is no integer of 64 bits" }
        }
        let host = try await place.host()
        try await host.register(module: "m") { m in
            m.function("add") { (a: Int, b: Int) throws -> Int in
                let (sum, isOver) = a.addingReportingOverflow(b)
                if isOver { throw Overflow() }
                return sum
            }
            m.function("narrow") { (value: Int16) -> Int16 in value }
            m.function("unsigned") { (value: UInt) -> UInt in value }
            m.function("beyond") { () -> UInt64 in .max }
        }
        let error = await #expect(throws: LuaError.self) { try await host.run(source: "require('m').\(call)") }
        #expect(error?.kind?.rawValue == kind)
        #expect(error?.message == message)
    }

    @Test(arguments: [
        "db:create_table('extra', function(t) t:primary_key('id', 'integer') end)",
        "perilune.migrator():register('v1', 'CREATE TABLE more (a)'):migrate(db)",
        "local m = perilune.migrator() m:register('v1', 'DROP TABLE author') m:migrate(db)",
        "perilune.migrator{ erase_on_schema_change = true }",
        "db:execute(\"ATTACH 'live.sqlite' AS x\")", "db:execute(\"ATTACH ? AS x\", path)",
        "db:execute('ATTACH \\':memory:\\' AS x; CREATE TABLE x.a (b)')",
        "db:execute('VACUUM')", "db:execute(\"VACUUM INTO ?\", path .. '.copy')", "perilune.queue(path)", "perilune.pool(path)",
        "io.open(path, 'a'):write('x')", "os.remove(path)", "os.execute('rm ' .. path)", "os.rename(path, path .. '2')",
        "db:execute('PRAGMA journal_mode = WAL')", "db:execute('PRAGMA user_version = 7')", "db:backup_to(perilune.queue(path))",
        "db:execute('PRAGMA writable_schema = ON; DELETE FROM sqlite_master')",
    ])
    func `a preview never changes the live file or its folder`(_ statement: String) async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/live.sqlite"
            let live = try DatabaseQueue(path: path)
            try await live.write { db in
                try db.execute(
                    sql: "CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO author VALUES (1, 'Verne')")
            }
            try live.close()
            let before = try contents(of: folder)
            var configuration = ScriptHost.Configuration()
            configuration.libraries = .trusted
            configuration.allowsFiles = true
            let preview = try await ScriptPreview(of: .queue(path, inEveryContext: true), configuration: configuration)
            try await preview.host.run(source: "path = ...", arguments: path)
            // The script may work there or be refused.
            try? await preview.host.run(source: statement)
            try? await preview.host.run(source: "db:execute('DELETE FROM author')")
            _ = try await preview.finish()
            #expect(try contents(of: folder) == before)
        }
    }

    @Test(arguments: [DependencyContainer.Context.test, .preview])
    func `a host of a test or preview cannot open the live file`(_ context: DependencyContainer.Context) async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/live.sqlite"
            let live = try DatabasePool(path: path)
            try await live.write { db in try db.execute(sql: "CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT)") }
            try live.close()
            let before = try contents(of: folder)
            try await DependencyContainer.inProcess(context) {
                try await DependencyContainer.prepare {
                    $0.defaultDatabase = .pool(
                        path, migrations: .inTransaction { db in try db.execute(sql: "CREATE TABLE more (a)") })
                }
                let pool = try await ScriptPool(size: 2)
                try await pool.withHost { host in
                    try await host.run(
                        source: "db:execute('DROP TABLE IF EXISTS author; DROP TABLE more; VACUUM; CREATE TABLE again (a)')")
                }
                let host = try await ScriptHost()
                try await host.run(source: "perilune.record('again'):fetch_count()")
                try await DependencyContainer.close()
            }
            #expect(try contents(of: folder) == before)
        }
    }
}
