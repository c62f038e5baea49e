import Testing
import PeriluneLuaFileTools

@Suite struct TransactionTests {
    private let setup =
        "db:execute('CREATE TABLE t (a)') local function count() return db:fetch_value('SELECT COUNT(*) FROM t') end "

    @Test func `in_transaction commits or rolls back according to the block's result`() async throws {
        try await script(
            setup + """
                equal(db:in_transaction(function(db) db:execute("INSERT INTO t VALUES (1)") return "commit", 5, nil end), 5)
                equal(count(), 1)
                equal(select("#", db:in_transaction(function(db) db:execute("INSERT INTO t VALUES (1)") return "rollback", nil, nil end)), 2)
                equal(count(), 1)
                """)
    }

    @Test func `a block that returns a misspelled result rolls back, and one that returns another value commits`() async throws {
        try await script(
            setup + """
                for _, verb in ipairs{ "in_transaction", "in_savepoint" } do
                  for _, word in ipairs{ "comit", "COMMIT", "rolback" } do
                    fails("argument", db[verb], db, function(db) db:execute("INSERT INTO t VALUES (1)") return word end)
                  end
                  equal(count(), 0)
                  for _, value in ipairs{ true, 1, "done", ("x"):rep(99) } do
                    equal(db[verb](db, function(db) db:execute("INSERT INTO t VALUES (1)") return value end), value)
                    equal(count(), 1)
                    db:execute("DELETE FROM t")
                  end
                end
                """)
    }

    @Test func `an error in a transaction rolls back and is raised unchanged`() async throws {
        try await script(
            setup + """
                local mine = {}
                local ok, err = pcall(db.in_transaction, db, function(db) db:execute("INSERT INTO t VALUES (1)") error(mine) end)
                equal(rawequal(err, mine), true)
                equal(count(), 0)
                equal(db:is_inside_transaction(), false)
                """)
    }

    @Test func `transactions can be deferred, immediate or exclusive`() async throws {
        try await script(
            """
            local path = temporary_path("kinds.sqlite")
            local seen = {}
            -- With a write-ahead log, exclusive transactions do not block readers.
            local one = perilune.queue(path, { journal_mode = "delete", trace = function(event) seen[#seen + 1] = event.sql end })
            one:execute("CREATE TABLE t (a)")
            local two = perilune.queue(path)
            local function can_write() return (pcall(two.execute, two, "INSERT INTO t VALUES (1)")) end
            local function can_read() return (pcall(two.fetch_value, two, "SELECT COUNT(*) FROM t")) end
            local function within(kind)
              seen = {}
              local results
              local function block() results = { seen[1], can_write(), can_read() } return "commit" end
              if kind then one:in_transaction(kind, block) else one:in_transaction(block) end
              return results
            end
            equal(within("deferred"), { "BEGIN DEFERRED TRANSACTION", true, true })
            equal(within("immediate"), { "BEGIN IMMEDIATE TRANSACTION", false, true })
            equal(within("exclusive"), { "BEGIN EXCLUSIVE TRANSACTION", false, false })
            equal(within(nil), { "BEGIN IMMEDIATE TRANSACTION", false, true })
            one:close() two:close() os.remove(path)
            """)
    }

    @Test func `a transaction that SQL leaves open outside a block is rolled back and reported as an error`() async throws {
        try await script(
            setup + """
                for _, sql in ipairs{ "BEGIN", "SAVEPOINT x", "begin immediate", " /* */ BEGIN EXCLUSIVE", "SELECT 1; BEGIN" } do
                  fails("open_transaction", db.write_without_transaction, db, function(db)
                    db:execute(sql)
                    db:execute("INSERT INTO t VALUES (1)")
                  end)
                  equal(db:is_inside_transaction(), false)
                  fails("open_transaction", db.execute, db, sql)
                  equal(db:is_inside_transaction(), false)
                  local mine = {}
                  local ok, err = pcall(db.write_without_transaction, db, function(db) db:execute(sql) error(mine) end)
                  equal(rawequal(err, mine), true)
                  equal(db:is_inside_transaction(), false)
                end
                equal(count(), 0)
                """)
    }

