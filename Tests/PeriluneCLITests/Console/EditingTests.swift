import PeriluneTestTools
import Testing

/// Tests the line editor: sends keys to a terminal and checks the resulting screen.
@Suite(.patience, .startsPrograms) struct EditingTests {
    private let prompt = "library.sqlite> "

    @Test func `the cursor is at the position of the next character, even after wide characters`() throws {
        let console = try ConsoleProcess(in: ConsoleProcess.makeFolder())
        var screen = console.type("x = '日本語", until: prompt + "x = '日本語")
        #expect(screen.column == 16 + 5 + 6)
        screen = console.type("\u{1B}[D\u{1B}[Dé", until: prompt + "x = '日é")
        #expect(screen.lines.last == prompt + "x = '日é本語")
        // A combining mark joins the letter before it.
        screen = console.type("\u{5}e\u{301}'", until: prompt + "x = '日é本語e\u{301}'")
        screen = console.type("\u{7F}\u{7F}", until: prompt + "x = '日é本語")
        #expect(screen.unknown == [])
        _ = console.type("'", until: prompt + "x = '日é本語'")
        #expect(console.run("") == [])
        #expect(console.run("#x, x:upper()").joined().contains("日é本語"))
        #expect(console.end() == 0)
    }

    @Test func `a long line wraps to the next row of the terminal`() throws {
        let console = try ConsoleProcess(in: ConsoleProcess.makeFolder(), columns: 30)
        var screen = console.type("s = 'abcdefghijklmnopqrstuvwxyz'", until: "jklmnopqrstuvwxyz'")
        #expect(screen.lines.suffix(2) == ["library.sqlite> s = 'abcdefghi", "jklmnopqrstuvwxyz'"])
        screen = console.type("\u{1}-", until: prompt + "-")
        #expect(screen.lines.suffix(2).joined() == prompt + "-s = 'abcdefghijklmnopqrstuvwxyz'")
        _ = console.type("\u{7F}", until: prompt)
        #expect(console.run("") == [])
        #expect(console.run("#s") == ["26"])
        #expect(console.end() == 0)
    }

    @Test func `Enter begins a new line while the statement is incomplete`() throws {
        let console = try ConsoleProcess(in: ConsoleProcess.makeFolder())
        let others = "            ...>   "
        _ = console.type("for i = 1, 2 do\r", until: others)
        _ = console.type("print('turn', i)\r", until: others)
        // The previous line is edited: up, then to its end.
        _ = console.type("\u{1B}[A\u{5}", until: others + "print('turn', i)")
        _ = console.type("\u{1B}[B", until: others)
        let shown = console.run("end")
        #expect(shown.suffix(2).allSatisfy { $0.hasPrefix("turn") } && shown.count { $0.hasPrefix("turn") } == 2, "\(shown)")
        #expect(console.end() == 0)
    }

    @Test func `SQL of several lines ends when it is complete`() throws {
        let console = try ConsoleProcess(in: ConsoleProcess.makeFolder())
        let others = "            ...> "
        _ = console.type("SELECT name\r", until: others)
        _ = console.type("FROM\r", until: others)
        #expect(console.run("author").contains("│ Albert Camus    │"))
        // Without WHERE the statement could continue, so only a semicolon ends it.
        _ = console.type("DELETE FROM book\r", until: others)
        #expect(console.run("WHERE id = 1").last == "1 row changed")
        #expect(console.end() == 0)
    }

    @Test func `pasted lines wait for Enter`() throws {
        let console = try ConsoleProcess(in: ConsoleProcess.makeFolder())
        _ = console.type("\u{1B}[200~a = 1\r\nb = 2\u{1B}[201~", until: "            ...> b = 2")
        _ = console.run("")
        #expect(console.run("a + b") == ["3"])
        #expect(console.end() == 0)
    }

