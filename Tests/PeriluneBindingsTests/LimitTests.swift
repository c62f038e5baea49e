import Foundation
import GRDB
import Perilune
import PeriluneLua
import PeriluneLuaFileTools
import PeriluneTestTools
import Synchronization
import Testing

/// Scripts that never end, in Lua code, in SQL and in callbacks. The host must be able to end each of them.
private let endless: [(name: String, source: String)] = [
    ("a loop in a transaction", "db:write(function(db) db:execute('INSERT INTO t VALUES (2)') while true do end end)"),
    (
        "a loop that catches",
        "while true do pcall(db.write, db, function(db) db:execute('INSERT INTO t VALUES (2)') while true do end end) end"
    ),
    ("an endless query", "db:write(function(db) db:execute('INSERT INTO t VALUES (2)') db:fetch_value([[\(recursion)]]) end)"),
    (
        "an endless query that is caught",
        "db:write(function(db) db:execute('INSERT INTO t VALUES (2)') while true do pcall(db.fetch_value, db, [[\(recursion)]]) end end)"
    ),
    ("an endless query outside of blocks", "db:fetch_value([[\(recursion)]])"),
    ("an endless list", "db:fetch_all([[\(rows)]])"),
    ("an endless cursor", "for row in db:rows([[\(rows)]]) do end"),
    ("endless tuples in a block", "db:read(function(db) for i in db:tuples([[\(rows)]]) do end end)"),
    ("an endless insert", "db:execute('INSERT INTO t ' .. [[\(rows)]])"),
    (
        "an endless insert in a savepoint",
        "db:write(function(db) db:execute('INSERT INTO t VALUES (2)') db:in_savepoint(function(db) db:execute('INSERT INTO t ' .. [[\(rows)]]) end) end)"
    ),
    ("an endless INSERT that returns", "db:fetch_all('INSERT INTO t ' .. [[\(rows)]] .. ' RETURNING a')"),
    (
        "an SQL function",
        "db:add_function('f', 0, function() while true do end end) db:write(function(db) db:execute('INSERT INTO t VALUES (2), (f())') end)"
    ),
    (
        "an SQL function that catches",
        "db:add_function('f', 0, function() while true do pcall(function() while true do end end) end end) db:execute('INSERT INTO t VALUES (2), (f())')"
    ),
    (
        "an SQL function in a cursor",
        "db:add_function('f', 1, function(i) if i > 3 then while true do end end return i end) for row in db:rows('SELECT f(i) FROM (' .. [[\(rows)]] .. ')') do end"
    ),
    (
        "an aggregate",
        "db:add_aggregate('g', 1, { initial = 0, step = function(s, i) if i > 3 then while true do end end return s end }) db:fetch_value('SELECT g(i) FROM (' .. [[\(rows)]] .. ')')"
    ),
    (
        "a collation",
        "db:add_collation('c', function(a, b) while true do end end) db:fetch_all([[SELECT 'a' AS x UNION ALL SELECT 'b' ORDER BY x COLLATE c]])"
    ),
    (
        "a conversion",
        "local v = setmetatable({}, { __to_database = function() while true do end end }) db:write(function(db) db:execute('INSERT INTO t VALUES (2)') db:execute('INSERT INTO t VALUES (?)', v) end)"
    ),
    (
        "a trace",
        "local on = false local q = perilune.queue(nil, { trace = function() while on do end end }) on = true q:write(function(db) db:execute('SELECT 1') end)"
    ),
    (
        "a trace of an opening",
        "perilune.queue(nil, { trace = function() while true do end end })"
    ),
    (
        "a trace of a commit",
        "local q = perilune.queue(nil, { trace = function(event) while event.sql:find('COMMIT') do end end }) q:write(function(db) db:execute('SELECT 1') end)"
    ),
    (
        "a coroutine in a block",
        "db:write(function(db) db:execute('INSERT INTO t VALUES (2)') coroutine.wrap(function() while true do end end)() end)"
    ),
    ("statements without end", "db:write(function(db) while true do db:execute('INSERT INTO t VALUES (2)') end end)"),
    ("prepared statements without end", "local s = db:prepare('SELECT 1') while true do s:fetch_value() end"),
    ("databases without end", "while true do perilune.queue():execute('CREATE TABLE t (a)') end"),
    (
        "a transaction in SQL",
        "db:write_without_transaction(function(db) db:execute('BEGIN; INSERT INTO t VALUES (2)') while true do end end)"
    ),
    (
        "two databases",
        "perilune.queue():write(function() db:write(function(db) db:execute('INSERT INTO t VALUES (2)') while true do end end) end)"
    ),
]

