import Foundation
import PeriluneTestTools
import Testing

@testable import PeriluneScenarios

@Suite struct ScriptTests {
    private func run(_ script: String, _ scenario: String, _ change: (inout ScenarioOptions) -> Void = { _ in }) async throws
        -> ScenarioProject.Outcome
    {
        let project = try ScenarioProject([
            "migrations/1_thing.sql": """
            CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT, done BOOLEAN);
            CREATE TABLE note (text TEXT);
            INSERT INTO thing VALUES (1, 'one', FALSE), (2, 'two', TRUE);
            """,
            "script.lua": script, "scenarios/a_scenario.lua": scenario,
        ])
        return try await project.run(.pretty) { change(&$0) }
    }

    @Test func `t.run passes arguments to a script and returns its value, output, changes and queries`() async throws {
        let run = try await run(
            """
            local arguments = ...
            print("hello", arguments.name)
            io.write("raw\\n")
            db:execute("UPDATE thing SET name = ? WHERE id = 1", arguments.name)
            db:execute("DELETE FROM thing WHERE id = 2")
            db:execute("INSERT INTO thing VALUES (3, NULL, TRUE)")
            return { at = perilune.now(), list = { 1, 2.5, "x" } }
            """,
            """
            scenario("script", function(t)
              local result = t.run("script.lua", { name = "uno" })
              check(result.output == "hello\\tuno\\nraw\\n")
              check(result.value.at == perilune.now())
              check(result.value.list[2] == 2.5 and math.type(result.value.list[1]) == "integer")
              check(#result.queries == 3)
              check(result.queries[1].arguments[1] == "'uno'")
              check(result.queries[1].line == 4)
              expect(result.changes):rows_any_order [[
                | op     | table | key | name       | done |
                | update | thing | 1   | one -> uno | *    |
                | delete | thing | 2   | two        | true |
                | insert | thing | 3   | ~          | true |
              ]]
            end)
            """)
        #expect(run.summary.count(.passed) == 1, "\(run[.pretty])")
    }

    @Test func `a row that is deleted, and another one inserted with its key, are one update`() async throws {
        let run = try await run(
            """
            db:execute("DELETE FROM thing WHERE id = 2")
            db:execute("INSERT INTO thing (name) VALUES ('new')")
            """,
            """
            scenario("reused key", function(t)
              expect(t.run("script.lua").changes):rows [[
                | op     | table | key | name       | done      |
                | update | thing | 2   | two -> new | true -> ~ |
              ]]
            end)
            """)
        #expect(run.summary.count(.passed) == 1, "\(run[.pretty])")
    }

    @Test func `an error that a script raises as a table is shown with its fields`() async throws {
        let run = try await run(
            "error{ kind = 'seat_sold', seat = 'A1' }",
            """
            scenario("run", function(t) t.run("script.lua") end)
            scenario("expected", function(t)
              local err = expect_error(function() t.run("script.lua") end, { kind = "seat_sold" })
              check(err.cause.seat == "A1")
              t.note(t.run_protected("script.lua").error)
            end)
            scenario("another", function(t)
              expect_error(function() t.run("script.lua") end, { kind = "other" })
            end)
            """)
        let text = #"/script.lua:1: error({ kind = "seat_sold", seat = "A1" })"#
        #expect(try run.result("run").failures.first?.message.hasSuffix(text) == true, "\(run[.pretty])")
        #expect(try run.result("expected").notes.first?.hasSuffix(text) == true, "\(run[.pretty])")
        #expect(try run.result("another").failures.first?.details.last?.hasSuffix(text) == true, "\(run[.pretty])")
    }

    @Test func `a list of script arguments is passed like on the command line`() async throws {
        let run = try await run(
            "local a, b = ... return a .. b .. arg[2]",
            "scenario('script', function(t) check(t.run('script.lua', { 'x', 'y' }).value == 'xyy') end)")
        #expect(run.summary.count(.passed) == 1, "\(run[.pretty])")
    }

