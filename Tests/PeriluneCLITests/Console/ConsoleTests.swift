import Foundation
import PeriluneTestTools
import Testing

@testable import PeriluneCLI

/// Statements in the console, typed into a terminal and checked on its screen.
@Suite(.patience, .startsPrograms) struct ConsoleTests {
    @Test func `the value of an expression is shown and a statement is run`() throws {
        let console = try ConsoleProcess(in: ConsoleProcess.makeFolder())
        #expect(console.run("6 * 7") == ["42"])
        #expect(console.run("x = 'a' .. 1") == [])
        #expect(console.run("x") == ["a1"])
        #expect(console.run("{ 1, 'two', three = { 3 } }") == ["{1, \"two\", three = {3}}"])
        #expect(console.run("print('hello')") == ["hello"])
        #expect(console.run("_") == ["{1, \"two\", three = {3}}"])
        #expect(console.end() == 0)
    }

    @Test func `local variables stay available on later lines`() throws {
        let console = try ConsoleProcess(in: ConsoleProcess.makeFolder())
        #expect(console.run("local a, b = 3, 4") == [])
        #expect(console.run("a + b") == ["7"])
        #expect(console.run("local function double(n) return n * 2 end") == [])
        #expect(console.run("double(a)") == ["6"])
        #expect(console.end() == 0)
    }

