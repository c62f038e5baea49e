import Foundation
import PeriluneTestTools
import Testing

/// Runs with one seed in several processes.
@Suite(.patience, .startsPrograms) struct ReproducibilityTests {
    /// The results of a run of the corpus, without times.
    private static func results(_ folder: TestFolder, _ options: String...) throws -> [String] {
        let arguments = ["test", "--seed", "7", "--report", "jsonl"] + options
        let run = try CommandProcess(TestFolder.binary, arguments, in: folder).wait()
        try #require(run.status != 64 && run.status != 70, "\(run.errors)")
        return run.output.split(separator: "\n").map(String.init)
            .map {
                $0.replacing(/"(?:milliseconds|ms|duration)":[0-9.e+-]+/, with: "\"time\":0").replacing(
                    #/owner: [^,"\\]*/#, with: "owner")
            }.sorted()
    }

    @Test func `scripts print, execute and store the same in each process, with one worker and with two`() throws {
        let folder = try TestFolder()
        let corpus = TestFolder.checkout + "/scripts/repeating/corpus.lua"
        let made = try folder.perilune("run", corpus, TestFolder.checkout, folder.path)
        let count = try #require(Int(made.output.split(separator: "\n").last ?? ""), "\(made)")
        #expect(count > 400)
        let first = try Self.results(folder, "--jobs", "1")
        #expect(first.count > count)
        for jobs in ["1", "2"] {
            let next = try Self.results(folder, "--jobs", jobs)
            let differing = zip(first, next).filter { $0 != $1 && !$0.contains("\"workers\"") && !$0.contains("\"run_") }
            for (former, later) in differing.prefix(3) { Issue.record("differs between two processes:\n\(former)\n\(later)") }
            #expect(first.count == next.count && differing.isEmpty, "\(differing.count) of \(count) differ")
        }
    }

    @Test func `a preview prints, traces and reports the same in each process`() throws {
        let folder = try TestFolder([
            "a.lua": """
            db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, n INTEGER)")
            local T = perilune.record("t")
            for name, n in pairs{ tea = 1, milk = 2, rice = 3, salt = 4, oil = 5 } do T:insert{ n = n, name = name } end
            for row in pairs{ [{ 1 }] = 1, [{ 2 }] = 2, [print] = 3 } do print(row) end
            """
        ])
        let runs = try (0..<5).map { _ in
            try folder.perilune("run", "--preview", "--create", "--database", "x.sqlite", "--trace", "a.lua")
        }
        #expect(runs[0].status == 0 && runs[0].output.contains("+5"), "\(runs[0])")
        for run in runs { #expect(run.output == runs[0].output && run.errors == runs[0].errors) }
    }

    @Test func `the iteration order of tables is fixed in tests, previews and isolation, and on request`() throws {
        let script =
            "local t = {} for w in ('one two three four five six'):gmatch('%a+') do t[w] = 1 end "
            + "local s = '' for k in pairs(t) do s = s .. k .. ' ' end io.write(s)"
        let sandboxed = script.replacing("io.write(s)", with: "print(s)")
        let folder = try TestFolder()
        let expected = "five four one six three two"
        for options in [["--context", "test"], ["--deterministic"]] {
            let run = try CommandProcess(TestFolder.binary, ["run"] + options + ["-e", script], in: folder).wait()
            #expect(run.output.hasPrefix(expected), "\(options): \(run)")
        }
        for options in [["--sandbox", "--context", "test"], ["--sandbox", "--deterministic"], ["--preview"]] {
            let run = try CommandProcess(TestFolder.binary, ["run"] + options + ["-e", sandboxed], in: folder).wait()
            #expect(run.output.contains(expected), "\(options): \(run)")
        }
    }

    @Test func `a scenario has the same outcome each time with one seed`() throws {
        let folder = try TestFolder([
            "scenarios/a_scenario.lua": """
            scenario("first of pairs", function(t)
              local first = next({ alpha = 1, beta = 1, gamma = 1, delta = 1 })
              check(first == "alpha")
            end)
            """
        ])
        for _ in 0..<10 { #expect(try folder.perilune("test", "--seed", "7").status == 0) }
    }

    @Test func `repetitions find a nondeterministic scenario and the line of the first difference`() throws {
        let folder = try TestFolder([
            "count.lua": """
            local file = io.open("count.txt")
            local count = file and tonumber(file:read("a")) or 0
            if file then file:close() end
            file = io.open("count.txt", "w")
            file:write(count + 1)
            file:close()
            if count >= 2 then
              print("late")
            else
              print("early")
            end
            """,
            "scenarios/a_scenario.lua": """
            scenario("counts", { grants = "files", no_checks = "allow" }, function(t)
              t.run("count.lua")
            end)
            scenario("steady", function(t)
              check(t.db:fetch_value("SELECT random()") ~= nil)
            end)
            """,
        ])
        for options in [[], ["--isolate"]] {
            try? FileManager.default.removeItem(atPath: folder.path + "/count.txt")
            let run = try CommandProcess(
                TestFolder.binary, ["test", "--repeat", "4", "--order", "file", "--jobs", "1"] + options, in: folder
            ).wait()
            #expect(run.status == 1, "\(run)")
            #expect(run.output.contains("it took another path than in round 1, with the same seed"), "\(run.output)")
            #expect(run.output.contains("they part after count.lua:7, which was line"))
            #expect(run.output.contains("round 1  went to count.lua:10") && run.output.contains("round 3  went to count.lua:8"))
            #expect(run.output.contains("6 passed, 2 failed"))
        }
    }

    @Test func `repetitions also compare statements and output`() throws {
        let folder = try TestFolder([
            "scenarios/a_scenario.lua": """
            scenario("values", { no_checks = "allow" }, function(t)
              t.db:fetch_value("SELECT ?", os.getenv("HOME") and tonumber(io.open("/proc/self/stat"):read("a"):match("^%d+")) or 0)
              local file = io.open("round.txt", "a+")
              local length = #file:read("a")
              file:write("x")
              file:close()
              t.db:fetch_value("SELECT ?", length)
            end)
            """
        ])
        let run = try folder.perilune("test", "--repeat", "2", "--jobs", "1")
        #expect(run.output.contains("they part at statement 2"), "\(run)")
        #expect(run.output.contains("round 1  scenarios/a_scenario.lua:7  SELECT ?  (0), 1 row"))
        #expect(run.output.contains("round 2  scenarios/a_scenario.lua:7  SELECT ?  (1), 1 row"))
    }
}
