import Testing
import PeriluneLuaFileTools

@Suite struct StatementTests {
    @Test func `a prepared statement can run many times and reports its changes each time`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (name, age)")
            local insert = db:prepare("INSERT INTO t VALUES (:name, :age)")
            equal(insert:execute{ name = "Arthur", age = 41 }.inserted_rowid, 1)
            local changes = insert:execute{ name = "Barbara", age = 36 }
            equal(changes.inserted_rowid, 2)
            equal(changes.changed_rows, 1)
            equal(db:prepare("UPDATE t SET age = age + 1"):execute().changed_rows, 2)
            equal(insert:sql(), "INSERT INTO t VALUES (:name, :age)")
            """)
    }

    @Test func `a statement works again after a failure`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a UNIQUE)")
            local insert = db:prepare("INSERT INTO t VALUES (?)")
            local select = db:prepare("SELECT abs(?)")
            local function check()
              db:execute("DELETE FROM t")
              insert:execute(1)
              for i = 1, 10 do
                fails("constraint_unique", insert.execute, insert, 1)
                insert:execute(i * 10)
                fails("argument", insert.execute, insert)
                fails("argument", insert.execute, insert, {}, {})
                fails("argument", insert.execute, insert, print)
                fails("sql", select.fetch_value, select, math.mininteger)
                equal(select:fetch_value(-3), 3)
              end
              equal(db:fetch_value("SELECT COUNT(*) FROM t"), 11)
            end
            check()
            db:write(check)
            db:write_without_transaction(check)
            """)
    }

    @Test func `all fetch methods accept a prepared SELECT`() async throws {
        try await script(
            """
            local statement = db:prepare("SELECT ? AS a, ? AS b")
            equal(statement:fetch_all(1, 2), { { a = 1, b = 2 } })
            equal(statement:fetch_one(1, 2), { a = 1, b = 2 })
            equal(statement:fetch_value(1, 2), 1)
            equal(statement:fetch_values(1, 2), { 1 })
            equal(statement:fetch_optional_values(nil, 2), { perilune.null })
            equal(statement:fetch_set(1, 2), { [1] = true })
            for row in statement:rows(1, 2) do equal(row, { a = 1, b = 2 }) end
            for a, b in statement:tuples(1, 2) do equal({ a, b }, { 1, 2 }) end
            equal(statement:columns(), { "a", "b" })
            equal(statement:parameters(), { false, false })
            equal(db:prepare("SELECT :x, @y, $z, ?, ?7"):parameters(), { "x", "y", "z", false, false, false, false })
            equal(statement:is_readonly(), true)
            equal(db:prepare("PRAGMA user_version = 2"):is_readonly(), false)
            """)
    }

    @Test func `a prepared statement can insert many rows with named arguments`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name)")
            db:write(function(db)
              local insert = db:prepare("INSERT INTO t (name) VALUES (:name)")
              for i = 1, 1000 do insert:execute{ name = "n" .. i } end
            end)
            equal(db:fetch_value("SELECT COUNT(DISTINCT name) FROM t"), 1000)
            """)
    }

    @Test func `a statement that was prepared in a block becomes unusable when the block ends`() async throws {
        try await script(
            """
            local escaped
            db:read(function(db) escaped = db:prepare("SELECT 1") equal(escaped:fetch_value(), 1) end)
            for _, verb in ipairs{ "execute", "fetch_all", "fetch_one", "fetch_value", "fetch_values", "fetch_set", "rows", "tuples", "columns", "parameters", "is_readonly" } do
              fails("dead_handle", escaped[verb], escaped)
            end
            db:read(function() fails("dead_handle", escaped.fetch_value, escaped) end)
            equal(escaped:sql(), "SELECT 1")
            """)
    }

    @Test func `a statement that was prepared outside blocks works everywhere`() async throws {
        try await script(
            """
            local path = temporary_path("statement.sqlite")
            for _, q in ipairs{ db, perilune.queue(), perilune.pool(path) } do
              q:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
              local count, insert = q:prepare("SELECT COUNT(*) FROM t"), q:prepare("INSERT INTO t VALUES (2)")
              equal(count:fetch_value(), 1)
              insert:execute()
              q:write(function() insert:execute() equal(count:fetch_value(), 3) end)
              q:read(function() equal(count:fetch_value(), 3) fails("readonly", insert.execute, insert) end)
              q:in_transaction(function() insert:execute() return "rollback" end)
              equal(count:fetch_value(), 3)
            end
            """)
    }

    @Test func `a prepared statement can be used inside a block of another database`() async throws {
        try await script(
            """
            local other = perilune.queue()
            other:execute("CREATE TABLE t (a)")
            local insert = other:prepare("INSERT INTO t VALUES (?)")
            db:write(function() insert:execute(1) end)
            equal(other:fetch_value("SELECT a FROM t"), 1)
            """)
    }

    @Test func `arguments of statements are checked`() async throws {
        try await script(
            """
            local statement = db:prepare("SELECT :a, :b")
            fails("argument", statement.fetch_one, statement)
            fails("argument", statement.fetch_one, statement, { a = 1 })
            fails("argument", statement.fetch_one, statement, { a = 1, b = 2, c = 3 })
            fails("argument", statement.fetch_one, statement, 1)
            equal(statement:fetch_one(1, 2), { [":a"] = 1, [":b"] = 2 })
            """)
    }

    @Test func `using a closed statement is an error`() async throws {
        try await script(
            """
            local statement = db:prepare("SELECT 1")
            statement:close()
            statement:close()
            fails("closed", statement.fetch_value, statement)
            fails("closed", statement.rows, statement)
            do local scoped <close> = db:prepare("SELECT 2") equal(scoped:fetch_value(), 2) end
            """)
    }

    @Test func `functions distinguish statements from other values`() async throws {
        try await script(
            """
            local statement = db:prepare("SELECT 1")
            for _, value in ipairs{ 1, "x", {}, db, perilune.null, print } do
              fails("argument", statement.fetch_all, value)
              fails("argument", statement.sql, value)
              fails("argument", statement.close, value)
            end
            fails("argument", statement.fetch_all)
            fails("argument", db.fetch_all, statement, "SELECT 1")
            matches(tostring(statement), "SELECT 1")
            fails(nil, function() statement.x = 1 end)
            """)
    }

    @Test func `ten thousand distinct statements do not fill the memory`() async throws {
        try await script(
            """
            db:fetch_value("SELECT 1")
            collectgarbage()
            local before = collectgarbage("count")
            local kept = {}
            for i = 1, 10000 do
              equal(db:fetch_value("SELECT " .. i), i)
              if i % 100 == 0 then kept[#kept + 1] = db:prepare("SELECT -" .. i) end
              if i % 1000 == 0 then db:read(function(db) equal(db:fetch_value("SELECT " .. i), i) end) end
            end
            collectgarbage() -- calls finalizers
            collectgarbage() -- frees what they had kept
            local grown = collectgarbage("count") - before
            if grown > 1024 then error("KiB: " .. grown) end
            for i, statement in ipairs(kept) do equal(statement:fetch_value(), -100 * i) end
            """)
    }

    @Test func `a statement in use survives its eviction from the cache`() async throws {
        try await script(
            """
            local sql = "SELECT 1 AS a UNION ALL SELECT 2 UNION ALL SELECT 3"
            local seen = {}
            for row in db:rows(sql) do
              for i = 1, 500 do db:fetch_value("SELECT " .. i) end
              seen[#seen + 1] = row.a
            end
            equal(seen, { 1, 2, 3 })
            local statement = db:prepare(sql)
            for i = 1, 1000 do db:fetch_value("SELECT " .. i) end
            equal(statement:fetch_values(), { 1, 2, 3 })
            """)
    }

    @Test func `failures inside a block leave no open statements`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a UNIQUE)")
            local bad = setmetatable({}, { __to_database = function() error("no") end })
            db:write(function(db)
              local sql = "INSERT INTO t VALUES (?)"
              db:execute(sql, 0)
              collectgarbage()
              local before = collectgarbage("count")
              for i = 1, 5000 do
                pcall(db.execute, db, sql)
                pcall(db.execute, db, sql, print)
                pcall(db.execute, db, sql, bad, nil)
                pcall(db.execute, db, sql, bad)
                pcall(db.execute, db, sql, { x = 1 })
                pcall(db.execute, db, sql, 1, 2)
                pcall(db.execute, db, sql, 0)
                pcall(db.fetch_values, db, "SELECT NULL")
              end
              collectgarbage() -- calls finalizers
              collectgarbage() -- frees what they had kept
              local grown = collectgarbage("count") - before
              if grown > 512 then error("KiB: " .. grown) end
            end)
            """)
    }

    @Test func `a conversion of an argument may use the same statement`() async throws {
        try await script(
            """
            local sql = "SELECT ? || '-' || ?"
            local nested = setmetatable({}, { __to_database = function()
              collectgarbage()
              return db:fetch_value(sql, ("in"):rep(50), "ner")
            end })
            for _ = 1, 50 do
              equal(db:fetch_value(sql, ("out"):rep(50), nested), ("out"):rep(50) .. "-" .. ("in"):rep(50) .. "-ner")
            end
            """)
    }
}
