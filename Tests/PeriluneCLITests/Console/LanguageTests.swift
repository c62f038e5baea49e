import Foundation
import Testing

@testable import PeriluneCLI

/// Tests how the console distinguishes Lua, SQL and commands, and where statements end.
@Suite struct LanguageTests {
    @Test(arguments: [
        ("SELECT 1", true), ("select * from a", true), ("with a as (select 1) select * from a", true), ("VALUES (1)", true),
        ("-- why\nselect 1", true), ("update a set b = 1", true), ("explain query plan select 1", true), ("SELECT (1)", true),
        ("select (a) from b", true), ("select('#', 1)", false), ("select(2, 'a', 'b')", false), ("update = 5", false),
        ("values = {}", false), ("replace(1)", true), ("begin.x = 1", false), ("update:call()", false), ("selected = 1", false),
        ("print(1)", false), ("select :a", true), ("release, b = 1, 2", false),
    ])
    func `text that begins with an SQL keyword is SQL`(_ text: String, _ isSQL: Bool) {
        let expected: ConsoleInput = isSQL ? .sql(text) : .lua(text)
        #expect(ConsoleInput(text) == expected)
    }

    @Test func `commands begin with a colon, and the commands of other consoles are recognized`() {
        #expect(ConsoleInput(":schema  author ") == .command(name: "schema", argument: "author"))
        #expect(ConsoleInput("::label::") == .lua("::label::"))
        #expect(ConsoleInput(".tables") == .command(name: "schema", argument: ""))
        #expect(ConsoleInput(":tables") == .command(name: "schema", argument: ""))
        #expect(ConsoleInput("\\dt book") == .command(name: "schema", argument: "book"))
        #expect(ConsoleInput("quit") == .command(name: "quit", argument: ""))
        #expect(ConsoleInput("quit = 1") == .lua("quit = 1"))
        #expect(ConsoleInput("  \n") == .nothing)
    }

    @Test(arguments: [
        ("SELEC 1;", "did you mean `SELECT`?"), ("  inser INTO t VALUES (1)", "did you mean `INSERT`?"),
        ("creat table t (a)", "did you mean `CREATE`?"), ("=x+1", "an expression is written without `=`"),
        ("selec = = 1", nil), ("local x y", nil), ("return x y", nil), ("repeat x y", nil), ("if x the y end", nil), ("x y", nil),
    ])
    func `a misspelled statement that does not parse as Lua is recognized`(text: String, help: String?) {
        #expect(ConsoleInput.help(onSyntaxErrorIn: text) == help)
    }

    @Test(arguments: [
        ("SELECT 1", true), ("SELECT * FROM a", true), ("SELECT * FROM", false), ("SELECT a, b", false), ("SELECT a, b;", true),
        ("SELECT 'a", false), ("SELECT a +", false), ("INSERT INTO a VALUES (1,", false), ("INSERT INTO a VALUES (1)", true),
        ("DELETE FROM a", false), ("DELETE FROM a;", true), ("DELETE FROM a WHERE b = 1", true),
        ("UPDATE a SET b = (SELECT 1 WHERE 1)", false),
        ("CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT 1;", false),
        ("CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT 1; END;", true),
        ("SELECT 1; SELECT", false), ("SELECT a\n", true), ("SELECT * FROM a -- b", true), ("SELECT * FROM a /* b", false),
    ])
    func `an SQL statement ends when it is complete`(_ sql: String, _ isComplete: Bool) {
        #expect(SQLSyntax.isComplete(sql, needsSemicolon: false) == isComplete)
    }

    @Test(arguments: [
        ("1 +", false), ("1 + 1", true), ("x = ", false), ("for i = 1, 2 do", false), ("for i = 1, 2 do end", true),
        ("f(", false),
        ("x = [[a", false), ("x = 'a", true), ("end", true), ("--[[ a", false), ("local x", true), ("{ 1,", false),
    ])
    func `Lua code ends when it compiles or has an error`(_ text: String, _ isComplete: Bool) {
        #expect(ConsoleAssistant().isComplete(text) == isComplete)
    }

    @Test(arguments: [
        (":save x.csv", "SELECT 1", true), (":saves x.csv", "SELECT 1", false), (":id", "SELECT * FROM a WHERE b =", false),
        (":quit", "SELECT 'a", false), (":quit", "SELECT 1 /* a", false), (":last", "f(", false), (" :last", "SELECT", false),
    ])
    func `a console command ends an SQL statement without a semicolon`(_ line: String, _ text: String, _ isSeparate: Bool) {
        #expect(ConsoleAssistant(needsSemicolon: true).isSeparate(line, after: text) == isSeparate)
    }

    @Test func `statements are split at semicolons, except inside triggers`() {
        let trigger = "CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT 1; SELECT ';'; END"
        #expect(SQLSyntax.statements(in: "SELECT ';' ; \(trigger);\n-- end\n") == ["SELECT ';'", trigger])
        #expect(SQLSyntax.statements(in: " ; ;") == [])
    }

