import PeriluneTestTools
import Testing

@testable import PeriluneCLI

/// Transactions that SQL begins and ends in the console.
@Suite(.patience, .startsPrograms) struct ConsoleTransactionTests {
    private static let inside = "library.sqlite transaction> "

    private func books(_ folder: TestFolder) throws -> String {
        try folder.perilune("query", "--database", "library.sqlite", "--format", "csv", "SELECT count(*) AS n FROM book").output
            .replacing("\r\n", with: "\n")
    }

    // MARK: - At the prompt

    @Test func `the prompt marks an open transaction and ROLLBACK undoes it`() throws {
        let folder = try ConsoleProcess.makeFolder()
        let console = try ConsoleProcess(in: folder)
        #expect(console.run("BEGIN;", prompt: Self.inside) == [])
        #expect(console.run("DELETE FROM book;", prompt: Self.inside) == ["3 rows changed"])
        #expect(console.run("Book:fetch_count()", prompt: Self.inside) == ["0"])
        #expect(try books(folder) == "n\n3\n")
        #expect(console.run("ROLLBACK;") == [])
        #expect(console.run("Book:fetch_count()") == ["3"])
        #expect(console.run("BEGIN; DELETE FROM book WHERE id = 1; COMMIT;") == ["1 row changed"])
        #expect(console.end() == 0)
        #expect(try books(folder) == "n\n2\n")
    }

    @Test func `quitting inside a transaction needs a confirmation`() throws {
        let folder = try ConsoleProcess.makeFolder()
        let console = try ConsoleProcess(in: folder)
        _ = console.run("SAVEPOINT a", prompt: Self.inside)
        _ = console.run("DELETE FROM book WHERE id = 1", prompt: Self.inside)
        console.process.press("\u{4}")
        console.process.screen { $0.lineBeforeCursor.hasSuffix("[y/N] ") }
        #expect(console.run("n", prompt: Self.inside) == [])
        console.process.press(":quit\r")
        console.process.screen { $0.lineBeforeCursor.hasSuffix("[y/N] ") }
        console.process.press("y\r")
        #expect(console.process.wait() == 0)
        #expect(try books(folder) == "n\n3\n")
    }

    @Test func `Ctrl-C declines a question`() throws {
        let console = try ConsoleProcess(in: ConsoleProcess.makeFolder())
        console.process.press("DELETE FROM book;\r")
        console.process.screen { $0.lineBeforeCursor.hasSuffix("[y/N] ") }
        console.process.press("\u{3}")
        console.process.screen { $0.lineBeforeCursor == "library.sqlite> " && $0.lines.contains("not executed") }
        #expect(console.run("Book:fetch_count()") == ["3"])
        #expect(console.end() == 0)
    }

    @Test func `Ctrl-C ends a statement and not the transaction`() throws {
        let console = try ConsoleProcess(in: ConsoleProcess.makeFolder())
        _ = console.run("BEGIN", prompt: Self.inside)
        _ = console.run("DELETE FROM book WHERE id = 1", prompt: Self.inside)
        console.process.press("print('begins') while true do os.time() end\r")
        console.process.screen { $0.lines.last == "begins" }
        console.process.press("\u{3}")
        console.process.screen { $0.lineBeforeCursor == Self.inside && $0.lines.contains("interrupted") }
        #expect(console.run("Book:fetch_count()", prompt: Self.inside) == ["2"])
        _ = console.run("ROLLBACK")
        #expect(console.run("Book:fetch_count()") == ["3"])
        #expect(console.end() == 0)
    }

    @Test func `a transaction that an error has rolled back is reported`() throws {
        let console = try ConsoleProcess(in: ConsoleProcess.makeFolder())
        _ = console.run("BEGIN", prompt: Self.inside)
        let shown = console.run("INSERT OR ROLLBACK INTO book (id) VALUES (1)")
        #expect(shown.first?.hasPrefix("error: UNIQUE") == true && shown.last == "the transaction was rolled back", "\(shown)")
        #expect(console.end() == 0)
    }

