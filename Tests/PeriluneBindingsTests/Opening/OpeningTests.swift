import Foundation
import Perilune
import PeriluneLua
import PeriluneLuaFileTools
import Testing

@Suite struct OpeningTests {
    @Test func `a queue opens or creates the database at a path`() async throws {
        try await script(
            """
            local path = temporary_path("library.sqlite")
            local first = perilune.queue(path)
            first:execute("CREATE TABLE book (title)")
            first:execute("INSERT INTO book VALUES ('Typee')")
            first:close()
            local second = perilune.queue(path)
            equal(second:fetch_value("SELECT title FROM book"), "Typee")
            equal(second:path(), path)
            second:close()
            os.remove(path)
            """)
    }

    @Test func `databases in memory are private to their opener`() async throws {
        try await script(
            """
            local one, two = perilune.queue(), perilune.queue(":memory:")
            one:execute("CREATE TABLE t (a)")
            equal(one:tables(), { "t" })
            equal(two:tables(), {})
            equal(db:tables(), {})
            equal(one:path(), ":memory:")
            """)
    }

    @Test func `a database connection is closed when its object is collected`() async throws {
        let host = try testHost()
        let path = temporaryPath("collected.sqlite")
        try await host.run(source: "opened = perilune.queue(arg[1]) opened:execute('CREATE TABLE t (a)')", commandLine: [path])
        #expect(openFiles(at: path) > 0)
        try await host.run(source: "opened = nil collectgarbage() collectgarbage()")
        try await host.run(source: "")
        #expect(openFiles(at: path) == 0)
        try? FileManager.default.removeItem(atPath: path)
    }

    @Test func `a database connection is closed even if cursors and statements are open`() async throws {
        let host = try testHost()
        let path = temporaryPath("cursors.sqlite")
        try await host.run(
            source: """
                local q = perilune.queue(arg[1])
                q:execute("CREATE TABLE t (a)")
                q:execute("INSERT INTO t VALUES (1), (2)")
                statement = q:prepare("SELECT * FROM t")
                iterator = q:rows("SELECT a FROM t")
                iterator()
                """, commandLine: [path])
        #expect(openFiles(at: path) > 0)
        try await host.run(source: "statement = nil iterator = nil collectgarbage() collectgarbage()")
        try await host.run(source: "")
        #expect(openFiles(at: path) == 0)
        try? FileManager.default.removeItem(atPath: path)
    }

    @Test func `databases that a loop opens and drops are closed before the script ends`() async throws {
        try await script(
            """
            local path = temporary_path("many.sqlite")
            local function open_files()
              local process = io.open("/proc/self/stat"):read("n")
              return io.popen("ls -l /proc/" .. process .. "/fd | grep -c " .. path):read("n")
            end
            for i = 1, 300 do
              local q = perilune.queue(path)
              q:fetch_value("SELECT 1")
              q = nil
              if i % 20 == 0 then collectgarbage() end
            end
            local count = open_files()
            if count > 100 then error("still open: " .. count) end
            os.remove(path)
            """)
    }

    @Test func `foreign keys are enforced unless they are switched off`() async throws {
        try await script(
            """
            local schema = "CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (a_id REFERENCES a (id))"
            for _, q in ipairs{ db, perilune.queue(), perilune.queue(nil, { foreign_keys = true }) } do
              q:execute(schema)
              fails("constraint_foreign_key", q.execute, q, "INSERT INTO b VALUES (1)")
            end
            local free = perilune.queue(nil, { foreign_keys = false })
            free:execute(schema)
            free:execute("INSERT INTO b VALUES (1)")
            equal(free:fetch_value("PRAGMA foreign_keys"), 0)
            """)
    }

    @Test func `a database opened for reading refuses writes`() async throws {
        try await script(
            """
            local path = temporary_path("readonly.sqlite")
            local q = perilune.queue(path)
            q:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
            q:close()
            for _, open in ipairs{ perilune.queue, perilune.pool } do
              if open == perilune.pool then perilune.pool(path):close() end
              local reader = open(path, { readonly = true })
              equal(reader:fetch_values("SELECT a FROM t"), { 1 })
              equal(reader:read(function(db) return db:fetch_value("SELECT a FROM t") end), 1)
              local err = fails("readonly", reader.execute, reader, "INSERT INTO t VALUES (2)")
              equal(err.code, 8)
              fails("readonly", reader.write, reader, function(db) db:execute("DELETE FROM t") end)
              equal(reader:fetch_value("SELECT COUNT(*) FROM t"), 1)
              reader:close()
            end
            os.remove(path)
            """)
    }

