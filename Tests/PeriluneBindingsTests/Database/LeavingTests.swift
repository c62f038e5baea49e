import Perilune
import PeriluneLuaFileTools
import PeriluneLua
import PeriluneLuaFileTools
import Testing

/// A connection never has an open transaction after a block, whatever a script does while the block ends. GRDB would stop the
/// process.
///
/// Each disturbance is tried at each step in which each kind of block ends, on a queue in memory, on a file and on a pool.
@Suite struct LeavingTests {
    /// The Lua functions that open each kind of database with given options.
    static let databases = [
        "function(options) return perilune.queue(nil, options) end",
        "function(options) return perilune.queue(temporary_path('queue.sqlite'), options) end",
        "function(options) return perilune.pool(temporary_path('pool.sqlite'), options) end",
    ]

    /// Actions on `d`, the handle of a block or callback, and on the database `q`.
    private static let disturbances = #"""
        local recursion = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3) SELECT i FROM n"
        local disturbances = {
          { "nothing", function() end },
          { "an error", function() error("disturbed") end },
          { "an error object", function() error(setmetatable({}, { __tostring = function() error("again") end })) end },
          { "BEGIN", function(d) d:execute("BEGIN") end },
          { "BEGIN IMMEDIATE", function(d) d:execute("BEGIN IMMEDIATE") end },
          { "SAVEPOINT", function(d) d:execute("SAVEPOINT s") end },
          { "BEGIN and an error", function(d) pcall(d.execute, d, "BEGIN") error("disturbed") end },
          { "COMMIT", function(d) d:execute("COMMIT") end },
          { "COMMIT and BEGIN", function(d) d:execute("COMMIT; BEGIN") end },
          { "ROLLBACK", function(d) d:execute("ROLLBACK") end },
          { "an interruption", function(_, q) q:interrupt() end },
          { "an interruption and BEGIN", function(d, q) q:interrupt() d:execute("BEGIN") end },
          { "BEGIN and an interruption", function(d, q) pcall(d.execute, d, "BEGIN") q:interrupt() end },
          { "an open cursor", function(d) cursor = d:rows(recursion) cursor() end },
          { "an open cursor and an interruption", function(d, q) cursor = d:rows(recursion) cursor() q:interrupt() end },
          { "an open cursor and BEGIN", function(d) cursor = d:rows(recursion) cursor() d:execute("BEGIN") end },
          { "an open cursor, BEGIN and an interruption", function(d, q)
            cursor = d:rows(recursion) cursor() pcall(d.execute, d, "BEGIN") q:interrupt()
          end },
          { "a broken foreign key", function(d) d:execute("PRAGMA defer_foreign_keys = 1; INSERT INTO child VALUES (99)") end },
          { "a conflict that rolls back", function(d) d:execute("INSERT OR ROLLBACK INTO parent VALUES (1)") end },
          { "closing", function(_, q) q:close() end },
          { "a transaction", function(d) d:in_transaction(function() return "commit" end) end },
          { "a transaction that fails", function(d) d:in_transaction(function() error("inside") end) end },
          { "a savepoint with an interruption", function(d, q) d:in_savepoint(function() q:interrupt() error("inside") end) end },
          { "a wrong handle", function() stale:execute("BEGIN") end },
          { "a new observer that begins", function(_, q)
            q:observe_transactions{ did_commit = function(e) e:execute("BEGIN") end, did_rollback = function(e) e:execute("BEGIN") end }
          end },
          { "statements of another thread of Lua", function(d) coroutine.wrap(function() d:execute("BEGIN") end)() end },
        }
        """#

    /// Ways to open and end a block.
    private static let accesses = #"""
        local accesses = {
          { "a statement that reads", function(q) q:fetch_value("SELECT COUNT(*) FROM parent") end },
          { "a statement that writes", function(q) q:execute("INSERT INTO parent (id) VALUES (NULL)") end },
          { "a statement that fails", function(q) q:execute("INSERT INTO parent VALUES (1)") end },
          { "read", function(q, at) q:read(function(d) d:fetch_value("SELECT COUNT(*) FROM parent") at("body", d) end) end },
          { "write", function(q, at) q:write(function(d) d:execute("INSERT INTO parent (id) VALUES (NULL)") at("body", d) end) end },
          { "a write that fails", function(q, at)
            q:write(function(d) d:execute("INSERT INTO parent (id) VALUES (NULL)") at("body", d) error("failed") end)
          end },
          { "in_transaction", function(q, at)
            q:in_transaction("deferred", function(d) d:execute("INSERT INTO parent (id) VALUES (NULL)") at("body", d) return "rollback" end)
          end },
          { "in_savepoint", function(q, at)
            q:write(function(d)
              d:execute("INSERT INTO parent (id) VALUES (NULL)")
              d:in_savepoint(function(d) d:execute("INSERT INTO parent (id) VALUES (NULL)") at("body", d) return "commit" end)
            end)
          end },
          { "write_without_transaction", function(q, at)
            q:write_without_transaction(function(d) d:execute("INSERT INTO parent (id) VALUES (NULL)") at("body", d) end)
          end },
          { "a migration", function(q, at)
            local migrator = perilune.migrator()
            migrator:register("one", function(d) d:execute("CREATE TABLE made (a)") at("body", d) end)
            migrator:migrate(q)
          end },
          { "a cursor", function(q) for _ in q:rows("SELECT * FROM parent") do end end },
          { "a loose cursor and a write", function(q, at)
            local rows = q:rows("SELECT 1 AS a UNION SELECT 2 UNION SELECT 3")
            rows()
            q:write(function(d) d:execute("INSERT INTO parent (id) VALUES (NULL)") at("body", d) end)
          end },
          { "a loose cursor and a read", function(q, at)
            local rows = q:rows("SELECT 1 AS a UNION SELECT 2 UNION SELECT 3")
            rows()
            q:read(function(d) at("body", d) end)
          end },
        }
        """#

    @Test(arguments: databases) func `no transaction stays open if an interruption or error disturbs the end of a block`(
        _ open: String
    )
        async throws
    {
        try await script(
            Self.disturbances + Self.accesses + #"""
                local open = \#(open)
                local steps = { "body", "on_change", "will_commit", "did_commit", "did_rollback", "trace", "function", "prepare" }

                local function check(q, what)
                  cursor = nil
                  collectgarbage()
                  equal({ what, q:is_inside_transaction() }, { what, false })
                  q:read(function(d) equal({ what, d:fetch_value("SELECT 1") }, { what, 1 }) end)
                  q:write(function(d) d:execute("INSERT INTO log VALUES ('after')") end)
                  equal({ what, q:fetch_value("SELECT COUNT(*) FROM log") }, { what, 1 })
                  equal({ what, q:fetch_value("PRAGMA foreign_key_check") }, { what, nil })
                end

                local count = 0
                local function try(step, access, disturbance)
                  local what = access[1] .. " with " .. disturbance[1] .. " in " .. step
                  local is_on, q = false, nil
                  local function at(place, d)
                    if not is_on or place ~= step then return end
                    is_on = false
                    count = count + 1
                    disturbance[2](d or q, q)
                  end
                  local options = {}
                  if step == "trace" then options.trace = function() at("trace") end end
                  q = open(options)
                  q:write(function(d)
                    stale = d
                    d:execute("CREATE TABLE parent (id INTEGER PRIMARY KEY, f); INSERT INTO parent VALUES (1, 0), (2, 0);"
                      .. "CREATE TABLE child (parent REFERENCES parent); CREATE TABLE log (a)")
                  end)
                  if step == "function" then
                    q:add_function("disturb", 0, function() at("function") return 1 end)
                    q:execute("CREATE TRIGGER t AFTER INSERT ON parent BEGIN UPDATE parent SET f = disturb() WHERE id = new.id; END")
                  end
                  local observer
                  if step == "on_change" or step == "will_commit" or step:find("^did_") then
                    observer = q:observe_transactions{ [step] = function(d) at(step, type(d) == "userdata" and d or nil) end }
                  end
                  is_on = true
                  pcall(access[2], q, at)
                  is_on = false
                  if observer then observer:cancel() end
                  if pcall(q.path, q) and not q:is_inside_transaction() then
                    pcall(q.execute, q, "DROP TRIGGER IF EXISTS t")
                  end
                  local is_open = pcall(q.fetch_value, q, "SELECT 1")
                  if is_open or disturbance[1] ~= "closing" then check(q, what) q:close() end
                end

                for _, step in ipairs(steps) do
                  for _, access in ipairs(accesses) do
                    local former = count
                    for _, disturbance in ipairs(disturbances) do
                      if step ~= "prepare" then try(step, access, disturbance) end
                      -- An access without this step has it with no disturbance.
                      if count == former then break end
                    end
                  end
                end
                -- A connection that is being prepared.
                for _, disturbance in ipairs(disturbances) do
                  pcall(open, { prepare = function(d) disturbance[2](d, d) end })
                end
                assert(count > 500, count)
                """#)
    }

    @Test(arguments: ["timeout", "budget", "cancelled", "exit", "memory"])
    func `no transaction stays open when a run is cancelled or exceeds its limit`(_ ending: String) async throws {
        let places = [
            "db:write(function(d) d:execute('INSERT INTO t VALUES (2)') stop() end)",
            "db:write_without_transaction(function(d) d:execute('BEGIN; INSERT INTO t VALUES (2)') stop() end)",
            "local rows = db:rows('SELECT 1 UNION SELECT 2') rows() db:read(function(d) db:interrupt() stop() end)",
            "db:observe_transactions{ did_rollback = function(d) d:execute('BEGIN; INSERT INTO t VALUES (2)') stop() end } pcall(db.write, db, function() error('x') end)",
            "db:observe_transactions{ did_commit = function(d) d:execute('BEGIN; INSERT INTO t VALUES (2)') stop() end } db:execute('INSERT INTO t VALUES (3)')",
            "db:observe_transactions{ will_commit = function() stop() end } db:execute('INSERT INTO t VALUES (2)')",
            "db:observe_transactions{ on_change = function() stop() end } db:execute('INSERT INTO t VALUES (2)')",
            "perilune.queue(nil, { prepare = function(d) d:execute('BEGIN') stop() end })",
            "db:write(function(d) d:execute('INSERT INTO t VALUES (2)') local rows = d:rows('SELECT 1 UNION SELECT 2') rows() d:in_savepoint(function() d:interrupt() stop() end) end)",
        ]
        let stop = [
            "timeout": "while true do end", "budget": "while true do end",
            "cancelled": "require('test').cancel() while true do end",
            "exit": "os.exit(3)", "memory": "local list = {} while true do list[#list + 1] = ('x'):rep(1000) .. #list end",
        ]
        for place in places {
            let host = try testHost { configuration in
                switch ending {
                case "timeout": configuration.limits.time = .seconds(600)
                case "budget": configuration.limits.instructions = 100_000
                case "memory": configuration.limits.memoryInBytes = 8 << 20
                case "cancelled": configuration.limits.isCancellable = true
                default: break
                }
            }
            try await host.runChecked("db:execute('CREATE TABLE t (a); INSERT INTO t VALUES (1)')")
            try await host.register(module: "test") { module in module.function("cancel") { [weak host] () in host?.cancel() } }
            // The time limit affects only the tested step, even on a busy machine.
            if ending == "timeout" { await host.limitTime(to: .milliseconds(50)) }
            let error = await #expect(throws: LuaError.self) {
                try await host.runChecked("local function stop() \(stop[ending]!) end " + place)
            }
            #expect(error?.code.description == ending, "\(place): \(String(describing: error))")
            if ending == "timeout" { await host.limitTime(to: .seconds(600)) }
            // The observers are still registered.
            try await host.runChecked(
                """
                equal(db:is_inside_transaction(), false)
                db:read(function(d) equal(d:fetch_value("SELECT COUNT(*) FROM t WHERE a = 2"), 0) end)
                """)
        }
    }

    @Test func `a cursor that an interruption has reset does not restart`() async throws {
        try await script(
            """
            local rows = db:rows("SELECT 1 AS a UNION SELECT 2")
            equal(rows().a, 1)
            pcall(db.write, db, function() db:interrupt() end)
            fails("interrupt", rows)
            """)
    }

    @Test func `a failed savepoint is rolled back even if the connection is interrupted`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a)")
            db:write(function(d)
              d:execute("INSERT INTO t VALUES (1)")
              local rows = d:rows("SELECT 1 UNION SELECT 2")
              rows()
              pcall(d.in_savepoint, d, function() d:execute("INSERT INTO t VALUES (2)") d:interrupt() error("x") end)
            end)
            equal(db:fetch_values("SELECT a FROM t"), { 1 })
            """)
    }
}