    @Test func `words are removed and put back and undone`() throws {
        let console = try ConsoleProcess(in: ConsoleProcess.makeFolder())
        _ = console.type("one two three", until: prompt + "one two three")
        _ = console.type("\u{17}", until: prompt + "one two ")
        _ = console.type("\u{17}", until: prompt + "one ")
        _ = console.type("\u{19}", until: prompt + "one two three")
        _ = console.type("\u{1}\u{B}", until: prompt)
        _ = console.type("\u{1F}", until: prompt)
        let screen = console.type("\u{5}", until: prompt + "one two three")
        #expect(screen.lineBeforeCursor == prompt + "one two three")
        console.process.press("\u{3}")
        _ = console.process.screen { $0.lineBeforeCursor == self.prompt }
        #expect(console.end() == 0)
    }

    @Test func `the history is kept per folder, without lines that begin with a space`() throws {
        let folder = try ConsoleProcess.makeFolder()
        let first = try ConsoleProcess(in: folder)
        _ = first.run("first = 1")
        _ = first.run(" secret = 2")
        _ = first.run("\u{1B}[200~third =\n  3\u{1B}[201~")
        #expect(first.end() == 0)
        let second = try ConsoleProcess(in: folder)
        _ = second.type("typed", until: prompt + "typed")
        var screen = second.type("\u{10}", until: "            ...>   3")
        #expect(screen.lines.suffix(2) == [prompt + "third =", "            ...>   3"])
        _ = second.type("\u{10}", until: prompt + "first = 1")
        _ = second.type("\u{E}\u{E}", until: prompt + "typed")
        // A history search finds the newest match first, then older ones.
        screen = second.type("\u{15}\u{12}=", until: "(search) =: third ")
        #expect(screen.lines.last == "            ...>   3")
        screen = second.type("\u{12}", until: "(search) =: first ")
        #expect(screen.lines.last == "(search) =: first = 1")
        screen = second.type("\u{1B}", until: prompt + "first = 1")
        #expect(second.run("") == [])
        #expect(second.run("first, third").joined().contains("1"))
        #expect(second.end() == 0)
    }

    @Test func `Tab completes the names of Lua values, tables and columns`() throws {
        let console = try ConsoleProcess(in: ConsoleProcess.makeFolder())
        _ = console.type("Aut\t", until: prompt + "Author")
        _ = console.type(":fetch_c\t", until: prompt + "Author:fetch_count")
        _ = console.type("\u{15}Author:filter{ cou\t", until: prompt + "Author:filter{ country")
        _ = console.type("\u{15}Author:filter{}:fetch_o\t", until: prompt + "Author:filter{}:fetch_o")
        _ = console.type(
            "\u{15}SELECT b.ti FROM book b\u{1}\u{6}\u{6}\u{6}\u{6}\u{6}\u{6}\u{6}\u{6}\u{6}\u{6}\u{6}\t",
            until: prompt + "SELECT b.title")
        _ = console.type("\u{15}\u{B}SELECT countr FROM author\u{1}\u{1B}f\u{1B}f\t", until: prompt + "SELECT country")
        _ = console.type("\u{15}\u{B}select * from bo\t", until: prompt + "select * from book")
        _ = console.type("\u{15}:sch\t", until: prompt + ":schema")
        console.process.press("\u{3}")
        _ = console.process.screen { $0.lineBeforeCursor == self.prompt }
        #expect(console.end() == 0)
    }

    @Test func `text that is typed before the prompt appears is run`() throws {
        let folder = try ConsoleProcess.makeFolder()
        let process = try TerminalProcess(["console", "--color", "never", "library.sqlite"], in: folder)
        process.press("6 * 7\rSELECT 'ear' || 'ly' AS word;\r")
        let screen = process.screen { $0.lines.contains("│ early │") && $0.lineBeforeCursor == self.prompt }
        #expect(screen.lines.contains("42") && screen.lines.contains("│ early │"), "\(screen.lines)")
        process.press("\u{4}")
        #expect(process.wait() == 0)
    }

