import Foundation
import PeriluneTestTools
import Testing

@testable import PeriluneCLI

/// The contents of `perilune.toml`, and the folders that are searched for it.
@Suite(.patience, .startsPrograms) struct SettingsTests {
    private static func read(_ text: String) throws -> SettingsFile {
        try SettingsFile(Array(text.utf8), path: "perilune.toml")
    }

    /// Returns the message and the line for an invalid text.
    private static func failure(_ text: String) -> (message: String, line: Int?, help: String?)? {
        do {
            _ = try read(text)
            return nil
        } catch let failure as CommandFailure {
            return (failure.report.message, failure.report.line, failure.report.help)
        } catch {
            return ("\(error)", nil, nil)
        }
    }

    @Test func `settings in every notation are read with their lines`() throws {
        let file = try Self.read(
            """
            # the shop
            database = "shop.sqlite"
            limits = { timeout = 1.5, memory = "64M" }

            [folders]
              "migrations" = 'db/migrations'
            """)
        #expect(file.entries[.database] == .init(values: ["shop.sqlite"], line: 2))
        #expect(file.entries[.timeout] == .init(values: ["1.5"], line: 3))
        #expect(file.entries[.memory] == .init(values: ["64M"], line: 3))
        #expect(file.entries[.migrations] == .init(values: ["db/migrations"], line: 6))
        #expect(try Self.read("folders.scenarios = \"x\"").entries[.scenarios] == .init(values: ["x"], line: 1))
        #expect(
            try Self.read("\nextensions = [\n  \"a.so\",\n  'b.so',\n]").entries[.extensions]
                == .init(values: ["a.so", "b.so"], line: 2))
        #expect(try Self.read("").entries.isEmpty)
        let database = try Self.read("[database]\npath = 'a.sqlite'\njournal_mode = 'wal'").entries
        #expect(database[.database] == .init(values: ["a.sqlite"], line: 2) && database[.journalMode]?.line == 3)
    }

    @Test(
        arguments: [
            ("a = 1\n", "unknown setting `a`", 1, "available: database, context"),
            ("\ndatabse = \"x\"", "unknown setting `databse`", 2, "did you mean `database`?"),
            ("[limits]\ntimout = \"1s\"", "unknown setting `limits.timout`", 2, "did you mean `limits.timeout`?"),
            ("\n[limit]\ntimeout = \"1s\"", "unknown setting `limit`", 2, "did you mean `limits`? available: limits.timeout, "),
            (
                "[limits]\ncpu = \"1s\"", "unknown setting `limits.cpu`", 2,
                "did you mean `limits.timeout`? available: limits.timeout, limits.memory, limits.output, limits.disk"
            ),
            ("[limits]\nmem = \"1M\"", "unknown setting `limits.mem`", 2, "did you mean `limits.memory`?"),
            ("[limits]\nthreads = 2", "unknown setting `limits.threads`", 2, "available: limits.timeout, limits.memory, "),
            ("[limits]\nmigrations = \"m\"", "unknown setting `limits.migrations`", 2, "did you mean `folders.migrations`?"),
            ("cpu = 1", "unknown setting `cpu`", 1, "did you mean `limits.timeout`?"),
            ("[folders]\ntests = \"t\"", "unknown setting `folders.tests`", 2, "did you mean `folders.scenarios`?"),
            ("[database]\nwal = true", "unknown setting `database.wal`", 2, "did you mean `database.journal_mode`?"),
            ("[db]\npath = \"x\"", "unknown setting `db`", 1, "did you mean `database`?"),
            ("migrations = \"m\"", "unknown setting `migrations`", 1, "did you mean `folders.migrations`?"),
            ("database = 1", "`database`: expected a string, got a number", 1, nil),
            ("folders = \"x\"", "unknown setting `folders`", 1, "available: folders.migrations, "),
            ("[limits]\n\ntimeout = \"soon\"", "`limits.timeout`: expected a time such as 1.5, 500ms, 2s or 1m", 3, nil),
            ("context = \"prod\"", "`context`: expected live, test, preview, got prod", 1, nil),
            ("extensions = \"a.so\"", "`extensions`: expected a list of strings, got a string", 1, nil),
            ("extensions = [\"a.so\", 1]", "`extensions`: expected a list of strings, got one with a number", 1, nil),
            ("extensions = [\"\"]", "`extensions`: expected a path, got nothing", 1, nil),
            ("database = \"\"", "`database`: expected a path, got nothing", 1, nil),
            ("[database]\njournal_mode = \"off\"", "`database.journal_mode`: expected wal, delete, got off", 2, nil),
            ("[database]\nsynchronous = 1", "`database.synchronous`: expected a string, got a number", 2, nil),
            ("synchronous = \"full\"", "unknown setting `synchronous`", 1, "did you mean `database.synchronous`?"),
            ("[database]\nfile = \"x\"", "unknown setting `database.file`", 2, "did you mean `database.path`?"),
            (
                "[database]\nnumber_of_readers = 1", "unknown setting `database.number_of_readers`", 2,
                "available: database.path, database.double_quoted_strings, "
            ),
            (
                "database.double_quoted_strings = 1", "`database.double_quoted_strings`: expected true or false, got a number", 1,
                nil
            ),
            (
                "database.double_quoted_strings = \"no\"", "`database.double_quoted_strings`: expected true or false, got no", 1,
                nil
            ),
            ("database = \"x\"\ndatabase = \"y\"", "the file is not TOML: ", 2, nil),
            ("[folders\n", "the file is not TOML: ", 1, nil),
        ] as [(String, String, Int, String?)])
    func `a mistake in the settings is reported with its line and a suggestion`(
        text: String, message: String, line: Int, help: String?
    ) throws {
        let failure = try #require(Self.failure(text))
        #expect(failure.message.hasPrefix(message), "\(failure)")
        #expect(failure.line == line, "\(failure)")
        if let help { #expect(failure.help?.hasPrefix(help) == true, "\(failure)") }
    }

    @Test func `options override environment variables, which override the settings file, and each source is shown`() throws {
        let folder = try TestFolder(["perilune.toml": "\ndatabase = \"file.sqlite\"\n[limits]\ntimeout = \"20s\""])
        func note(_ arguments: String..., environment: [String: String] = [:]) throws -> String {
            let words = ["run", "-v", "-e", ""] + arguments
            return try CommandProcess(TestFolder.binary, words, in: folder, environment: environment).wait().errors
        }
        #expect(
            try note().hasPrefix(
                "database: file.sqlite (perilune.toml:2)\nlimits.timeout: 20s (perilune.toml:4)\ncreated the database"))
        let variable = ["PERILUNE_DATABASE": "variable.sqlite"]
        #expect(try note(environment: variable).hasPrefix("database: variable.sqlite (PERILUNE_DATABASE)\n"))
        #expect(
            try note("--database", "option.sqlite", environment: variable).hasPrefix("database: option.sqlite (--database)\n"))
        #expect(try note("--database", ":memory:").hasPrefix("database: private, in memory (--database)\n"))
        #expect(folder.exists("file.sqlite") && folder.exists("variable.sqlite") && folder.exists("option.sqlite"))
    }

    @Test func `the settings file applies in subfolders, and its paths are relative to it`() throws {
        let folder = try TestFolder([
            "perilune.toml": """
            database = "data/shop.sqlite"
            [folders]
            migrations = "db"
            scenarios = "specs"
            """,
            "db/1_start.sql": "CREATE TABLE t (a)", "deep/er/x.lua": "", "data/.keep": "",
            "specs/t_scenario.lua": "scenario('t is there', function(t) check(#t.db:fetch_all('SELECT * FROM t') == 0) end)",
        ])
        let migrated = try folder.shell("cd deep/er && $PERILUNE migrate")
        #expect(migrated.status == 0 && folder.exists("data/shop.sqlite"), "\(migrated.errors)")
        let query = try folder.shell("cd deep && $PERILUNE query 'SELECT count(*) AS n FROM t'")
        #expect(query.output == "{\"n\":0}\n", "\(query.errors)")
        let test = try folder.shell("cd deep && $PERILUNE test")
        #expect(test.status == 0 && test.output.contains("1 passed"), "\(test.output)\(test.errors)")
        #expect(try folder.shell("cd deep && $PERILUNE migrate new more").output == "../db/2_more.lua\n")
    }

    @Test func `the limits and the context in the settings file apply`() throws {
        let folder = try TestFolder(["perilune.toml": "context = \"test\"\n[limits]\ntimeout = \"100ms\""])
        let endless = try folder.perilune("run", "-e", "while true do end")
        #expect(endless.status == 5, "\(endless.errors)")
        let live = try folder.perilune("migrate", "--database", "x.sqlite")
        #expect(
            live.status == 64 && live.errors.contains("not allowed in a test context (set by perilune.toml:1)"), "\(live.errors)")
        #expect(try folder.perilune("run", "--context", "live", "--timeout", "20s", "-e", "print(1)").output == "1\n")
    }

    @Test func `an invalid settings file stops only commands that need it`() throws {
        let folder = try TestFolder(["perilune.toml": "databse = 'x'"])
        let run = try folder.perilune("run", "-e", "print(1)")
        #expect(run.status == 78 && run.output == "", "\(run.output)")
        #expect(
            run.errors == """
                error: unknown setting `databse`
                  at perilune.toml:1
                  1 | databse = 'x'
                  help  did you mean `database`?

                """, "\(run.errors)")
        #expect(try folder.perilune("version").status == 0)
        #expect(try folder.perilune("help", "run").status == 0)
        #expect(try folder.perilune("settings").status == 78)
    }

    @Test func `a settings file in a world-writable parent folder is ignored, and a note reports this`() throws {
        let folder = try TestFolder(["perilune.toml": "database = 'x.sqlite'", "mine/x.lua": ""])
        #expect(try Settings.find(in: folder.path + "/mine", environment: [:])[.database]?.text == "../x.sqlite")
        #expect(chmod(folder.path, 0o777) == 0)
        #expect(try Settings.find(in: folder.path + "/mine", environment: [:])[.database] == nil)
        #expect(try Settings.find(in: folder.path, environment: [:])[.database]?.text == "x.sqlite")
        let result = try folder.shell("cd mine && $PERILUNE run -e '1' && $PERILUNE settings --format csv")
        let note = "ignored the settings in ../perilune.toml, because every user can write to that folder\n"
        #expect((result.status, result.errors) == (0, note + note))
        #expect(try !folder.perilune("run", "-e", "1").errors.contains("ignored"))
    }

    @Test func `the settings can refuse strings in double quotes in triggers`() throws {
        let folder = try TestFolder()
        let sql = """
            CREATE TABLE mob (id INTEGER PRIMARY KEY, at INT); INSERT INTO mob VALUES (1, 0);
            CREATE TRIGGER up AFTER INSERT ON mob BEGIN UPDATE mob SET at = printf("%d", 7) WHERE id = new.id; END
            """
        #expect(
            try folder.perilune(
                "run", "--database", "d.sqlite", "-e", "db:execute[[\(sql)]] db:execute 'INSERT INTO mob VALUES (2, 0)'"
            ).status == 0)
        try folder.write("[database]\ndouble_quoted_strings = false", to: "perilune.toml")
        let refused = try folder.perilune("run", "--database", "d.sqlite", "-e", "db:execute 'INSERT INTO mob VALUES (3, 0)'")
        #expect(refused.status == 1)
        #expect(refused.errors.contains("no such column: %d: the trigger `up` has \"%d\" in double quotes"), "\(refused)")
    }

    @Test func `all settings are listed with their sources`() throws {
        let folder = try TestFolder(["perilune.toml": "[folders]\ntypes = 't'"])
        let listed = try folder.perilune("settings", "--format", "tsv", environment: ["PERILUNE_CONTEXT": "preview"]).output
        #expect(
            listed == """
                setting\tvalue\tsource
                database\t\t
                context\tpreview\tPERILUNE_CONTEXT
                extensions\t\t
                database.double_quoted_strings\ttrue\tdefault
                database.journal_mode\t\t
                database.synchronous\t\t
                folders.migrations\tmigrations\tdefault
                folders.scenarios\tscenarios\tdefault
                folders.types\tt\tperilune.toml:2
                limits.timeout\t\t
                limits.memory\t\t
                limits.output\t\t
                limits.disk\t\t

                """, "\(listed)")
    }
}