    @Test func `a missing file cannot be opened for reading`() async throws {
        try await script(
            """
            local path = temporary_path("missing.sqlite")
            local err = fails("cannot_open", perilune.queue, path, { readonly = true })
            equal(err.code, 14)
            equal(err.path, path)
            matches(err, path)
            equal(io.open(path), nil)
            fails("cannot_open", perilune.queue, "/nonexistent-folder/x.sqlite")
            fails("cannot_open", perilune.pool, "/nonexistent-folder/x.sqlite")
            fails("cannot_open", perilune.queue, "/")
            """)
    }

    @Test func `a file that is not a database is an error`() async throws {
        try await script(
            """
            local path = temporary_path("text.sqlite")
            local file = io.open(path, "w")
            file:write(("this is no database\\n"):rep(100))
            file:close()
            local ok, err = pcall(function() return perilune.queue(path):fetch_all("SELECT * FROM sqlite_schema") end)
            equal(ok, false)
            equal(err.code, 26)
            os.remove(path)
            """)
    }

    @Test func `a trace function is called with every statement`() async throws {
        try await script(
            """
            local seen = {}
            local q = perilune.queue(nil, { trace = function(event) seen[#seen + 1] = event.sql end })
            seen = {}
            q:execute("CREATE TABLE t (a)")
            q:write(function(db) db:execute("INSERT INTO t VALUES (?)", "secret") end)
            q:fetch_all("SELECT a FROM t")
            q:read(function(db) for _ in db:rows("SELECT a + 1 FROM t") do end end)
            equal(seen, {
              "CREATE TABLE t (a)", "BEGIN IMMEDIATE TRANSACTION", "INSERT INTO t VALUES (?)", "COMMIT TRANSACTION",
              "SELECT a FROM t", "BEGIN DEFERRED TRANSACTION", "SELECT a + 1 FROM t", "COMMIT TRANSACTION",
            })
            """)
    }

    @Test func `a trace contains values and durations only on request`() async throws {
        try await script(
            """
            local events = {}
            local q = perilune.queue(nil, {
              trace = { call = function(event) events[#events + 1] = event end, profile = true, values = true },
            })
            events = {}
            q:fetch_value("SELECT ?", "secret")
            equal(#events, 1)
            equal(events[1].sql, "SELECT 'secret'")
            equal(math.type(events[1].duration), "float")
            """)
    }

    @Test func `print can be a trace function`() async throws {
        try await script(
            """
            local lines, print_before = {}, print
            local q = perilune.queue(nil, { trace = function(...) lines[#lines + 1] = tostring((...)) end })
            lines = {}
            q:fetch_value("SELECT 1")
            equal(lines, { "SELECT 1" })
            """)
    }

    @Test func `an error in a trace function is raised once, by the statement`() async throws {
        try await script(
            """
            local bad, armed = { bad = true }, false
            local q = perilune.queue(nil, { trace = function(event) if armed then armed = false error(bad) end end })
            q:execute("CREATE TABLE t (a TEXT COLLATE NOCASE)")
            for _, call in ipairs{
              function() return q:fetch_value("SELECT 1") end,
              function() return q:fetch_all("SELECT 1") end,
              function() for _ in q:rows("SELECT 1") do end end,
              function() q:execute("INSERT INTO t VALUES (1)") end,
              function() q:write(function() end) end,
              function() q:read(function() end) end,
            } do
              armed = true
              local ok, err = pcall(call)
              equal(ok, false)
              equal(rawequal(err, bad), true)
              fails("sql", q.execute, q, "nonsense")
              equal(q:fetch_value("SELECT 'a' < 'B' COLLATE NOCASE"), 1)
            end
            """)
    }

    @Test func `a trace function cannot use its database`() async throws {
        try await script(
            """
            local q, errors = nil, {}
            local function use()
              if not q then return end
              local ok, err = pcall(q.fetch_value, q, "SELECT 2")
              errors[#errors + 1] = ok and "none" or err.kind .. ": " .. err.message
            end
            q = perilune.queue(nil, { trace = use })
            equal(q:fetch_value("SELECT 1"), 1)
            q:write(function(db) db:execute("CREATE TABLE t (a)") end)
            q:read(function(db) db:fetch_all("SELECT * FROM t") end)
            for _, text in ipairs(errors) do equal(text, "nested_access: a database cannot be used inside a trace function") end
            if #errors < 6 then error("too few: " .. #errors) end
            """)
    }