    @Test func `text that is typed while a statement runs is run after it`() throws {
        let console = try ConsoleProcess(in: ConsoleProcess.makeFolder())
        console.process.press("print('go') for i = 1, 3e7 do end\r")
        console.process.screen { $0.lines.contains("go") }
        console.process.press("6 * 7\r")
        let screen = console.process.screen { $0.lines.contains("42") && $0.lineBeforeCursor == self.prompt }
        #expect(screen.lines.contains("42"), "\(screen.lines)")
        #expect(console.end() == 0)
    }

    @Test(arguments: [
        ("Author:find(1).coun", "Author:find(1).country"),
        ("Author:find(1):update_ch", "Author:find(1):update_changes"),
        ("Author{ name = 'x' }:ins", "Author{ name = 'x' }:insert"),
        ("Author:filter{ id = 1 }:fetch_one().coun", "Author:filter{ id = 1 }:fetch_one().country"),
        ("Author:find(1):books():fetch_co", "Author:find(1):books():fetch_count"),
        ("Author:order('name'):fetch_co", "Author:order('name'):fetch_count"),
        ("Author.c.name:is_not_n", "Author.c.name:is_not_null"),
        ("SELECT strf", "SELECT strftime"),
        ("SELECT GROUP_CON", "SELECT GROUP_CONCAT"),
        ("PRAGMA foreign_key_l", "PRAGMA foreign_key_list"),
        (":help db:fetch_val", ":help db:fetch_value"),
        (":help se", ":help se"),
    ])
    func `Tab completes the members of results, SQL functions, PRAGMAs and topics`(_ typed: String, _ line: String) throws {
        let console = try ConsoleProcess(in: ConsoleProcess.makeFolder())
        console.process.press(typed + "\t")
        let screen = console.process.screen { $0.lines.contains { $0.hasPrefix(self.prompt + line) } }
        #expect(screen.lines.contains { $0.hasPrefix(prompt + line) }, "\(screen.lines)")
        console.process.press("\u{3}")
        console.process.screen { $0.lineBeforeCursor == self.prompt }
        #expect(console.end() == 0)
    }

    @Test func `Tab does not offer class methods for records`() throws {
        let console = try ConsoleProcess(in: ConsoleProcess.makeFolder())
        _ = console.type("Author:find(1):fetch_\t", until: prompt + "Author:find(1):fetch_")
        _ = console.type("x\u{7F}\u{3}", until: prompt)
        #expect(console.end() == 0)
    }

    @Test func `several candidates are listed and cycled through`() throws {
        let console = try ConsoleProcess(in: ConsoleProcess.makeFolder())
        _ = console.run("thing = { apple = 1, apricot = 2, banana = 3 }")
        var screen = console.type("thing.a\t", until: prompt + "thing.ap")
        #expect(screen.lines.last == "apple    apricot")
        screen = console.type("\t", until: prompt + "thing.apple")
        screen = console.type("\t", until: prompt + "thing.apricot")
        #expect(screen.lines.last == "apple    apricot")
        // Typing a letter closes the list of candidates.
        screen = console.type(" ", until: prompt + "thing.apricot ")
        #expect(screen.lines.last == prompt + "thing.apricot" || screen.lines.last == prompt + "thing.apricot ")
        #expect(console.run("") == ["2"])
        #expect(console.end() == 0)
    }

    @Test func `typed text is colored`() throws {
        let console = try ConsoleProcess(prompt: "library.sqlite> ", in: ConsoleProcess.makeFolder(), color: "always")
        _ = console.type("local x = 'text' -- why", until: prompt + "local x = 'text' -- why")
        #expect(console.process.text.contains("\u{1B}[1mlocal\u{1B}[0m x = \u{1B}[32m'text'\u{1B}[0m \u{1B}[2m-- why"))
        console.process.press("\u{3}")
        _ = console.process.screen { $0.lineBeforeCursor == self.prompt }
        #expect(console.end() == 0)
    }
}