    @Test func `a preview has its own transactions, and its commands wait until they end`() throws {
        let folder = try ConsoleProcess.makeFolder()
        let console = try ConsoleProcess(["library.sqlite", "--preview"], prompt: "library.sqlite preview> ", in: folder)
        _ = console.run("BEGIN", prompt: "library.sqlite preview transaction> ")
        _ = console.run("DELETE FROM book;", prompt: "library.sqlite preview* transaction> ")
        let refused = console.run(":changes", prompt: "library.sqlite preview* transaction> ")
        #expect(
            refused == [
                "error: :changes cannot be used while a transaction is open", "  help  end it with COMMIT or ROLLBACK first",
            ])
        _ = console.run("ROLLBACK", prompt: "library.sqlite preview* transaction> ".replacing(" transaction", with: ""))
        #expect(console.run(":changes", prompt: "library.sqlite preview*> ").first?.hasSuffix("nothing") == true)
        _ = console.run(":discard")
        #expect(console.end() == 0)
    }

    // MARK: - Piped

    @Test(arguments: [
        ("BEGIN;\nDELETE FROM book;\nROLLBACK;\n", 3),
        ("BEGIN; DELETE FROM book; ROLLBACK;\n", 3),
        ("BEGIN IMMEDIATE;\nDELETE FROM book;\nEND;\n", 0),
        ("SAVEPOINT a;\nDELETE FROM book;\nROLLBACK TO a;\nRELEASE a;\n", 3),
        ("BEGIN;\nDELETE FROM book WHERE id = 1;\nSAVEPOINT a;\nDELETE FROM book;\nROLLBACK TO a;\nCOMMIT;\n", 2),
        ("BEGIN;\nBook:filter{ id = 1 }:delete_all()\ndb:write(function(db) db:execute('DELETE FROM book') end)\nROLLBACK;\n", 3),
        (
            "BEGIN;\ndb:in_transaction(function(db) db:execute('DELETE FROM book') return 'rollback' end)\n"
                + "db:in_savepoint(function(db) db:execute('DELETE FROM book WHERE id = 1') return 'commit' end)\nCOMMIT;\n", 2
        ),
    ])
    func `piped transactions commit and roll back`(_ input: String, _ count: Int) throws {
        let folder = try ConsoleProcess.makeFolder()
        let result = try folder.perilune("console", "library.sqlite", input: input)
        #expect(result.errors == "" && result.status == 0)
        #expect(try books(folder) == "n\n\(count)\n")
    }

    @Test func `piped input stops at the first error and rolls back`() throws {
        let folder = try ConsoleProcess.makeFolder()
        let input = "BEGIN;\nDELETE FROM book;\nINSERT INTO nope VALUES (1);\nCOMMIT;\nDELETE FROM author;\n"
        let result = try folder.perilune("console", "library.sqlite", input: input)
        #expect(result.status == 1 && result.output == "3 rows changed\n")
        #expect(result.errors.hasPrefix("error: near line 3: no such table: nope\n"), "\(result.errors)")
        #expect(result.errors.hasSuffix("the open transaction was rolled back\n"), "\(result.errors)")
        #expect(try books(folder) == "n\n3\n")
    }

    @Test func `with --no-bail, piped input continues after errors`() throws {
        let folder = try ConsoleProcess.makeFolder()
        let result = try folder.perilune(
            "console", "library.sqlite", "--no-bail", input: "DELETE FROM nope;\nDELETE FROM book WHERE id = 1;\n")
        #expect(result.status == 1 && result.output == "1 row changed\n")
        #expect(try books(folder) == "n\n2\n")
    }

    @Test func `a transaction that is open at the end of piped input is rolled back with a message and status 1`() throws {
        let folder = try ConsoleProcess.makeFolder()
        let result = try folder.perilune("console", "library.sqlite", input: "BEGIN;\nDELETE FROM book;\n")
        #expect(result.status == 1)
        #expect(
            result.errors == "error: the input ended inside a transaction, which was rolled back\n  help  end it with COMMIT\n")
        #expect(try books(folder) == "n\n3\n")
    }

    @Test func `a dump that is piped into a console recreates the database`() throws {
        let folder = try ConsoleProcess.makeFolder()
        let made = try folder.perilune(
            "run", "--database", "library.sqlite", "-e",
            """
            db:execute[[
              CREATE TABLE log (text TEXT);
              CREATE TRIGGER noted AFTER INSERT ON book BEGIN

                INSERT INTO log VALUES (new.title);

              END;
              INSERT INTO book VALUES (4, 'two

              lines; and '' quotes', 2)]]
            """)
        try #require(made.status == 0, "\(made.errors)")
        let dump = try folder.perilune("dump", "--database", "library.sqlite").output
        let result = try folder.perilune("console", "copy.sqlite", "--create", input: dump)
        #expect(result.errors == "" && result.status == 0)
        #expect(try folder.perilune("dump", "--database", "copy.sqlite").output == dump)
    }

    @Test func `statements that change no rows print nothing`() throws {
        let folder = try ConsoleProcess.makeFolder()
        let result = try folder.perilune(
            "console", "library.sqlite", input: "CREATE TABLE a (x);\nBEGIN;\nINSERT INTO a VALUES (1);\nCOMMIT;\nDROP TABLE a;\n"
        )
        #expect(result.output == "1 row changed\n" && result.status == 0)
    }
}