    @Test func `a block returns the results of its function`() async throws {
        try await script(
            """
            equal(table.pack(db:read(function(db) return 1, nil, "three", nil end)), { 1, nil, "three", nil, n = 4 })
            equal(select("#", db:write(function() end)), 0)
            """)
    }

    @Test func `options for opening a database can be combined`() async throws {
        try await script(
            """
            local path = temporary_path("options.sqlite")
            local q = perilune.queue(path, {
              foreign_keys = false, busy_timeout = 0.25, journal_mode = "wal", label = "library", trace = function() end,
              readonly = false,
            })
            equal(q:fetch_value("PRAGMA foreign_keys"), 0)
            equal(q:fetch_value("PRAGMA journal_mode"), "wal")
            q:close()
            os.remove(path) os.remove(path .. "-wal") os.remove(path .. "-shm")
            """)
    }

    @Test func `invalid options for opening a database are refused by name`() async throws {
        try await script(
            """
            local function refused(options, text)
              local err = fails(nil, perilune.queue, nil, options)
              matches(err, text)
              fails(nil, perilune.pool, temporary_path("p.sqlite"), options)
            end
            for _, timeout in ipairs{ 0/0, 1/0, -1/0, -1, 2000001, 1e300, math.maxinteger } do
              refused({ busy_timeout = timeout }, "busy_timeout")
            end
            refused({ busy_timeout = "soon" }, "busy_timeout")
            refused({ busy_timeout = 5000 }, 'use "5000ms" for milliseconds')
            for _, count in ipairs{ 0, -1, 65, math.mininteger, math.maxinteger, 1.5 } do
              refused({ reader_count = count }, "reader_count")
            end
            refused({ reader_count = "2x" }, "reader_count")
            refused({ journal_mode = "off" }, "journal_mode")
            refused({ journal_mode = 1 }, "journal_mode")
            refused({ synchronous = 1 }, "synchronous")
            refused({ readonly = 1 }, "readonly")
            refused({ foreign_keys = "no" }, "foreign_keys")
            refused({ label = {} }, "label")
            refused({ trace = 1 }, "trace")
            refused({ trace = {} }, "a function")
            equal(fails("unknown_option", perilune.queue, nil, { read_only = true }).suggestion, "readonly")
            fails(nil, perilune.queue, nil, { [1] = true })
            fails(nil, perilune.queue, nil, { [{}] = true })
            fails("argument", perilune.queue, nil, "readonly")
            fails("argument", perilune.queue, "a\\0b")
            fails("argument", perilune.queue, "")
            fails("argument", perilune.queue, {})
            fails("argument", perilune.pool)
            fails("argument", perilune.pool, ":memory:")
            """)
    }

    @Test func `a database can have a label`() async throws {
        try await script(
            """
            local q = perilune.queue(nil, { label = "library" })
            equal(q:fetch_value("SELECT 1"), 1)
            perilune.queue(nil, { label = "" }):fetch_value("SELECT 1")
            perilune.queue(nil, { label = ("é"):rep(1000) }):fetch_value("SELECT 1")
            """)
    }

    @Test func `a pool reads with its reader connections and writes with its writer connection`() async throws {
        try await script(
            """
            local path = temporary_path("pool.sqlite")
            local pool = perilune.pool(path, { reader_count = 2 })
            equal(pool:fetch_value("PRAGMA journal_mode"), "wal")
            pool:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
            equal(pool:fetch_values("SELECT a FROM t"), { 1 })
            equal(pool:fetch_values("INSERT INTO t VALUES (2) RETURNING a"), { 2 })
            equal(pool:read(function(db) return db:fetch_values("SELECT a FROM t") end), { 1, 2 })
            local seen = {}
            for row in pool:rows("SELECT a FROM t") do seen[#seen + 1] = row.a end
            equal(seen, { 1, 2 })
            pool:close()
            os.remove(path) os.remove(path .. "-wal") os.remove(path .. "-shm")
            """)
    }

    @Test func `reads of a pool see the temporary tables and the last inserted row id of its writer`() async throws {
        try await script(
            """
            local path = temporary_path("temp.sqlite")
            local pool = perilune.pool(path)
            pool:execute("CREATE TABLE t (a)")
            pool:execute("INSERT INTO t VALUES (1)")
            equal(pool:fetch_value("SELECT last_insert_rowid()"), 1)
            pool:execute("CREATE TEMP TABLE private (a)")
            pool:execute("INSERT INTO private VALUES (7)")
            equal(pool:fetch_value("SELECT a FROM private"), 7)
            pool:close()
            os.remove(path) os.remove(path .. "-wal") os.remove(path .. "-shm")
            """)
    }

