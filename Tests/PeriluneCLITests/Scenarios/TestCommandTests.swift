import Foundation
import PeriluneTestTools
import Testing

@Suite(.startsPrograms) struct TestCommandTests {
    private static let files = [
        "migrations/1_book.sql": "CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT)",
        "scenarios/books_scenario.lua": """
        scenario("a book is kept", { tags = { "books" } }, function(t)
          t.db:execute("INSERT INTO book (title) VALUES ('Typee')")
          check(t.db:fetch_value("SELECT COUNT(*) FROM book") == 1)
        end)
        scenario("a book is lost", function(t)
          print("looking")
          check(t.db:fetch_value("SELECT COUNT(*) FROM book") == 1)
        end)
        """,
    ]

    /// Removes the parts that differ from run to run: times, the seed, and the slow scenarios.
    private func shown(_ text: String) -> String {
        text.replacing(/\n[0-9]+ slow(\n  [0-9.]+ m?s .*)+/, with: "").replacing(/[0-9.]+ m?s\b/, with: "0 ms").replacing(
            /seed [0-9a-f]{4,}/, with: "seed 7f3a")
    }

    private func cache(_ folder: TestFolder) -> [String: String] { ["XDG_CACHE_HOME": folder.path + "/cache"] }

    @Test func `a run shows failures and the commands that repeat them`() throws {
        let folder = try TestFolder(Self.files)
        let result = try folder.perilune("test", "--seed", "7f3a", "--order", "file", environment: cache(folder))
        #expect(
            shown(result.output) == """
                FAIL  scenarios/books_scenario.lua:5  a book is lost   (0 ms, seed 7f3a)
                  at        scenarios/books_scenario.lua:7
                  check(t.db:fetch_value("SELECT COUNT(*) FROM book") == 1)
                    t.db:fetch_value("SELECT COUNT(*) FROM book") is 0
                  last SQL  scenarios/books_scenario.lua:7   SELECT COUNT(*) FROM book
                            1 row
                            plan SCAN book
                  output    looking
                  rerun     perilune test scenarios/books_scenario.lua:5 --seed 7f3a

                1 passed, 1 failed, 0 skipped

                """)
        #expect(result.status == 1)
        #expect(result.errors == "")
    }

    @Test func `colors in a failure are not escaped`() throws {
        let folder = try TestFolder(Self.files)
        let result = try folder.perilune("test", "--color", "always", environment: cache(folder))
        #expect(
            result.output.contains("\u{1B}[36mscenarios/books_scenario.lua:7   \u{1B}[0mSELECT COUNT(*) FROM book"),
            "\(result.output)")
        #expect(!result.output.contains("\\u{1b}"), "\(result.output)")
    }

    @Test func `columns of failing rows are aligned after wide characters`() throws {
        let folder = try TestFolder([
            "scenarios/wide_scenario.lua": """
            scenario("wide", function(t)
              expect(t.db:fetch_all("SELECT '日本語' AS name, 1 AS n UNION ALL SELECT 'abcdef', 2")):rows[[
                | name   | n |
                | 日本語 | 1 |
                | abcdef | 3 |
              ]]
            end)
            """
        ])
        let result = try folder.perilune("test", environment: cache(folder))
        #expect(result.output.contains("日本語  1\n") && result.output.contains("abcdef  2"), "\(result.output)")
    }

    @Test func `the command in a failure report runs exactly that scenario`() throws {
        let folder = try TestFolder(Self.files)
        let result = try folder.perilune("test", "scenarios/books_scenario.lua:5", "--seed", "7f3a", environment: cache(folder))
        #expect(result.output.contains("0 passed, 1 failed, 0 skipped\n"))
    }

    @Test func `the failures of the last run can be run again`() throws {
        let folder = try TestFolder(Self.files)
        _ = try folder.perilune("test", environment: cache(folder))
        let again = try folder.perilune("test", "--failed", environment: cache(folder))
        #expect(again.output.contains("0 passed, 1 failed, 0 skipped\n"))
        try folder.write("scenario('a book is lost', function(t) end)", to: "scenarios/books_scenario.lua")
        #expect(try folder.perilune("test", "--failed", environment: cache(folder)).status == 0)
        let nothing = try folder.perilune("test", "--failed", environment: cache(folder))
        #expect(nothing.status == 4)
        #expect(nothing.output == "none of the 1 scenarios matched\n")
    }

    @Test(arguments: [
        (["--tag", "smok"], "no scenario has the tag `smok`; did you mean `smoke`?"),
        (["--tag", "billing"], "no scenario has the tag `billing`; tags: slow, smoke"),
        (["--tag", "smoke and not slow"], "a tag is a name, not an expression"),
        (["--tag", "!slow"], "--skip-tag NAME to exclude one"),
        (["--filter", "x|y"], "--filter '/x|y/' is a regular expression"),
    ])
    func `a selection of no scenario is explained`(_ arguments: [String], _ help: String) throws {
        let folder = try TestFolder([
            "scenarios/a_scenario.lua": "scenario('a', { tags = { 'slow', 'smoke' } }, function(t) check(true) end)"
        ])
        let result = try CommandProcess(TestFolder.binary, ["test"] + arguments, in: folder, environment: cache(folder)).wait()
        #expect(result.status == 4)
        #expect(result.errors.contains(help), "\(result.errors)")
    }

    @Test func `if no scenarios are found, the naming of scenario files is explained`() throws {
        let folder = try TestFolder(["scenarios/books_test.lua": "scenario('a', function(t) end)"])
        let result = try folder.perilune("test", environment: cache(folder))
        #expect(result.status == 4)
        #expect(result.output == "no scenarios found\n")
        #expect(
            result.errors == "  help  scenarios are in files NAME_scenario.lua and are defined by "
                + "scenario(name, function(t) ... end); looked in `scenarios`, which has files with other names: books_test.lua\n"
        )
    }

    @Test func `scenarios are listed as text and as JSON`() throws {
        let folder = try TestFolder(Self.files)
        #expect(
            try folder.perilune("test", "--list").output == """
                scenarios/books_scenario.lua:1  a book is kept
                scenarios/books_scenario.lua:5  a book is lost

                """)
        #expect(
            try folder.perilune("test", "--list", "--json", "--tag", "books").output == """
                {"id":"scenarios/books_scenario.lua > a book is kept","name":"a book is kept","file":"scenarios/books_scenario.lua","line":1,"tags":["books"]}

                """)
    }

    @Test func `several reports can be written at once, to files and to standard output`() throws {
        let folder = try TestFolder(Self.files)
        let result = try folder.perilune(
            "test", "--report", "dots", "--report", "junit:out.xml", "--report", "jsonl:out.jsonl", "--report", "tap:/dev/full",
            environment: cache(folder))
        #expect(result.output.contains("F"))
        #expect(folder.exists("out.xml") && folder.exists("out.jsonl"))
        #expect(result.errors == "error: the report /dev/full cannot be written: No space left on device\n")
        #expect(result.status == 1)
        let passing = try folder.perilune("test", "--filter", "kept", "--report", "tap:/dev/full", environment: cache(folder))
        #expect(passing.status == 70)
    }

    @Test func `coverage is written as lcov`() throws {
        let folder = try TestFolder([
            "scripts/add.lua": "local function never()\n  return 1\nend\nreturn 2\n",
            "scenarios/a_scenario.lua": "scenario('adds', function(t) check(t.run('scripts/add.lua').value == 2) end)",
        ])
        let result = try folder.perilune("test", "--coverage", "lcov:out.info", environment: cache(folder))
        #expect(result.status == 0, "\(result.output)")
        let text = try String(contentsOfFile: folder.path + "/out.info", encoding: .utf8)
        #expect(text.hasSuffix("/scripts/add.lua\nDA:2,0\nDA:3,1\nDA:4,1\nLF:3\nLH:2\nend_of_record\n"), "\(text)")
    }

    @Test func `a file without code has no lines in the coverage`() throws {
        let folder = try TestFolder([
            "scripts/empty.lua": "", "scripts/comment.lua": "-- one\n--[[ two\nthree ]]\n",
            "scripts/code.lua": "print(1) -- one\n",
            "scenarios/a_scenario.lua": "scenario('adds', function(t) t.run('scripts/empty.lua') check(true) end)",
        ])
        let result = try folder.perilune("test", "--coverage", "table", environment: cache(folder))
        #expect(result.output.contains(/\s0 +0 +.*empty.lua/), "\(result.output)")
        #expect(result.output.contains(/\s0 +0 +.*comment.lua/), "\(result.output)")
        #expect(result.output.contains(/\s1 +0 +0 % +.*code.lua/), "\(result.output)")
    }

    @Test func `cases are listed in the order of their definition`() throws {
        let cases = "{ { n = 10 }, { n = 9 }, { n = 100 } }"
        let folder = try TestFolder([
            "scenarios/a_scenario.lua": "scenario('case {n}', { cases = \(cases) }, function(t) check(true) end)"
        ])
        let listed = try folder.perilune("test", "--list", environment: cache(folder))
        #expect(listed.output.matches(of: /case (\d+)/).map(\.1) == ["10", "9", "100"], "\(listed.output)")
        let ran = try folder.perilune("test", "--order", "file", "--verbose", "--jobs", "1", environment: cache(folder))
        #expect(ran.output.matches(of: /case (\d+)/).map(\.1) == ["10", "9", "100"], "\(ran.output)")
    }

    @Test func `the folder of a report is created`() throws {
        let folder = try TestFolder(["scenarios/a_scenario.lua": "scenario('s', function(t) check(true) end)"])
        let result = try folder.perilune("test", "--report", "junit:out/reports/a.xml", environment: cache(folder))
        #expect(result.status == 0, "\(result.errors)")
        #expect(try String(contentsOfFile: folder.path + "/out/reports/a.xml", encoding: .utf8).hasPrefix("<?xml"))
    }

    @Test func `coverage includes migrations and modules that templates use`() throws {
        let folder = try TestFolder([
            "migrations/1_book.lua":
                "return {\n  up = function(db)\n    db:execute('CREATE TABLE book (id INTEGER PRIMARY KEY)')\n  end,\n}\n",
            "seeds.lua": "return function(db)\n  db:execute('INSERT INTO book (id) VALUES (7)')\nend\n",
            "scenarios/support.lua": "template('seven', function(db) require('seeds')(db) end)",
            "scenarios/a_scenario.lua": """
            scenario('adds', { template = 'seven' }, function(t) check(t.db:fetch_value('SELECT id FROM book') == 7) end)
            """,
        ])
        let result = try folder.perilune("test", "--coverage", "lcov:out.info", environment: cache(folder))
        #expect(result.status == 0, "\(result.output)")
        let text = try String(contentsOfFile: folder.path + "/out.info", encoding: .utf8)
        #expect(text.contains(/migrations\/1_book.lua\n(DA:.*\n)*DA:3,[1-9]/), "\(text)")
        #expect(text.contains(/seeds.lua\n(DA:.*\n)*DA:2,[1-9]/), "\(text)")
    }

    @Test(arguments: ["-j1", "-j 1", "--jobs 1", "--jobs=1"]) func `the option --jobs is accepted in every form`(
        _ option: String
    ) throws {
        let folder = try TestFolder(Self.files)
        let result = try folder.shell("XDG_CACHE_HOME=cache $PERILUNE test --verbose --filter kept \(option)")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains(", 1 worker\n"), "\(result.output)")
    }

    @Test func `a scenario has the same seed in every folder`() throws {
        let folder = try TestFolder([
            "scenarios/sub/a_scenario.lua": "scenario('s', function(t) print(math.random(1000000)) check(true) end)",
            "migrations/1_a.sql": "CREATE TABLE a (x)",
        ])
        let runs = [
            ".|scenarios", ".|.", ".|\(folder.path)/scenarios", "scenarios|.", "scenarios|sub", "scenarios/sub|a_scenario.lua",
            "scenarios/sub|../sub",
        ]
        let outputs = try runs.map { run in
            let (place, path) = (run.split(separator: "|")[0], run.split(separator: "|")[1])
            let result = try folder.shell(
                "export XDG_CACHE_HOME=$PWD/cache; cd \(place) && $PERILUNE test --verbose --seed 7f3a \(path)")
            #expect(result.status == 0, "\(run): \(result.output)\(result.errors)")
            return result.output.split(separator: "\n").first { $0.contains("output") }.map(String.init)
        }
        #expect(outputs[0] != nil && Set(outputs).count == 1, "\(outputs)")
    }

    @Test func `snapshots are reviewed one by one`() throws {
        let folder = try TestFolder([
            "scenarios/a_scenario.lua": "scenario('s', function(t) expect('new text'):snapshot('shot') end)"
        ])
        #expect(try folder.perilune("test", environment: cache(folder)).status == 1)
        let rejected = try folder.perilune("test", "--review", input: "r\n")
        #expect(
            rejected.output.contains(
                "1 of 1  scenarios/__snapshots__/a/shot.snap\n+ -- string, no newline at the end\n+ new text\n"))
        #expect(rejected.output.hasSuffix("0 accepted, 1 rejected, 0 left\n"))
        #expect(try folder.perilune("test", environment: cache(folder)).status == 1)
        let accepted = try folder.perilune("test", "--review", input: "what\na\n")
        #expect(accepted.output.contains("[a/r/s/q] expected a, r, s or q, got what\naccept, reject"))
        #expect(accepted.output.hasSuffix("1 accepted, 0 rejected, 0 left\n"))
        #expect(try folder.perilune("test", environment: cache(folder)).status == 0)
        let nothing = try folder.perilune("test", "--review")
        #expect(nothing.output.hasPrefix("no snapshots to review; no scenario was run, so run `perilune test` first"))
        #expect(nothing.status == 0)
    }

    @Test func `a review of snapshots ends after five unknown answers, and at the end of its input`() throws {
        let folder = try TestFolder([
            "scenarios/a_scenario.lua": "scenario('s', function(t) expect('new text'):snapshot('shot') end)"
        ])
        #expect(try folder.perilune("test", environment: cache(folder)).status == 1)
        let unknown = try folder.perilune("test", "--review", input: String(repeating: "n\n", count: 9))
        #expect(unknown.status == 1)
        #expect(unknown.output.components(separatedBy: "expected a, r, s or q, got n\n").count == 6)
        #expect(unknown.output.hasSuffix("0 accepted, 0 rejected, 1 left\n"))
        #expect(unknown.errors == "error: the review ended after 5 unknown answers in a row\n")
        let ended = try folder.perilune("test", "--review", input: "n\n")
        #expect(ended.status == 0 && ended.output.hasSuffix("0 accepted, 0 rejected, 1 left\n"))
        let filtered = try folder.perilune("test", "--review", "--filter", "s")
        #expect(filtered.status == 64)
        #expect(filtered.errors.contains("--review cannot be combined with --filter; it runs no scenarios"))
    }

    @Test func `the option --only-changed runs only files that git reports as changed`() throws {
        let folder = try TestFolder(Self.files)
        try folder.write("scenario('other', function(t) end)", to: "scenarios/other_scenario.lua")
        let git = "git -c user.name=a -c user.email=a@b"
        #expect(try folder.shell("git init -q . && git add migrations scenarios && \(git) commit -qm first").status == 0)
        let nothing = try folder.perilune("test", "--only-changed", environment: cache(folder))
        #expect((nothing.status, nothing.output) == (4, "no scenario files have changed\n"))
        try folder.write("scenario('others', function(t) end)", to: "scenarios/other_scenario.lua")
        let one = try folder.perilune("test", "--only-changed", environment: cache(folder))
        #expect(one.output.hasPrefix("1 passed, 0 failed, 0 skipped\n"))
        try folder.write("SELECT 1;", to: "migrations/2_more.sql")
        let all = try folder.perilune("test", "--only-changed", environment: cache(folder))
        #expect(all.output.contains("2 passed, 1 failed, 0 skipped\n"))
    }

    @Test func `Ctrl-C ends the run and finishes the reports`() throws {
        let folder = try TestFolder([
            "scenarios/a_scenario.lua": """
            scenario("first", function(t) end)
            scenario("endless", { timeout = "60s" }, function(t) while true do end end)
            scenario("never begun", function(t) end)
            """
        ])
        let process = try CommandProcess(
            TestFolder.binary, ["test", "--jobs", "1", "--order", "file", "--report", "jsonl", "--report", "junit:out.xml"],
            in: folder,
            environment: cache(folder), isOutputRead: true)
        while try !process.readLine().contains("endless") {}
        process.interrupt()
        let result = try process.wait()
        #expect(result.status == 130)
        #expect(result.output.contains(#""outcome":"interrupted""#))
        #expect(result.output.contains(#""not_run":1,"was_interrupted":true"#))
        let report = try String(contentsOfFile: folder.path + "/out.xml", encoding: .utf8)
        #expect(report.contains(#"tests="3" failures="0" errors="0" skipped="2""#))
    }

    @Test func `a termination signal is handled like Ctrl-C`() throws {
        let folder = try TestFolder([
            "scenarios/a_scenario.lua": """
            scenario("endless", { timeout = "60s" }, function(t) while true do end end)
            scenario("never begun", function(t) end)
            """
        ])
        let process = try CommandProcess(
            TestFolder.binary,
            [
                "test", "--jobs", "1", "--order", "file", "--report", "jsonl", "--report", "junit:out.xml", "--report",
                "tap:out.tap",
            ],
            in: folder, environment: cache(folder), isOutputRead: true)
        while try !process.readLine().contains("endless") {}
        kill(process.id, SIGTERM)
        let result = try process.wait()
        #expect(result.status == 130)
        #expect(result.output.contains(#""outcome":"not_run","reason":"the run was interrupted""#))
        #expect(try String(contentsOfFile: folder.path + "/out.xml", encoding: .utf8).hasSuffix("</testsuites>\n"))
        #expect(try String(contentsOfFile: folder.path + "/out.tap", encoding: .utf8).contains("\n1..2\n"))
    }

    @Test func `a report that cannot be written to standard output ends with 70 and a reason`() throws {
        let folder = try TestFolder(["scenarios/a_scenario.lua": "scenario('it', function(t) end)"])
        let result = try folder.shell("$PERILUNE test > /dev/full")
        #expect(result.status == 70)
        #expect(result.errors == "error: the report to standard output cannot be written: No space left on device\n")
    }

    @Test func `the signal USR1 shows the running scenarios`() throws {
        let folder = try TestFolder([
            "scenarios/a_scenario.lua": "scenario('endless', { timeout = '60s' }, function(t) while true do end end)"
        ])
        let process = try CommandProcess(
            TestFolder.binary, ["test", "--report", "jsonl"], in: folder, environment: cache(folder), isOutputRead: true)
        while try !process.readLine().contains("scenario_started") {}
        kill(process.id, SIGUSR1)
        // Another thread writes the requested output.
        process.waitForErrors(containing: "endless\n")
        process.interrupt()
        let result = try process.wait()
        #expect(result.errors.contains("scenarios/a_scenario.lua:1  endless"), "\(result.errors)")
        #expect(result.errors.hasPrefix("running for "))
    }

    @Test func `in watch mode, scenarios run again when a file changes`() throws {
        let folder = try TestFolder(Self.files)
        let process = try CommandProcess(
            TestFolder.binary, ["test", "--watch", "--report", "jsonl"], in: folder, environment: cache(folder),
            isOutputRead: true)
        while try !process.readLine().contains(#""failed":1"#) {}
        // The watch begins before the first run.
        try folder.write("scenario('mended', function(t) end)", to: "scenarios/books_scenario.lua")
        while try !process.readLine().contains(#""passed":1,"failed":0"#) {}
        process.interrupt()
        let result = try process.wait()
        #expect(result.status == 130)
        // A program of another test may have inherited an open file of this test. The watch is notified of the file only when
        // that program closes it.
        #expect(result.errors.contains(/changed: .*scenarios\/books_scenario\.lua\n/), "\(result.errors)")
    }

    @Test func `in CI, snapshots are not written and "only" is an error`() throws {
        let folder = try TestFolder([
            "scenarios/a_scenario.lua": "scenario.only('s', function(t) expect('x'):snapshot('shot') end)"
        ])
        let result = try folder.perilune("test", environment: cache(folder).merging(["CI": "true"]) { $1 })
        #expect(result.status == 1)
        #expect(result.output.contains("scenario.only was left in"))
        #expect(!folder.exists("scenarios/__snapshots__/a/shot.snap.new"))
    }

    @Test func `databases of scenarios are kept on request and can be inspected`() throws {
        let folder = try TestFolder(Self.files)
        let result = try folder.perilune("test", "--filter", "kept", "--keep-databases", "--verbose", environment: cache(folder))
        let path = try #require(result.output.firstMatch(of: /database +([^ ]+\.sqlite)/)).1
        defer { try? FileManager.default.removeItem(atPath: String(path)) }
        #expect(try folder.perilune("query", "--database", String(path), "SELECT title FROM book").output.contains("Typee"))
        let short = try folder.perilune("test", "--filter", "/ kept$/", "--keep-databases", environment: cache(folder)).output
        let kept = try #require(short.firstMatch(of: /PASS .*\n  database +([^ ]+\.sqlite)\n  look +perilune (query .*)\n/))
        defer { try? FileManager.default.removeItem(atPath: String(kept.1)) }
        #expect(try folder.shell("\"$PERILUNE\" \(kept.2)").output.contains("book"))
    }

    @Test(arguments: [
        (["--seed", "xyz"], "--seed: expected at most 16 hexadecimal digits"),
        (["--bail", "0"], "--bail, --max-failures: expected a number of at least 1"),
        (["--tag", ""], "--tag: expected one or more tags"),
        (["--coverage", "html"], "--coverage: expected table, lcov or lcov:FILE, got html"),
        (["--junitxml=o.xml"], "Use '--report junit:FILE'"), (["--maxfail", "1"], "Use '--bail'"), (["-n", "4"], "Use '--jobs'"),
        (["--collect-only"], "Use '--list'"), (["--runs", "5"], "Use '--stress'"),
        (["--retries", "2"], "have the option `retry`"),
        (["--exclude-tags", "slow"], "Use '--skip-tag'"), (["--skip-tag", ""], "--skip-tag: expected one or more tags"),
        (["--reruns", "2"], "have the option `retry`"), (["--slow", "100ms"], "Use '--durations'"),
        (["--min", "80"], "Coverage has no limit"), (["--shard", "1/2"], "Name the files of each part"),
        (["scenarios/books_scenario.lua::a"], "use FILE:LINE for one scenario, or FILE --filter NAME"),
        (["--jobs", "0"], "--jobs: expected a number of at least 1"),
        (["--report", "pdf"], "--report: expected FORMAT"), (["--filter", "/(/"], "is not a regular expression"),
        (["--json"], "--json requires --list"), (["nowhere"], "no file or folder `nowhere` exists"),
    ])
    func `wrong usage of the test command is reported`(_ arguments: [String], _ message: String) throws {
        let folder = try TestFolder(Self.files)
        let result = try CommandProcess(TestFolder.binary, ["test"] + arguments, in: folder).wait()
        #expect(result.status == 64)
        #expect(result.errors.contains(message), "\(result.errors)")
    }

    @Test func `without a folder scenarios, the scenario files of the current folder are mentioned`() throws {
        let folder = try TestFolder(["a_scenario.lua": "scenario('one', function(t) check(true) end)"])
        let result = try CommandProcess(TestFolder.binary, ["test"], in: folder).wait()
        #expect(result.status == 64)
        let message = "no file or folder `scenarios` exists; `perilune test .` runs the scenario files"
        #expect(result.errors.contains(message), "\(result.errors)")
    }
}
