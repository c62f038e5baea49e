import Foundation
import PeriluneTestTools
import Testing

/// `perilune test --isolate`.
@Suite(.patience, .startsPrograms) struct IsolatedTestCommandTests {
    @Test func `isolated runs have the same results as a single process`() throws {
        let folder = try TestFolder([
            "migrations/1.sql": "CREATE TABLE t (id INTEGER PRIMARY KEY, a)",
            "scenarios/a_scenario.lua": """
            scenario("passes", function(t) db:execute("INSERT INTO t (a) VALUES (1)") print("printed") expect(db:fetch_value("SELECT COUNT(*) FROM t")):equals(1) end)
            scenario("fails", function(t) t.step("first", function() expect(1):equals(2) end) end)
            scenario("raises", function(t) error("no") end)
            scenario("is slow", { timeout = "0.2s" }, function(t) while true do end end)
            scenario("is skipped", function(t) t.skip("later") end)
            scenario("is retried", { retry = 2 }, function(t) t.note("noted") expect(1):equals(2) end)
            """,
        ])
        func lines(_ options: String...) throws -> [String] {
            let result = try CommandProcess(
                TestFolder.binary, ["test", "--seed", "7f3a", "--order", "file", "--jobs", "2", "--report", "jsonl"] + options,
                in: folder
            ).wait()
            #expect(result.status == 1, "\(result.errors)")
            return result.output.split(separator: "\n").filter { $0.contains("scenario_ended") }.map { line in
                String(line.replacing(/"milliseconds":[0-9.e-]+/, with: ""))
            }.sorted()
        }
        let here = try lines(), elsewhere = try lines("--isolate")
        #expect(here.count == 6)
        #expect(elsewhere == here)
    }