    @Test func `scripts without file access open only databases in memory`() async throws {
        try await script(
            """
            perilune.queue():execute("CREATE TABLE t (a)")
            fails("sandbox", perilune.queue, "/tmp/x.sqlite")
            fails("sandbox", perilune.pool, "/tmp/x.sqlite")
            fails("sandbox", perilune.queue, "file::memory:")
            for _, sql in ipairs{
              "ATTACH '/tmp/x' AS x", "attach database ':memory:' as x", "VACUUM INTO '/tmp/x'", "VACUUM main INTO '/tmp/x'",
              "/* */ ATTACH 'x' AS x", "-- \\n ATTACH 'x' AS x", ";; ATTACH 'x' AS x", "\\u{FEFF}ATTACH 'x' AS x",
              "DETACH x", "PRAGMA temp_store_directory = '/tmp'", "PRAGMA main.temp_store_directory('/tmp')",
              "EXPLAIN ATTACH 'x' AS x", "SELECT 1; ATTACH 'x' AS x", "VACUUM'main'INTO'/tmp/x'",
            } do
              fails("forbidden", db.execute, db, sql)
            end
            equal(db:fetch_value("SELECT 'ATTACH'"), "ATTACH")
            db:execute("VACUUM")
            """
        ) { $0.allowsFiles = false }
    }

    @Test func `scripts with file access can attach databases`() async throws {
        try await script(
            """
            local path = temporary_path("attached.sqlite")
            local q = perilune.queue(path)
            q:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
            q:close()
            db:write_without_transaction(function(db)
              db:execute("ATTACH ? AS other", path)
              equal(db:fetch_value("SELECT a FROM other.t"), 1)
              db:execute("DETACH other")
            end)
            os.remove(path)
            """)
    }

    @Test func `without a busy timeout, a locked database is an immediate error`() async throws {
        try await script(
            """
            local path = temporary_path("busy.sqlite")
            local one, two = perilune.queue(path), perilune.queue(path)
            one:execute("CREATE TABLE t (a)")
            one:write(function(db)
              db:execute("INSERT INTO t VALUES (1)")
              local err = fails("busy", two.write, two, function() end)
              equal(err.code, 5)
              equal(err.name, "SQLITE_BUSY")
              fails("busy", two.execute, two, "INSERT INTO t VALUES (2)")
            end)
            equal(two:fetch_value("PRAGMA busy_timeout"), 0)
            two:execute("INSERT INTO t VALUES (2)")
            equal(one:fetch_values("SELECT a FROM t"), { 1, 2 })
            one:close() two:close()
            os.remove(path)
            """)
    }