    @Test func `complete transactions in SQL are allowed outside a transaction block`() async throws {
        try await script(
            setup + """
                db:write_without_transaction(function(db)
                  db:execute("BEGIN")
                  db:execute("INSERT INTO t VALUES (1)")
                  equal(db:is_inside_transaction(), true)
                  db:execute("COMMIT")
                  db:execute("SAVEPOINT a; INSERT INTO t VALUES (2); ROLLBACK TO a; RELEASE a")
                  db:execute("BEGIN; INSERT INTO t VALUES (3); END")
                  db:in_transaction(function(db) db:execute("INSERT INTO t VALUES (4)") return "rollback" end)
                  fails("sql", db.execute, db, "COMMIT")
                end)
                db:execute("BEGIN; INSERT INTO t VALUES (5); COMMIT")
                equal(db:fetch_values("SELECT a FROM t"), { 1, 3, 5 })
                """)
    }

    @Test func `in_transaction and write_without_transaction cannot be nested in a transaction`() async throws {
        try await script(
            setup + """
                db:write(function(handle)
                  for _, verb in ipairs{ "in_transaction", "write_without_transaction" } do
                    fails("nested_access", handle[verb], handle, function() return "commit" end)
                    fails("nested_access", db[verb], db, function() return "commit" end)
                  end
                end)
                db:write_without_transaction(function(db)
                  db:in_transaction(function(db)
                    fails("nested_access", db.in_transaction, db, function() return "commit" end)
                    return "commit"
                  end)
                  db:execute("BEGIN")
                  fails("sql", db.in_transaction, db, function() return "commit" end)
                  equal(db:is_inside_transaction(), true)
                  db:execute("ROLLBACK")
                end)
                """)
    }

    @Test func `transaction statements are refused inside transaction blocks`() async throws {
        try await script(
            setup + """
                local function check(handle)
                  for _, sql in ipairs{
                    "BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT a", "RELEASE a", "ROLLBACK TO a", "commit", " -- x\\n COMMIT",
                    "/**/ROLLBACK", ";COMMIT", "INSERT INTO t VALUES (9); COMMIT", "\\u{FEFF}COMMIT", "END TRANSACTION",
                  } do
                    fails("transaction_control", handle.execute, handle, sql)
                    fails("transaction_control", db.execute, db, sql)
                    if not sql:find("INSERT") then fails("transaction_control", db.prepare, db, sql) end
                  end
                  equal(db:is_inside_transaction(), true)
                end
                pcall(db.write, db, function(db) check(db) error("undo") end)
                db:read(function(db) fails("transaction_control", db.execute, db, "COMMIT") end)
                db:in_transaction(function(db) check(db) return "rollback" end)
                db:in_savepoint(function(db) check(db) return "rollback" end)
                equal(count(), 0)
                """)
    }

    @Test func `transaction statements are refused through the handle of an outer block, too`() async throws {
        try await script(
            setup + """
                local commit = db:prepare("COMMIT")
                db:write_without_transaction(function(outer)
                  local own = outer:prepare("ROLLBACK")
                  outer:in_transaction(function(inner)
                    inner:execute("INSERT INTO t VALUES (1)")
                    for _, sql in ipairs{ "COMMIT", "ROLLBACK", "SAVEPOINT x", "RELEASE grdb" } do
                      fails("transaction_control", outer.execute, outer, sql)
                    end
                    fails("transaction_control", own.execute, own)
                    fails("transaction_control", commit.execute, commit)
                    return "rollback"
                  end)
                  outer:execute("BEGIN")
                  outer:in_savepoint(function()
                    fails("transaction_control", outer.execute, outer, "COMMIT")
                    fails("transaction_control", own.execute, own)
                    return "commit"
                  end)
                  own:execute()
                end)
                equal(count(), 0)
                """)
    }

    @Test func `savepoints can be nested, committed and rolled back`() async throws {
        try await script(
            setup + """
                equal(db:write(function(db)
                  db:execute("INSERT INTO t VALUES (1)")
                  local result = db:in_savepoint(function(db)
                    db:execute("INSERT INTO t VALUES (2)")
                    db:in_savepoint(function(db) db:execute("INSERT INTO t VALUES (3)") return "commit" end)
                    db:in_savepoint(function(db) db:execute("INSERT INTO t VALUES (4)") return "rollback" end)
                    pcall(db.in_savepoint, db, function(db) db:execute("INSERT INTO t VALUES (5)") error("no") end)
                    return "commit", "result"
                  end)
                  db:in_savepoint(function(db)
                    db:in_savepoint(function(db) db:execute("INSERT INTO t VALUES (6)") return "commit" end)
                    return "rollback"
                  end)
                  return result
                end), "result")
                equal(db:fetch_values("SELECT a FROM t"), { 1, 2, 3 })
                """)
    }

