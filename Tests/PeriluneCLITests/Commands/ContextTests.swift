import Foundation
import PeriluneTestTools
import Testing

@testable import PeriluneCLI

@Suite(.patience, .startsPrograms) struct ContextTests {
    private static let script = """
        print(perilune.context, perilune.now():format("%Y-%m-%d") == "2000-01-01", db:fetch_value("SELECT CURRENT_DATE") == "2000-01-01")
        print(#db:tables())
        db:execute("CREATE TABLE extra (a INTEGER PRIMARY KEY); DROP TABLE IF EXISTS book; VACUUM")
        """

    private func makeFolder() throws -> TestFolder {
        let folder = try TestFolder([
            "look.lua": Self.script,
            "migrations/0001_more.sql": "CREATE TABLE more (a)",
        ])
        let made = try folder.perilune(
            "run", "-e", "db:execute('CREATE TABLE book (id INTEGER PRIMARY KEY)')", "--database", "shop.sqlite")
        try #require(made.status == 0)
        return folder
    }

    private func files(_ folder: TestFolder) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.contains("sqlite") {
            files[name] = try Data(contentsOf: URL(filePath: "\(folder.path)/\(name)"))
        }
        return files
    }

    @Test(arguments: [
        (["--context", "test"], [:]), ([], ["PERILUNE_CONTEXT": "test"]), (["--context=test"], ["PERILUNE_CONTEXT": "live"]),
    ])
    func `in the test context, the clock is frozen and the named database is not touched`(
        _ options: [String], _ environment: [String: String]
    ) throws {
        let folder = try makeFolder()
        let before = try files(folder)
        let result = try CommandProcess(
            TestFolder.binary, ["run", "look.lua", "--database", "shop.sqlite"] + options, in: folder, environment: environment
        ).wait()
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output == "test\ttrue\ttrue\n0\n")
        #expect(result.errors.contains("test context: using an empty database in memory instead of shop.sqlite"))
        #expect(try files(folder) == before)
    }

    @Test(arguments: [["--context", "preview"], ["--preview"], []]) func `a preview runs on a copy and reports the changes`(
        _ options: [String]
    ) throws {
        let folder = try makeFolder()
        let before = try files(folder)
        let environment = options.isEmpty ? ["PERILUNE_CONTEXT": "preview"] : [:]
        let result = try CommandProcess(
            TestFolder.binary, ["run", "look.lua", "--database", "shop.sqlite"] + options, in: folder, environment: environment
        ).wait()
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.hasPrefix("preview\tfalse\tfalse\n1\n"))
        #expect(result.output.contains("Would change in shop.sqlite"))
        #expect(try files(folder) == before)
    }

    @Test func `environment variables of a test runner select the test context, but the arguments of a script do not`() throws {
        let folder = try TestFolder(["c.lua": "print(perilune.context, ...)"])
        #expect(
            try folder.perilune("run", "c.lua", "--", "--testing-library", "a.xctest").output
                == "live\t--testing-library\ta.xctest\n")
        #expect(try folder.perilune("run", "c.lua", environment: ["XCTestConfigurationFilePath": "x"]).output == "test\n")
    }

    @Test func `preview options also work with the context preview`() throws {
        let folder = try makeFolder()
        let result = try folder.perilune("run", "look.lua", "--database", "shop.sqlite", "--context", "preview", "--check")
        #expect(result.status == 2)
        let live = try folder.perilune(
            "run", "look.lua", "--context", "live", "--check", environment: ["PERILUNE_CONTEXT": "preview"])
        #expect(live.status == 64)
    }

    @Test func `the option --context live overrides the environment`() throws {
        let folder = try makeFolder()
        let result = try folder.perilune(
            "run", "look.lua", "--database", "shop.sqlite", "--context", "live", environment: ["PERILUNE_CONTEXT": "test"])
        #expect(result.output.hasPrefix("live\tfalse\tfalse\n1\n"))
        let tables = try folder.perilune(
            "query", "SELECT name FROM sqlite_master", "--database", "shop.sqlite", "--format", "csv")
        #expect(tables.output.contains("extra"))
    }

    @Test(arguments: ["test", "preview"]) func `commands that open a database directly are refused outside the live context`(
        _ context: String
    ) throws {
        let folder = try makeFolder()
        let plan = try folder.perilune(
            "run", "-e", "db:execute('INSERT INTO book VALUES (7)')", "--database", "shop.sqlite", "--preview", "--save", "p.plan"
        )
        try #require(plan.status == 0, "\(plan.errors)")
        let before = try files(folder)
        for command in [
            ["query", "SELECT 1", "--database", "shop.sqlite"], ["apply", "p.plan", "--yes"],
            ["migrate", "--database", "shop.sqlite", "--status"],
        ] {
            let result = try CommandProcess(
                TestFolder.binary, command, in: folder, environment: ["PERILUNE_CONTEXT": context]
            ).wait()
            #expect(result.status == 64, "\(command)")
            #expect(
                result.errors.contains("is not allowed in a \(context) context (set by PERILUNE_CONTEXT)"), "\(result.errors)")
            #expect(result.errors.contains("use --context live to allow it"))
        }
        let query = try folder.perilune("query", "SELECT 1 AS a", "--context", context, "--format", "csv")
        #expect(query.output.split(whereSeparator: \.isNewline) == ["a", "1"])
        #expect(try files(folder) == before)
    }

    @Test func `migrations run on a copy in a preview and are refused in a test`() throws {
        let folder = try makeFolder()
        let before = try files(folder)
        let preview = try folder.perilune("migrate", "--database", "shop.sqlite", "--context", "preview")
        #expect(preview.status == 0, "\(preview.errors)")
        #expect(try folder.perilune("migrate", "--database", "shop.sqlite", "--context", "test").status == 64)
        #expect(try files(folder) == before)
    }

    @Test func `an unknown context is an error that names the contexts`() throws {
        let folder = try makeFolder()
        for command in [["run", "look.lua"], ["query", "SELECT 1", "--database", "shop.sqlite"]] {
            let result = try CommandProcess(
                TestFolder.binary, command, in: folder, environment: ["PERILUNE_CONTEXT": "tset"]
            ).wait()
            #expect(result.status != 0)
            #expect(
                result.errors.contains("PERILUNE_CONTEXT is \"tset\"; set it to one of live, test, preview"), "\(result.errors)")
        }
        let option = try folder.perilune("run", "look.lua", "--context", "tset")
        #expect(option.status == 64)
        #expect(option.errors.contains("live, test or preview") || option.errors.contains("'live', 'test'"), "\(option.errors)")
    }
}
