import Foundation
import Perilune
import PeriluneLuaFileTools
import PeriluneLua
import Testing

@Suite struct BackupTests {
    @Test func `backup_to copies a database into another`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), ('x')")
            local path = temporary_path("backup.sqlite")
            for _, target in ipairs{ perilune.queue(), perilune.queue(path), perilune.pool(path .. "2") } do
              target:execute("CREATE TABLE old (a)")
              db:backup_to(target)
              equal(target:tables(), { "t" })
              equal(target:fetch_values("SELECT a FROM t"), { 1, "x" })
              db:backup_to(target)
            end
            local empty = perilune.queue()
            empty:backup_to(db)
            equal(db:tables(), {})
            os.remove(path) os.remove(path .. "2")
            """)
    }

    @Test func `backup_to refuses invalid targets`() async throws {
        try await script(
            """
            local other = perilune.queue()
            fails("argument", db.backup_to, db, db)
            for _, value in ipairs{ 1, "path.sqlite", {}, perilune.null, db:prepare("SELECT 1") } do
              fails("argument", db.backup_to, db, value)
              fails("argument", db.backup_to, value, db)
            end
            fails("argument", db.backup_to, db)
            fails("argument", db.backup_to)
            db:read(function(handle)
              fails("nested_access", db.backup_to, db, other)
              fails("nested_access", handle.backup_to, handle, other)
              fails("nested_access", other.backup_to, other, db)
            end)
            other:write(function() fails("nested_access", db.backup_to, db, other) end)
            local third = perilune.queue()
            db:write(function() other:backup_to(third) end)
            other:close()
            fails("closed", db.backup_to, db, other)
            fails("closed", other.backup_to, other, db)
            local path = temporary_path("readonly.sqlite")
            perilune.queue(path):execute("CREATE TABLE t (a)")
            fails("readonly", db.backup_to, db, perilune.queue(path, { readonly = true }))
            os.remove(path)
            """)
    }

    @Test func `a file cannot be copied onto itself through another connection`() async throws {
        try await script(
            """
            local path = temporary_path("self.sqlite")
            local one, two = perilune.queue(path), perilune.queue(path)
            one:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
            local err = fails("argument", one.backup_to, one, two)
            matches(err, "a database cannot be copied onto itself")
            equal(one:fetch_value("PRAGMA integrity_check"), "ok")
            equal(one:fetch_value("SELECT a FROM t"), 1)
            one:close() two:close() os.remove(path)
            """)
    }

    @Test func `a target with an open cursor is an error, and the cursor stays usable`() async throws {
        try await script(
            """
            local other = perilune.queue()
            other:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
            local next_row, _, _, cursor = other:rows("SELECT a FROM t")
            next_row()
            local err = fails(nil, db.backup_to, db, other)
            if err.kind == "host" or err.code == nil then error(tostring(err)) end
            equal(next_row().a, 2)
            cursor:close()
            db:backup_to(other)
            equal(other:tables(), {})
            """)
    }

    @Test func `a source with an open cursor can be copied`() async throws {
        try await script(
            """
            db:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
            local other = perilune.queue()
            for row in db:rows("SELECT a FROM t") do db:backup_to(other) end
            equal(other:fetch_value("SELECT COUNT(*) FROM t"), 2)
            """)
    }

    @Test func `interrupt ends the running statement and does not affect later ones`() async throws {
        try await script(
            """
            db:interrupt()
            equal(db:fetch_value("SELECT 1"), 1)
            db:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)")
            local seen = 0
            local err = fails("interrupt", function()
              for row in db:rows("SELECT a FROM t") do seen = seen + 1 db:interrupt() end
            end)
            equal(err.code, 9)
            equal(seen, 1)
            equal(db:fetch_values("SELECT a FROM t"), { 1, 2, 3 })
            fails("interrupt", db.write, db, function(db)
              for row in db:rows("SELECT a FROM t") do db:interrupt() end
            end)
            equal(db:is_inside_transaction(), false)
            for _, value in ipairs{ 1, {}, perilune.null } do fails("argument", db.interrupt, value) end
            """)
    }

    @Test func `a closed database cannot be used`() async throws {
        try await script(
            """
            local q = perilune.queue()
            q:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
            local statement = q:prepare("SELECT a FROM t")
            local next_row, _, _, cursor = q:rows("SELECT a FROM t")
            next_row()
            q:close()
            q:close()
            for _, verb in ipairs{ "execute", "fetch_all", "fetch_one", "fetch_value", "fetch_values", "fetch_set", "rows", "tuples", "prepare", "explain", "columns" } do
              fails("closed", q[verb], q, "SELECT 1")
            end
            for _, verb in ipairs{ "read", "write", "in_transaction", "in_savepoint", "write_without_transaction" } do
              fails("closed", q[verb], q, function() end)
            end
            fails("closed", q.tables, q)
            fails("closed", q.interrupt, q)
            fails("closed", q.add_function, q, "f", 0, function() end)
            fails("closed", statement.fetch_all, statement)
            fails("closed", statement.rows, statement)
            fails("closed", next_row)
            cursor:close()
            equal(next_row(), nil)
            equal(q:is_inside_transaction(), false)
            equal(q:path(), ":memory:")
            equal(tostring(q), "database (in memory)")
            """)
    }

    @Test func `a database cannot be closed inside its own block, and the default database can never be closed`() async throws {
        try await script(
            """
            local q, other = perilune.queue(), perilune.queue()
            q:write(function(handle)
              fails("nested_access", q.close, q)
              fails("nested_access", handle.close, handle)
              other:close()
              equal(q:fetch_value("SELECT 1"), 1)
            end)
            q:add_function("shut", 0, function() q:close() end)
            fails("nested_access", q.fetch_value, q, "SELECT shut()")
            q:close()
            fails("not_closable", db.close, db)
            equal(db:fetch_value("SELECT 1"), 1)
            """)
    }

    @Test func `a database that is closed during a loop ends the loop with an error`() async throws {
        try await script(
            """
            local path = temporary_path("closed.sqlite")
            for _, q in ipairs{ perilune.queue(), perilune.queue(path), perilune.pool(path) } do
              q:execute("CREATE TABLE IF NOT EXISTS t (a); INSERT INTO t VALUES (1), (2)")
              fails("closed", function() for row in q:rows("SELECT a FROM t") do q:close() end end)
            end
            os.remove(path)
            """)
    }

    @Test func `a closed file can be reopened`() async throws {
        try await script(
            """
            local path = temporary_path("again.sqlite")
            for i = 1, 20 do
              local q = (i % 2 == 0 and perilune.pool or perilune.queue)(path)
              q:execute("CREATE TABLE IF NOT EXISTS t (a)")
              q:execute("INSERT INTO t VALUES (?)", i)
              q:read(function(db) equal(db:fetch_value("SELECT COUNT(*) FROM t"), i) end)
              q:close()
            end
            os.remove(path)
            """)
    }

    @Test func `path returns the path of the database file`() async throws {
        try await script(
            """
            equal(db:path(), ":memory:")
            fails("argument", db.path, 1)
            fails("argument", db.path)
            db:read(function(db) equal(db:path(), ":memory:") end)
            """)
    }

    @Test func `a long backup ends at the script's time limit`() async throws {
        let error = await failure(
            of: """
                db:execute("CREATE TABLE t (a)")
                db:execute("INSERT INTO t VALUES (zeroblob(200000000))")
                local targets = {}
                while true do
                  local path = perilune.queue()
                  db:backup_to(path)
                end
                """
        ) { $0.limits.time = .milliseconds(500) }
        #expect(error?.code == .timeout)
    }
}