    @Test func `SQL shows its rows as a table`() throws {
        let console = try ConsoleProcess(in: ConsoleProcess.makeFolder())
        #expect(
            console.run("select id, name, country from author") == [
                "┌────┬─────────────────┬─────────┐",
                "│ id │ name            │ country │",
                "├────┼─────────────────┼─────────┤",
                "│  1 │ Herman Melville │ US      │",
                "│  2 │ Albert Camus    │ France  │",
                "└────┴─────────────────┴─────────┘",
                "2 rows",
            ])
        #expect(console.run("UPDATE author SET country = 'FR' WHERE id = 2") == ["1 row changed"])
        #expect(console.run("wanted = 'FR'") == [])
        #expect(console.run("SELECT name FROM author WHERE country = :wanted").dropFirst(3).first == "│ Albert Camus │")
        #expect(console.end() == 0)
    }

    @Test func `errors in SQL that changes rows have the same help as other SQL errors`() throws {
        let folder = try TestFolder()
        let made = "db:execute('CREATE TABLE bike (id INTEGER PRIMARY KEY, state)')"
        #expect(try folder.perilune("run", "--database", "x.sqlite", "-e", made).status == 0)
        for (sql, help) in [
            ("UPDATE bike SET state = \"repair\" WHERE id = 1;", "write text in single quotes: 'repair'"),
            ("DELETE FROM bik;", "did you mean `bike`?"),
            ("UPDATE bike SET stat = 1;", "did you mean `state`?"),
            ("ATTACH ':memory:' AS other; SELECT * FROM other.bike;", "the attached database other is empty"),
        ] {
            let result = try folder.perilune("console", "x.sqlite", input: sql)
            #expect(result.status == 1 && result.errors.contains("  help  \(help)"), "\(result.errors)")
        }
    }

    @Test func `every table is a class with the associations of its foreign keys`() throws {
        let console = try ConsoleProcess(in: ConsoleProcess.makeFolder())
        let shown = console.run("Book:filter{ author_id = 1 }:order('title')")
        #expect(shown.first == "SELECT * FROM \"book\" WHERE \"book\".\"author_id\" = 1 ORDER BY \"book\".\"title\"")
        #expect(shown.contains("│  2 │ Moby-Dick │         1 │"))
        #expect(console.run("Author:find(1):books():fetch_count()") == ["2"])
        #expect(console.run("Book:including_required(Book.author):filter_key(3):fetch_one().author.name") == ["Albert Camus"])
        let models = console.run(":models")
        #expect(models.contains("│ Author │ author │ books        │"), "\(models)")
        #expect(models.contains("│ Book   │ book   │ author       │"), "\(models)")
        #expect(console.end() == 0)
    }

    @Test func `a class shows its columns`() throws {
        let console = try ConsoleProcess(in: ConsoleProcess.makeFolder())
        let shown = console.run("Book")
        #expect(shown.first == "record class book · 3 rows", "\(shown)")
        #expect(
            shown.contains("│ author_id │ INTEGER │ → author │") || shown.contains("│ author_id │ INTEGER │ → author.id │"),
            "\(shown)")
        #expect(shown.last == "associations: author")
        #expect(console.end() == 0)
    }

    @Test func `errors in the console suggest the probably intended name`() throws {
        let console = try ConsoleProcess(in: ConsoleProcess.makeFolder())
        let sql = console.run("SELECT titel FROM book")
        #expect(
            sql.contains("error: no such column: titel") && sql.contains { $0.hasPrefix("  help  did you mean `title`?") },
            "\(sql)")
        #expect(sql.contains("               ^"), "\(sql)")
        let lua = console.run("Auther:fetch_all()")
        #expect(lua.contains("  help  did you mean `Author`?"), "\(lua)")
        #expect(console.run("Auther").last == "unknown variable `Auther`; did you mean `Author`?")
        #expect(console.run(":chnges") == ["error: unknown command :chnges", "  help  did you mean `:changes`?"])
        for line in [":mode csv", ".mode csv"] {
            #expect(
                console.run(line) == [
                    "error: unknown command :mode",
                    "  help  use `:save FILE`; its extension chooses the format",
                ])
        }
        #expect(console.run("SELEC 1;") == ["error: syntax error near '1'", "  help  did you mean `SELECT`?"])
        #expect(console.run("1 + 1") == ["2"])
        #expect(console.end() == 0)
    }

    @Test func `Ctrl-C ends the statement and not the console`() throws {
        let console = try ConsoleProcess(in: ConsoleProcess.makeFolder())
        _ = console.run("kept = 5")
        console.process.press("print('begins') while true do os.time() end\r")
        console.process.screen { $0.lines.last == "begins" }
        console.process.press("\u{3}")
        let after = console.process.screen { $0.lineBeforeCursor == console.prompt && $0.lines.contains("interrupted") }
        #expect(after.lines.contains("interrupted"))
        #expect(console.run("kept") == ["5"])
        // SQL that does not end.
        console.process.press(
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n;\rprint('typed ahead')\r")
        // The text is on the screen once the statement runs.
        console.process.screen { $0.lines.contains { $0.hasSuffix("FROM n;") } && $0.row > 0 && $0.column == 0 }
        console.process.press("\u{3}")
        let ended = console.process.screen { $0.lines.contains("typed ahead") && $0.lineBeforeCursor == console.prompt }
        #expect(ended.lines.count { $0 == "interrupted" } == 2, "\(ended.lines)")
        #expect(console.end() == 0)
    }

    @Test func `timers fire while a line is typed, and print above it`() throws {
        let console = try ConsoleProcess(in: ConsoleProcess.makeFolder())
        _ = console.run(
            "timer = perilune.every('20ms', function() tick = (tick or 0) + 1 if tick == 3 then print('tick 3') timer:cancel() end end)"
        )
        let screen = console.type("half typed", until: "library.sqlite> half typed")
        #expect(screen.lineBeforeCursor == "library.sqlite> half typed")
        let after = console.process.screen { $0.lines.contains("tick 3") && $0.lineBeforeCursor == "library.sqlite> half typed" }
        #expect(after.lines.suffix(2) == ["tick 3", "library.sqlite> half typed"])
        _ = console.type("\u{3}", until: console.prompt)
        #expect(console.run("tick") == ["3"])
        #expect(console.end() == 0)
    }

    @Test func `a table wider than the terminal is cut off with a note, and :last shows all of it`() throws {
        let console = try ConsoleProcess(in: ConsoleProcess.makeFolder(), columns: 40)
        let shown = console.run(
            "SELECT 'a long text of some words' AS a, 'another text of some words' AS b, 1 AS c UNION ALL SELECT '', '', 2")
        #expect(shown.allSatisfy { $0.count <= 40 }, "\(shown)")
        #expect(shown.contains { $0.contains("…") })
        #expect(shown.last == "2 rows · 2 columns cut · :last shows all", "\(shown)")
        let all = console.run(":last").joined()
        #expect(all.contains("a long text of some words") && all.contains("another text of some words"))
        let many = console.run("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 500) SELECT x FROM n")
        #expect(many.last == "500 rows, 40 shown · :last shows all")
        #expect(many.contains("│   · │") && many.contains("│ 500 │"))
        #expect(console.end() == 0)
    }

    @Test func `help shows the commands and the reference`() throws {
        let folder = try ConsoleProcess.makeFolder()
        let result = try folder.perilune("console", "library.sqlite", input: ":help\n:help db:fetch_all\n:help chnges\n")
        #expect(result.output.contains(":discard") && result.output.contains("db:fetch_all"), "\(result.output)")
        #expect(result.errors.contains("did you mean `changes`?"), "\(result.errors)")
    }

    @Test func `os.exit ends the console with its status`() throws {
        let console = try ConsoleProcess(in: ConsoleProcess.makeFolder())
        console.process.press("os.exit(7)\r")
        #expect(console.process.wait() == 7)
    }

    // MARK: - Without a terminal

    @Test func `without a terminal the console reads lines and prints only values`() throws {
        let folder = try ConsoleProcess.makeFolder()
        let input = """
            x = 20
            for i = 1, 2 do
              x = x + i
            end
            x
            SELECT count(*) AS books
            FROM book;
            :timing
            """
        let result = try folder.perilune("console", "library.sqlite", input: input)
        #expect(result.output == "23\n┌───────┐\n│ books │\n├───────┤\n│     3 │\n└───────┘\n1 row\ntiming is on\n")
        #expect(result.errors == "" && result.status == 0)
    }

    @Test func `values of every kind are shown in cells`() throws {
        let folder = try ConsoleProcess.makeFolder()
        let input = """
            db:execute("CREATE TABLE event (id INTEGER PRIMARY KEY, day DATE, data BLOB)")
            Event = perilune.record("event")
            event = Event:insert{ day = perilune.date("2026-01-01"), data = perilune.blob("\\0") }
            Event:find(1)
            { { a = perilune.null }, { a = { 1 } }, { a = db:execute("UPDATE event SET day = NULL") } }
            """
        let result = try folder.perilune("console", "library.sqlite", input: input)
        #expect(result.errors == "" && result.status == 0)
        #expect(result.output.contains("│  1 │ 2026-01-01 │ \\x00 │"), "\(result.output)")
        #expect(result.output.contains("│ NULL          │") && result.output.contains("│ {1}           │"), "\(result.output)")
        #expect(result.output.contains("│ 1 row changed │"), "\(result.output)")
    }

    @Test func `without a terminal an error goes to standard error and sets the exit status`() throws {
        let folder = try ConsoleProcess.makeFolder()
        let result = try folder.perilune(
            "console", "library.sqlite", "--no-bail",
            input: "error('stop', 0)\n1 + 1\n\nlocal a =\n  nil + 1\nSELECT *\n FROM boo;\n:timing offf\n")
        #expect(
            result.errors.hasPrefix(
                "error: near line 1: stop\nerror: near line 4: attempt to perform arithmetic on a nil value\n"),
            "\(result.errors)")
        #expect(result.errors.contains("error: near line 6: no such table: boo\n"), "\(result.errors)")
        #expect(
            result.errors.hasSuffix("error: near line 8: :timing: expected on, off or nothing, got offf\n"), "\(result.errors)")
        #expect(result.output == "2\n" && result.status == 1)
    }

    @Test func `a command after a statement without a semicolon runs`() throws {
        let folder = try TestFolder(["a.sql": "SELECT 3 AS a\n:save b.csv\n"])
        let result = try folder.perilune("console", input: "SELECT 1 AS a,\n  2 AS b\n:save a.csv\n:read a.sql\nSELECT x;\n")
        #expect(try folder.read("a.csv") == "a,b\n1,2\n")
        #expect(try folder.read("b.csv") == "a\n3\n")
        #expect(result.errors.contains("error: near line 5: no such column: x\n"), "\(result.errors)")
    }

    @Test func `a missing database is an error with the nearest name`() throws {
        let folder = try ConsoleProcess.makeFolder()
        let result = try folder.perilune("console", "libary.sqlite")
        #expect(result.status == 74 && result.errors.contains("did you mean `library.sqlite`?"), "\(result.errors)")
        #expect(!folder.exists("libary.sqlite"))
    }
}
