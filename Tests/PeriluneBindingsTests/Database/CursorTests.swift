import Foundation
import Perilune
import PeriluneLuaFileTools
import PeriluneLua
import Testing

@Suite struct CursorTests {
    private let numbers = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n"

    @Test func `rows are iterated lazily, inside and outside blocks`() async throws {
        try await script(
            """
            local sum = 0
            for row in db:rows("\(numbers)") do sum = sum + row.i end
            equal(sum, 15)
            db:read(function(db) for row in db:rows("\(numbers)") do sum = sum + row.i end end)
            equal(sum, 30)
            local count = 0
            for row in db:rows("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n") do
              count = count + 1
              if count == 1000 then break end
            end
            equal(count, 1000)
            """)
    }

    @Test func `tuples return the columns as values`() async throws {
        try await script(
            """
            local seen = {}
            for a, b, c in db:tuples("SELECT 1, NULL, 'x' UNION ALL SELECT NULL, 2, NULL") do seen[#seen + 1] = { a, b, c } end
            equal(seen, { { 1, nil, "x" }, { perilune.null, 2, nil } })
            for n in db:tuples("SELECT 5") do equal(n, 5) end
            """)
    }

    @Test func `each row of a cursor is a separate object`() async throws {
        try await script(
            """
            local kept = {}
            for row in db:rows("\(numbers)") do kept[#kept + 1] = row end
            for i, row in ipairs(kept) do equal(row.i, i) end
            local copy = kept[1]:copy()
            copy.i = 9
            equal(kept[1].i, 1)
            """)
    }

    @Test func `a cursor is unusable after its block`() async throws {
        try await script(
            """
            local escaped
            db:read(function(db) escaped = db:rows("\(numbers)") escaped() end)
            matches(fails("dead_handle", escaped), "block ended")
            db:write(function(db) escaped = db:tuples("\(numbers)") end)
            fails("dead_handle", escaped)
            local finished
            db:read(function(db) finished = db:rows("SELECT 1") finished() finished() end)
            equal(finished(), nil)
            """)
    }