    @Test(arguments: [
        ("DELETE FROM a", "delete", "a"), ("update \"a b\" set c = 1", "update", "a b"),
        ("UPDATE OR IGNORE a SET b = 1", "update", "a"),
        ("WITH x AS (SELECT 1 WHERE 1) DELETE FROM a", "delete", "a"),
        ("UPDATE a SET b = (SELECT 1 FROM c WHERE d)", "update", "a"),
    ])
    func `statements that change all rows are recognized`(_ sql: String, _ verb: String, _ table: String) throws {
        let found = try #require(SQLSyntax.changesAllRows(sql))
        #expect(found.verb == verb && found.table == table)
    }

    @Test(arguments: [
        "DELETE FROM a WHERE b", "SELECT 'delete from a'", "INSERT INTO a SELECT 1", "CREATE TABLE a (b)",
        "REPLACE INTO a VALUES (1)",
        "WITH x AS (SELECT 1) SELECT * FROM x", "INSERT INTO a VALUES (1) ON CONFLICT DO UPDATE SET b = 1",
    ])
    func `other statements are not taken for statements that change all rows`(_ sql: String) {
        #expect(SQLSyntax.changesAllRows(sql) == nil)
    }

    @Test(arguments: [
        ("local x = 1", "      x = 1"), ("local x", "      x = nil"), ("local a, b = f()", "      a, b = f()"),
        ("local function f() end", "      function f() end"), ("local x <const> = 1", "local x <const> = 1"), ("x = 1", "x = 1"),
        ("local x = 1 local y = 2", "      x = 1 local y = 2"),
    ])
    func `a local statement in the console defines global variables`(_ text: String, _ made: String) {
        #expect(LuaLocals.made(global: text) == made)
    }
}

/// Key decoding, text and layout, without a console.
@Suite struct EditorPartTests {
    @Test func `keys are recognized if their bytes arrive in parts`() {
        let bytes = Array("aé日\u{1B}[A\u{1B}[1;5C\u{1B}OH\r\u{1B}[200~x\ny\u{1B}[201~\u{3}\u{1B}b".utf8)
        var whole = KeyDecoder()
        let expected = whole.feed(bytes)
        #expect(expected == [.text("aé日"), .up, .wordRight, .home, .enter, .paste("x\ny"), .control("c"), .alt("b")])
        var decoder = KeyDecoder()
        var text = "", keys: [Key] = []
        for byte in bytes {
            for key in decoder.feed([byte]) {
                if case .text(let part) = key { text += part } else { keys.append(key) }
            }
        }
        #expect(text == "aé日" && keys == Array(expected.dropFirst()))
    }

    @Test func `an escape byte counts as a key if nothing follows it`() {
        var decoder = KeyDecoder()
        #expect(decoder.feed([0x1B]) == [] && decoder.isAmbiguous)
        #expect(decoder.flush() == [.escape])
        #expect(!decoder.isAmbiguous)
    }

    @Test func `rows wrap at the width, and the cursor after the last column is in the next row`() {
        var layout = TextLayout(columns: 5, usesStyles: false)
        layout.add(StyledText("> "))
        layout.add(StyledText("abc"), cursor: 3)
        #expect(layout.rows == ["> abc", ""] && layout.cursorRow == 1 && layout.cursorColumn == 0)
        layout = TextLayout(columns: 5, usesStyles: false)
        layout.add(StyledText("abcd日e"), cursor: 5)
        #expect(layout.rows == ["abcd", "日e"] && layout.cursorRow == 1 && layout.cursorColumn == 2)
    }

    @Test func `text that is taller than the window is drawn around the cursor`() {
        var layout = TextLayout(columns: 10, usesStyles: false)
        layout.add(StyledText((1...50).map { "\($0)" }.joined(separator: "\n")), cursor: 0)
        var area = TerminalArea()
        let drawn = area.draw(layout, height: 10)
        #expect(drawn.contains("10\u{1B}[K") && !drawn.contains("11\u{1B}[K"))
    }

    @Test func `a history file preserves line ends and backslashes`() throws {
        let folder = try TestFolder()
        let path = folder.path + "/state/history"
        var history = LineHistory(path: path)
        for entry in ["a\nb", "c\\n", "c\\n", " hidden", "", "d"] { history.add(entry) }
        #expect(LineHistory(path: path).entries == ["a\nb", "c\\n", "d"])
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func `a table fits the width, and long texts are shortened first`() {
        var rows = ConsoleRows()
        rows.columns = ["id", "text", "more"]
        rows.head = [[.integer(1), .text(Array(String(repeating: "a", count: 50).utf8)), .text(Array("short".utf8))]]
        rows.count = 1
        let table = FittedTable(rows, width: 30)
        let lines = table.text(.off).split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 30 } && lines.contains { $0.count == 30 })
        #expect(lines.contains { $0.contains("a…") && $0.contains("short") })
        #expect(table.cut == "1 column cut")
        #expect(FittedTable(rows, width: nil).cut == nil)
        rows.columns = (1...20).map { "column\($0)" }
        rows.head = [(1...20).map { .integer($0) }]
        #expect(FittedTable(rows, width: 60).cut?.hasSuffix("of 20 columns hidden") == true)
    }
}
