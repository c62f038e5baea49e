import Foundation
import GRDB
import Perilune
import PeriluneLua
import PeriluneTestTools
import Synchronization
import Testing

/// Observations in hosts, which must deliver changes by every writer and nothing after they end.
@Suite(.patience) struct ObservationTests {
    private func makePool() throws -> DatabasePool {
        let path = NSTemporaryDirectory() + "/perilune-observation-\(UUID().uuidString).sqlite"
        let pool = try DatabasePool(path: path)
        try pool.write { try $0.execute(sql: "CREATE TABLE item (id INTEGER PRIMARY KEY, owner INTEGER, amount INTEGER)") }
        return pool
    }

    private func makeHost(
        over writer: any DatabaseWriter, _ place: ScriptPlace = .here,
        _ configure: (inout ScriptHost.Configuration) -> Void = { _ in }
    ) async throws -> ScriptHost {
        var configuration = place.configuration(ScriptHost.Configuration(database: .existing(writer)))
        configure(&configuration)
        return try await ScriptHost(configuration)
    }

    /// Other hosts may still have the database open.
    private func remove(_ pool: DatabasePool) throws {
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: pool.path + suffix) }
    }

    /// Waits until a global function in a host returns true.
    private func wait(for condition: String, in host: ScriptHost) async throws {
        #expect(try await eventually { try await host.call(condition) }, "\(condition) has not come true")
    }

    private static let counting = """
        values = {}
        observation = db:observe(function(db) return db:fetch_value("SELECT COUNT(*) FROM item") end,
          function(count) values[#values + 1] = count end)
        function has_first() return #values == 1 end
        function has_second() return #values == 2 end
        function has_third() return #values == 3 end
        """

    @Test func `a script is notified of writes by Swift and other scripts`() async throws {
        let pool = try makePool()
        let host = try await makeHost(over: pool), other = try await makeHost(over: pool)
        try await host.run(source: Self.counting)
        try await wait(for: "has_first", in: host)
        try await pool.write { try $0.execute(sql: "INSERT INTO item DEFAULT VALUES") }
        try await wait(for: "has_second", in: host)
        try await other.run(
            source: "db:write(function(db) db:execute('INSERT INTO item DEFAULT VALUES; INSERT INTO item DEFAULT VALUES') end)")
        try await wait(for: "has_third", in: host)
        let last: Int = try await host.run(source: "return values[3]")
        #expect(last == 3)
        try await host.run(source: "observation:cancel()")
        try await host.waitUntilIdle()
        try remove(pool)
    }

    @Test func `an isolated script is notified of writes by Swift and other processes if it polls`() async throws {
        let pool = try makePool()
        // The virtual time of tests advances while a script waits.
        let looking = Self.counting.replacing(
            "values[#values + 1] = count end)", with: "values[#values + 1] = count end, { poll = '5ms' })"
        )
        .replacing("() return #", with: "() perilune.sleep('10ms') return #")
        let host = try await makeHost(over: pool, .isolated), other = try await makeHost(over: pool, .isolated)
        try await host.run(source: looking)
        try await wait(for: "has_first", in: host)
        try await pool.write { try $0.execute(sql: "INSERT INTO item DEFAULT VALUES") }
        try await wait(for: "has_second", in: host)
        try await other.run(
            source: "db:write(function(db) db:execute('INSERT INTO item DEFAULT VALUES; INSERT INTO item DEFAULT VALUES') end)")
        try await wait(for: "has_third", in: host)
        #expect(try await host.run(source: "return values[3]") == 3)
        // A script's own writes need no polling.
        try await host.run(
            source:
                "observation:cancel() values = {} observation = db:observe(function(db) return db:fetch_value('SELECT COUNT(*) FROM item') end, function(count) values[#values + 1] = count end)"
        )
        try await wait(for: "has_first", in: host)
        try await host.run(source: "db:execute('DELETE FROM item')")
        try await wait(for: "has_second", in: host)
        #expect(try await host.run(source: "return values[2]") == 0)
        try await host.run(source: "observation:cancel()")
        try await host.waitUntilIdle()
        try remove(pool)
    }

    @Test func `transaction observers are notified of transactions by Swift and other scripts after the commit`() async throws {
        let pool = try makePool()
        let host = try await makeHost(over: pool), other = try await makeHost(over: pool)
        try await host.run(
            source: """
                log = {}
                db:observe_transactions{
                  on_change = function(event)
                    local value = event.new or event.old
                    log[#log + 1] = event.operation .. " " .. event.row_id .. (value and " " .. value.amount or "")
                  end,
                  will_commit = function() log[#log + 1] = "will commit" end,
                  did_commit = function(db) log[#log + 1] = "commit " .. db:fetch_value("SELECT COUNT(*) FROM item") end,
                  did_rollback = function() log[#log + 1] = "rollback" end,
                }
                function taken() local text = table.concat(log, ", ") log = {} return text end
                function has_committed() return #log > 0 and log[#log]:find("^commit") ~= nil end
                """)
        func told() async throws -> String {
            try await wait(for: "has_committed", in: host)
            return try await host.call("taken")
        }
        try await pool.write {
            try $0.execute(sql: "INSERT INTO item (amount) VALUES (7), (8); UPDATE item SET amount = 9 WHERE id = 1")
        }
        #expect(try await told() == "insert 1 7, insert 2 8, update 1 9, commit 2")
        try? await pool.write { db in
            try db.execute(sql: "DELETE FROM item")
            throw CancellationError()
        }
        try await other.run(
            source: """
                db:write(function(db)
                  db:execute("DELETE FROM item WHERE id = 1")
                  db:in_savepoint(function(db) db:execute("DELETE FROM item") return "rollback" end)
                  db:in_savepoint(function(db) db:execute("INSERT INTO item (amount) VALUES (10)") return "commit" end)
                end)
                """)
        #expect(try await told() == "delete 1 9, insert 3 10, commit 2")
        // Changes by Swift inside savepoints are reported when the savepoints are released, without values.
        try await pool.write { db in
            try db.execute(sql: "INSERT INTO item (amount) VALUES (11)")
            try db.inSavepoint {
                try db.execute(sql: "INSERT INTO item (amount) VALUES (12)")
                try db.inSavepoint {
                    try db.execute(sql: "DELETE FROM item")
                    return .rollback
                }
                return .commit
            }
            try db.execute(sql: "INSERT INTO item (amount) VALUES (13)")
        }
        #expect(try await told() == "insert 4 11, insert 5, insert 6 13, commit 5")
        try await host.run(source: "db:execute('DELETE FROM item WHERE id = 6')")
        #expect(try await host.call("taken") as String == "delete 6 13, will commit, commit 4")
        try remove(pool)
    }

    @Test func `changes that exceed the queue are reported as "many"`() async throws {
        let queue = try DatabaseQueue()
        try await queue.write { try $0.execute(sql: "CREATE TABLE item (amount)") }
        let host = try await makeHost(over: queue)
        try await host.run(
            source: """
                count, last, commits = 0, nil, 0
                db:observe_transactions{ on_change = function(event) count, last = count + 1, event.operation end,
                  did_commit = function() commits = commits + 1 end }
                function is_done() return commits == 1 end
                """)
        try await queue.write {
            try $0.execute(
                sql:
                    "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 150000) INSERT INTO item SELECT i FROM n"
            )
        }
        try await wait(for: "is_done", in: host)
        let count: Int = try await host.run(source: "return count"), last: String = try await host.run(source: "return last")
        #expect(count == 100_001)
        #expect(last == "many")
    }

    @Test(arguments: ScriptPlace.allCases)
    func `Swift receives the values of a function as a sequence`(_ place: ScriptPlace) async throws {
        struct Total: Decodable, Sendable, Equatable { var count: Int, sum: Int? }
        let queue = try makePool()
        let host = try await makeHost(over: queue, place)
        try await host.run(
            source: """
                reports = {}
                function reports.total(db) return db:fetch_one("SELECT COUNT(*) AS count, SUM(amount) AS sum FROM item") end
                """)
        var totals: [Total] = []
        for try await total: Total in host.values(of: "reports.total") {
            totals.append(total)
            if totals.count == 4 { break }
            if totals.count == 2 {
                try await host.run(source: "db:execute('INSERT INTO item (amount) VALUES (5)')")
            } else {
                try await queue.write { try $0.execute(sql: "INSERT INTO item (amount) VALUES (1)") }
            }
        }
        #expect(totals == [Total(count: 0, sum: nil), Total(count: 1, sum: 1), Total(count: 2, sum: 6), Total(count: 3, sum: 7)])
        try remove(queue)
    }

    @Test(arguments: ScriptPlace.allCases)
    func `an observation's sequence of results continues after errors and ends with its task`(_ place: ScriptPlace) async throws {
        let queue = try makePool()
        let host = try await makeHost(over: queue, place)
        try await host.run(
            source:
                "function count(db) local n = db:fetch_value('SELECT COUNT(*) FROM item') if n == 1 then error('one', 0) end return n end"
        )
        let (received, continuation) = AsyncStream<Int>.makeStream()
        let task = Task {
            for await result in host.results(of: "count", as: Int.self) { continuation.yield((try? result.get()) ?? -1) }
            continuation.finish()
        }
        var iterator = received.makeAsyncIterator()
        #expect(await iterator.next() == 0)
        try await queue.write { try $0.execute(sql: "INSERT INTO item (amount) VALUES (1)") }
        #expect(await iterator.next() == -1)
        try await queue.write { try $0.execute(sql: "INSERT INTO item (amount) VALUES (1)") }
        #expect(await iterator.next() == 2)
        task.cancel()
        #expect(await iterator.next() == nil)
        await #expect(throws: LuaError.self) { for try await _ in host.values(of: "nothing", as: Int.self) {} }
        var missing = host.results(of: "nothing", as: Int.self).makeAsyncIterator()
        #expect(try await { if case .failure? = $0 { true } else { false } }(missing.next()))
        #expect(try await missing.next() == nil)
        try remove(queue)
    }

    @Test(arguments: ScriptPlace.allCases)
    func `an observation's sequence of values throws the function's error and ends`(_ place: ScriptPlace) async throws {
        let host = try await place.host()
        try await host.run(source: "function fails(db) db:fetch_value('SELECT 1 FROM sqlite_master') error('no', 0) end")
        var values = host.values(of: "fails", as: Int.self).makeAsyncIterator()
        await #expect(throws: LuaError.self) { try await values.next() }
        try await host.run(source: "db:execute('CREATE TABLE other (a)') function fails() return 1 end")
        #expect(try await values.next() == nil)
        var shared = host.observation(of: "fails", as: String.self).values.makeAsyncIterator()
        await #expect(throws: LuaError.self) { try await shared.next() }
        #expect(try await shared.next() == nil)
    }

    // MARK: - Shared by several loops

    private func makeCountingHost(_ place: ScriptPlace) async throws -> (host: ScriptHost, pool: DatabasePool) {
        let pool = try makePool()
        let host = try await makeHost(over: pool, place)
        try await host.run(
            source: """
                fetches = 0
                function count(db) fetches = fetches + 1 return db:fetch_value("SELECT COUNT(*) FROM item") end
                function total(db) return db:fetch_value("SELECT TOTAL(amount) FROM item") // 1 | 0 end
                function fails(db) if db:fetch_value("SELECT COUNT(*) FROM item") == 1 then error("one", 0) end return 7 end
                """)
        return (host, pool)
    }

    private func insert(_ amount: Int, into pool: DatabasePool) async throws {
        try await pool.write { try $0.execute(sql: "INSERT INTO item (amount) VALUES (?)", arguments: [amount]) }
    }

    @Test(arguments: ScriptPlace.allCases)
    func `several loops share one observation, which fetches once for all of them and only while they exist`(
        _ place: ScriptPlace
    ) async throws {
        let (host, pool) = try await makeCountingHost(place)
        let counts = host.observation(of: "count", as: Int.self)
        var first = counts.values.makeAsyncIterator()
        #expect(try await first.next() == 0)
        var second = Optional(counts.values.makeAsyncIterator())
        #expect(try await second?.next() == 0)
        try await insert(5, into: pool)
        #expect(try await first.next() == 1)
        #expect(try await second?.next() == 1)
        second = nil
        try await insert(5, into: pool)
        #expect(try await first.next() == 2)
        let fetches: Int = try await host.run(source: "return fetches")
        #expect(fetches == 3)
        try remove(pool)
    }

    @Test(arguments: ScriptPlace.allCases)
    func `a loop over a shared observation that restarts gets the last value and later changes`(
        _ place: ScriptPlace
    ) async throws {
        let (host, pool) = try await makeCountingHost(place)
        let counts = host.observation(of: "count", as: Int.self)
        for try await count in counts.values {
            #expect(count == 0)
            break
        }
        try await insert(5, into: pool)
        var received: [Int] = []
        for try await count in counts.values {
            received.append(count)
            if count == 1 { break }
        }
        #expect(received == [1] || received == [0, 1])
        try remove(pool)
    }

    @Test(arguments: ScriptPlace.allCases)
    func `an observation can be paused, resumed and switched to another function`(
        _ place: ScriptPlace
    ) async throws {
        let (host, pool) = try await makeCountingHost(place)
        let values = host.observation(of: "count", as: Int.self)
        var iterator = values.values.makeAsyncIterator()
        #expect(try await iterator.next() == 0)
        #expect(try await values.pause())
        #expect(try await !values.pause())
        try await insert(5, into: pool)
        try await insert(6, into: pool)
        #expect(try await values.resume())
        #expect(try await !values.resume())
        // Changes during the pause are delivered as one value.
        #expect(try await iterator.next() == 2)
        try await values.change(to: "total")
        #expect(try await iterator.next() == 11)
        try await insert(9, into: pool)
        #expect(try await iterator.next() == 20)
        let error = await #expect(throws: LuaError.self) { try await values.change(to: "nothing") }
        #expect(error?.message.contains("nothing") == true, "\(error?.message ?? "")")
        let unbegun = host.observation(of: "nothing", as: Int.self)
        try await unbegun.change(to: "count")
        var other = unbegun.values.makeAsyncIterator()
        #expect(try await other.next() == 3)
        try remove(pool)
    }

    @Test(arguments: ScriptPlace.allCases)
    func `all loops over a shared observation get the function's error and continue, and end if the function is missing`(
        _ place: ScriptPlace
    ) async throws {
        let (host, pool) = try await makeCountingHost(place)
        let values = host.observation(of: "fails", as: Int.self, removesDuplicates: false)
        var first = values.results.makeAsyncIterator(), second = values.results.makeAsyncIterator()
        #expect(try await first.next()?.get() == 7)
        #expect(try await second.next()?.get() == 7)
        try await insert(1, into: pool)
        await #expect(throws: LuaError.self) { try await first.next()?.get() }
        await #expect(throws: LuaError.self) { try await second.next()?.get() }
        try await insert(1, into: pool)
        #expect(try await first.next()?.get() == 7)
        #expect(try await second.next()?.get() == 7)
        var none = host.observation(of: "nothing", as: Int.self).values.makeAsyncIterator()
        await #expect(throws: LuaError.self) { try await none.next() }
        #expect(try await none.next() == nil)
        try remove(pool)
    }

    @Test func `a host that is released while callbacks wait leaves the database usable`() async throws {
        let pool = try makePool()
        for _ in 0..<10 {
            let host = try await makeHost(over: pool)
            try await host.run(
                source: Self.counting + "\ndb:observe_transactions{ on_change = function() end, did_commit = function() end }")
            try await pool.write { try $0.execute(sql: "INSERT INTO item DEFAULT VALUES") }
        }
        let host = try await makeHost(over: pool)
        try await host.run(source: Self.counting)
        try await wait(for: "has_first", in: host)
        let other = try await makeHost(over: pool)
        try await other.run(source: Self.counting)
        try await wait(for: "has_first", in: other)
        await host.endCallbacks()
        try await pool.write { try $0.execute(sql: "INSERT INTO item DEFAULT VALUES") }
        try await wait(for: "has_second", in: other)
        let count: Int = try await host.run(source: "return #values")
        #expect(count == 1)
        try remove(pool)
    }

    @Test func `a callback that loops is ended by its limits, and the observation continues`() async throws {
        let queue = try DatabaseQueue()
        try await queue.write { try $0.execute(sql: "CREATE TABLE item (amount)") }
        let errors = Mutex<[LuaError.Code]>([])
        let host = try await makeHost(over: queue) {
            $0.limits = LuaLimits(time: .seconds(600))
            $0.callbackErrors = .handle { error in errors.withLock { $0.append(error.code) } }
        }
        try await host.run(
            source: """
                db:observe(function(db) return db:fetch_value("SELECT COUNT(*) FROM item") end, function(count)
                  last = count
                  if count == 1 then while true do end end
                end)
                function has(count) return last == count end
                function is_ready() return has(0) end
                function is_done() return has(2) end
                """)
        try await wait(for: "is_ready", in: host)
        await host.limitTime(to: .milliseconds(100))
        try await queue.write { try $0.execute(sql: "INSERT INTO item VALUES (1)") }
        #expect(await eventually { !errors.withLock(\.isEmpty) })
        #expect(errors.withLock { $0 } == [.timeout])
        await host.limitTime(to: .seconds(600))
        try await queue.write { try $0.execute(sql: "INSERT INTO item VALUES (1)") }
        try await wait(for: "is_done", in: host)
    }

    /// Two hosts write while ten observations in other hosts watch. `PERILUNE_SOAK` sets a longer duration in seconds.
    @Test func `every observation receives the last value`() async throws {
        let seconds = ProcessInfo.processInfo.environment["PERILUNE_SOAK"].flatMap(Double.init) ?? 2
        let pool = try makePool()
        let observers = [try await makeHost(over: pool), try await makeHost(over: pool)]
        for (index, host) in observers.enumerated() { try await host.run(source: Self.observing, arguments: index) }
        let sequence = Task {
            for try await state: String in observers[0].values(of: "state") where state.hasPrefix("end") { return state }
            return ""
        }
        let deadline = ContinuousClock.now + .seconds(seconds)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for owner in 1...2 {
                let host = try await makeHost(over: pool)
                group.addTask {
                    try await host.run(source: Self.writing, arguments: owner)
                    while ContinuousClock.now < deadline { try await host.call("write_some") }
                }
            }
            try await group.waitForAll()
        }
        try await pool.write { try $0.execute(sql: "INSERT INTO item (owner, amount) VALUES (0, -1)") }
        for host in observers {
            try await wait(for: "is_final", in: host)
            let difference: String = try await host.call("difference")
            #expect(difference.isEmpty, "\(difference)")
        }
        let state: String = try await observers[1].run(source: "return db:read(state)")
        #expect(try await sequence.value == state)
        let told: Int = try await observers[0].run(source: "return told")
        let commits = try await pool.read { try Int.fetchOne($0, sql: "SELECT MAX(id) FROM item") } ?? 0
        print("soak: \(commits) rows in \(seconds) s, \(told) values told to five observations")
        for host in observers { await host.endCallbacks() }
        try remove(pool)
    }

    private static let writing = """
        local owner = ...
        local round = 0
        function write_some()
          for _ = 1, 20 do
            round = round + 1
            db:execute("INSERT INTO item (owner, amount) VALUES (?, ?)", owner, round)
            pcall(db.write, db, function(db)
              db:execute("UPDATE item SET amount = amount + 1 WHERE owner = ? AND id % 7 = ?", owner, round % 7)
              if round % 5 == 0 then error("undone") end
            end)
            if round % 50 == 0 then db:execute("DELETE FROM item WHERE owner = ? AND id % 2 = 0", owner) end
          end
        end
        """

    private static let observing = """
        local which = ...
        told = 0
        latest = {}
        local queries = {
          "SELECT COUNT(*) FROM item", "SELECT SUM(amount) FROM item WHERE owner = 1", "SELECT SUM(amount) FROM item WHERE owner = 2",
          "SELECT MAX(id) FROM item", "SELECT group_concat(amount) FROM (SELECT amount FROM item ORDER BY id DESC LIMIT 20)",
        }
        for index, sql in ipairs(queries) do
          local function fetch(db) return db:fetch_value(sql) end
          if index < 5 then
            db:observe(fetch, function(value) told, latest[index] = told + 1, value end)
          else
            perilune.spawn(function() for value in db:observe(fetch):values() do told, latest[index] = told + 1, value end end)
          end
        end
        function state(db)
          return (db:fetch_value("SELECT COUNT(*) FROM item WHERE owner = 0") == 1 and "end " or "") .. db:fetch_value("SELECT COUNT(*) FROM item")
        end
        function difference()
          return db:read(function(db)
            local list = {}
            for index, sql in ipairs(queries) do
              local value = db:fetch_value(sql)
              if latest[index] ~= value then list[#list + 1] = sql .. ": " .. tostring(latest[index]) .. " for " .. tostring(value) end
            end
            return table.concat(list, "; ")
          end)
        end
        function is_final() return difference() == "" end
        """

    @Test(arguments: ScriptPlace.allCases) func `an observation delivers an initial nil`(_ place: ScriptPlace) async throws {
        let host = try await place.host()
        try await host.run(source: "function nothing(db) db:fetch_value('SELECT 1 FROM sqlite_master') end")
        var optional = host.values(of: "nothing", as: Int?.self).makeAsyncIterator()
        #expect(try await optional.next() == .some(nil))
        var plain = host.observation(of: "nothing", as: ScriptValue.self).values.makeAsyncIterator()
        #expect(try await plain.next() == ScriptValue.nil)
    }

    @Test func `observations of an isolated script follow writes by other isolated scripts`() async throws {
        let pool = try makePool()
        let host = try await makeHost(over: pool, .isolated), other = try await makeHost(over: pool, .isolated)
        try await host.run(source: "function count(db) return db:fetch_value('SELECT COUNT(*) FROM item') end")
        var counts = host.values(of: "count", as: Int.self).makeAsyncIterator()
        #expect(try await counts.next() == 0)
        try await other.run(source: "db:execute('INSERT INTO item DEFAULT VALUES')")
        #expect(try await counts.next() == 1)
        try await host.run(source: "db:execute('DELETE FROM item')")
        #expect(try await counts.next() == 0)
        try remove(pool)
    }
}
