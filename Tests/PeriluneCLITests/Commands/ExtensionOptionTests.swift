import Foundation
import PeriluneTestTools
import Testing

/// SQLite extensions from `--extension` and from `perilune.toml`.
@Suite(.patience, .startsPrograms) struct ExtensionOptionTests {
    private static let library = NativeLibrary.path

    /// A project whose migrations, scenarios, automations and scripts need the extension.
    private static func makeProject(_ settings: String = "") throws -> TestFolder {
        let folder = try TestFolder([
            "perilune.toml": settings,
            "migrations/1_start.sql": "CREATE TABLE t (a); INSERT INTO t VALUES (thrice(2));",
            "scenarios/t_scenario.lua": """
            scenario("the migration and the scenario use it", { database = "file" }, function(t)
              check(t.db:fetch_value("SELECT a + thrice(3) FROM t") == 15)
              check(t.run("report.lua").output == "21\\n")
            end)
            """,
            "report.lua": "print(db:fetch_value('SELECT thrice(7)'))",
            "watcher.lua": """
            perilune.automation{ name = "a", on = { event = "noon" }, run = function(context)
              print(context.db:fetch_value("SELECT thrice(5)"))
            end }
            """,
        ])
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/thrice.so", withDestinationPath: library)
        return folder
    }

    /// The output of each command that uses the function, next to its exit status.
    private static func runAll(in folder: TestFolder, _ options: String) throws -> [String: CommandResult] {
        let lines = [
            "migrate": "migrate \(options) --database x.sqlite --format csv",
            "dry run": "migrate \(options) --database y.sqlite --dry-run --format csv",
            "preview": "migrate \(options) --database y.sqlite --preview",
            "test": "test \(options) --order file",
            "isolated test": "test \(options) --isolate",
            "query": "query \(options) 'SELECT thrice(4) AS n'",
            "console": "console \(options)",
            "previewing console": "console x.sqlite --preview \(options)",
            "run": "run \(options) report.lua",
            "previewing run": "run \(options) --preview --database x.sqlite report.lua",
            "plain run": "run report.lua",
            "automations": "automations list watcher.lua \(options) --format csv",
        ]
        var results: [String: CommandResult] = [:]
        // The first command creates the database that the others use.
        for (name, line) in lines.sorted(by: { ($0.key != "migrate" ? 1 : 0, $0.key) < ($1.key != "migrate" ? 1 : 0, $1.key) }) {
            results[name] = try folder.shell("echo 'SELECT thrice(6)' | $PERILUNE \(line)")
        }
        return results
    }

    private static func check(_ results: [String: CommandResult], _ expected: [String: String]) {
        for (name, text) in expected {
            let result = results[name]
            #expect(
                result?.status == 0 && result?.output.contains(text) == true,
                "\(name): \(result?.output ?? "")\(result?.errors ?? "")")
        }
    }

    private static let outputs = [
        "migrate": "1_start", "dry run": "1_start", "preview": "1 row inserted", "test": "1 passed", "isolated test": "1 passed",
        "query": "{\"n\":12}", "console": "18", "previewing console": "18", "run": "21\n", "previewing run": "21\n",
        "automations": "noon",
    ]

    @Test func `commands that run scripts or SQL load the given extensions`() throws {
        let folder = try Self.makeProject()
        let results = try Self.runAll(in: folder, "--extension thrice.so")
        Self.check(results, Self.outputs)
        #expect(
            results["plain run"]?.errors.contains("no such function: thrice") == true, "\(results["plain run"]?.errors ?? "")")
    }

    @Test func `extensions in the settings file apply in subfolders and are listed with their line`() throws {
        let folder = try Self.makeProject("\nextensions = [\"thrice.so\"]")
        Self.check(try Self.runAll(in: folder, ""), Self.outputs.merging(["plain run": "21\n"]) { $1 })
        try folder.write("", to: "deep/x")
        let query = try folder.shell("cd deep && $PERILUNE query -v 'SELECT thrice(4) AS n'")
        #expect(
            query.output == "{\"n\":12}\n" && query.errors.contains("extensions: ../thrice.so (../perilune.toml:2)\n"),
            "\(query.errors)")
        for line in ["migrate -v --database x.sqlite", "test -v", "run -v report.lua", "console -v x.sqlite"] {
            let errors = try folder.shell("echo | $PERILUNE \(line)").errors
            #expect(errors.contains("extensions: thrice.so (perilune.toml:2)\n"), "\(line): \(errors)")
        }
    }

    @Test func `a sandboxed script gets extensions neither from options nor from settings`() throws {
        let folder = try Self.makeProject("extensions = [\"thrice.so\"]")
        for isolation in ["", "--no-isolate"] {
            let run = try folder.shell("$PERILUNE run --sandbox \(isolation) -v report.lua")
            #expect(run.status == 1 && run.errors.contains("no such function: thrice"), "\(run.errors)")
            #expect(run.errors.contains("extensions: thrice.so (perilune.toml:1), not loaded with --sandbox\n"), "\(run.errors)")
        }
        let console = try folder.shell("echo 'SELECT thrice(6)' | $PERILUNE console --sandbox")
        #expect(console.status == 1 && console.errors.contains("no such function: thrice"), "\(console.errors)")
        for command in ["run --sandbox --extension thrice.so report.lua", "console --sandbox --extension thrice.so"] {
            let refused = try folder.shell("$PERILUNE \(command) < /dev/null")
            #expect(
                refused.status == 64 && refused.errors.contains("--extension cannot be used with --sandbox"), "\(refused.errors)")
        }
    }

    @Test(arguments: [
        "run report.lua", "query 'SELECT 1'", "console", "test", "migrate --database x.sqlite", "automations list watcher.lua",
    ])
    func `an extension that cannot be loaded ends the command with an error that names it`(command: String) throws {
        let folder = try Self.makeProject("extensions = [\"report.lua\"]")
        let result = try folder.shell("$PERILUNE \(command) < /dev/null")
        #expect(result.status == (command == "test" ? 64 : 74), "\(result.status)")
        #expect(
            result.errors.contains("cannot load the extension") && result.errors.contains("/report.lua: "), "\(result.errors)")
        #expect(!folder.exists("x.sqlite") && result.output == "", "\(result.output)")
    }
}
