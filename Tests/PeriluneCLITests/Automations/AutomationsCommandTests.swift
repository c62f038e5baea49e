import Foundation
import PeriluneTestTools
import Testing

@Suite(.patience, .startsPrograms) struct AutomationsCommandTests {
    private static let file = """
        if not db:table_exists("product") then
          db:execute("CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT, stock INTEGER NOT NULL)")
          db:execute("INSERT INTO product(name, stock) VALUES ('tea', 9)")
        end
        perilune.automation{
          name = "restock", description = "orders what is low", on = { schedule = "0 9 * * mon-fri" },
          when = function() return db:fetch_value("SELECT min(stock) FROM product") < 10 end,
          run = function() db:execute("UPDATE product SET stock = 50 WHERE stock < 10") end,
        }
        perilune.automation{ name = "tick", on = { every = "5ms" }, run = function() print("tick") io.stdout:flush() end }
        perilune.automation{ name = "broken", on = { event = "never" }, enabled = false, run = function() error("out of order") end }
        """

    private static func makeFolder() throws -> TestFolder {
        try TestFolder(["shop.lua": file, "x.sqlite": ""])
    }

    @Test func `the automations of a file are listed`() throws {
        let folder = try Self.makeFolder()
        let result = try folder.perilune("automations", "list", "shop.lua", "--database", "x.sqlite", "--format", "csv")
        #expect(result.errors == "")
        #expect(
            result.output == """
                name,on,mode,enabled,last_run,outcome,description
                restock,schedule 0 9 * * mon-fri,single,1,,,orders what is low
                tick,every 5ms,single,1,,,
                broken,event never,single,0,,,

                """)
    }

    @Test func `listing neither changes nor creates a database`() throws {
        let folder = try TestFolder([
            "x.sqlite": "",
            "a.lua": """
            db:execute("CREATE TABLE made (id)")
            perilune.automation{ name = "a", on = { event = "go" }, run = print }
            """,
        ])
        _ = try folder.perilune("run", "-e", "db:execute('CREATE TABLE t (id)')", "--database", "x.sqlite")
        #expect(try folder.perilune("automations", "run", "a.lua", "a", "--database", "x.sqlite").status == 0)
        #expect(try folder.perilune("run", "-e", "db:execute('DROP TABLE made')", "--database", "x.sqlite").status == 0)
        let before = try Data(contentsOf: URL(filePath: folder.path + "/x.sqlite"))
        let result = try folder.perilune("automations", "list", "a.lua", "--database", "x.sqlite", "--format", "csv")
        #expect((result.status, result.errors) == (0, ""))
        // The copy includes the outcome of the last run.
        #expect(result.output.contains("a,event go,single,1,2") && result.output.contains(",succeeded,"))
        #expect(try Data(contentsOf: URL(filePath: folder.path + "/x.sqlite")) == before)
    }

    @Test(arguments: [["list", "a.lua"], ["run", "a.lua"], ["run", "a.lua", "a"], ["preview", "a.lua", "a"]])
    func `without --create, a missing database is an error`(arguments: [String]) throws {
        let folder = try TestFolder([
            "a.lua":
                "perilune.automation{ name = 'a', on = { event = 'go' }, run = print } perilune.after(0.001, function() os.exit(0) end)"
        ])
        #expect(try folder.perilune("run", "-e", "db:execute('CREATE TABLE t (id)')", "--database", "shop.sqlite").status == 0)
        var result = try CommandProcess(
            TestFolder.binary, ["automations"] + arguments + ["--database", "elsewhere.sqlite"], in: folder
        ).wait()
        #expect(result.status == 74)
        #expect(
            result.errors == """
                error: cannot open the database elsewhere.sqlite: No such file or directory
                  help  use --create to start with an empty database

                """)
        result = try CommandProcess(TestFolder.binary, ["automations"] + arguments + ["--database", "shp.sqlite"], in: folder)
            .wait()
        #expect(result.errors.contains("help  did you mean `shop.sqlite`?"))
        #expect(!folder.exists("elsewhere.sqlite") && !folder.exists("shp.sqlite"))
        result = try CommandProcess(
            TestFolder.binary, ["automations"] + arguments + ["--database", "new.sqlite", "--create"], in: folder
        ).wait()
        #expect(result.status == 0)
        let isMade = arguments[0] == "run"
        #expect(folder.exists("new.sqlite") == isMade)
        #expect(
            result.errors.hasPrefix(
                isMade
                    ? "created the database new.sqlite\n"
                    : "the database new.sqlite does not exist; the script uses an empty one\n"))
    }

    @Test func `an automation that is run manually or previewed receives its observed values`() throws {
        let folder = try TestFolder([
            "a.lua": """
            local Product = perilune.record("product")
            local function order(context)
              for _, product in ipairs(context.value) do context.db:execute("UPDATE product SET stock = 50 WHERE id = ?", product.id) end
            end
            local function is_low(context) return #context.value > 0 end
            perilune.automation{ name = "low", on = { change = Product:filter(Product.c.stock:lt(10)) }, when = is_low, run = order }
            perilune.automation{ name = "count", on = { change = function(db)
              return db:fetch_value("SELECT count(*) FROM product"), "second"
            end }, run = function(context) print(context.value, context.values[2], context.trigger.kind) end }
            """
        ])
        _ = try folder.perilune(
            "run", "-e",
            "db:execute('CREATE TABLE product (id INTEGER PRIMARY KEY, stock INTEGER); INSERT INTO product VALUES (1, 3), (2, 30)')",
            "--database", "x.sqlite")
        var result = try folder.perilune("automations", "preview", "a.lua", "low", "--database", "x.sqlite")
        #expect((result.status, result.errors) == (0, "low: succeeded\n"))
        #expect(result.output.contains("3 → 50"), "\(result.output)")
        result = try folder.perilune("automations", "run", "a.lua", "low", "--database", "x.sqlite")
        #expect((result.status, result.errors) == (0, "low: succeeded\n"))
        result = try folder.perilune("automations", "run", "a.lua", "low", "--database", "x.sqlite")
        #expect((result.status, result.errors) == (0, "low: skipped (guard)\n"))
        result = try folder.perilune("automations", "run", "a.lua", "count", "--database", "x.sqlite")
        #expect(result.output == "2\tsecond\tmanual\n")
    }

    @Test func `an automation can be run manually`() throws {
        let folder = try Self.makeFolder()
        var result = try folder.perilune("automations", "run", "shop.lua", "restock", "--database", "x.sqlite")
        #expect((result.status, result.errors) == (0, "restock: succeeded\n"))
        result = try folder.perilune("automations", "run", "shop.lua", "restock", "--database", "x.sqlite")
        #expect((result.status, result.errors) == (0, "restock: skipped (guard)\n"))
        let stock = try folder.perilune("query", "--database", "x.sqlite", "SELECT stock FROM product")
        #expect(stock.output == "{\"stock\":50}\n")
    }

    @Test func `the error of a failed automation has its location`() throws {
        let folder = try Self.makeFolder()
        let result = try folder.perilune("automations", "run", "shop.lua", "broken")
        #expect(result.status == 1)
        #expect(result.errors.hasPrefix("error: out of order\n  at shop.lua:11\n"))
    }

    @Test func `an unknown automation is an error with the nearest name`() throws {
        let folder = try Self.makeFolder()
        let result = try folder.perilune("automations", "run", "shop.lua", "restok")
        #expect(result.status == 1)
        #expect(result.errors.contains("no automation `restok`; did you mean `restock`?"))
    }

    @Test func `a preview runs the guard, shows the changes of an automation, and changes nothing`() throws {
        let folder = try Self.makeFolder()
        try #expect(folder.perilune("run", "-e", "db:execute('PRAGMA user_version = 1')", "--database", "x.sqlite").status == 0)
        var result = try folder.perilune("automations", "run", "shop.lua", "restock", "--database", "x.sqlite")
        _ = try folder.perilune("query", "--database", "x.sqlite", "UPDATE product SET stock = 3")
        result = try folder.perilune("run", "-e", "db:execute('UPDATE product SET stock = 3')", "--database", "x.sqlite")
        #expect(result.errors == "")
        let before = try Data(contentsOf: URL(filePath: folder.path + "/x.sqlite"))
        result = try folder.perilune("automations", "preview", "shop.lua", "restock", "--database", "x.sqlite")
        #expect(result.status == 0)
        #expect(result.errors.contains("restock: succeeded"))
        #expect(result.output.contains("product"))
        #expect(result.output.contains("3 -> 50") || result.output.contains("50"))
        #expect(!result.output.contains("perilune_automation_run"))
        #expect(try Data(contentsOf: URL(filePath: folder.path + "/x.sqlite")) == before)
    }

    @Test func `a preview omits the rows that record handlers, and changes for durable automations`() throws {
        let durable = "perilune.automation{ name = 'stored', durable = true, on = { change = 'product' }, run = function() end }"
        let folder = try TestFolder([
            "a.lua": """
            local mails = perilune.jobs("mail")
            mails:handle(function(job) end)
            \(durable)
            perilune.automation{ name = "fill", on = { event = "never" }, run = function()
              db:execute("INSERT INTO product DEFAULT VALUES")
              mails:enqueue{ to = "Ada" }
            end }
            """,
            "b.lua": """
            db:execute("CREATE TABLE product (id INTEGER PRIMARY KEY)")
            perilune.jobs("mail"):handle(function(job) end):cancel()
            \(durable)
            os.exit(0)
            """,
        ])
        try #expect(folder.perilune("run", "b.lua", "--database", "x.sqlite").status == 0)
        let result = try folder.perilune("automations", "preview", "a.lua", "fill", "--database", "x.sqlite")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("2 rows inserted"), "\(result.output)")
        #expect(result.output.contains("product  +1") && result.output.contains("perilune_job  +1"))
        #expect(!result.output.contains("perilune_change") && !result.output.contains("perilune_job_queue"))
        let insert = "db:execute('INSERT INTO product DEFAULT VALUES')"
        let saved = try folder.perilune("run", "--preview", "--save", "x.plan", "--database", "x.sqlite", "-e", insert)
        #expect(saved.status == 0, "\(saved.errors)")
        // The plan contains the recorded change, because triggers do not run when it is applied.
        let applied = try folder.perilune("apply", "x.plan", "--yes")
        #expect(applied.errors.contains("product +1") && !applied.errors.contains("perilune_change"), "\(applied.errors)")
        let changes = try folder.perilune("query", "--database", "x.sqlite", "SELECT count(*) FROM perilune_change")
        #expect(changes.output.contains("1"), "\(changes.output)")
    }

    @Test func `a preview of an automation shows the requested number of rows`() throws {
        let folder = try TestFolder([
            "a.lua": """
            db:execute("CREATE TABLE product (id INTEGER PRIMARY KEY)")
            perilune.automation{ name = "fill", on = { event = "never" }, run = function()
              for i = 1001, 1004 do db:execute("INSERT INTO product VALUES (?)", i) end
            end }
            """
        ])
        let result = try folder.perilune("automations", "preview", "a.lua", "fill", "--rows", "2")
        #expect(result.status == 0)
        #expect(result.output.contains("1002") && !result.output.contains("1003"), "\(result.output)")
        #expect(
            try folder.perilune("automations", "preview", "a.lua", "fill", "--rows=-1").errors.contains(
                "--rows: expected a number"))
    }

    @Test(arguments: [["run", "a.lua", "fill"], ["preview", "a.lua", "fill"]])
    func `the memory limit applies to automations`(_ command: [String]) throws {
        let folder = try TestFolder([
            "a.lua": """
            perilune.automation{ name = "fill", on = { event = "never" }, run = function() return #("x"):rep(64 << 20) end }
            """
        ])
        let arguments = ["automations"] + command
        #expect(try CommandProcess(TestFolder.binary, arguments, in: folder).wait().status == 0)
        let limited = try CommandProcess(TestFolder.binary, arguments + ["--memory", "8M"], in: folder).wait()
        #expect(limited.status == 5)
        #expect(limited.errors.contains("help  the limit was set by --memory\n"), "\(limited.errors)")
    }

    @Test func `automations run until Ctrl-C, and their runs are recorded`() throws {
        let folder = try Self.makeFolder()
        let process = try CommandProcess(
            TestFolder.binary, ["automations", "run", "shop.lua", "--database", "x.sqlite"], in: folder, isOutputRead: true)
        for _ in 0..<3 { #expect(try process.readLine() == "tick") }
        process.interrupt()
        let result = try process.wait()
        #expect(result.status == 0)
        #expect(result.errors == "3 automations are live\n")
        func trace(_ options: String...) throws -> [String] {
            let result = try CommandProcess(
                TestFolder.binary, ["automations", "trace", "tick", "--database", "x.sqlite", "--format", "csv"] + options,
                in: folder
            ).wait()
            #expect(result.errors == "")
            return result.output.split(whereSeparator: \.isNewline).map(String.init)
        }
        let lines = try trace()
        #expect(lines[0] == "automation,started_at,outcome,reason,attempts,ms,trigger,statements,error")
        #expect(lines.dropFirst().allSatisfy { $0.hasPrefix("tick,") })
        // The third run may have been interrupted, and runs may have been skipped while another one was running.
        #expect(lines.count { $0.contains(",succeeded,") } >= 2, "\(lines)")
        #expect(try trace("--last", "2").dropFirst() == lines.suffix(2))
    }

    @Test func `an HTML trace shows runs with errors, triggers and statements`() throws {
        let folder = try TestFolder([
            "x.sqlite": "",
            "a.lua": """
            perilune.automation{ name = "works", on = { event = "a" }, run = function() db:execute("CREATE TABLE t (x)") end }
            perilune.automation{ name = "fails", on = { event = "b" }, run = function() error("<b>no</b>") end }
            """,
        ])
        #expect(try folder.perilune("automations", "run", "a.lua", "works", "--database", "x.sqlite").status == 0)
        #expect(try folder.perilune("automations", "run", "a.lua", "fails", "--database", "x.sqlite").status == 1)
        let result = try folder.perilune(
            "automations", "trace", "--database", "x.sqlite", "--report", "runs.html", "--format", "csv")
        #expect((result.status, result.output.split(whereSeparator: \.isNewline).count) == (0, 3), "\(result.errors)")
        let page = try folder.read("runs.html")
        for part in [
            "Automations of x.sqlite", "2 runs: 1 failed, 1 succeeded", "CREATE TABLE t (x)", "&lt;b&gt;no&lt;/b&gt;",
            "data-kind=\"failed\"",
        ] {
            #expect(page.contains(part), "\(part) is not in:\n\(page)")
        }
        let wrong = try folder.perilune("automations", "trace", "--database", "x.sqlite", "--report", "runs.txt")
        #expect((wrong.status, wrong.errors.contains("--report: expected a file NAME.html, got runs.txt")) == (64, true))
    }

    @Test(arguments: ["INT", "TERM", "HUP"])
    func `a service that is terminated records the outcome of each run`(signal: String) throws {
        let folder = try TestFolder([
            "x.sqlite": "",
            "a.lua": """
            local function define(name, f, more)
              local options = { name = name, on = { event = "go" }, run = f }
              for key, value in pairs(more or {}) do options[key] = value end
              perilune.automation(options)
            end
            define("waits", function() perilune.sleep("1h") end)
            define("cleans up", function()
              pcall(perilune.sleep, "1h")
              db:execute("CREATE TABLE cleaned (id INTEGER PRIMARY KEY)")
            end)
            define("does not end", function() while true do pcall(perilune.sleep, "1h") end end)
            define("tries again", function() error("no") end, { retry = { times = 5, wait = "1h" } })
            define("guards", print, { when = function() perilune.sleep("1h") return true end })
            define("waits its turn", print, { mode = "queued" })
            perilune.every("1h", print)
            perilune.after("10ms", function() perilune.emit("go") perilune.after("10ms", function() print("ready") io.stdout:flush() end) end)
            """,
        ])
        let process = try CommandProcess(
            TestFolder.binary, ["automations", "run", "a.lua", "--database", "x.sqlite"], in: folder, isOutputRead: true)
        while try process.readLine() != "ready" {}
        process.send(signal)
        let result = try process.wait()
        #expect(result.status == 0)
        let trace = try folder.perilune(
            "query", "--database", "x.sqlite", "--format", "csv",
            """
            SELECT automation, outcome, reason, (SELECT count(*) FROM sqlite_master WHERE name = 'cleaned') AS cleaned
            FROM perilune_automation_run WHERE outcome <> 'succeeded' ORDER BY automation
            """)
        let reason = "cancelled,the program has ended,1"
        #expect(
            trace.output.split(whereSeparator: \.isNewline).dropFirst() == [
                "cleans up,\(reason)", "does not end,\(reason)", "guards,\(reason)", "tries again,\(reason)", "waits,\(reason)",
            ])
    }

    @Test func `a callback that is running when the service ends is not reported as a failure`() throws {
        let folder = try TestFolder([
            "x.sqlite": "",
            "a.lua": """
            perilune.automation{ name = "idle", on = { event = "never" }, run = function() end }
            perilune.after("10ms", function() print("ready") io.stdout:flush() while true do os.time() end end)
            """,
        ])
        let process = try CommandProcess(
            TestFolder.binary, ["automations", "run", "a.lua", "--database", "x.sqlite"], in: folder, isOutputRead: true)
        #expect(try process.readLine() == "ready")
        process.interrupt()
        let result = try process.wait()
        #expect(result.status == 0 && !result.errors.contains("error:"), "\(result.errors)")
    }

    @Test func `a run that waits for a retry is kept when the service ends`() throws {
        let folder = try TestFolder([
            "x.sqlite": "",
            "a.lua": """
            perilune.automation{ name = "tries again", on = { event = "go" }, retry = { times = 5, wait = "1h" }, run = function()
              perilune.after("10ms", function() print("ready") io.stdout:flush() end)
              error("no")
            end }
            perilune.after("10ms", function() perilune.emit("go") end)
            """,
        ])
        let process = try CommandProcess(
            TestFolder.binary, ["automations", "run", "a.lua", "--database", "x.sqlite"], in: folder, isOutputRead: true)
        #expect(try process.readLine() == "ready")
        process.interrupt()
        #expect(try process.wait().status == 0)
        let trace = try folder.perilune("automations", "trace", "--database", "x.sqlite", "--format", "csv")
        #expect(trace.output.contains(",cancelled,the program has ended,1,"), "\(trace.output)")
        #expect(trace.output.contains("a.lua:3: no"), "the error of the last attempt: \(trace.output)")
    }

    @Test func `a run that loops is cancelled when the service is terminated`() throws {
        let folder = try TestFolder([
            "x.sqlite": "",
            "a.lua": """
            perilune.automation{ name = "loops", on = { event = "go" }, run = function() print("ready") io.stdout:flush() while true do os.time() end end }
            perilune.after("10ms", function() perilune.emit("go") end)
            """,
        ])
        let process = try CommandProcess(
            TestFolder.binary, ["automations", "run", "a.lua", "--database", "x.sqlite"], in: folder, isOutputRead: true)
        #expect(try process.readLine() == "ready")
        process.interrupt()
        #expect(try process.wait().status == 0)
        let trace = try folder.perilune("automations", "trace", "loops", "--database", "x.sqlite", "--format", "csv")
        #expect(trace.output.contains("loops,") && trace.output.contains(",cancelled,"))
    }

    @Test func `an interrupted manual run is recorded and does not count as a success`() throws {
        let folder = try TestFolder([
            "x.sqlite": "",
            "a.lua": """
            perilune.automation{ name = "waits", on = { event = "go" }, run = function() print("ready") io.stdout:flush() perilune.sleep("1h") end }
            """,
        ])
        let process = try CommandProcess(
            TestFolder.binary, ["automations", "run", "a.lua", "waits", "--database", "x.sqlite"], in: folder, isOutputRead: true)
        #expect(try process.readLine() == "ready")
        process.interrupt()
        #expect(try process.wait().status == 130)
        let trace = try folder.perilune("automations", "trace", "--database", "x.sqlite", "--format", "csv")
        #expect(trace.output.contains(",cancelled,the program has ended,"))
    }

    @Test func `loading a file is cancelled when the service is terminated`() throws {
        let folder = try TestFolder(["a.lua": "print('ready') io.stdout:flush() perilune.sleep('1h')"])
        let process = try CommandProcess(TestFolder.binary, ["automations", "run", "a.lua"], in: folder, isOutputRead: true)
        #expect(try process.readLine() == "ready")
        process.interrupt()
        #expect(try process.wait().status == 0)
    }

    @Test func `only one process at a time serves a file on a database`() throws {
        let folder = try TestFolder([
            "x.sqlite": "",
            "a.lua": "perilune.automation{ name = 'a', on = { event = 'go' }, run = print } print('ready') io.stdout:flush()",
        ])
        let arguments = ["automations", "run", "a.lua", "--database", "x.sqlite"]
        let process = try CommandProcess(TestFolder.binary, arguments, in: folder, isOutputRead: true)
        #expect(try process.readLine() == "ready")
        let second = try CommandProcess(TestFolder.binary, arguments, in: folder).wait()
        #expect(second.status == 75)
        #expect(second.errors == "error: the automations of a.lua are already running on x.sqlite, in another process\n")
        #expect(try folder.perilune("automations", "run", "a.lua", "a", "--database", "x.sqlite").status == 0)
        process.interrupt()
        #expect(try process.wait().status == 0)
        let third = try CommandProcess(TestFolder.binary, arguments, in: folder, isOutputRead: true)
        #expect(try third.readLine() == "ready")
        third.interrupt()
        #expect(try third.wait().status == 0)
    }

    @Test func `unknown automations and commands are errors with the nearest name`() throws {
        let folder = try Self.makeFolder()
        #expect(try folder.perilune("automations", "run", "shop.lua", "restock", "--database", "x.sqlite").status == 0)
        var result = try folder.perilune("automations", "trace", "restok", "--database", "x.sqlite")
        #expect(result.status == 1)
        #expect(result.errors.contains("no automation `restok`; did you mean `restock`?"))
        result = try folder.perilune("automations", "lst", "shop.lua")
        #expect(
            (result.status, result.errors) == (
                64, "error: unknown command perilune automations lst\n  help  did you mean `list`?\n"
            ))
        result = try folder.perilune("automations", "shop.lua")
        #expect(
            (result.status, result.errors) == (
                64,
                "error: unknown command perilune automations shop.lua\n  help  did you mean `perilune automations run shop.lua`?\n"
            ))
    }

    @Test func `writes of another process trigger automations`() throws {
        let folder = try TestFolder([
            "stock.lua": """
            perilune.automation{
              name = "count", on = { change = "product" },
              run = function(context) print(context.db:fetch_value("SELECT count(*) FROM product")) io.stdout:flush() end,
            }
            perilune.after(0.001, function() print("ready") io.stdout:flush() end)
            """
        ])
        _ = try folder.perilune("run", "-e", "db:execute('CREATE TABLE product (name)')", "--database", "x.sqlite")
        let process = try CommandProcess(
            TestFolder.binary, ["automations", "run", "stock.lua", "--database", "x.sqlite", "--poll", "20ms"], in: folder,
            isOutputRead: true)
        #expect(try process.readLine() == "ready")
        for count in 1...2 {
            _ = try folder.perilune("query", "--write", "--database", "x.sqlite", "INSERT INTO product VALUES ('tea')")
            #expect(try process.readLine() == "\(count)")
        }
        process.interrupt()
        _ = try process.wait()
        let wrong = try folder.perilune("automations", "run", "stock.lua", "--poll", "often")
        #expect(wrong.status == 64)
        #expect(wrong.errors.contains("expected a time such as 1.5, 500ms, 2s or 1m"))
    }

    @Test(arguments: [true, false])
    func `a service whose database is replaced or removed ends with an error message`(isReplaced: Bool) throws {
        let folder = try TestFolder([
            "a.lua": "perilune.automation{ name = 'a', on = { change = 't' }, run = print } print('ready') io.stdout:flush()"
        ])
        for name in ["x.sqlite", "y.sqlite"] {
            #expect(try folder.perilune("run", "-e", "db:execute('CREATE TABLE t (a)')", "--database", name).status == 0)
        }
        let process = try CommandProcess(
            TestFolder.binary, ["automations", "run", "a.lua", "--database", "x.sqlite"], in: folder, isOutputRead: true)
        #expect(try process.readLine() == "ready")
        try FileManager.default.removeItem(atPath: folder.path + "/x.sqlite")
        if isReplaced { try FileManager.default.moveItem(atPath: folder.path + "/y.sqlite", toPath: folder.path + "/x.sqlite") }
        let result = try process.wait()
        #expect(result.status == 74)
        #expect(result.errors.hasSuffix("error: x.sqlite was removed or replaced while its automations ran; start them again\n"))
    }

    @Test func `a service reports a damaged database once per check`() throws {
        let folder = try TestFolder([
            "a.lua": """
            perilune.automation{ name = 'a', on = { change = 't' }, run = print }
            print('ready') io.stdout:flush()
            perilune.every("10ms", function() print("tick") io.stdout:flush() end)
            """
        ])
        // In WAL mode, the damaged pages would not be read.
        #expect(
            try folder.perilune(
                "run", "-e", "db:execute('PRAGMA journal_mode = delete; CREATE TABLE t (a)')", "--database", "x.sqlite"
            ).status == 0)
        let process = try CommandProcess(
            TestFolder.binary, ["automations", "run", "a.lua", "--database", "x.sqlite", "--poll", "10ms"], in: folder,
            isOutputRead: true)
        #expect(try process.readLine() == "ready")
        for _ in 0..<20 { _ = try process.readLine() }
        let file = try #require(FileHandle(forWritingAtPath: folder.path + "/x.sqlite"))
        try file.write(contentsOf: Data(repeating: 0x67, count: 20_000))
        try file.close()
        process.waitForErrors(containing: "retrying in 2s")
        process.interrupt()
        let errors = try process.wait().errors
        #expect(errors.contains("file is not a database"), "\(errors)")
        // Polling continues after a failure, but each failure is reported once, and the delay before the next report doubles.
        let pauses = errors.matches(of: /automation failed: .* retrying in (\w+)/).map { String($0.1) }
        #expect(pauses.starts(with: ["1s", "2s"]) && Set(pauses).count == pauses.count, "\(errors)")
    }

    @Test func `a changed file is reloaded, and if it fails, the previous automations keep running`() throws {
        let folder = try TestFolder([
            "x.sqlite": "",
            "a.lua": """
            perilune.automation{ name = "one", on = { every = "20ms" }, run = function() print("one") io.stdout:flush() end }
            """,
        ])
        let process = try CommandProcess(TestFolder.binary, ["automations", "run", "a.lua"], in: folder, isOutputRead: true)
        #expect(try process.readLine() == "one")
        try folder.write("perilune.automation{ name = 'two' }", to: "a.lua")
        process.waitForErrors(containing: "the previous automations keep running")
        for _ in 0..<100 { #expect(try process.readLine() == "one") }
        try folder.write(
            """
            perilune.automation{ name = "three", on = { every = "20ms" }, run = function() print("three") io.stdout:flush() end }
            """, to: "a.lua")
        var line = try process.readLine()
        for _ in 0..<5000 where line == "one" { line = try process.readLine() }
        #expect(line == "three")
        process.interrupt()
        let result = try process.wait()
        #expect(result.errors.contains("option `run`: expected a function, got nil"))
        #expect(result.errors.contains("the previous automations keep running"))
        #expect(result.errors.contains("a.lua has changed: 1 automation is live"))
    }

    @Test func `the automation status reports problems for monitoring`() throws {
        let folder = try TestFolder([
            "x.sqlite": "",
            "a.lua": """
            perilune.automation{ name = "a", on = { event = "go" }, run = function() if not db:table_exists("good") then error("no", 0) end end }
            perilune.after("10ms", function() perilune.emit("go") perilune.after("10ms", function() print("ready") io.stdout:flush() end) end)
            """,
        ])
        func run(_ expected: Int32, _ states: [String], while isRunning: Bool) throws {
            let process = try CommandProcess(
                TestFolder.binary, ["automations", "run", "a.lua", "--database", "x.sqlite"], in: folder, isOutputRead: true)
            #expect(try process.readLine() == "ready")
            if !isRunning { process.interrupt() }
            if !isRunning { _ = try process.wait() }
            let result = try folder.perilune("automations", "status", "--database", "x.sqlite", "--format", "csv")
            #expect(result.status == expected, "\(result.errors)")
            let rows = result.output.split(whereSeparator: \.isNewline).map {
                $0.split(separator: ",", omittingEmptySubsequences: false)
            }
            #expect(rows.dropFirst().map { [$0[0], $0[1], $0[6]].joined(separator: ",") } == states)
            if isRunning { process.interrupt() }
            if isRunning { _ = try process.wait() }
        }
        try run(1, ["a,ready,the last run failed: no"], while: true)
        #expect(try folder.perilune("run", "-e", "db:execute('CREATE TABLE good (a)')", "--database", "x.sqlite").status == 0)
        try run(0, ["a,ready,"], while: true)
        try run(1, ["a,stopped,no process runs it"], while: false)
        #expect(try folder.perilune("run", "-e", "db:execute('CREATE TABLE t (a)')", "--database", "y.sqlite").status == 0)
        let none = try folder.perilune("automations", "status", "--database", "y.sqlite")
        #expect((none.status, none.errors) == (0, "no automation has run with this database\n"))
        #expect(try folder.perilune("automations", "status").errors.contains("expected --database"))
        #expect(try folder.perilune("automations", "status", "--database", "x.sqlite", "--stuck", "soon").status == 64)
    }

    @Test func `a second process that runs the automations of a service does not change its status`() throws {
        let folder = try TestFolder([
            "a.lua": """
            perilune.automation{ name = "a", on = { every = "1h" }, run = function() end }
            perilune.after("10ms", function() print("ready") io.stdout:flush() end)
            """
        ])
        #expect(try folder.perilune("run", "-e", "db:execute('CREATE TABLE t (a)')", "--database", "x.sqlite").status == 0)
        func status() throws -> String {
            try folder.perilune("automations", "status", "--database", "x.sqlite", "--format", "csv").output
        }
        let service = try CommandProcess(
            TestFolder.binary, ["automations", "run", "a.lua", "--database", "x.sqlite"], in: folder, isOutputRead: true)
        #expect(try service.readLine() == "ready")
        let healthy = try status()
        #expect(healthy.contains("\na,ready,"), "\(healthy)")
        let second = try CommandProcess(
            TestFolder.binary, ["run", "--database", "x.sqlite", "a.lua"], in: folder, isOutputRead: true)
        #expect(try second.readLine() == "ready")
        #expect(try status() == healthy)
        second.interrupt()
        _ = try second.wait()
        #expect(try status() == healthy)
        let disabling = try folder.perilune(
            "run", "--database", "x.sqlite", "-e", "dofile('a.lua') perilune.automations()[1]:disable()")
        #expect(disabling.errors.contains("in this process only; process \(service.id) still runs it"), "\(disabling.errors)")
        #expect(try status() == healthy)
        service.interrupt()
        _ = try service.wait()
        #expect(try status().contains("\na,stopped,"))
    }

    @Test func `the automations of a service that ends are recorded for another process that runs them`() async throws {
        let folder = try TestFolder([
            "a.lua": """
            perilune.automation{ name = "a", on = { every = "1h" }, run = function() end }
            perilune.after("10ms", function() print("ready") io.stdout:flush() end)
            """
        ])
        #expect(try folder.perilune("run", "-e", "db:execute('CREATE TABLE t (a)')", "--database", "x.sqlite").status == 0)
        let service = try CommandProcess(
            TestFolder.binary, ["automations", "run", "a.lua", "--database", "x.sqlite"], in: folder, isOutputRead: true)
        #expect(try service.readLine() == "ready")
        let second = try CommandProcess(
            TestFolder.binary, ["run", "--database", "x.sqlite", "a.lua"], in: folder, isOutputRead: true)
        #expect(try second.readLine() == "ready")
        service.interrupt()
        _ = try service.wait()
        let isTakenOver = await eventually {
            (try? folder.perilune("automations", "status", "--database", "x.sqlite", "--format", "csv"))?.output
                .contains("\na,ready,") == true
        }
        #expect(isTakenOver)
        second.interrupt()
        _ = try second.wait()
    }

    @Test func `wrong usage of the automations command is reported`() throws {
        let folder = try Self.makeFolder()
        #expect(try folder.perilune("automations", "trace").errors.contains("expected --database"))
        #expect(try folder.perilune("automations", "trace", "--database", "x.sqlite", "--last", "0").status == 64)
        #expect(try folder.perilune("automations", "list", "nowhere.lua").status == 74)
        #expect(try folder.perilune("automations", "list").status == 64)
    }
}