private let recursion = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT MAX(i) FROM n"
private let rows = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"

@Suite(.serialized, .patience) struct LimitTests {
    private static let longTime = Duration.seconds(600)

    /// Interrupts a script, and checks that its changes are undone and the host still works.
    ///
    /// - Parameter time: The time limit of the tested run. The steps before and after the run have no limit.
    private func check(
        _ source: String, endedBy code: LuaError.Code, within time: Duration = longTime,
        _ configure: (inout ScriptHost.Configuration) -> Void, onceRunning act: ((ScriptHost) async -> Void)? = nil
    ) async throws {
        let host = try testHost(configure)
        try await host.runChecked("db:execute('CREATE TABLE t (a); INSERT INTO t VALUES (1)')")
        let begun = await host.registerBegin()
        await host.limitTime(to: time)
        let run = Task { try await host.runChecked("begin() " + source) }
        if let act {
            await begun.wait()
            await act(host)
        }
        let error = await #expect(throws: LuaError.self) { try await run.value }
        await host.limitTime(to: Self.longTime)
        #expect(error?.code == code)
        try await host.runChecked(
            """
            equal(db:is_inside_transaction(), false)
            local inserted = db:fetch_value("SELECT COUNT(*) FROM t WHERE a = 2")
            equal(inserted, 0)
            equal(db:fetch_value("SELECT 'a' < 'B' COLLATE NOCASE"), 1)
            equal(db:fetch_values("SELECT x FROM (SELECT 'b' AS x UNION ALL SELECT 'a') ORDER BY x"), { "a", "b" })
            fails("sql", db.execute, db, "nonsense")
            db:execute("INSERT INTO t VALUES (3)")
            db:write(function(db) db:execute("INSERT INTO t VALUES (4)") end)
            db:execute("DROP TABLE t")
            equal(db:fetch_value("PRAGMA integrity_check"), "ok")
            """)
    }

    @Test(arguments: endless.indices) func `the time limit ends every kind of endless script`(_ index: Int) async throws {
        try await check(endless[index].source, endedBy: .timeout, within: .milliseconds(300)) { $0.limits.time = Self.longTime }
    }

    @Test(arguments: endless.indices) func `the instruction limit ends every kind of endless script`(_ index: Int) async throws {
        try await check(endless[index].source, endedBy: .budget) { $0.limits.instructions = 500_000 }
    }

    @Test(arguments: endless.indices) func `cancellation ends every kind of endless script`(_ index: Int) async throws {
        try await check(endless[index].source, endedBy: .cancelled) {
            $0.limits.isCancellable = true
        } onceRunning: {
            await Self.cancelInTheMiddle($0)
        }
    }

    @Test func `cancellation ends slow SQL in a host without limits`() async throws {
        for source in endless.map(\.source) where source.contains("MAX(i)") && !source.contains("pcall") {
            try await check(source, endedBy: .cancelled) { _ in
            } onceRunning: {
                await Self.cancelInTheMiddle($0)
            }
        }
    }

    /// Runs endless code, and cancels it once it has called `begin`.
    private func cancel(_ source: String, in host: ScriptHost) async throws {
        let begun = await host.registerBegin()
        let run = Task { try await host.run(source: source) }
        await begun.wait()
        await Self.cancelInTheMiddle(host)
        let error = await #expect(throws: LuaError.self) { try await run.value }
        #expect(error?.code == .cancelled)
    }

