import Foundation
import PeriluneTestTools
import Testing

/// Services that are killed during a run and started again.
@Suite(.patience, .startsPrograms) struct KilledAutomationTests {
    private static func file(_ options: String) -> String {
        """
        db:execute("CREATE TABLE IF NOT EXISTS job (id INTEGER PRIMARY KEY, state TEXT)")
        perilune.automation{
          name = "work", on = { change = "job" }, \(options)
          run = function(context)
            local is_first = db:fetch_value("SELECT count(*) FROM step") == 0
            db:execute("INSERT INTO step(what) VALUES (?)", { "one of " .. context.trigger.kind })
            print("began") io.stdout:flush()
            if is_first then perilune.sleep("1h") end
            db:execute("INSERT INTO step(what) VALUES ('two')")
            print("done") io.stdout:flush()
          end,
        }
        """
    }

    /// Starts the service and waits until its triggers record changes, which is the case after the file has run.
    private static func start(in folder: TestFolder) throws -> CommandProcess {
        let process = try CommandProcess(
            TestFolder.binary, ["automations", "run", "a.lua", "--database", "x.sqlite", "--poll", "20ms"], in: folder,
            isOutputRead: true)
        process.waitForErrors(containing: "1 automation is live")
        return process
    }

    /// A folder in which a service was killed during a run.
    private static func killed(_ options: String) throws -> TestFolder {
        let folder = try TestFolder(["a.lua": file(options)])
        _ = try folder.perilune(
            "run", "--database", "x.sqlite", "-e",
            """
            db:execute("CREATE TABLE job (id INTEGER PRIMARY KEY, state TEXT); CREATE TABLE step (what TEXT)")
            """)
        let process = try start(in: folder)
        _ = try folder.perilune("query", "--write", "--database", "x.sqlite", "INSERT INTO job(state) VALUES ('new')")
        #expect(try process.readLine() == "began")
        let trace = try folder.perilune("automations", "trace", "--database", "x.sqlite", "--format", "csv")
        #expect(trace.output.contains("work,") && trace.output.contains(",running,"), "\(trace.output) \(trace.errors)")
        kill(process.id, SIGKILL)
        #expect(try process.wait().status == 137)
        return folder
    }

    private static func runs(in folder: TestFolder) throws -> [Substring] {
        let query = "SELECT outcome, reason, attempts, interruptions FROM perilune_automation_run"
        return try folder.perilune("query", "--database", "x.sqlite", "--format", "csv", query).output.split(
            whereSeparator: \.isNewline)
    }

    @Test func `a run whose service was killed is marked as interrupted when the service restarts`() throws {
        let folder = try Self.killed("")
        #expect(try Self.runs(in: folder).dropFirst() == ["running,,1,0"])
        let process = try Self.start(in: folder)
        process.waitForErrors(containing: "its process ended")
        process.interrupt()
        #expect(try process.wait().status == 0)
        #expect(try Self.runs(in: folder).dropFirst() == ["interrupted,its process ended,1,1"])
    }

    @Test func `a run whose service was killed is repeated on request`() throws {
        let folder = try Self.killed("interrupted = 'rerun',")
        let process = try Self.start(in: folder)
        #expect(try process.readLine() == "began")
        #expect(try process.readLine() == "done")
        process.interrupt()
        #expect(try process.wait().status == 0)
        #expect(try Self.runs(in: folder).dropFirst() == ["succeeded,,2,1"])
        let steps = try folder.perilune("query", "--database", "x.sqlite", "--format", "csv", "SELECT what FROM step")
        #expect(steps.output.split(whereSeparator: \.isNewline).dropFirst() == ["one of change", "one of change", "two"])
    }

    @Test func `a run that the end of its service interrupted is repeated by the next service on request`()
        throws
    {
        let folder = try TestFolder(["a.lua": Self.file("interrupted = 'rerun',")])
        _ = try folder.perilune(
            "run", "--database", "x.sqlite", "-e",
            """
            db:execute("CREATE TABLE job (id INTEGER PRIMARY KEY, state TEXT); CREATE TABLE step (what TEXT)")
            """)
        var process = try Self.start(in: folder)
        _ = try folder.perilune("query", "--write", "--database", "x.sqlite", "INSERT INTO job(state) VALUES ('new')")
        #expect(try process.readLine() == "began")
        process.send("TERM")
        #expect(try process.wait().status == 0)
        #expect(try Self.runs(in: folder).dropFirst() == ["waiting,the program has ended,1,0"])
        process = try Self.start(in: folder)
        #expect(try process.readLine() == "began")
        #expect(try process.readLine() == "done")
        process.interrupt()
        #expect(try process.wait().status == 0)
        #expect(try Self.runs(in: folder).dropFirst() == ["succeeded,,2,0"])
    }

    /// Tests the main purpose of durable automations: surviving a kill between two steps, and a change while the service is down.
    @Test func `a durable automation continues after its last step, with all changes made while its service was down`() throws {
        let folder = try TestFolder([
            "a.lua": """
            perilune.automation{
              name = "work", durable = true, mode = "queued", on = { change = "job" },
              run = function(run)
                run:step("one", function(db) db:execute("INSERT INTO step(what) VALUES (?)", "one of " .. run.key) end)
                run:call("wait", function(key, info)
                  print("waits " .. run.key) io.stdout:flush()
                  if run.key == "1" and not info.is_repeat then perilune.sleep("1h") end
                end)
                run:step("two", function(db) db:execute("INSERT INTO step(what) VALUES (?)", "two of " .. run.key) end)
                print("done " .. run.key) io.stdout:flush()
              end,
            }
            """
        ])
        _ = try folder.perilune(
            "run", "--database", "x.sqlite", "-e",
            """
            db:execute("CREATE TABLE job (id INTEGER PRIMARY KEY, state TEXT); CREATE TABLE step (what TEXT)")
            """)
        var process = try Self.start(in: folder)
        func insert() throws {
            _ = try folder.perilune("query", "--write", "--database", "x.sqlite", "INSERT INTO job(state) VALUES ('new')")
        }
        try insert()
        #expect(try process.readLine() == "waits 1")
        process.send("KILL")
        #expect(try process.wait().status == 137)
        try insert()
        process = try Self.start(in: folder)
        for line in ["waits 1", "done 1", "waits 2", "done 2"] { #expect(try process.readLine() == line) }
        process.interrupt()
        #expect(try process.wait().status == 0)
        let steps = try folder.perilune("query", "--database", "x.sqlite", "--format", "csv", "SELECT what FROM step")
        #expect(steps.output.split(whereSeparator: \.isNewline).dropFirst() == ["one of 1", "two of 1", "one of 2", "two of 2"])
        #expect(try Self.runs(in: folder).dropFirst() == ["succeeded,,1,0", "succeeded,,1,0"])
    }
}
