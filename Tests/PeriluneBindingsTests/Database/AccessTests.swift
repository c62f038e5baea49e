import Perilune
import PeriluneLuaFileTools
import PeriluneLua
import Testing

@Suite struct AccessTests {
    @Test func `read sees one snapshot of the database and returns the results of its function`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
            local a, b, c = db:read(function(db) return db:fetch_value("SELECT a FROM t"), nil, "x" end)
            equal({ a, b, c, n = 3 }, { 1, nil, "x", n = 3 })
            equal(select("#", db:read(function() return nil, nil end)), 2)
            equal(select("#", db:read(function() return table.unpack({}, 1, 200) end)), 200)
            """)
    }

    @Test func `read and write pass additional arguments to their function`() async throws {
        try await script(
            """
            db:read(function(handle, ...) equal(table.pack(...), { 1, nil, "x", n = 3 }) end, 1, nil, "x")
            db:write(function(handle, ...) equal(select("#", ...), 0) end)
            db:in_transaction("deferred", function(handle, a) equal(a, 7) return "commit" end, 7)
            """)
    }

    @Test func `write commits, or rolls back if its function raises an error`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a)")
            db:write(function(db) db:execute("INSERT INTO t VALUES (1)") end)
            pcall(db.write, db, function(db)
              db:execute("INSERT INTO t VALUES (2)")
              error("no")
            end)
            equal(db:fetch_values("SELECT a FROM t"), { 1 })
            equal(db:is_inside_transaction(), false)
            """)
    }

    @Test func `a block raises the same error value as its function`() async throws {
        try await script(
            """
            local thrown = { mine = true }
            local blocks = {
              function(f) return db:read(f) end,
              function(f) return db:write(f) end,
              function(f) return db:in_transaction(f) end,
              function(f) return db:in_savepoint(f) end,
              function(f) return db:write_without_transaction(f) end,
              function(f) return db:write(function(db) db:in_savepoint(f) end) end,
              function(f) return db:write_without_transaction(function(db) db:in_transaction(f) end) end,
            }
            local co = coroutine.create(print)
            local object = select(2, pcall(db.execute, db, "nonsense"))
            for _, block in ipairs(blocks) do
              for _, value in ipairs{ thrown, "a string", 12, 1.5, true, co, object, print } do
                local ok, err = pcall(block, function() error(value, 0) end)
                equal(ok, false)
                equal(rawequal(err, value), true)
              end
              local ok, err = pcall(block, function() error(nil) end)
              equal(ok, false)
              equal(err, nil)
              equal(db:is_inside_transaction(), false)
            end
            """)
    }

    @Test func `an uncaught error has its position inside the block`() async throws {
        let error = await failure(
            of: """
                db:write(function(db)
                  local function deeper()
                    error("deep")
                  end
                  deeper()
                end)
                """)
        #expect(error?.message == "deep")
        #expect(error?.line == 3)
        #expect(error?.traceback?.contains("deeper") == true)
    }

    @Test func `read refuses every statement that writes`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1); CREATE INDEX i ON t (a)")
            db:read(function(handle)
              for _, sql in ipairs{
                "INSERT INTO t VALUES (2)", "UPDATE t SET a = 3", "DELETE FROM t", "CREATE TABLE u (a)", "DROP TABLE t",
                "INSERT INTO t VALUES (2) RETURNING a", "WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x",
                "PRAGMA user_version = 3", "REINDEX", "ANALYZE", "ALTER TABLE t RENAME TO u", "VACUUM", "CREATE TEMP TABLE x (a)",
              } do
                for _, target in ipairs{ handle, db } do
                  fails("readonly", target.execute, target, sql)
                  local ok = pcall(function() for _ in target:rows(sql) do end end)
                  equal(ok, false)
                end
              end
              fails("readonly", handle.execute, handle, "SELECT 1; DELETE FROM t")
              equal(handle:in_savepoint(function(inner)
                fails("readonly", inner.execute, inner, "DELETE FROM t")
                return "commit", 5
              end), 5)
              equal(handle:fetch_values("SELECT a FROM t"), { 1 })
            end)
            equal(db:fetch_value("PRAGMA user_version"), 0)
            equal(db:tables(), { "t" })
            """)
    }

    @Test func `a pool's read sees one snapshot while another connection writes`() async throws {
        try await script(
            """
            local path = temporary_path("isolation.sqlite")
            local pool, other = perilune.pool(path), perilune.pool(path)
            pool:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
            pool:read(function(db)
              equal(db:fetch_value("SELECT COUNT(*) FROM t"), 1)
              other:execute("INSERT INTO t VALUES (2)")
              equal(db:fetch_value("SELECT COUNT(*) FROM t"), 1)
            end)
            equal(pool:fetch_value("SELECT COUNT(*) FROM t"), 2)
            pool:close() other:close()
            os.remove(path)
            """)
    }

    @Test func `inside a block, methods of the database use the block's access`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a)")
            pcall(db.write, db, function(handle)
              db:execute("INSERT INTO t VALUES (1)")
              equal(handle:fetch_value("SELECT COUNT(*) FROM t"), 1)
              equal(handle == db, true)
              equal(db:is_inside_transaction(), true)
              error("undo")
            end)
            equal(db:fetch_value("SELECT COUNT(*) FROM t"), 0)
            """)
    }

    @Test func `blocks of two databases can be nested in either order`() async throws {
        try await script(
            """
            local other = perilune.queue()
            for _, q in ipairs{ db, other } do q:execute("CREATE TABLE t (a)") end
            db:write(function(a)
              other:write(function(b)
                a:execute("INSERT INTO t VALUES (1)")
                b:execute("INSERT INTO t VALUES (2)")
                db:execute("INSERT INTO t VALUES (3)")
                other:execute("INSERT INTO t VALUES (4)")
                for row in a:rows("SELECT a FROM t") do b:execute("INSERT INTO t VALUES (?)", row.a) end
                a:in_savepoint(function(inner) inner:execute("INSERT INTO t VALUES (9)") return "rollback" end)
                db:write(function(inner) inner:execute("UPDATE t SET a = a") end)
                equal(a:read(function(inner) return inner:fetch_value("SELECT COUNT(*) FROM t") end), 2)
                fails("nested_access", a.in_transaction, a, function() end)
              end)
            end)
            other:write(function(b) db:write(function(a) a:execute("INSERT INTO t VALUES (5)") end) end)
            equal(db:fetch_values("SELECT a FROM t ORDER BY a"), { 1, 3, 5 })
            equal(other:fetch_values("SELECT a FROM t ORDER BY a"), { 1, 2, 3, 4 })
            """)
    }

    @Test func `an error in a nested block of another database does not roll back the outer block`() async throws {
        try await script(
            """
            local other = perilune.queue()
            for _, q in ipairs{ db, other } do q:execute("CREATE TABLE t (a)") end
            db:write(function(a)
              a:execute("INSERT INTO t VALUES (1)")
              pcall(other.write, other, function(b) b:execute("INSERT INTO t VALUES (2)") error("no") end)
            end)
            equal(db:fetch_values("SELECT a FROM t"), { 1 })
            equal(other:fetch_values("SELECT a FROM t"), {})
            """)
    }

    @Test func `write_without_transaction commits each statement`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a)")
            pcall(db.write_without_transaction, db, function(db)
              equal(db:is_inside_transaction(), false)
              db:execute("INSERT INTO t VALUES (1)")
              db:execute("VACUUM")
              error("no")
            end)
            equal(db:fetch_values("SELECT a FROM t"), { 1 })
            """)
    }

    @Test func `read and write require a function`() async throws {
        try await script(
            """
            for _, verb in ipairs{ "read", "write", "in_transaction", "in_savepoint", "write_without_transaction" } do
              for _, value in ipairs{ false, 1, {}, "x" } do
                fails("argument", db[verb], db, value)
              end
              matches(fails("argument", db[verb], db), "a function")
              fails("argument", db[verb])
              fails("argument", db[verb], {}, print)
              fails("argument", db[verb], perilune.null, print)
            end
            matches(fails("argument", db.in_transaction, db, "concurrent", print), "concurrent")
            matches(fails("argument", db.in_transaction, db, "deferred"), "argument 2: expected a function")
            """)
    }

    @Test func `blocks can run in coroutines`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a)")
            local co = coroutine.wrap(function()
              db:write(function(db) db:execute("INSERT INTO t VALUES (1)") end)
              coroutine.yield(db:fetch_value("SELECT COUNT(*) FROM t"))
              db:write(function(db) db:execute("INSERT INTO t VALUES (2)") end)
              return db:fetch_value("SELECT COUNT(*) FROM t")
            end)
            equal(co(), 1)
            equal(co(), 2)
            """)
    }

    @Test func `a coroutine can use the handle of the block that resumes it`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a)")
            db:write(function(db)
              local co = coroutine.wrap(function()
                for i = 1, 3 do
                  db:execute("INSERT INTO t VALUES (?)", i)
                  coroutine.yield(i)
                end
              end)
              equal(co() + co() + co(), 6)
            end)
            equal(db:fetch_values("SELECT a FROM t"), { 1, 2, 3 })
            """)
    }
}
