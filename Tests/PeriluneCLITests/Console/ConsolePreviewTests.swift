import PeriluneTestTools
import Testing

/// Previews in the console, and safeguards for the live database.
@Suite(.patience, .startsPrograms) struct ConsolePreviewTests {
    private static let preview = "library.sqlite preview> "
    private static let changed = "library.sqlite preview*> "

    private func names(in folder: TestFolder) throws -> String {
        try folder.perilune("query", "--database", "library.sqlite", "--format", "csv", "SELECT name FROM author ORDER BY id")
            .output
    }

    @Test func `a console preview does not change the file until its changes are applied`() throws {
        let folder = try ConsoleProcess.makeFolder()
        let console = try ConsoleProcess(["library.sqlite", "--preview"], prompt: Self.preview, in: folder)
        #expect(console.run("UPDATE author SET name = 'H. M.' WHERE id = 1", prompt: Self.changed) == ["1 row changed"])
        #expect(try names(in: folder) == "name\nHerman Melville\nAlbert Camus\n")
        let changes = console.run(":changes", prompt: Self.changed)
        #expect(changes.first == "Would change in library.sqlite: 1 row updated", "\(changes)")
        #expect(changes.contains { $0.contains("Herman Melville → H. M.") }, "\(changes)")
        // Inspecting the changes does not end the preview.
        _ = console.run("Book:find(3):delete()", prompt: Self.changed)
        let more = console.run(":changes", prompt: Self.changed)
        #expect(more.first == "Would change in library.sqlite: 1 row updated, 1 deleted", "\(more)")
        _ = console.run(":discard")
        #expect(console.run("Author:find(1).name") == ["Herman Melville"])
        _ = console.run("Author:find(1):update_changes(function(a) a.name = 'Melville' end)", prompt: Self.changed)
        console.process.press(":apply\r")
        let question = console.process.screen { $0.lineBeforeCursor.hasSuffix("[y/N] ") }
        #expect(question.lineBeforeCursor == "Apply to library.sqlite: author ~1? [y/N] ")
        #expect(console.run("y").contains("applied to library.sqlite: author ~1"))
        #expect(try names(in: folder) == "name\nMelville\nAlbert Camus\n")
        #expect(console.run(":changes") == ["Would change in library.sqlite: nothing"])
        #expect(console.end() == 0)
    }

    @Test func `other programs may write during a console preview, and a conflict applies nothing`() throws {
        let folder = try ConsoleProcess.makeFolder()
        let console = try ConsoleProcess(["library.sqlite", "--preview"], prompt: Self.preview, in: folder)
        _ = console.run("UPDATE author SET name = 'mine' WHERE id = 1", prompt: Self.changed)
        let other = try folder.perilune(
            "query", "--database", "library.sqlite", "--write", "UPDATE author SET name = 'theirs' WHERE id = 1")
        #expect(other.status == 0, "\(other.errors)")
        console.process.press(":apply\r")
        console.process.screen { $0.lineBeforeCursor.hasSuffix("[y/N] ") }
        let shown = console.run("y", prompt: Self.changed)
        #expect(shown.contains { $0.contains("nothing was applied") }, "\(shown)")
        #expect(try names(in: folder) == "name\ntheirs\nAlbert Camus\n")
        console.process.press("\u{4}")
        let question = console.process.screen { $0.lineBeforeCursor.hasSuffix("[y/N] ") }
        #expect(question.lineBeforeCursor == "The preview has changes that are not applied. Discard them? [y/N] ")
        console.process.press("y\r")
        #expect(console.process.wait() == 0)
    }