    @Test func `leaving a loop closes its cursor`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)")
            local function leave(how)
              for row in db:rows("SELECT a FROM t") do
                if how == "break" then break elseif how == "return" then return elseif how == "goto" then goto out else error("x") end
              end
              ::out::
            end
            for _, how in ipairs{ "break", "return", "goto", "error" } do
              pcall(leave, how)
              db:execute("DROP TABLE t")
              db:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)")
            end
            db:write(function(db)
              for _, how in ipairs{ "break", "return", "goto", "error" } do
                pcall(leave, how)
                db:execute("DROP TABLE t")
                db:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)")
              end
            end)
            """)
    }

    @Test func `a dropped cursor is closed when it is collected`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
            db:rows("SELECT a FROM t")()
            collectgarbage() collectgarbage()
            db:execute("DROP TABLE t")
            db:write(function(db)
              db:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
              db:rows("SELECT a FROM t")()
              collectgarbage() collectgarbage()
              db:execute("DROP TABLE t")
            end)
            """)
    }

    @Test func `a cursor in a dropped coroutine is closed when the coroutine is collected`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
            do
              local co = coroutine.wrap(function() for row in db:rows("SELECT a FROM t WHERE a < ?", 9) do coroutine.yield(row.a) end end)
              equal(co(), 1)
            end
            collectgarbage() collectgarbage()
            db:execute("DROP TABLE t")
            """)
    }

    @Test func `a cursor can be closed explicitly`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
            local next_row, _, _, cursor = db:rows("SELECT a FROM t")
            equal(next_row().a, 1)
            cursor:close()
            equal(next_row(), nil)
            cursor:close()
            db:execute("DROP TABLE t")
            fails("argument", cursor.close)
            fails("argument", cursor.close, {})
            """)
    }

    @Test func `an open cursor prevents dropping its table`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
            local next_row, _, _, cursor <close> = db:rows("SELECT a FROM t")
            next_row()
            fails("locked", db.execute, db, "DROP TABLE t")
            equal(next_row().a, 2)
            """)
    }

    @Test func `loops over the same SQL can be nested`() async throws {
        try await script(
            """
            local pairs_seen = {}
            for a in db:rows("\(numbers)") do
              for b in db:rows("\(numbers)") do
                pairs_seen[#pairs_seen + 1] = a.i .. b.i
              end
            end
            equal(#pairs_seen, 25)
            equal(pairs_seen[25], "55")
            db:read(function(db)
              local count = 0
              for a in db:tuples("\(numbers)") do
                for b in db:tuples("\(numbers)") do
                  equal(db:fetch_values("\(numbers)"), { 1, 2, 3, 4, 5 })
                  count = count + 1
                end
              end
              equal(count, 25)
            end)
            local statement, count = db:prepare("\(numbers)"), 0
            for a in statement:rows() do
              for b in statement:rows() do
                equal(#statement:fetch_all(), 5)
                count = count + 1
              end
            end
            equal(count, 25)
            """)
    }

    @Test func `a loop over rows can write, inside and outside blocks`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3); CREATE TABLE log (a)")
            for row in db:rows("SELECT a FROM t") do db:execute("INSERT INTO log VALUES (?)", row.a) end
            for row in db:rows("SELECT a FROM t") do
              db:write(function(db) db:execute("INSERT INTO log VALUES (?)", row.a) end)
            end
            db:write(function(db)
              for row in db:rows("SELECT a FROM t") do
                db:in_savepoint(function(db) db:execute("INSERT INTO log VALUES (?)", row.a) return row.a == 2 and "rollback" or "commit" end)
              end
            end)
            equal(db:fetch_values("SELECT a FROM log"), { 1, 2, 3, 1, 2, 3, 1, 3 })
            """)
    }

    @Test func `after a rollback inside a loop, the loop raises an error or continues with its rows`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)")
            local seen = 0
            pcall(function()
              for row in db:rows("SELECT a FROM t") do
                seen = seen + 1
                pcall(db.write, db, function(db) db:execute("CREATE TABLE u (a)") error("no") end)
              end
            end)
            if seen < 1 or seen > 3 then error(seen) end
            equal(db:tables(), { "t" })
            equal(db:fetch_value("SELECT COUNT(*) FROM t"), 3)
            """)
    }

    @Test func `ROLLBACK in SQL ends cursors with an error`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)")
            db:write_without_transaction(function(db)
              db:execute("BEGIN")
              db:execute("CREATE TABLE u (a)")
              local ok, err = pcall(function()
                for row in db:rows("SELECT a FROM t") do db:execute("ROLLBACK") end
              end)
              equal(ok, false)
              equal(err.code, 4)
              equal(db:fetch_value("SELECT COUNT(*) FROM t"), 3)
            end)
            """)
    }

    @Test func `a cursor that was opened outside a write block continues inside it`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)")
            local next_row, _, _, cursor = db:rows("SELECT a FROM t")
            equal(next_row().a, 1)
            db:write(function() equal(next_row().a, 2) end)
            equal(next_row().a, 3)
            equal(next_row(), nil)
            equal(next_row(), nil)
            """)
    }

    @Test func `a pool's cursor cannot be used in a read block and stays usable afterwards`() async throws {
        try await script(
            """
            local path = temporary_path("cursor.sqlite")
            local pool = perilune.pool(path)
            pool:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)")
            local next_row, _, _, cursor = pool:rows("SELECT a FROM t")
            equal(next_row().a, 1)
            pool:read(function() fails("nested_access", next_row) end)
            equal(next_row().a, 2)
            pool:read(function() cursor:close() end)
            equal(next_row(), nil)
            pool:execute("DROP TABLE t")
            pool:close()
            os.remove(path)
            """)
    }

    @Test func `a cursor's iterator ignores its arguments`() async throws {
        try await script(
            """
            for _, values in ipairs{ {}, { 1 }, { {}, {} }, { db, db, db } } do
              local next_row = db:rows("\(numbers)")
              equal(next_row(table.unpack(values)).i, 1)
            end
            """)
    }

    @Test func `a cursor keeps its arguments alive`() async throws {
        try await script(
            """
            local text = ("x"):rep(1000)
            local next_row = db:rows("\(numbers.replacingOccurrences(of: "SELECT i FROM n", with: "SELECT i, ? || i AS t FROM n"))", text .. "-")
            for i = 1, 5 do
              collectgarbage()
              for j = 1, 200 do local garbage = ("y"):rep(1000) .. j end
              equal(next_row().t, text .. "-" .. i)
            end
            """)
    }

    @Test func `cursors on several databases can be open at once`() async throws {
        try await script(
            """
            local other = perilune.queue()
            for _, q in ipairs{ db, other } do q:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)") end
            local seen = {}
            for a in db:tuples("SELECT a FROM t") do
              for b in other:tuples("SELECT a FROM t") do seen[#seen + 1] = a .. b end
            end
            equal(seen, { "11", "12", "21", "22" })
            """)
    }

    @Test func `a cursor reads a million rows in constant memory`() async throws {
        try await script(
            """
            local sql = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT i, 'text ' || i AS t FROM n"
            for verb, total in pairs{ rows = 1000000, tuples = 100000 } do
              local most, count = 0, 0
              collectgarbage()
              local before = collectgarbage("count")
              for a in db[verb](db, sql, total) do
                count = count + 1
                if count % 1000 == 0 then most = math.max(most, collectgarbage("count") - before) end
              end
              equal(count, total)
              if most > 4096 then error("KiB: " .. most) end
            end
            """)
    }
}
