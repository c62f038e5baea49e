import Foundation
import PeriluneTestTools
import Testing

/// `perilune automations --sandbox`, which runs automations in a separate process, like scripts.
@Suite(.patience, .startsPrograms) struct IsolatedAutomationTests {
    /// Automations that are triggered by changes of the table with their name. Each prints its name and its result.
    private static let automations = """
        for name, f in pairs{
          works = function(context) return context.db:fetch_value("SELECT count(*) FROM works") end,
          fails = function() error("no") end,
          loops = function() while true do end end,
          pauses = function() print("begun") while true do os.time() end end,
          grows = function() local t = {} while true do t[#t + 1] = ("x"):rep(1000000) .. #t end end,
          -- All keys meet in one place of the table, as it grows: minutes within one instruction.
          sticks = function() print("stuck") local t = {} for i = 1, (1 << 18) + 1 do t[i * ((1 << 19) - 1)] = true end end,
        } do
          perilune.automation{ name = name, on = { change = name }, run = function(context)
            print(name, f(context))
          end }
        end
        print(io, "loaded")
        """

    private static func makeFolder() throws -> TestFolder {
        let folder = try TestFolder(["a.lua": automations])
        let make =
            "for _, name in ipairs{ 'works', 'fails', 'loops', 'grows', 'sticks', 'pauses' } do db:execute('CREATE TABLE ' .. name .. ' (a)') end"
        #expect(try folder.perilune("run", "-e", make, "--database", "x.sqlite").status == 0)
        return folder
    }

    /// Starts the service and waits until its automations are live. Earlier changes do not trigger them.
    private static func start(_ options: String..., file: String = "a.lua", in folder: TestFolder) throws -> CommandProcess {
        let process = try CommandProcess(
            TestFolder.binary, ["automations", "run", file, "--database", "x.sqlite", "--sandbox", "--poll", "20ms"] + options,
            in: folder,
            isOutputRead: true)
        #expect(try process.readLine() == "nil\tloaded")
        process.waitForErrors(containing: " live\n")
        return process
    }

    private static func insert(into table: String, in folder: TestFolder) throws {
        #expect(try folder.perilune("query", "--write", "--database", "x.sqlite", "INSERT INTO \(table) VALUES (1)").status == 0)
    }

    /// The recorded runs with their outcomes, oldest first.
    private static func runs(in folder: TestFolder) throws -> [String] {
        let result = try folder.perilune(
            "query", "--database", "x.sqlite", "--format", "csv",
            "SELECT automation, outcome FROM perilune_automation_run ORDER BY rowid")
        return result.output.split(whereSeparator: \.isNewline).dropFirst().map { String($0) }
    }

    @Test(arguments: [("works", 0, "succeeded"), ("fails", 1, "failed"), ("loops", 5, "failed"), ("grows", 5, "failed")])
    func `a manual run of an isolated automation is recorded`(name: String, status: Int32, outcome: String) throws {
        let time = name == "loops" ? "2s" : "60s"
        let folder = try Self.makeFolder()
        let result = try folder.perilune(
            "automations", "run", "a.lua", name, "--database", "x.sqlite", "--sandbox", "--timeout", time, "--memory", "16M")
        #expect(result.status == status, "\(result.errors)")
        #expect(try Self.runs(in: folder) == ["\(name),\(outcome)"])
        let list = try folder.perilune("automations", "list", "a.lua", "--database", "x.sqlite", "--sandbox", "--format", "csv")
        #expect(list.output.contains("\(name),change of \(name),single,1,"), "\(list.output) \(list.errors)")
        #expect(list.output.contains(",\(outcome),"))
    }