    @Test func `the error for a missing script names the path that was probably meant`() async throws {
        let run = try await run(
            "return 1",
            """
            scenario("a", function(t) t.run("script") end)
            scenario("b", function(t) t.run("other.lua") end)
            """)
        let messages = try ["a", "b"].map { try run.result($0).failures.first?.message ?? "" }
        #expect(messages[0].hasSuffix("; paths begin in the project folder: t.run(\"script.lua\")"), "\(messages)")
        #expect(messages[1].hasSuffix("other.lua: No such file or directory; paths begin in the project folder"), "\(messages)")
    }

    @Test func `each grant allows the capabilities listed in the Sandbox article`() async throws {
        let table = try #require(GrantTable(firstGrant: "withheld"))
        let project = try ScenarioProject([:])
        try FileManager.default.createDirectory(atPath: project.path, withIntermediateDirectories: true)
        for (column, grant) in table.grants.enumerated() where grant != "--allow-effects" {
            let grants = grant == "withheld" ? "{}" : "{ \(grant) }"
            var checks = ""
            for (number, row) in table.rows.enumerated() {
                try project.write(try #require(GrantTable.script(using: row.capability, in: project.path)), to: "\(number).lua")
                checks += "expect(t.run('\(number).lua').value, '\(row.capability)'):equals(\(row.isGiven[column]))\n"
            }
            try project.write(
                "scenario('grants', { grants = \(grants) }, function(t)\n\(checks)end)", to: "scenarios/a_scenario.lua")
            try GrantTable.prepare(project.path)
            let run = try await project.run(.pretty)
            #expect(run.summary.count(.passed) == 1, "\(grant): \(run[.pretty])")
        }
    }

    @Test func `a refused effect names its grant`() async throws {
        let refusals = [
            "os.remove('x')": "files", "os.tmpname()": "files", "io.output('x')": "files", "io.output(1)": "files",
            "io.open('x', 'a')": "files",
            "perilune.queue('x.sqlite')": "files", "os.execute('true')": "programs", "io.popen('true')": "programs",
            "package.loadlib('x', '*')": "native",
            "package.cpath = '\((NativeLibrary.path as NSString).deletingLastPathComponent)/?.so' require 'libPeriluneTestExtension'":
                "native",
        ]
        for (code, grant) in refusals {
            let run = try await run(code, "scenario('refused', function(t) t.run('script.lua') end)")
            let details = try run.result("refused").failures[0].details
            #expect(details.contains("the scenario option grants = { \"\(grant)\" } allows it"), "\(code): \(run[.pretty])")
        }
    }

    @Test func `an error of a script fails the scenario at the script's line, and can be inspected`() async throws {
        let run = try await run(
            "db:execute('INSERT INTO thing (id) VALUES (1)')",
            """
            scenario("run", function(t) t.run("script.lua") end)
            scenario("try", function(t)
              local result = t.run_protected("script.lua")
              check(result.error.kind == "constraint_primary_key")
              check(result.error.line == 1)
            end)
            """)
        #expect(try run.outcome("try") == .passed, "\(run[.pretty])")
        let failure = try run.result("run").failures[0]
        #expect(failure.message.contains("thing.id"), "\(failure)")
        #expect(run[.pretty].contains("script.lua"))
    }

    @Test func `a script can change files only with a grant`() async throws {
        let run = try await run(
            "local file = assert(io.open(os.tmpname(), 'w')) file:close()",
            """
            scenario("refused", function(t) t.run("script.lua") end)
            scenario("granted", { grants = { "files" } }, function(t) t.run("script.lua") end)
            """)
        #expect(try run.result("refused").failures[0].details.contains("the scenario option grants = { \"files\" } allows it"))
        #expect(try run.outcome("granted") == .passed, "\(run[.pretty])")
    }

    @Test func `effects of a script are recorded, and fail the scenario unless a stub replaces them`() async throws {
        let run = try await run(
            """
            local mail = require "mail"
            return mail.send{ to = "ada" }, mail.other and mail.count("a", 2)
            """,
            """
            scenario("expected", function(t)
              t.effects.mail:stub("send", function(letter) return "sent to " .. letter.to end)
              t.effects.mail:stub("count", 2)
              check(t.run("script.lua").value == "sent to ada")
              check(t.effects.mail:calls("send")[1].to == "ada")
            end)
            scenario("unexpected", function(t)
              t.effects.mail:stub("send", true)
              t.run("script.lua")
            end)
            """)
        #expect(try run.outcome("expected") == .passed, "\(run[.pretty])")
        let failure = try run.result("unexpected").failures[0]
        #expect(failure.kind == "unexpected_effect" && failure.line == 2)
        #expect(failure.message == "unexpected call of mail.count")
    }

    @Test func `calling a function returned by a script fails and suggests require`() async throws {
        let run = try await run(
            "return { add = function(a, b) return a + b end }",
            "scenario('functions', function(t) t.run('script.lua').value.add(1, 2) end)")
        let failure = try run.result("functions").failures[0]
        #expect(failure.message.contains("to test the functions of a module, load it with require"), "\(failure)")
    }

    @Test func `changes of tables without a primary key are reported`() async throws {
        let run = try await run(
            "db:execute(\"INSERT INTO note VALUES ('x')\")",
            "scenario('script', function(t) expect(t.run('script.lua').changes):is_empty() end)")
        #expect(try run.outcome("script") == .failed)
        #expect(run[.pretty].contains("note"), "\(run[.pretty])")
    }

    @Test func `queries are counted with their rows, without statements that read the schema`() async throws {
        let run = try await run(
            "",
            """
            scenario("queries", function(t)
              local queries = t.queries(function()
                t.db:write(function(db) db:execute("UPDATE thing SET name = 'x'") end)
                t.db:fetch_all("SELECT * FROM thing WHERE id > ?", 0)
                t.db:columns("thing")
              end)
              check(#queries == 2)
              check(queries[1].rows == 2)
              check(queries[2].rows == 2)
              expect(queries):at_most(2):no_full_scan("note")
            end)
            scenario("budget", { max_queries = 1 }, function(t)
              t.db:fetch_all("SELECT 1") t.db:fetch_all("SELECT 2")
            end)
            """)
        #expect(try run.outcome("queries") == .passed, "\(run[.pretty])")
        #expect(try run.outcome("budget") == .failed)
    }

    @Test func `a script cannot be run inside a database block`() async throws {
        let run = try await run(
            "return db:fetch_value('SELECT 1')",
            "scenario('script', function(t) t.db:write(function() t.run('script.lua') end) end)")
        #expect(try run.result("script").failures[0].message.contains("cannot be called inside a block"))
    }

    @Test func `the executed lines of scripts are recorded`() async throws {
        let project = try ScenarioProject([
            "script.lua": """
            local function never()
              return 1
            end
            local function often() return 2 end
            for i = 1, 3 do often() end
            if often() == 3 then
              never()
            end
            """,
            "scenarios/a_scenario.lua": "scenario('script', function(t) t.run('script.lua') end)",
        ])
        let run = try await project.run { $0.coversLines = true }
        let lines = try #require(run.summary.coverage.files["\(project.path)/script.lua"])
        #expect(lines[2] == 0 && lines[7] == 0)
        #expect(lines[6] == 1 && lines[4]! >= 4)
        #expect(run.summary.coverage.files.count == 1)
    }

    @Test func `a new snapshot is written as .snap.new, and compared after it is accepted`() async throws {
        let project = try ScenarioProject("scenario('s', function(t) expect('text'):snapshot('shot') end)")
        let first = try await project.run()
        #expect(try first.outcome("s") == .failed)
        #expect(project.read("scenarios/__snapshots__/a/shot.snap") == nil)
        #expect(project.read("scenarios/__snapshots__/a/shot.snap.new")?.contains("text") == true)
        let taken = try await project.run { $0.snapshots = .replace }
        #expect(try taken.outcome("s") == .passed)
        #expect(project.read("scenarios/__snapshots__/a/shot.snap.new") == nil)
        let compared = try await project.run { $0.isCI = true }
        #expect(try compared.outcome("s") == .passed)
        try project.write("scenario('s', function(t) expect('other'):snapshot('shot') end)", to: "scenarios/a_scenario.lua")
        let differing = try await project.run { $0.isCI = true }
        #expect(try differing.outcome("s") == .failed)
        #expect(project.read("scenarios/__snapshots__/a/shot.snap.new") == nil)
    }
}