    @Test func `a savepoint outside a transaction is a transaction`() async throws {
        try await script(
            setup + """
                db:in_savepoint(function(db)
                  db:execute("INSERT INTO t VALUES (1)")
                  equal(db:is_inside_transaction(), true)
                  return "commit"
                end)
                pcall(db.in_savepoint, db, function(db) db:execute("INSERT INTO t VALUES (2)") error("no") end)
                equal(db:fetch_values("SELECT a FROM t"), { 1 })
                """)
    }

    @Test func `deeply nested savepoints end with an error instead of a crash`() async throws {
        try await script(
            setup + """
                local depth = 0
                local function deeper(db)
                  depth = depth + 1
                  db:execute("INSERT INTO t VALUES (1)")
                  if depth < 30 then db:in_savepoint(deeper) end
                  return "commit"
                end
                db:in_savepoint(deeper)
                equal(count(), 30)
                local function forever(db) db:in_savepoint(forever) return "commit" end
                local ok, err = pcall(db.in_savepoint, db, forever)
                equal(ok, false)
                equal(db:is_inside_transaction(), false)
                equal(count(), 30)
                """)
    }

    @Test func `a ROLLBACK conflict ends the block's transaction with an error`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (1)")
            for _, block in ipairs{
              function(f) db:write(f) end,
              function(f) db:in_transaction(function(db) f(db) return "commit" end) end,
              function(f) db:in_transaction(function(db) f(db) return "rollback" end) end,
              function(f) db:in_savepoint(function(db) f(db) return "commit" end) end,
              function(f) db:write(function(db) db:in_savepoint(function(db) f(db) return "commit" end) end) end,
              function(f) db:write(function(db) pcall(db.in_savepoint, db, function(db) f(db) return "rollback" end) end) end,
            } do
              local result = { pcall(block, function(db)
                db:execute("INSERT INTO t VALUES (2)")
                fails("constraint_unique", db.execute, db, "INSERT OR ROLLBACK INTO t VALUES (1)")
                equal(db:is_inside_transaction(), false)
                fails("abort", db.execute, db, "INSERT INTO t VALUES (3)")
                fails("abort", db.fetch_all, db, "SELECT a FROM t")
              end) }
              equal(db:is_inside_transaction(), false)
              equal(db:fetch_values("SELECT a FROM t"), { 1 })
            end
            local ok, err = pcall(db.write, db, function(db)
              pcall(db.execute, db, "INSERT OR ROLLBACK INTO t VALUES (1)")
            end)
            equal(ok, false)
            equal(err.code, 4)
            """)
    }

    @Test func `a violated deferred foreign key makes the commit fail and leaves no transaction open`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (a_id REFERENCES a (id) DEFERRABLE INITIALLY DEFERRED)")
            local finished = false
            local err = fails("constraint_foreign_key", db.write, db, function(db)
              db:execute("INSERT INTO b VALUES (1)")
              finished = true
            end)
            equal(finished, true)
            equal(db:is_inside_transaction(), false)
            fails("constraint_foreign_key", db.in_transaction, db, function(db) db:execute("INSERT INTO b VALUES (1)") return "commit" end)
            fails("constraint_foreign_key", db.in_savepoint, db, function(db) db:execute("INSERT INTO b VALUES (1)") return "commit" end)
            db:write(function(db) db:execute("INSERT INTO b VALUES (1)") db:execute("INSERT INTO a VALUES (1)") end)
            equal(db:fetch_value("SELECT COUNT(*) FROM b"), 1)
            """)
    }

    @Test func `yielding out of a block is an error and rolls back`() async throws {
        try await script(
            setup + """
                for _, verb in ipairs{ "read", "write", "in_transaction", "in_savepoint", "write_without_transaction" } do
                  local co = coroutine.create(function()
                    db[verb](db, function(db)
                      if verb ~= "read" then db:execute("INSERT INTO t VALUES (1)") end
                      coroutine.yield()
                    end)
                  end)
                  local ok, err = coroutine.resume(co)
                  equal(ok, false)
                  matches(err, "yield")
                  equal(db:is_inside_transaction(), false)
                end
                equal(count(), 1)
                """)
    }

    @Test func `a block that is left by goto, return or a tail call commits`() async throws {
        try await script(
            setup + """
                local function insert(db, value) db:execute("INSERT INTO t VALUES (?)", value) end
                db:write(function(db) return insert(db, 1) end)
                db:write(function(db) for i = 1, 3 do insert(db, i) if i == 2 then goto out end end ::out:: end)
                db:write(db.execute, "INSERT INTO t VALUES (7)")
                equal(count(), 4)
                """)
    }
}