    @Test func `records stay unchanged if their insertion is interrupted`() async throws {
        let host = try testHost { $0.limits.isCancellable = true }
        try await host.runChecked(
            """
            db:execute("CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT)")
            Author, list = perilune.record "author", {}
            for i = 1, 100 do list[i] = Author{ name = "n" .. i } end
            list[100].name = setmetatable({}, { __to_database = function() begin() while true do end end })
            """)
        try await cancel("Author:insert_all(list)", in: host)
        try await host.runChecked(
            """
            equal(Author:fetch_count(), 0)
            for i = 1, 100 do equal({ rawget(list[i], "id"), list[i]:has_changes() }, { nil, true }) end
            list[100] = Author{ name = "n100" }
            equal(#Author:insert_all(list), 100)
            """)
    }

    @Test func `perilune.with restores the default database if the run is interrupted`() async throws {
        let host = try testHost { $0.limits.isCancellable = true }
        try await host.runChecked("own = db other = perilune.queue() other:execute('CREATE TABLE other (a)')")
        try await cancel("perilune.with({ database = other }, function() begin() while true do end end)", in: host)
        try await host.runChecked(
            "equal({ rawequal(db, own), rawequal(perilune.database, own), db:table_exists('other') }, { true, true, false })")
    }

    /// Cancels the run after yielding thousands of times, so that the script has reached its endless loop.
    private static func cancelInTheMiddle(_ host: ScriptHost) async {
        for _ in 0..<5000 { await Task.yield() }
        host.cancel()
    }

    @Test(arguments: [
        "db:write(function(db) db:execute('INSERT INTO t VALUES (2)') local list = {} while true do list[#list + 1] = ('x'):rep(1000) .. #list end end)",
        "db:write(function(db) db:execute('INSERT INTO t VALUES (2)') db:fetch_all([[\(rows)]]) end)",
        "db:write(function(db) db:execute('INSERT INTO t VALUES (2)') pcall(db.fetch_all, db, [[\(rows)]]) while true do end end)",
        "db:write(function(db) db:execute('INSERT INTO t VALUES (2)') db:fetch_values([[\(rows)]]) end)",
        "db:write(function(db) db:execute('INSERT INTO t VALUES (2)') db:fetch_set([[\(rows)]]) end)",
        "db:write(function(db) db:execute('INSERT INTO t VALUES (2)') local list = {} for row in db:rows([[\(rows)]]) do list[#list + 1] = row end end)",
        "db:write(function(db) db:execute('INSERT INTO t VALUES (2)') db:execute('INSERT INTO t ' .. [[\(rows)]]) end)",
        "db:write(function(db) db:execute('INSERT INTO t VALUES (2)') while true do db:execute('INSERT INTO t VALUES (zeroblob(1000000))') end end)",
        "db:execute('CREATE TABLE other (a)') while true do db:execute('INSERT INTO other VALUES (zeroblob(1000000))') end",
        "local list = {} while true do local q = perilune.queue() q:execute('CREATE TABLE t (a)') q:execute('INSERT INTO t VALUES (zeroblob(1000000))') list[#list + 1] = q end",
        "db:add_function('f', 0, function() local list = {} while true do list[#list + 1] = ('x'):rep(1000) .. #list end end) db:execute('INSERT INTO t VALUES (2), (f())')",
        "db:add_function('f', 0, function() return ('x'):rep(900000000) end) db:write(function(db) db:execute('INSERT INTO t VALUES (2), (f())') end)",
        "db:write(function(db) db:execute('INSERT INTO t VALUES (2)') local list = {} while true do list[#list + 1] = db:prepare('SELECT ' .. #list) end end)",
        "db:write(function(db) db:execute('INSERT INTO t VALUES (2)') local list = {} while true do list[#list + 1] = db:rows('SELECT 1') end end)",
        "db:execute('CREATE TABLE u (id TEXT PRIMARY KEY)') db:record_changes(function(db) for i = 1, math.huge do db:execute('INSERT INTO u VALUES (?)', ('x'):rep(10000) .. i) db:execute('DELETE FROM u') end end)",
        "db:execute('CREATE TABLE u (id INTEGER PRIMARY KEY)') db:record_changes(function(db) db:execute('INSERT INTO u ' .. [[\(rows)]]) end)",
    ]) func `the memory limit ends every kind of endless script`(_ source: String) async throws {
        try await check(source, endedBy: .memory) {
            $0.limits.memoryInBytes = 16 << 20
            $0.limits.time = Self.longTime
        }
    }

