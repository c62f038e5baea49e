import PeriluneTestTools
import Testing

@testable import PeriluneCLI

/// The console commands that read and write files, and help.
@Suite(.patience, .startsPrograms) struct ConsoleFileTests {
    @Test func `save writes all rows of the last value in the format of the file name`() throws {
        let folder = try ConsoleProcess.makeFolder()
        let console = try ConsoleProcess(in: folder)
        _ = console.run("SELECT id, title FROM book ORDER BY id")
        #expect(console.run(":save books.csv") == ["3 rows written to books.csv"])
        #expect(try folder.read("books.csv") == "id,title\n1,Typee\n2,Moby-Dick\n3,La Peste\n")
        _ = console.run("for i = 4, 60 do Book:insert{ id = i, title = 'b' .. i } end")
        _ = console.run("Book:select('id')")
        #expect(console.run(":save all.jsonl") == ["60 rows written to all.jsonl"])
        #expect(try folder.read("all.jsonl").split(separator: "\n").last == "{\"id\":60}")
        #expect(console.run(":save all.xls").first?.hasPrefix("error: :save: expected a name that ends in .csv") == true)
        #expect(console.run(":save library.sqlite.csv/x.csv").first?.hasPrefix("error:") == true)
        _ = console.run("6 * 7")
        #expect(console.run(":save x.csv").first == "error: :save: the last value has no rows")
        #expect(console.run(":save two.csv SELECT id FROM book ORDER BY id LIMIT 2") == ["2 rows written to two.csv"])
        #expect(try folder.read("two.csv") == "id\n1\n2\n")
        #expect(console.run(":save two copies.csv") == ["2 rows written to two copies.csv"])
        #expect(console.run(":save no.csv SELECT x FROM book").first == "error: no such column: x")
        #expect(!folder.exists("no.csv"))
        #expect(console.end() == 0)
    }

    @Test func `read runs a file up to its first error`() throws {
        let folder = try ConsoleProcess.makeFolder()
        try folder.write(
            "INSERT INTO book VALUES (4, 'x;\n\ny', 1);\nn = 4\nDELETE FROM\n  nope WHERE 1;\nDELETE FROM book WHERE 1;\n",
            to: "a.sql")
        try folder.write("print(Book:fetch_count())\nerror('stop', 0)\n", to: "b.lua")
        let console = try ConsoleProcess(in: folder)
        let shown = console.run(":read a.sql")
        #expect(shown.first == "1 row changed" && shown.contains("error: a.sql:5: no such table: nope"), "\(shown)")
        #expect(console.run("n") == ["4"])
        #expect(console.run(":read b.lua").prefix(2) == ["4", "error: stop"])
        let missing = console.run(":read nope.sql").joined()
        #expect(missing.hasPrefix("error:") && missing.contains("nope.sql"), "\(missing)")
        #expect(console.end() == 0)
    }

    @Test func `import creates a table and chart draws its rows`() throws {
        let folder = try ConsoleProcess.makeFolder()
        try folder.write("month,sales\nJan,5\nFeb,10\n", to: "sales.csv")
        let console = try ConsoleProcess(in: folder)
        #expect(console.run(":import sales.csv") == ["2 rows into sales, which was created"])
        #expect(console.run("Sales:fetch_count()") == ["2"])
        #expect(console.run(":import sales.csv") == ["2 rows into sales"])
        let chart = console.run(":chart SELECT month, sum(sales) AS total FROM sales GROUP BY month ORDER BY 2")
        #expect(
            chart.contains { $0.hasPrefix("Jan") && $0.hasSuffix("10") }
                && chart.contains { $0.hasPrefix("Feb") && $0.hasSuffix("20") }, "\(chart)")
        #expect(console.run(":chart 6 * 7").first == "error: :chart: the last value has no rows")
        #expect(console.end() == 0)
    }

    @Test func `edit opens the last statement in an editor and runs the changed text`() throws {
        let console = try ConsoleProcess(in: ConsoleProcess.makeFolder(), environment: ["EDITOR": "sed -i s/6/7/"])
        _ = console.run("6 * 6")
        #expect(console.run(":edit") == ["7 * 6", "42"])
        #expect(console.run(":edit") == ["7 * 7", "49"])
        #expect(console.run(":edit SELECT 1") == ["not changed, and not executed"])
        #expect(console.end() == 0)
    }

    @Test func `watch repeats a query until Ctrl-C`() throws {
        let folder = try ConsoleProcess.makeFolder(), console = try ConsoleProcess(in: folder)
        console.process.press(":watch 100ms SELECT count(*) AS books FROM book\r")
        let screen = console.process.screen { $0.lines.contains("│     3 │") }
        #expect(screen.lines.first == "every 100 ms, until Ctrl-C: SELECT count(*) AS books FROM book", "\(screen.lines)")
        #expect(
            try folder.perilune("run", "--database", "library.sqlite", "-e", "db:execute('DELETE FROM book WHERE id = 1')").status
                == 0)
        console.process.screen { $0.lines.contains("│     2 │") }
        console.process.press("\u{3}")
        console.process.screen { $0.lineBeforeCursor == "library.sqlite> " && $0.lines.contains("interrupted") }
        #expect(console.run(":watch DELETE FROM book;").first?.hasPrefix("error: :watch: expected a SELECT or a request") == true)
        #expect(console.end() == 0)
    }

    @Test func `mistakes in the console get an explanation`() throws {
        let console = try ConsoleProcess(in: ConsoleProcess.makeFolder())
        #expect(console.run(":plan 1 + 1") == ["error: :plan: expected a statement or a request, got the integer 2"])
        #expect(console.run(":plan Book").joined().contains("book"))
        #expect(console.run("g()").joined().contains("did you mean") == false)
        #expect(console.run(":help Book").first == "record class book · 3 rows")
        _ = console.run("BEGIN", prompt: "library.sqlite transaction> ")
        let shown = console.run("DROP TABLE author", prompt: "library.sqlite transaction> ")
        #expect(shown.contains("  help  rows of book refer to it"), "\(shown)")
        _ = console.run("ROLLBACK")
        #expect(console.end() == 0)
    }
}