    @Test func `a busy timeout waits for a locked database`() async throws {
        let path = temporaryPath("timeout.sqlite")
        let holder = try testHost(), waiter = try testHost()
        try await holder.run(source: "q = perilune.queue(arg[1]) q:execute('CREATE TABLE t (a)')", commandLine: [path])
        let holding = Task {
            try await holder.run(
                source: """
                    q:write(function(db)
                      db:execute("INSERT INTO t VALUES ('holder')")
                      io.open(arg[1] .. ".held", "w"):close()
                      local finish = os.clock() + 0.3
                      while os.clock() < finish do end
                    end)
                    """, commandLine: [path])
        }
        try await waiter.run(
            source: """
                local q = perilune.queue(arg[1], { busy_timeout = 30 })
                while not io.open(arg[1] .. ".held") do end
                q:write(function(db) db:execute("INSERT INTO t VALUES ('waiter')") end)
                assert(table.concat(q:fetch_values("SELECT a FROM t"), " ") == "holder waiter")
                """, commandLine: [path])
        try await holding.value
        for suffix in ["", ".held"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    @Test func `waiting for a lock ends at the busy timeout and at the script's time limit`() async throws {
        try await script(
            """
            local path = temporary_path("wait.sqlite")
            local one, two = perilune.queue(path), perilune.queue(path, { busy_timeout = 0.05 })
            one:write(function(db)
              db:execute("CREATE TABLE t (a)")
              fails("busy", two.write, two, function() end)
            end)
            os.remove(path)
            """)
        let error = await failure(
            of: """
                local path = temporary_path("forever.sqlite")
                local one, two = perilune.queue(path), perilune.queue(path, { busy_timeout = "11d" })
                one:write(function(db)
                  db:execute("CREATE TABLE t (a)")
                  two:write(function() end)
                end)
                """
        ) { $0.limits.time = .milliseconds(200) }
        #expect(error?.code == .timeout)
    }

    @Test func `a new database file uses WAL, and an existing file keeps its journal mode`() async throws {
        try await script(
            """
            local path = temporary_path("journal.sqlite")
            local function mode(options)
              local q = perilune.queue(path, options)
              local mode = q:fetch_value("PRAGMA journal_mode")
              q:execute("CREATE TABLE IF NOT EXISTS t (a)")
              q:close()
              equal(io.open(path .. "-wal"), nil)
              return mode
            end
            equal(mode(), "wal")
            equal(mode{ journal_mode = "delete" }, "delete")
            equal(mode(), "delete")
            equal(mode{ journal_mode = "wal" }, "wal")
            equal(mode(), "wal")
            os.remove(path)
            equal(mode{ journal_mode = "delete" }, "delete")
            os.remove(path)
            """)
    }

    @Test func `the option synchronous is applied without appearing in a trace`() async throws {
        try await script(
            """
            local path = temporary_path("synchronous.sqlite")
            for number, name in pairs{ [0] = "off", "normal", "full", "extra" } do
              for _, open in ipairs{ perilune.queue, perilune.pool } do
                local traced = {}
                local q = open(path, { synchronous = name, trace = function(statement) traced[#traced + 1] = statement.sql end })
                equal(q:write_without_transaction(function(db) return db:fetch_value("PRAGMA synchronous") end), number)
                for _, sql in ipairs(traced) do equal(sql:find("PRAGMA synchronous = " .. name, 1, true), nil) end
                q:close()
              end
            end
            local q = perilune.queue(path)
            equal(q:fetch_value("PRAGMA synchronous"), 2)
            q:close()
            local pool = perilune.pool(path)
            equal(pool:write_without_transaction(function(db) return db:fetch_value("PRAGMA synchronous") end), 1)
            pool:close()
            matches(fails("argument", perilune.pool, path, { journal_mode = "delete" }), 'a pool needs "wal"')
            matches(fails("argument", perilune.queue, path, { synchronous = "sometimes" }), '"off", "normal", "full" or "extra"')
            os.remove(path)
            """)
    }

    @Test func `a backup with a different page size can replace a new WAL database`() async throws {
        try await script(
            """
            local path = temporary_path("pages.sqlite")
            local source = perilune.queue()
            source:execute("PRAGMA page_size = 1024; CREATE TABLE t (a); INSERT INTO t VALUES (1)")
            local target = perilune.queue(path)
            source:backup_to(target)
            equal(target:fetch_value("PRAGMA journal_mode"), "wal")
            equal(target:fetch_value("PRAGMA page_size"), 1024)
            equal(target:fetch_value("SELECT a FROM t"), 1)
            target:close()
            os.remove(path)
            """)
    }

    @Test func `several hosts can use one database file in parallel`() async throws {
        let path = temporaryPath("parallel.sqlite")
        try await script("perilune.pool(arg[1]):execute('CREATE TABLE t (a)')", arguments: [path])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await script(
                        """
                        local pool = perilune.pool(arg[1], { busy_timeout = 60 })
                        for i = 1, 25 do
                          pool:write(function(db)
                            local n = db:fetch_value("SELECT COUNT(*) FROM t")
                            db:execute("INSERT INTO t VALUES (?)", n)
                          end)
                        end
                        pool:close()
                        """, arguments: [path])
                }
            }
            try await group.waitForAll()
        }
        try await script(
            """
            local pool = perilune.pool(arg[1])
            equal(pool:fetch_one("SELECT COUNT(*) AS n, COUNT(DISTINCT a) AS d FROM t"), { n = 100, d = 100 })
            equal(pool:fetch_value("PRAGMA integrity_check"), "ok")
            pool:close()
            """, arguments: [path])
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    @Test func `scripts cannot get raw pointers`() async throws {
        try await script(
            """
            for _, value in ipairs{ db, db:prepare("SELECT 1"), perilune.null, perilune.blob("x") } do
              equal(getmetatable(value), false)
              if tostring(value):find("0x") then error(tostring(value)) end
            end
            db:read(function(db) equal(tostring(db), "database handle (in memory)") end)
            equal(tostring(db), "database (in memory)")
            equal(tostring(perilune.queue()), "database (in memory)")
            local path, ended = temporary_path("named.sqlite"), nil
            local file = perilune.queue(path)
            equal(tostring(file), "database (" .. path .. ")")
            file:read(function(handle)
              equal(tostring(handle), "database handle (" .. path .. ")")
              ended = handle
            end)
            equal(tostring(ended), "database handle, whose block has ended, (" .. path .. ")")
            equal(tostring(perilune.pool(path)), "database (" .. path .. ")")
            """)
    }
}
