import Testing
import PeriluneLuaFileTools

@Suite struct ExecuteTests {
    @Test func `execute runs a statement`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a)")
            equal(db:tables(), { "t" })
            """)
    }

    @Test func `execute returns the inserted row id`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE)")
            equal(db:execute("INSERT INTO t (a) VALUES ('x')").inserted_rowid, 1)
            equal(db:execute("INSERT INTO t VALUES (-9223372036854775807 - 1, 'y')").inserted_rowid, math.mininteger)
            equal(db:execute("REPLACE INTO t VALUES (7, 'x')").inserted_rowid, 7)
            equal(db:execute("WITH c AS (SELECT 8, 'z') INSERT INTO t SELECT * FROM c").inserted_rowid, 8)
            equal(db:execute("INSERT OR IGNORE INTO t (a) VALUES ('x')").inserted_rowid, nil)
            equal(db:execute("UPDATE t SET a = 'w' WHERE id = 8").inserted_rowid, nil)
            equal(db:execute("CREATE TABLE u (a)").inserted_rowid, nil)
            equal(db:execute("SELECT 1").inserted_rowid, nil)
            """)
    }

    @Test func `execute returns the number of rows that its statement changed`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a)")
            local first = db:execute("INSERT INTO t VALUES (1), (2), (3)")
            local second = db:execute("UPDATE t SET a = a + 1 WHERE a > 1")
            equal(first.changed_rows, 3)
            equal(second.changed_rows, 2)
            equal(db:execute("DELETE FROM t").changed_rows, 3)
            equal(db:execute("DELETE FROM t").changed_rows, 0)
            equal(db:execute("DROP TABLE t").changed_rows, 0)
            equal(db:execute("PRAGMA user_version = 1").changed_rows, 0)
            """)
    }

    @Test func `a statement inside a loop counts only its own changed rows`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a); CREATE TABLE log (a)")
            db:execute("INSERT INTO t VALUES (1), (2)")
            db:write(function(db)
              for row in db:rows("SELECT a FROM t") do
                local changes = db:execute("INSERT INTO log VALUES (?)", row.a)
                equal(changes.changed_rows, 1)
                equal(changes.inserted_rowid, row.a)
              end
            end)
            """)
    }

    @Test func `the result of a statement with rows explains how to fetch them`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a)")
            for _, sql in ipairs{ "SELECT 1", "PRAGMA user_version", "SELECT * FROM t", "EXPLAIN SELECT 1" } do
              local result = db:execute(sql)
              equal({ result.changed_rows, result.inserted_rowid }, { 0 })
              matches(tostring(result), "{changed_rows = 0}, without the rows of the statement: use db:fetch_value(sql, ...)")
              matches(fails("argument", function() pairs(result) end), "use db:fetch_all")
            end
            equal(tostring(db:execute("INSERT INTO t VALUES (1) RETURNING a")), "{changed_rows = 1, inserted_rowid = 1}")
            equal(tostring(db:execute("PRAGMA user_version = 1")), "{changed_rows = 0}")
            """)
    }

    @Test func `a list in place of a value leads to json_each`() async throws {
        try await script(
            """
            for _, arguments in ipairs{ { "SELECT ?", { { 1, 2 } } }, { "SELECT ?1, ?2", 1, { 1, 2 } }, { "SELECT :ids", { ids = { 1, 2 } } } } do
              matches(fails("argument", function() db:fetch_all(table.unpack(arguments)) end), "json_each(?)")
            end
            local err = fails("argument", function() db:fetch_all("SELECT :id", { id = { a = 1 } }) end)
            equal(err.message:find("json_each", 1, true), nil)
            """)
    }

    @Test func `the result of execute can be printed and iterated, and its fields cannot be set`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a)")
            local changes = db:execute("INSERT INTO t VALUES (1)")
            equal(tostring(changes), "{changed_rows = 1, inserted_rowid = 1}")
            equal(tostring(db:execute("DELETE FROM t")), "{changed_rows = 1}")
            local seen = {}
            for k, v in pairs(changes) do seen[k] = v end
            equal(seen, { changed_rows = 1, inserted_rowid = 1 })
            seen = {}
            for k, v in pairs(db:execute("DELETE FROM t")) do seen[k] = v end
            equal(seen, { changed_rows = 0 })
            matches(tostring(select(2, pcall(function() return changes.other end))), "changed_rows")
            matches(fails("argument", function() return changes[1] end), "use db:fetch_all")
            equal(changes[{}], nil)
            fails(nil, function() changes.changed_rows = 2 end)
            -- The iterator is a function like others.
            local next_change = pairs(changes)
            for _, value in ipairs{ 1, "x", {}, perilune.null, db, print, coroutine.create(print) } do
              pcall(next_change, value, value)
              pcall(next_change, value)
              pcall(next_change, nil, value)
            end
            pcall(next_change)
            """)
    }

    @Test func `positional arguments are bound`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a, b)")
            db:execute("INSERT INTO t VALUES (?, ?)", 36, "Arthur")
            db:execute("INSERT INTO t VALUES (?, ?)", { 41, "Barbara" })
            equal(db:fetch_values("SELECT b FROM t WHERE a > ?", 40), { "Barbara" })
            """)
    }

    @Test func `named arguments are bound`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a, b)")
            db:execute("INSERT INTO t VALUES (:age, :name)", { age = 36, name = "Arthur" })
            db:execute("INSERT INTO t VALUES (@age, $name)", { age = 41, name = "Barbara" })
            equal(db:fetch_values("SELECT b FROM t WHERE a > :age ORDER BY b", { age = 1 }), { "Arthur", "Barbara" })
            """)
    }

    @Test func `NULL arguments are bound`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a, b)")
            db:execute("INSERT INTO t VALUES (?, ?)", { perilune.null, 1 })
            db:execute("INSERT INTO t VALUES (?, ?)", nil, 2)
            db:execute("INSERT INTO t VALUES (?, ?)", 3, nil)
            db:execute("INSERT INTO t VALUES (?, ?)", table.pack(nil, nil))
            db:execute("INSERT INTO t VALUES (:a, :b)", { a = perilune.null, b = 4 })
            equal(db:fetch_value("SELECT COUNT(*) FROM t WHERE a IS NULL"), 4)
            equal(db:fetch_value("SELECT COUNT(*) FROM t WHERE b IS NULL"), 2)
            """)
    }

    @Test func `arguments are not interpreted as SQL`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a)")
            local text = "x'); DROP TABLE t; --"
            db:execute("INSERT INTO t VALUES (?)", text)
            equal(db:fetch_value("SELECT a FROM t"), text)
            """)
    }

    @Test func `missing and surplus arguments are errors`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a, b)")
            local sql = "INSERT INTO t VALUES (?, ?)"
            matches(fails("argument", db.execute, db, sql, 1), "expected 2 arguments for the statement, got 1")
            matches(fails("argument", db.execute, db, sql, 1, 2, 3), "got 3")
            matches(fails("argument", db.execute, db, sql), "got 0")
            matches(fails("argument", db.execute, db, sql, { 1 }), "got 1")
            matches(fails("argument", db.execute, db, sql, { 1, nil, 3 }), "arguments")
            fails("argument", db.execute, db, sql, { n = 1e9 // 1 | 0 })
            fails("argument", db.execute, db, "DELETE FROM t", 1)
            fails("argument", db.execute, db, "DELETE FROM t", { 1 })
            fails("argument", db.execute, db, "", 1)
            local named = "INSERT INTO t VALUES (:age, :name)"
            matches(fails("argument", db.execute, db, named, { age = 1 }), "missing argument: name")
            matches(fails("argument", db.execute, db, named, {}), "missing arguments: age, name")
            equal(db:fetch_value("SELECT COUNT(*) FROM t"), 0)
            """)
    }

    @Test func `unknown names in arguments are errors`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a)")
            local err = fails("argument", db.execute, db, "INSERT INTO t VALUES (:age)", { age = 1, extra = 2 })
            matches(err, 'no parameter "extra"')
            err = fails("argument", db.execute, db, "INSERT INTO t VALUES (:age)", { aeg = 1 })
            matches(err, 'did you mean "age"')
            fails("argument", db.execute, db, "INSERT INTO t VALUES (1)", { age = 1 })
            fails("argument", db.execute, db, "INSERT INTO t VALUES (?)", { 1, age = 1 })
            fails("argument", db.execute, db, "INSERT INTO t VALUES (:age)", { [(":age")] = 1 })
            """)
    }

    @Test func `execute accepts several statements in one text`() async throws {
        try await script(
            """
            local changes = db:execute([[
              CREATE TABLE t (a, b); -- first
              INSERT INTO t VALUES (?, :name); /* second */
              INSERT INTO t VALUES (?, :name), (3, 'x'); ;
            ]], { 1, 2, name = "n" })
            equal(changes.changed_rows, 3)
            equal(changes.inserted_rowid, 3)
            equal(db:fetch_values("SELECT a || b FROM t"), { "1n", "2n", "3x" })
            db:execute(";; SELECT 1 ;; SELECT 2; -- the end")
            db:execute("CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; SELECT 2; END; INSERT INTO t VALUES (';', ';')")
            equal(db:fetch_value("SELECT a FROM t WHERE b = ';'"), ";")
            """)
    }

    @Test func `if one of several statements fails, earlier changes are kept outside a transaction`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a UNIQUE)")
            local sql = "INSERT INTO t VALUES (1); INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)"
            local err = fails("constraint_unique", db.execute, db, sql)
            equal(db:fetch_values("SELECT a FROM t"), { 1 })
            matches(err.sql, "INSERT INTO t VALUES (1)")
            db:execute("DELETE FROM t")
            pcall(db.write, db, function(db) db:execute(sql) end)
            equal(db:fetch_values("SELECT a FROM t"), {})
            fails("sql", db.execute, db, "INSERT INTO t VALUES (1); nonsense")
            equal(db:fetch_values("SELECT a FROM t"), { 1 })
            """)
    }

    @Test func `wrong arguments for a text of several statements are errors`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a)")
            fails("argument", db.execute, db, "INSERT INTO t VALUES (?); INSERT INTO t VALUES (?)", 1)
            fails("argument", db.execute, db, "INSERT INTO t VALUES (?); INSERT INTO t VALUES (?)", 1, 2, 3)
            fails("argument", db.execute, db, "INSERT INTO t VALUES (:a); INSERT INTO t VALUES (:b)", { a = 1, b = 2, c = 3 })
            fails("argument", db.execute, db, "SELECT 1; SELECT :missing", {})
            """)
    }

    @Test func `empty SQL executes nothing and cannot be fetched`() async throws {
        try await script(
            """
            for _, sql in ipairs{ "", " ", "\\n", ";", " ; ; ", "-- comment", "/* comment */", "/*", "\\u{FEFF}" } do
              equal(db:execute(sql).changed_rows, 0)
              for _, verb in ipairs{ "fetch_all", "fetch_one", "fetch_value", "fetch_values", "fetch_set", "rows", "tuples", "prepare" } do
                fails("argument", db[verb], db, sql)
              end
            end
            """)
    }

    @Test func `only execute accepts several statements`() async throws {
        try await script(
            """
            for _, verb in ipairs{ "fetch_all", "fetch_one", "fetch_value", "fetch_values", "fetch_set", "rows", "tuples", "prepare" } do
              matches(fails("argument", db[verb], db, "SELECT 1; SELECT 2"), "several statements")
              if verb ~= "prepare" then db[verb](db, "SELECT 1; -- only one") end
            end
            """)
    }

    @Test func `invalid SQL is an error, even if it is not text`() async throws {
        try await script(
            """
            for _, verb in ipairs{ "execute", "fetch_all", "fetch_one", "fetch_value", "fetch_values", "fetch_set", "rows", "tuples", "prepare", "explain" } do
              for _, sql in ipairs{ 1, 1.5, true, {}, print, db } do
                fails("argument", db[verb], db, sql)
              end
              fails("argument", db[verb], db)
              fails("argument", db[verb], db, "SELECT 1\\0; DROP TABLE t")
              fails("argument", db[verb], db, "SELECT '\\xFF'")
              fails("sql", db[verb], db, "SELEC 1")
              fails("sql", db[verb], db, "SELECT * FROM missing")
            end
            """)
    }

    @Test func `very long or deeply nested SQL raises an error instead of crashing`() async throws {
        try await script(
            """
            local ok, err = pcall(db.fetch_value, db, "SELECT " .. ("("):rep(100000) .. "1" .. (")"):rep(100000))
            equal(ok, false)
            equal(db:fetch_value("SELECT '" .. ("x"):rep(500000) .. "'"), ("x"):rep(500000))
            ok = pcall(db.fetch_value, db, "SELECT " .. ("1+"):rep(100000) .. "1")
            equal(ok, false)
            ok = pcall(db.fetch_all, db, ("SELECT 1 UNION ALL "):rep(600) .. "SELECT 1")
            equal(ok, false)
            ok = pcall(db.fetch_all, db, "SELECT " .. ("1,"):rep(5000) .. "1")
            equal(ok, false)
            ok = pcall(db.fetch_all, db, "SELECT " .. ("a b c "):rep(1000000))
            equal(ok, false)
            equal(db:fetch_value("SELECT 1"), 1)
            """)
    }

    @Test func `the rows of INSERT RETURNING can be fetched, and the statement runs once`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
            equal(db:fetch_all("INSERT INTO t (a) VALUES ('x'), ('y') RETURNING id, a"), { { id = 1, a = "x" }, { id = 2, a = "y" } })
            equal(db:fetch_value("INSERT INTO t (a) VALUES ('z') RETURNING id"), 3)
            equal(db:fetch_one("UPDATE t SET a = 'w' WHERE id = 3 RETURNING a"), { a = "w" })
            equal(db:fetch_values("DELETE FROM t RETURNING id"), { 1, 2, 3 })
            local seen = {}
            for id in db:tuples("INSERT INTO t (a) VALUES (1), (2) RETURNING id") do seen[#seen + 1] = id end
            for row in db:rows("INSERT INTO t (a) VALUES (1), (2) RETURNING id") do seen[#seen + 1] = row.id end
            equal(seen, { 1, 2, 3, 4 })
            equal(db:execute("INSERT INTO t (a) VALUES (1), (2) RETURNING id").changed_rows, 2)
            equal(db:fetch_value("SELECT COUNT(*) FROM t"), 6)
            """)
    }

    @Test func `INSERT ON CONFLICT DO UPDATE reports its changed rows`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE, n DEFAULT 0); CREATE TABLE u (a)")
            equal(db:execute("INSERT INTO t (a) VALUES ('x')").inserted_rowid, 1)
            for i = 1, 5 do db:execute("INSERT INTO u VALUES (1)") end
            local changes = db:execute("INSERT INTO t (a) VALUES ('x') ON CONFLICT (a) DO UPDATE SET n = n + 1")
            equal(changes.changed_rows, 1)
            equal(changes.inserted_rowid, nil)
            equal(db:execute("INSERT INTO t (a) VALUES ('y') ON CONFLICT (a) DO UPDATE SET n = n + 1").inserted_rowid, 2)
            equal(db:execute("INSERT INTO t (a) VALUES ('x') ON CONFLICT DO NOTHING").changed_rows, 0)
            equal(db:fetch_value("SELECT last_insert_rowid()"), 2)
            """)
    }

    @Test func `an INSERT into a table without row ids returns no row id`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a); CREATE TABLE w (a PRIMARY KEY) WITHOUT ROWID")
            db:execute("INSERT INTO t VALUES (1), (2), (3)")
            equal(db:execute("INSERT INTO w VALUES (1)").inserted_rowid, nil)
            equal(db:fetch_value("SELECT last_insert_rowid()"), 3)
            db:execute("INSERT INTO t VALUES (last_insert_rowid())")
            equal(db:fetch_value("SELECT a FROM t WHERE rowid = 4"), 3)
            """)
    }
}