    @Test func `a preview of an isolated automation shows its changes without making them`() throws {
        let folder = try TestFolder([
            "a.lua": """
            perilune.automation{ name = "writes", on = { event = "go" }, run = function(context) context.db:execute("INSERT INTO t VALUES (7)") end }
            """
        ])
        #expect(
            try folder.perilune("run", "-e", "db:execute('CREATE TABLE t (a INTEGER PRIMARY KEY)')", "--database", "x.sqlite")
                .status == 0)
        let result = try folder.perilune("automations", "preview", "a.lua", "writes", "--database", "x.sqlite", "--sandbox")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("7"), "\(result.output)")
        #expect(
            try folder.perilune("query", "--database", "x.sqlite", "--format", "csv", "SELECT count(*) AS n FROM t").output
                == "n\n0\n")
    }

    @Test func `an isolated service keeps running after runs that fail or exceed their limits`() throws {
        let folder = try Self.makeFolder()
        let process = try Self.start("--timeout", "3s", "--memory", "16M", in: folder)
        for (name, error) in [("fails", "no line="), ("loops", "longer than its limit"), ("grows", "more memory than its limit")]
        {
            try Self.insert(into: name, in: folder)
            process.waitForErrors(containing: error)
        }
        for count in 1...2 {
            try Self.insert(into: "works", in: folder)
            #expect(try process.readLine() == "works\t\(count)")
        }
        process.send("TERM")
        let result = try process.wait()
        #expect(result.status == 0, "\(result.errors)")
        #expect(
            try Self.runs(in: folder) == ["fails,failed", "loops,failed", "grows,failed", "works,succeeded", "works,succeeded"])
    }

    @Test func `timers fire and changed files are reloaded in an isolated service`() throws {
        func file(_ name: String) -> String {
            "perilune.automation{ name = '\(name)', on = { every = '20ms' }, run = function() print('\(name)') end }"
        }
        let folder = try Self.makeFolder()
        try folder.write(file("one") + " print(io, 'loaded')", to: "t.lua")
        let process = try Self.start(file: "t.lua", in: folder)
        #expect(try process.readLine() == "one")
        try folder.write(file("two"), to: "t.lua")
        var line = "one"
        for _ in 0..<5000 where line == "one" { line = try process.readLine() }
        #expect(line == "two")
        process.interrupt()
        let result = try process.wait()
        #expect(result.status == 0 && result.errors.contains("t.lua has changed: 1 automation is live"), "\(result.errors)")
    }

    @Test func `an isolated service reports the crash of its process and loses no committed data`() async throws {
        let folder = try Self.makeFolder()
        let process = try Self.start(in: folder)
        try Self.insert(into: "works", in: folder)
        #expect(try process.readLine() == "works\t1")
        kill(try #require(await process.child()), SIGSEGV)
        let result = try process.wait()
        #expect(result.status == 1)
        #expect(result.errors.contains("the process of the script was ended by SIGSEGV"), "\(result.errors)")
        // The lock on the file was released when the process died.
        let next = try Self.start(in: folder)
        try Self.insert(into: "works", in: folder)
        #expect(try next.readLine() == "works\t2")
        next.interrupt()
        #expect(try next.wait().status == 0)
    }

    @Test func `the isolated process of a service ends with its parent`() async throws {
        let folder = try Self.makeFolder()
        let process = try Self.start(in: folder)
        let child = try #require(await process.child())
        process.send("KILL")
        _ = try process.wait()
        #expect(await eventually { kill(child, 0) != 0 })
    }

    @Test func `a service with isolated runs ends when its database is removed`() throws {
        let folder = try Self.makeFolder()
        let process = try Self.start(in: folder)
        try FileManager.default.removeItem(atPath: folder.path + "/x.sqlite")
        let result = try process.wait()
        #expect(result.status == 74)
        #expect(result.errors.contains("x.sqlite was removed or replaced while its automations ran"), "\(result.errors)")
    }

    @Test(arguments: ["--isolate", "--no-isolate"])
    func `a run that cannot be interrupted ends its service at the time limit`(isolation: String) throws {
        let folder = try Self.makeFolder()
        let process = try Self.start(isolation, "--timeout", "3s", in: folder)
        try Self.insert(into: "sticks", in: folder)
        let result = try process.wait()
        #expect(result.status == 5, "\(result.errors)")
        #expect(
            result.errors.contains(
                "a run went on after its limit of 3.0 seconds and could not be stopped, so all runs were ended"),
            "\(result.errors)")
    }

    @Test(.unless(.thread, "a run takes longer to end there than one that nothing stops may"))
    func `a service that was suspended during a run until after the time limit keeps running`() throws {
        let folder = try Self.makeFolder()
        let process = try Self.start("--no-isolate", "--timeout", "1s", in: folder)
        try Self.insert(into: "pauses", in: folder)
        #expect(try process.readLine() == "begun")
        kill(process.id, SIGSTOP)
        // The process stays suspended for much longer than the time limit. The test cannot poll the database, because the run may
        // hold a lock on it.
        let end = ContinuousClock.now + .seconds(3)
        while ContinuousClock.now < end { #expect(try folder.perilune("version").status == 0) }
        kill(process.id, SIGCONT)
        process.waitForErrors(containing: "longer than its limit")
        try Self.insert(into: "works", in: folder)
        #expect(try process.readLine() == "works\t1")
        process.interrupt()
        #expect(try process.wait().status == 0)
    }

    @Test func `an isolated service that is terminated during an uninterruptible run ends ten seconds later`() throws {
        let folder = try Self.makeFolder()
        let process = try Self.start(in: folder)
        try Self.insert(into: "sticks", in: folder)
        #expect(try process.readLine() == "stuck")
        process.send("TERM")
        let result = try process.wait()
        #expect(result.status == 130, "\(result.errors)")
        #expect(result.errors.contains("a run could not be stopped, so all runs were ended"), "\(result.errors)")
    }
}
