import Foundation
import GRDB
import Perilune
import PeriluneBindings
import PeriluneLua
import PeriluneLuaFileTools
import Testing

/// Misuse by scripts that would make GRDB stop or block the process. Each case must be an error of the script, after which the
/// host keeps working.
@Suite struct MisuseTests {
    @Test func `using a closed database is an error`() async throws {
        try await script(
            """
            local path = temporary_path("closed.sqlite")
            for _, q in ipairs{ perilune.queue(), perilune.queue(path), perilune.pool(path) } do
              local statement = q:prepare("SELECT 1")
              q:close()
              fails("closed", q.fetch_value, q, "SELECT 1")
              fails("closed", q.read, q, function() end)
              fails("closed", q.write, q, function() end)
              fails("closed", q.rows, q, "SELECT 1")
              fails("closed", statement.fetch_value, statement)
            end
            os.remove(path)
            """)
    }

    @Test func `forbidden nested blocks are refused in every kind of block`() async throws {
        try await script(
            """
            local path = temporary_path("nested.sqlite")
            for _, q in ipairs{ db, perilune.queue(), perilune.pool(path) } do
              q:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
              local other = perilune.queue()
              for _, outer in ipairs{ "read", "write", "in_transaction", "in_savepoint", "write_without_transaction" } do
                q[outer](q, function(handle)
                  for _, inner in ipairs{ "write_without_transaction", outer == "read" and "write" or nil } do
                    fails("nested_access", q[inner], q, function() end)
                    fails("nested_access", handle[inner], handle, function() end)
                    coroutine.wrap(function() fails("nested_access", q[inner], q, function() end) end)()
                    other:write(function() fails("nested_access", q[inner], q, function() end) end)
                  end
                  fails("nested_access", q.backup_to, q, other)
                  fails("nested_access", other.backup_to, other, q)
                  if q ~= db then fails("nested_access", q.close, q) end
                  equal(q:fetch_value("SELECT a FROM t"), 1)
                  return "commit"
                end)
              end
            end
            os.remove(path)
            """)
    }