    @Test func `a console switches to a copy and back`() throws {
        let folder = try ConsoleProcess.makeFolder()
        let console = try ConsoleProcess(in: folder)
        _ = console.run("kept = 'live'")
        _ = console.run(":preview", prompt: Self.preview)
        #expect(console.run("kept", prompt: Self.preview) == ["nil"])
        _ = console.run("DELETE FROM book WHERE id = 3", prompt: Self.changed)
        #expect(console.run(":live", prompt: Self.changed).joined().contains(":discard"))
        _ = console.run(":discard", prompt: Self.preview)
        _ = console.run(":live")
        #expect(console.run("kept, Book:fetch_count()").joined().hasSuffix("3"))
        #expect(console.end() == 0)
    }

    @Test(arguments: ["DELETE FROM book;", "UPDATE book SET title = 'x';"])
    func `a statement that changes all rows of the live database needs a confirmation`(_ sql: String) throws {
        let folder = try ConsoleProcess.makeFolder()
        let console = try ConsoleProcess(in: folder)
        console.process.press(sql + "\r")
        let question = console.process.screen { $0.lineBeforeCursor.hasSuffix("[y/N] ") }
        #expect(question.lineBeforeCursor.contains("all 3 rows of book in library.sqlite"), "\(question.lines)")
        #expect(console.run("n") == ["not executed"])
        #expect(console.run("SELECT count(*) AS n FROM book WHERE title <> 'x'").contains("│ 3 │"))
        console.process.press(sql + "\r")
        console.process.screen { $0.lineBeforeCursor.hasSuffix("[y/N] ") }
        #expect(console.run("y") == ["3 rows changed"])
        #expect(console.end() == 0)
    }

    @Test(arguments: [
        ("DROP TABLE book;", "This drops the table book, with all 3 rows in library.sqlite. Continue? [y/N] "),
        (
            "ALTER TABLE author DROP COLUMN country",
            "This drops the column country of author, with its values in all 2 rows in library.sqlite."
        ),
        ("DROP VIEW IF EXISTS titles", "This drops the view titles in library.sqlite. Continue? [y/N] "),
    ])
    func `a DROP statement needs a confirmation unless a transaction is open`(_ sql: String, _ question: String)
        throws
    {
        let folder = try ConsoleProcess.makeFolder()
        let console = try ConsoleProcess(in: folder, columns: 140)
        _ = console.run("CREATE VIEW titles AS SELECT title FROM book")
        console.process.press(sql + "\r")
        let asked = console.process.screen { $0.lineBeforeCursor.hasSuffix("[y/N] ") }
        #expect(asked.lineBeforeCursor.hasPrefix(question), "\(asked.lines)")
        #expect(console.run("n") == ["not executed"])
        _ = console.run("BEGIN", prompt: "library.sqlite transaction> ")
        #expect(console.run(sql, prompt: "library.sqlite transaction> ") == [])
        #expect(console.run("ROLLBACK") == [])
        #expect(console.end() == 0)
    }

    @Test func `a statement on a missing table needs no confirmation`() throws {
        let console = try ConsoleProcess(in: ConsoleProcess.makeFolder())
        #expect(console.run("DROP TABLE IF EXISTS nope") == [])
        #expect(console.run("DROP TABLE nope").first == "error: no such table: nope")
        #expect(console.end() == 0)
    }

    @Test func `a console that starts in a preview can go live`() throws {
        let folder = try ConsoleProcess.makeFolder()
        let console = try ConsoleProcess(["library.sqlite", "--preview"], prompt: Self.preview, in: folder)
        #expect(console.run(":live", prompt: "library.sqlite> ") == ["working on library.sqlite itself"])
        #expect(console.run("DELETE FROM book WHERE id = 1", prompt: "library.sqlite> ") == ["1 row changed"])
        #expect(console.end() == 0)
    }

    @Test func `a read-only console does not write`() throws {
        let folder = try ConsoleProcess.makeFolder()
        let console = try ConsoleProcess(["library.sqlite", "--readonly"], prompt: "library.sqlite readonly> ", in: folder)
        let shown = console.run("DELETE FROM book;")
        #expect(shown.first?.contains("readonly") == true, "\(shown)")
        #expect(console.end() == 0)
    }
}