    /// Statements that make SQLite allocate much memory in a few steps or during compilation.
    @Test(arguments: [
        "local columns = {} for i = 1, 1990 do columns[i] = 'zeroblob(10000000)' end db:fetch_all('SELECT ' .. table.concat(columns, ', '))",
        "db:fetch_value([[SELECT json_group_array(printf('%01000d', i)) FROM (\(rows))]])",
        "db:fetch_value([[SELECT group_concat(printf('%0100000d', i)) FROM (\(rows))]])",
        """
        local parts = { "a0 AS (SELECT 1 AS x)" }
        for i = 1, 60 do parts[#parts + 1] = ("a%d AS (SELECT p.x FROM a%d p, a%d q)"):format(i, i - 1, i - 1) end
        db:fetch_value("WITH " .. table.concat(parts, ", ") .. " SELECT COUNT(*) FROM a60")
        """,
        """
        db:execute("CREATE TABLE v0 (x)")
        for i = 1, 60 do db:execute(("CREATE VIEW v%d AS SELECT p.x FROM v%d p, v%d q"):format(i, i - 1, i - 1)) end
        db:fetch_value("SELECT COUNT(*) FROM v60")
        """,
        "local q = perilune.queue() q:execute('CREATE TABLE t (a)') q:execute([[INSERT INTO t SELECT zeroblob(100000) FROM (\(rows))]])",
        "local s = db:prepare('SELECT length(?)') while true do pcall(db.fetch_value, db, 'SELECT zeroblob(15000000) || zeroblob(15000000)') end",
    ]) func `memory that SQLite allocates counts toward the limit, even while it compiles SQL`(_ source: String) async throws {
        let error = await failure(of: source) {
            $0.limits.memoryInBytes = 16 << 20
            $0.limits.time = .seconds(20)
        }
        #expect(
            error?.code == .memory || (source.contains("pcall") || source.contains("a60")) && error?.code == .timeout,
            "\(String(describing: error))")
    }

    /// If SQLite cannot allocate the zeros of a zeroblob in a row that a hook reads, it ends the process.
    ///
    /// While a cursor is open, SQLite's own function creates the zeros.
    @Test(
        arguments: [
            "db:record_changes(function(db) db:execute('INSERT INTO t (a) VALUES (zeroblob(1000000))') end)",
            "db:observe_transactions{ on_change = function() end } db:execute('INSERT INTO t (a) VALUES (zeroblob(1000000))')",
            "db:observe_transactions{ on_change = function() end } db:execute('UPDATE t SET a = zeroblob(1000000)')",
        ], [false, true])
    func `zeroblobs in rows that a hook reads are allocated or end the script`(_ source: String, hasCursor: Bool) async throws {
        for tenths in stride(from: 120, to: 160, by: 4) {
            let queue = try DatabaseQueue()
            try await queue.write {
                try $0.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 2)")
            }
            nonisolated(unsafe) var cursor: FastDatabaseValueCursor<Int>?
            if hasCursor {
                try await queue.write { db in
                    cursor = try Int.fetchCursor(db, sql: "SELECT 1 UNION ALL SELECT 2")
                    _ = try cursor?.next()
                }
            }
            let host = try testHost {
                $0.database = .existing(queue)
                $0.limits.memoryInBytes = 16 << 20
            }
            do {
                try await host.runChecked(
                    "local list = {} for i = 1, \(tenths) do list[i] = ('x'):rep(100000) .. i end \(source)")
            } catch let error as LuaError {
                #expect(error.code == .memory)
            }
            try await queue.write { _ in cursor = nil }
        }
    }

    /// SQLite turns text into NULL if it has no memory to terminate it.
    @Test func `SQL text that cannot be allocated ends the script`() async throws {
        for width in 780..<840 {
            let error = await failure(of: "db:fetch_values([[SELECT replace(printf('%\(width)d', i), '0', '0') FROM (\(rows))]])")
            {
                $0.limits.memoryInBytes = 4 << 20
            }
            #expect(error?.code == .memory)
        }
    }

    @Test func `a script commits nothing after its time limit`() async throws {
        let host = try testHost { $0.limits.time = Self.longTime }
        try await host.runChecked("db:execute('CREATE TABLE t (a)')")
        await host.limitTime(to: .milliseconds(200))
        // A single function call that nothing interrupts.
        let error = await #expect(throws: LuaError.self) {
            try await host.runChecked(
                """
                db:write(function(d) d:execute("INSERT INTO t VALUES (2)") d:fetch_value("SELECT length(hex(randomblob(100000000)))") end)
                """)
        }
        #expect(error?.code == .timeout)
        await host.limitTime(to: Self.longTime)
        try await host.runChecked("equal(db:fetch_value('SELECT COUNT(*) FROM t'), 0)")
    }

    @Test func `an SQL value that exceeds the memory limit is an error`() async throws {
        try await script(
            """
            for _, sql in ipairs{ "SELECT zeroblob(900000000)", "SELECT length(randomblob(900000000))" } do
              fails("toobig", db.fetch_value, db, sql)
            end
            db:execute("CREATE TABLE t (a)")
            fails("toobig", db.execute, db, "INSERT INTO t VALUES (zeroblob(20000000))")
            db:execute("INSERT INTO t VALUES (zeroblob(1000000))")
            local err = fails("toobig", db.execute, db, ("SELECT 1;"):rep(150000))
            equal(err.message:match("the SQL has .*"), "the SQL has 1350000 bytes, more than the 1048576 that a text may have here; execute it in parts")
            db:execute(("SELECT 1;"):rep(10000))
            """
        ) { $0.limits.memoryInBytes = 16 << 20 }
    }

    @Test func `data that earlier runs have stored does not count toward the memory limit`() async throws {
        let host = try testHost { $0.limits.memoryInBytes = 16 << 20 }
        try await host.runChecked("db:execute('CREATE TABLE t (a)')")
        for _ in 0..<5 {
            try await host.runChecked("for i = 1, 12 do db:execute('INSERT INTO t VALUES (zeroblob(1000000))') end")
        }
        try await host.runChecked("equal(db:fetch_value('SELECT SUM(length(a)) FROM t'), 60000000)")
    }

    /// The memory limit applies to all tasks of a script together.
    @Test(arguments: [
        "for _ = 1, 5 do perilune.spawn(fill) end",
        "for i = 1, 5 do perilune.spawn(function() perilune.sleep(i / 1000) fill() end) end",
        "for i = 1, 5 do perilune.after(i / 1000, fill) end",
        "local count, timer = 0 timer = perilune.every(0.001, function() count = count + 1 if count == 5 then timer:cancel() end fill() end)",
        "perilune.on_error(fill) for _ = 1, 5 do perilune.spawn(error, 'x') end",
        """
        db:execute('CREATE TABLE u (a)') db:observe(function(db) return db:fetch_value('SELECT COUNT(*) FROM u') end, fill, { keeps_alive = false })
        for i = 1, 5 do perilune.after(i / 1000, function() db:execute('INSERT INTO u VALUES (1)') end) end
        """,
        "local a = perilune.automation{ name = 'a', on = { event = 'go' }, run = fill } for i = 1, 5 do perilune.after(i / 1000, function() a:run() end) end",
    ]) func `data of a script's tasks counts toward the script's memory limit`(_ source: String) async throws {
        let host = try testHost { $0.limits.memoryInBytes = 16 << 20 }
        try await host.runChecked(
            """
            db:execute('CREATE TABLE t (a)')
            function fill() for i = 1, 6 do db:execute('INSERT INTO t VALUES (zeroblob(1000000))') end end

            """ + source)
        try? await host.waitUntilIdle()
        // The next run of the host has the whole limit.
        try await host.runChecked("assert(db:fetch_value('SELECT SUM(length(a)) FROM t') < 16 << 20) fill()")
    }

    @Test func `os.exit in a write block rolls back`() async throws {
        try await check(
            "db:write(function(db) db:execute('INSERT INTO t VALUES (2)') pcall(os.exit, 3) while true do end end)",
            endedBy: .exit
        ) { _ in }
    }

    @Test func `a script that is ended inside a cursor does not affect the next script`() async throws {
        let host = try testHost { $0.limits.time = Self.longTime }
        try await host.runChecked("db:execute('CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)')")
        for _ in 0..<5 {
            await host.limitTime(to: .milliseconds(200))
            await #expect(throws: LuaError.self) {
                try await host.runChecked("for row in db:rows('SELECT a FROM t') do kept = row while true do end end")
            }
            await #expect(throws: LuaError.self) {
                try await host.runChecked("iterator = db:rows('SELECT a FROM t') iterator() while true do end")
            }
            await host.limitTime(to: Self.longTime)
            try await host.runChecked(
                """
                db:execute("INSERT INTO t VALUES (3)")
                pcall(iterator)
                iterator = nil
                collectgarbage()
                db:execute("DELETE FROM t WHERE a = 3")
                db:execute("DROP TABLE t")
                db:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
                """)
        }
    }

    @Test func `the memory limit bounds the number of timers`() async throws {
        try await script(
            """
            local timers = {}
            local err = fails("limit", function()
              for i = 1, 20000 do timers[i] = perilune.after(1000, print) end
            end)
            matches(err, "256 timers, tasks and observations")
            for _, timer in ipairs(timers) do timer:cancel() end
            """
        ) { $0.limits.memoryInBytes = 8 << 20 }
    }

    /// The SQL function `cancel` cancels the run, and SQLite would commit the statement without another check for interruptions.
    @Test(arguments: [
        "db:execute('INSERT INTO t VALUES (cancel())')", "db:fetch_all('INSERT INTO t VALUES (cancel()) RETURNING a')",
        "db:execute('INSERT INTO t VALUES (2); INSERT INTO t VALUES (cancel())')",
        "db:execute('CREATE TABLE u AS SELECT cancel()')",
        "db:write_without_transaction(function(db) db:execute('BEGIN; INSERT INTO t VALUES (cancel()); COMMIT') end)",
        "db:write_without_transaction(function(db) db:execute('SAVEPOINT s; INSERT INTO t VALUES (cancel()); RELEASE s') end)",
    ]) func `a statement that would commit after the end of its run is refused`(_ source: String) async throws {
        let queue = try DatabaseQueue()
        let cancelled = Mutex<ScriptHost?>(nil)
        try await queue.write { db in
            try db.execute(sql: "CREATE TABLE t (a UNIQUE)")
            db.add(
                function: DatabaseFunction("cancel", argumentCount: 0) { _ in
                    cancelled.withLock { $0?.cancel() }
                    return 3
                })
        }
        let host = try testHost {
            $0.database = .existing(queue)
            $0.limits.time = Self.longTime
        }
        cancelled.withLock { $0 = host }
        let error = await #expect(throws: LuaError.self) { try await host.runChecked(source) }
        #expect(error?.code == .cancelled)
        let left = try await queue.read { db in
            try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t WHERE a = 3")! + (db.tableExists("u") ? 1 : 0)
        }
        #expect(left == 0)
        cancelled.withLock { $0 = nil }
        try await host.runChecked("db:execute('INSERT INTO t VALUES (4)') assert(db:fetch_value('SELECT MAX(a) FROM t') == 4)")
    }
}