    @Test func `handles, statements and cursors are unusable after their block`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
            for _, verb in ipairs{ "read", "write", "in_transaction", "in_savepoint", "write_without_transaction" } do
              local handle, statement, rows, tuples, cursor, co
              db[verb](db, function(db)
                handle, statement = db, db:prepare("SELECT a FROM t")
                rows, tuples = db:rows("SELECT a FROM t"), statement:tuples()
                rows() tuples()
                co = coroutine.wrap(function() while true do coroutine.yield(pcall(db.fetch_value, db, "SELECT a FROM t")) end end)
                equal(select(2, co()), 1)
                cursor = select(4, db:rows("SELECT a FROM t"))
                return "commit"
              end)
              local function check()
                for _, method in ipairs{ "execute", "fetch_all", "fetch_one", "fetch_value", "fetch_values", "fetch_set", "rows", "tuples", "prepare", "explain", "columns", "indexes" } do
                  fails("dead_handle", handle[method], handle, "SELECT a FROM t")
                end
                for _, method in ipairs{ "read", "write", "in_transaction", "in_savepoint", "write_without_transaction" } do
                  fails("dead_handle", handle[method], handle, function() end)
                end
                for _, method in ipairs{ "tables", "views", "is_inside_transaction", "schema_sql" } do fails("dead_handle", handle[method], handle) end
                fails("dead_handle", handle.add_function, handle, "f", 0, print)
                for _, method in ipairs{ "close", "interrupt", "path", "backup_to" } do fails("dead_handle", handle[method], handle) end
                fails("dead_handle", statement.fetch_all, statement)
                fails("dead_handle", rows)
                fails("dead_handle", tuples)
                equal(select(2, co()).kind, "dead_handle")
                cursor:close()
                matches(tostring(handle), "ended")
                equal(handle == db, true)
              end
              check()
              db:read(check)
              db:write(check)
              coroutine.wrap(check)()
            end
            """)
    }

    @Test func `a transaction that SQL leaves open is an error`() async throws {
        try await script(
            """
            fails("open_transaction", db.execute, db, "BEGIN")
            fails("open_transaction", db.write_without_transaction, db, function(db) db:execute("SAVEPOINT s") end)
            local statement = db:prepare("BEGIN EXCLUSIVE")
            fails("open_transaction", statement.execute, statement)
            fails("open_transaction", function() for _ in db:rows("BEGIN") do end end)
            fails("open_transaction", db.fetch_all, db, "BEGIN")
            equal(db:is_inside_transaction(), false)
            db:write(function() end)
            """)
    }

    @Test func `a statement stays usable after wrong arguments`() async throws {
        try await script(
            """
            equal(db:fetch_one("SELECT :a AS x, :a AS y, @a AS z", { a = 1 }), { x = 1, y = 1, z = 1 })
            db:execute("CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (1)")
            local statement = db:prepare("INSERT INTO t VALUES (:a)")
            for i = 1, 3 do
              fails("constraint_unique", statement.execute, statement, { a = 1 })
              fails("argument", statement.execute, statement, { b = 1 })
              fails("argument", statement.execute, statement)
            end
            statement:execute{ a = 2 }
            """)
    }

    @Test func `functions cannot be replaced while statements run, and their limits are checked`() async throws {
        try await script(
            """
            db:add_function("f", 1, function(x) return x end)
            local next_row, _, _, cursor = db:rows("SELECT f(1) UNION ALL SELECT f(2)")
            next_row()
            fails("busy", db.add_function, db, "f", 1, function() end)
            fails("busy", db.remove_function, db, "f", 1)
            cursor:close()
            db:add_function("f", 1, function(x) return -x end)
            equal(db:fetch_value("SELECT f(1)"), -1)
            fails("argument", db.add_function, db, "f", 128, print)
            fails("argument", db.add_function, db, ("f"):rep(256), 1, print)
            """)
    }

    @Test func `statements and cursors can be collected anywhere`() async throws {
        try await script(
            """
            local path = temporary_path("collected.sqlite")
            for _, open in ipairs{ perilune.queue, perilune.pool } do
              for i = 1, 20 do
                local q = open(path)
                q:execute("CREATE TABLE IF NOT EXISTS t (a)")
                local statement, next_row = q:prepare("SELECT 1"), q:rows("SELECT 1 UNION ALL SELECT 2")
                statement:fetch_value() next_row()
                q:read(function(db) db:rows("SELECT 1 UNION ALL SELECT 2")() db:prepare("SELECT 3"):rows()() end)
                q = nil
                collectgarbage()
                statement:fetch_value()
                equal(next_row()[1], 2)
                statement, next_row = nil
                collectgarbage() collectgarbage()
              end
            end
            os.remove(path)
            """)
    }

    @Test func `missing columns and wrong types of a row are errors`() async throws {
        try await script(
            """
            local row = db:fetch_one("SELECT 'x' AS a")
            for _, key in ipairs{ 0, 2, -1, math.maxinteger, 0.5, "b", true, {}, print } do
              if key == "b" then fails("unknown_column", function() return row.b end) else equal(row[key], nil) end
              fails(nil, row.get, row, key)
              equal(row:has(key), false)
            end
            fails("conversion", row.integer, row, "a")
            fails("argument", row.get, row, "a", "nonsense")
            """)
    }

    @Test func `options and arguments out of range are errors`() async throws {
        try await script(
            """
            for _, value in ipairs{ 0/0, 1/0, -1, 1e300 } do
              fails(nil, perilune.queue, nil, { busy_timeout = value })
              fails(nil, perilune.pool, temporary_path("x"), { reader_count = value })
            end
            fails(nil, perilune.pool, temporary_path("x"), { reader_count = 0 })
            fails("argument", db.fetch_value, db, "SELECT ?", ("x"):rep(1 << 20):rep(1 << 10))
            """)
    }

    @Test func `SQL that would cause silent damage is refused`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a)")
            fails("argument", db.execute, db, "INSERT INTO t VALUES (1)\\0, (2)")
            for _, sql in ipairs{
              "PRAGMA query_only = 1", "PRAGMA writable_schema = ON", "pragma main.writable_schema(1)", "PRAGMA /* */ query_only=1",
              "PRAGMA busy_timeout = 100000000", "PRAGMA hard_heap_limit = 1", "PRAGMA soft_heap_limit(1)", "PRAGMA mmap_size = 1000000",
              "PRAGMA \\"query_only\\" = 1", "PRAGMA [query_only] = 1", "PRAGMA `main`.query_only = 1", "EXPLAIN PRAGMA query_only = 1",
              ";PRAGMA query_only = 1", "SELECT 1; PRAGMA query_only = 1", "PRAGMA query_only\\n=\\n1", "PRAGMA 'query_only' = 1",
            } do
              local err = fails("forbidden", db.execute, db, sql)
            end
            for _, name in ipairs{ "busy_timeout", "hard_heap_limit", "soft_heap_limit", "query_only", "writable_schema", "mmap_size" } do
              local before = db:fetch_value("PRAGMA " .. name)
              pcall(db.fetch_all, db, "SELECT * FROM pragma_" .. name .. "(1)")
              pcall(db.fetch_all, db, "SELECT * FROM pragma_" .. name .. " WHERE arg = 1")
              equal(db:fetch_value("PRAGMA " .. name), before)
            end
            db:execute("INSERT INTO t VALUES (1)")
            """)
    }

    @Test func `PRAGMAs cannot make a rollback damage the file`() async throws {
        try await script(
            """
            local path = temporary_path("safe.sqlite")
            local q = perilune.queue(path)
            q:execute("CREATE TABLE t (a); CREATE INDEX i ON t (a)")
            q:write(function(db) for i = 1, 500 do db:execute("INSERT INTO t VALUES (?)", i .. ("x"):rep(100)) end end)
            pcall(q.execute, q, "PRAGMA journal_mode = OFF")
            pcall(q.execute, q, "PRAGMA schema_version = 5")
            pcall(q.execute, q, "UPDATE sqlite_schema SET sql = 'x'")
            pcall(q.execute, q, "DELETE FROM sqlite_schema")
            pcall(q.execute, q, "PRAGMA cache_size = 1")
            for i = 1, 5 do
              pcall(q.write, q, function(db)
                db:execute("UPDATE t SET a = a || ?", ("y"):rep(1000))
                db:execute("DELETE FROM t WHERE rowid % 2 = 0")
                error("no")
              end)
            end
            equal(q:fetch_value("PRAGMA integrity_check"), "ok")
            equal(q:fetch_value("SELECT COUNT(*) FROM t"), 500)
            q:close()
            os.remove(path)
            """)
    }

    @Test func `methods refuse a self of any other type`() async throws {
        try await script(
            """
            local values = { 1, 1.5, "x", true, {}, print, perilune.null, perilune.blob("x"), coroutine.create(print), io.stdout,
              db:prepare("SELECT 1"), select(4, db:rows("SELECT 1")), select(2, pcall(db.execute, db, "x")), perilune.date("2026-01-01"),
              db:execute("CREATE TABLE t (a)"), db:execute("INSERT INTO t VALUES (1)"), db:fetch_one("SELECT 1") }
            local names = { "read", "write", "in_transaction", "in_savepoint", "write_without_transaction", "is_inside_transaction", "execute", "fetch_all", "fetch_one",
              "fetch_value", "fetch_values", "fetch_optional_values", "fetch_set", "rows", "tuples", "prepare", "close", "interrupt", "backup_to", "path", "explain", "tables",
              "columns", "add_function", "add_aggregate", "add_collation", "remove_function", "fetch_value_as" }
            for _, name in ipairs(names) do
              local method = db[name]
              if type(method) ~= "function" then error(name) end
              fails(nil, method)
              for _, value in ipairs(values) do
                pcall(method, value)
                fails(nil, method, value, "SELECT 1")
                fails(nil, method, value, function() end)
                for _, argument in ipairs(values) do pcall(method, value, argument, argument) pcall(method, db, argument, argument, argument) end
              end
            end
            equal(db:is_inside_transaction(), false)
            equal(db:fetch_value("SELECT 1"), 1)
            """)
    }

    @Test func `the handle of a block equals its own database and no other`() async throws {
        try await script(
            """
            local other = perilune.queue()
            equal(db == other, false)
            db:read(function(handle)
              equal(handle == other, false)
              equal(handle == db, true)
              other:read(function(second) equal(handle == second, false) end)
            end)
            local t = { [db] = 1 }
            equal(t[db], 1)
            """)
    }

    @Test func `finalizers may use databases, statements and cursors, even when the state closes`() async throws {
        for atClose in [false, true] {
            let host = try testHost()
            try await host.runChecked(
                """
                local function doomed(body) return setmetatable({}, { __gc = body }) end
                -- Created before the objects that it uses, so finalized after them.
                for _, open in ipairs{ perilune.queue, perilune.pool } do
                  local path = temporary_path("finalizer.sqlite")
                  local late
                  local keeper = doomed(function(self)
                    for _, verb in ipairs{ "execute", "fetch_all", "prepare", "rows" } do pcall(self.q[verb], self.q, "SELECT 1") end
                    pcall(self.q.read, self.q, function() end)
                    pcall(self.q.close, self.q)
                    pcall(self.q.interrupt, self.q)
                    pcall(self.q.backup_to, self.q, db)
                    pcall(self.statement.fetch_value, self.statement)
                    pcall(self.statement.rows, self.statement)
                    pcall(self.iterator)
                    pcall(self.cursor.close, self.cursor)
                    pcall(self.handle.fetch_value, self.handle, "SELECT 1")
                    pcall(perilune.queue)
                    pcall(db.fetch_value, db, "SELECT 1")
                    local _ = tostring(self.q), tostring(self.handle), tostring(self.statement), self.q == db, self.changes.changed_rows
                    pcall(function() for _ in pairs(self.row) do end end)
                  end)
                  keeper.q = open(path)
                  keeper.q:execute("CREATE TABLE IF NOT EXISTS t (a)")
                  keeper.statement = keeper.q:prepare("SELECT 1")
                  keeper.iterator, late, late, keeper.cursor = keeper.q:rows("SELECT 1 UNION ALL SELECT 2")
                  keeper.iterator()
                  keeper.row = keeper.q:fetch_one("SELECT 1 AS a")
                  keeper.changes = keeper.q:execute("INSERT INTO t VALUES (1)")
                  keeper.q:read(function(handle) keeper.handle = handle end)
                  os.remove(path)
                  \(atClose ? "KEPT = KEPT or {} KEPT[#KEPT + 1] = keeper" : "keeper = nil collectgarbage() collectgarbage()")
                end
                """)
            if !atClose { try await host.runChecked("equal(db:fetch_value('SELECT 1'), 1)") }
        }
    }

    @Test func `finalizers may run in the middle of any operation`() async throws {
        try await script(
            """
            collectgarbage("generational")
            db:execute("CREATE TABLE t (a); CREATE TABLE log (a)")
            local runs, q = 0, perilune.queue()
            q:execute("CREATE TABLE t (a)")
            local function spawn()
              setmetatable({}, { __gc = function()
                runs = runs + 1
                pcall(db.execute, db, "INSERT INTO log VALUES (1)")
                pcall(db.write, db, function() end)
                pcall(q.execute, q, "INSERT INTO t VALUES (?)", "x" .. runs)
                pcall(db.fetch_all, db, "SELECT * FROM t WHERE a > ?", runs)
                if runs < 3000 then spawn() end
              end })
            end
            for i = 1, 20 do spawn() end
            db:add_function("f", 1, function(x) return x .. tostring({}) end)
            for i = 1, 30 do
              db:write(function(db) for j = 1, 20 do db:execute("INSERT INTO t VALUES (?)", "y" .. i .. j) end end)
              db:fetch_all("SELECT a, f(a) FROM t LIMIT 100")
              for row in db:rows("SELECT a, f(a) FROM t LIMIT 100") do local s = row.a .. "z" end
              pcall(db.write, db, function(db) db:execute("DELETE FROM t") error({}) end)
              q:read(function() collectgarbage("step") end)
            end
            equal(db:fetch_value("SELECT COUNT(*) FROM t"), 600)
            equal(db:is_inside_transaction(), false)
            equal(db:fetch_value("PRAGMA integrity_check"), "ok")
            if runs < 100 then error("too few: " .. runs) end
            """)
    }

    @Test func `callbacks of SQLite cannot use the database`() async throws {
        try await script(
            """
            local other = perilune.queue()
            other:execute("CREATE TABLE t (a)")
            db:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
            local statement, next_row = db:prepare("SELECT 1"), db:rows("SELECT a FROM t")
            local tried = 0
            db:add_function("f", 0, function()
              for _, attempt in ipairs{
                function() db:execute("DELETE FROM t") end, function() db:fetch_all("SELECT 1") end, function() db:write(function() end) end,
                function() statement:fetch_value() end, function() next_row() end, function() for _ in db:rows("SELECT 1") do end end,
                function() other:execute("INSERT INTO t VALUES (1)") end, function() db:add_function("g", 0, print) end,
                function() db:remove_function("f", 0) end, function() db:backup_to(other) end, function() other:backup_to(db) end,
              } do
                local ok = pcall(attempt)
                if ok then error("allowed") end
                tried = tried + 1
              end
              pcall(db.interrupt, db)
              pcall(other.close, other)
              collectgarbage()
              return 1
            end)
            pcall(db.fetch_value, db, "SELECT f()")
            equal(tried, 11)
            pcall(db.write, db, function(db) db:execute("INSERT INTO t VALUES (f())") end)
            equal(next_row().a, 1)
            db:add_function("yields", 0, function() coroutine.yield() end)
            local co = coroutine.create(function() db:fetch_value("SELECT yields()") end)
            equal(coroutine.resume(co), false)
            db:add_function("none", 0, function() error() end)
            local ok, err = pcall(db.fetch_value, db, "SELECT none()")
            equal(ok, false)
            equal(err, nil)
            equal(db:fetch_value("SELECT 'a' < 'B' COLLATE NOCASE"), 1)
            fails("sql", db.execute, db, "nonsense")
            """)
    }

    @Test func `an error in a collation is raised immediately`() async throws {
        try await script(
            """
            local mine, fail = {}, true
            db:add_collation("c", function(a, b) if fail then error(mine) end return a < b and -1 or a > b and 1 or 0 end)
            for _, sql in ipairs{ "SELECT 'a' = 'b' COLLATE c", "SELECT 'a' < 'b' COLLATE c UNION ALL SELECT 2", "SELECT MAX(x COLLATE c) FROM (SELECT 'a' AS x UNION ALL SELECT 'b')" } do
              for _, verb in ipairs{ "fetch_value", "fetch_all", "fetch_one", "execute" } do
                local ok, err = pcall(db[verb], db, sql)
                equal(rawequal(err, mine), true)
              end
              local ok, err = pcall(function() for _ in db:rows(sql) do end end)
              equal(rawequal(err, mine), true)
            end
            fail = false
            equal(db:fetch_values("SELECT 'b' AS x UNION ALL SELECT 'a' ORDER BY 1 COLLATE c"), { "a", "b" })
            """)
    }

    @Test func `a collation that fails during a change leaves the index intact`() async throws {
        try await script(
            """
            local mine, fail = {}, false
            local function setup(q)
              q:add_collation("c", function(a, b) if fail then error(mine) end return a < b and -1 or a > b and 1 or 0 end)
              q:execute("CREATE TABLE t (a TEXT COLLATE c); CREATE INDEX i ON t (a)")
              q:write(function(q) for i = 1, 50 do q:execute("INSERT INTO t VALUES (?)", "k" .. i) end end)
            end
            local path = temporary_path("collation.sqlite")
            for _, q in ipairs{ db, perilune.queue(), perilune.pool(path) } do
              setup(q)
              local statement = q:prepare("INSERT INTO t VALUES ('a')")
              for _, change in ipairs{
                function() q:execute("INSERT INTO t VALUES ('a')") end,
                function() q:execute("INSERT INTO t VALUES ('zz')") end,
                function() q:execute("WITH x (a) AS (VALUES ('a')) INSERT INTO t SELECT a FROM x") end,
                function() q:execute("UPDATE t SET a = 'b' || rowid WHERE rowid > 40") end,
                function() q:execute("DELETE FROM t WHERE rowid = 7") end,
                function() q:execute("SELECT 1; INSERT INTO t VALUES ('a')") end,
                function() q:fetch_all("INSERT INTO t VALUES ('a') RETURNING a") end,
                function() for _ in q:rows("INSERT INTO t VALUES ('a') RETURNING a") do end end,
                function() statement:execute() end,
                function() q:write(function(q) q:execute("INSERT INTO t VALUES ('a')") end) end,
                function() q:write_without_transaction(function(q) q:execute("INSERT INTO t VALUES ('a')") end) end,
                function()
                  local ok, err
                  q:write(function(q) ok, err = pcall(q.execute, q, "INSERT INTO t VALUES ('a')") end)
                  error(err)
                end,
                function() q:in_savepoint(function() return "commit", statement:execute() end) end,
                function() q:write_without_transaction(function() statement:execute() end) end,
              } do
                fail = true
                local ok, err = pcall(change)
                fail = false
                equal(rawequal(err, mine), true)
                equal(q:fetch_value("PRAGMA integrity_check"), "ok")
                equal(q:fetch_value("SELECT COUNT(*) FROM t"), 50)
                equal(q:is_inside_transaction(), false)
              end
              statement:execute()
              equal(q:execute("INSERT INTO t VALUES ('b')").inserted_rowid, 52)
              equal(q:fetch_value("PRAGMA integrity_check"), "ok")
            end
            os.remove(path)
            """)
    }

    @Test func `a table that uses a script's collation or function stays usable after the script`() async throws {
        let path = temporaryPath("functions.sqlite")
        try await script(
            """
            local q = perilune.queue(arg[1])
            q:add_collation("c", function(a, b) return #a - #b end)
            q:add_function("f", { arguments = 1, deterministic = true }, function(x) return x end)
            q:execute("CREATE TABLE t (a COLLATE c); CREATE INDEX i ON t (f(a)); CREATE INDEX j ON t (a); INSERT INTO t VALUES ('x'), ('yy')")
            q:close()
            """, arguments: [path])
        try await script(
            """
            local q = perilune.queue(arg[1])
            fails("sql", q.execute, q, "INSERT INTO t VALUES ('z')")
            fails("sql", q.fetch_all, q, "SELECT * FROM t ORDER BY a")
            equal(q:fetch_value("SELECT COUNT(*) FROM t"), 2)
            q:close()
            os.remove(arg[1])
            """, arguments: [path])
    }

    @Test func `after a script is released, its SQL functions raise errors in the host's database`() throws {
        let queue = try DatabaseQueue()
        do {
            let state = try LuaState(libraries: .trusted)
            try ScriptSetup(database: queue, allowsFiles: true).install(in: state)
            try state.run(
                """
                db:add_function("f", 0, function() return 1 end)
                db:add_aggregate("g", 1, { initial = 0, step = function(s) return s end })
                db:add_collation("c", function(a, b) return 0 end)
                assert(db:fetch_value("SELECT f()") == 1)
                """)
            // The functions also fail while no script is running.
            #expect(throws: DatabaseError.self) { try queue.read { try Int.fetchOne($0, sql: "SELECT f()") } }
        }
        for sql in [
            "SELECT f()", "SELECT g(1)", "SELECT 'a' = 'b' COLLATE c", "SELECT g(x) FROM (SELECT 1 AS x UNION ALL SELECT 2)",
        ] {
            _ = try? queue.read { try Row.fetchAll($0, sql: sql) }
        }
        try queue.close()
    }

    @Test func `damage to Lua's standard library by a script affects only that script`() async throws {
        try await script(
            """
            for _, name in ipairs{ "ipairs", "pairs", "type", "setmetatable", "error", "tostring", "select", "next", "rawget" } do _G[name] = nil end
            string.lower, table.concat, table.sort, table.move, math.type = nil
            perilune.row.get, perilune.row.columns = nil
            db:execute("CREATE TABLE t (a)")
            db:fetch_all("SELECT 1 AS a")
            pcall(function() return db:fetch_one("SELECT 1 AS a"):has("a") end)
            pcall(db.tables, db)
            pcall(db.columns, db, "t")
            db:write(function(db) db:execute("INSERT INTO t VALUES (1)") end)
            """)
    }

    @Test func `endless recursion through database calls raises an error`() async throws {
        try await script(
            """
            local function deeper(depth) return perilune.queue():write(function() return deeper(depth + 1) end) end
            local ok, err = pcall(deeper, 1)
            equal(ok, false)
            local co = coroutine.wrap(function() local ok = pcall(deeper, 1) return ok end)
            equal(co(), false)
            local bad = setmetatable({}, { __to_database = function(self) return db:fetch_value("SELECT ?", self) end })
            equal(pcall(db.fetch_value, db, "SELECT ?", bad), false)
            equal(db:fetch_value("SELECT 1"), 1)
            """)
    }

    @Test func `metatables are inaccessible in the sandbox`() async throws {
        try await script(
            """
            for _, value in ipairs{ db, db:prepare("SELECT 1"), perilune.null, perilune.blob("x"), db:fetch_one("SELECT 1"), select(4, db:rows("SELECT 1")) } do
              equal(getmetatable(value), false)
              fails(nil, setmetatable, value, {})
            end
            fails(nil, function() db.x = 1 end)
            fails(nil, function() db.fetch_all = 1 end)
            equal(rawequal(db.fetch_all, db.fetch_all), true)
            equal(#db:fetch_all("SELECT 1"), 1)
            """
        ) {
            $0.libraries = .sandboxed; $0.allowsFiles = false
        }
    }
}