    @Test func `a scenario whose process crashes fails, and the others pass`() async throws {
        let folder = try TestFolder([
            "scenarios/a_scenario.lua": """
            scenario("passes", function(t) expect(1):equals(1) end)
            scenario("crashes", { timeout = "60s" }, function(t) while true do end end)
            scenario("passes later", function(t) expect(1):equals(1) end)
            """
        ])
        let process = try CommandProcess(
            TestFolder.binary, ["test", "--isolate", "--jobs", "1", "--order", "file", "--report", "jsonl"], in: folder,
            isOutputRead: true)
        while try !process.readLine().contains(#""scenario_started","id":"scenarios/a_scenario.lua > crashes""#) {}
        kill(try #require(await process.child()), SIGKILL)
        let result = try process.wait()
        #expect(result.status == 1, "\(result.errors)")
        #expect(result.output.contains("the process of the scenario was ended by SIGKILL"), "\(result.output)")
        #expect(result.output.contains(#""kind":"crashed""#))
        // The result of the first scenario was in the lines that were read before.
        #expect(result.output.matches(of: /"outcome":"passed"/).count == 1)
    }

    @Test func `the signal USR1 to all processes shows the running scenarios and ends none of them`() async throws {
        let folder = try TestFolder([
            "scenarios/a_scenario.lua": """
            scenario("passes", function(t) end)
            scenario("endless", { timeout = "60s" }, function(t) while true do end end)
            """
        ])
        let process = try CommandProcess(
            TestFolder.binary, ["test", "--isolate", "--jobs", "1", "--order", "file", "--report", "jsonl"], in: folder,
            isOutputRead: true)
        while try !process.readLine().contains(#""scenario_started","id":"scenarios/a_scenario.lua > endless""#) {}
        kill(try #require(await process.child()), SIGUSR1)
        kill(process.id, SIGUSR1)
        process.waitForErrors(containing: "endless\n")
        process.interrupt()
        let result = try process.wait()
        #expect(result.errors.contains("scenarios/a_scenario.lua:2  endless"), "\(result.errors)")
        #expect(result.output.contains(#""outcome":"interrupted""#), "\(result.output)")
    }

    @Test(arguments: ["1", "2"])
    func `two scenarios that compare different values with one snapshot are reported, in one process or two`(jobs: String) throws
    {
        let folder = try TestFolder([
            "scenarios/a_scenario.lua": """
            scenario("one", function(t) expect(1):snapshot("x") end)
            scenario("two", function(t) expect(2):snapshot("x") end)
            scenario("three", function(t) expect(3):snapshot("y") end)
            """
        ])
        let result = try folder.perilune(
            "test", "--isolate", "--jobs", jobs, "--order", "file", "--report", "jsonl", "--update-snapshots")
        #expect(result.status == 1, "\(result.errors)")
        #expect(result.output.matches(of: /"kind":"shared_snapshot"/).count == 1, "\(result.output)")
        #expect(result.output.matches(of: /compares another value with the snapshot `x`; give each its own name/).count == 1)
        #expect(result.output.matches(of: /"outcome":"passed"/).count == 2)
    }

    @Test func `a scenario that cannot be interrupted is killed and reported, and the others run`() throws {
        // All keys collide in a table with 2^19 slots. While the table grows to that size, each of 2^18 keys is compared with all
        // keys before it, which takes minutes within a single instruction.
        let folder = try TestFolder([
            "scenarios/a_scenario.lua": """
            scenario("is stopped", { timeout = "0.2s" }, function(t) while true do end end)
            scenario("cannot be stopped", { timeout = "5s" }, function(t)
              local met = {}
              for i = 1, (1 << 18) + 1 do met[i * ((1 << 19) - 1)] = true end
            end)
            scenario("passes", function(t) expect(1):equals(1) end)
            """
        ])
        let result = try folder.perilune("test", "--isolate", "--jobs", "1", "--order", "file", "--report", "jsonl")
        #expect(result.status == 5, "\(result.errors)")
        let lines = result.output.split(separator: "\n").filter { $0.contains("scenario_ended") }
        #expect(lines.map { $0.contains("\"outcome\":\"passed\"") } == [false, false, true], "\(result.output)")
        #expect(lines[0].contains("timed_out"))
        #expect(lines[1].contains("it did not end at its limit and could not be stopped; its process was killed"), "\(lines[1])")
    }

    @Test func `line coverage is the same with one process and with several`() throws {
        let folder = try TestFolder([
            "migrations/1.lua": "return { up = function(db)\n  db:execute('CREATE TABLE t (a)')\nend }",
            "rates.lua":
                "local rates = {}\nfunction rates.low()\n  return 1\nend\nfunction rates.high()\n  return 2\nend\nfunction rates.none()\n  return 3\nend\nreturn rates\n",
            "scenarios/a_scenario.lua": """
            scenario("low", function(t) expect(require("rates").low()):equals(1) end)
            scenario("high", function(t) for _ = 1, 3 do expect(require("rates").high()):equals(2) end end)
            """,
        ])
        func lines(_ options: String...) throws -> [String] {
            let result = try CommandProcess(
                TestFolder.binary, ["test", "--order", "file", "--jobs", "2", "--coverage", "lcov:c.info"] + options, in: folder
            ).wait()
            #expect(result.status == 0, "\(result.output) \(result.errors)")
            return try folder.read("c.info").split(separator: "\n").map { String($0) }.filter {
                $0.hasPrefix("DA:") || $0.hasPrefix("SF:")
            }
        }
        let here = try lines()
        #expect(here.contains("DA:6,3") && here.contains("DA:3,1") && here.contains("DA:9,0"), "\(here)")
        // A migration runs once in each process.
        func ofModule(_ lines: [String]) -> [String] {
            Array(lines.drop { !$0.hasSuffix("rates.lua") }.prefix { !$0.hasSuffix("1.lua") })
        }
        let elsewhere = try lines("--isolate")
        #expect(ofModule(elsewhere) == ofModule(here))
        #expect(elsewhere.contains { $0.hasSuffix("migrations/1.lua") })
    }
}
