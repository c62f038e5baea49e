import Testing

@testable import Perilune

@Suite struct ErrorReportTests {
    private var full: ErrorReport {
        var report = ErrorReport("no such column: totl_cents", kind: "sql")
        report.code = 1
        report.file = "scripts/close_month.lua"
        report.line = 14
        report.sourceLine = #"  local due = db:query("select totl_cents from invoices where paid = ?", false)"#
        report.sql = "select totl_cents from invoices where paid = ?"
        report.sqlOffset = 7
        report.arguments = ["false"]
        report.help = "did you mean `total_cents`?  invoices has: id, customer_id, total_cents, paid"
        report.suggestions = ["total_cents"]
        report.trace = [
            ErrorReport.Frame(name: "close_month", file: "scripts/close_month.lua", line: 14),
            ErrorReport.Frame(name: "main", file: "scripts/close_month.lua", line: 31),
        ]
        return report
    }

    @Test func `an error report contains the error, its location, its cause and a remedy`() {
        #expect(
            full.text == """
                error: no such column: totl_cents
                  at scripts/close_month.lua:14
                  14 |   local due = db:query("select totl_cents from invoices where paid = ?", false)
                  SQL   select totl_cents from invoices where paid = ?
                               ^
                  args  false
                  help  did you mean `total_cents`?  invoices has: id, customer_id, total_cents, paid
                  trace close_month (scripts/close_month.lua:14) < main (scripts/close_month.lua:31)

                """)
    }

    @Test func `an error report replaces tabs at the start of message lines with spaces`() {
        let report = ErrorReport("module 'm' not found:\n\tno file './m.lua'\n\tno \t'", kind: "runtime")
        #expect(report.text == "error: module 'm' not found:\n    no file './m.lua'\n    no \\t'\n")
    }

    @Test func `a colored error report has the same text`() {
        let text = full.text { part, text in part == .error ? "\u{1B}[1;31m\(text)\u{1B}[0m" : "\u{1B}[2m\(text)\u{1B}[0m" }
        #expect(text.hasPrefix("\u{1B}[1;31merror:\u{1B}[0m no such column"))
        #expect(text.replacing(#/\u{1B}\[[0-9;]*m/#, with: "") == full.text)
    }

    @Test func `an error report for programs is one line of JSON`() {
        #expect(
            full.json == #"{"kind":"sql","code":1,"message":"no such column: totl_cents","#
                + #""file":"scripts/close_month.lua","line":14,"source_line":"  local due = db:query(\"select totl_cents from "#
                + #"invoices where paid = ?\", false)","sql":"select totl_cents from invoices where paid = ?","sql_offset":7,"#
                + #""args":["false"],"help":"did you mean `total_cents`?  invoices has: id, customer_id, total_cents, paid","#
                + #""suggestions":["total_cents"],"trace":[{"name":"close_month","file":"scripts/close_month.lua","line":14},"#
                + #"{"name":"main","file":"scripts/close_month.lua","line":31}]}"# + "\n")
    }

    @Test func `an error report leaves out unknown parts`() {
        let report = ErrorReport("cannot", kind: "io")
        #expect(report.text == "error: cannot\n")
        #expect(report.json == #"{"kind":"io","message":"cannot"}"# + "\n")
    }

    @Test func `an error report leaves out a traceback with only the failing line`() {
        var report = ErrorReport("bad", kind: "runtime")
        report.file = "a.lua"
        report.line = 3
        report.trace = [ErrorReport.Frame(name: "main", file: "a.lua", line: 3)]
        #expect(report.text == "error: bad\n  at a.lua:3\n")
        report.trace[0].line = 5
        #expect(report.text.contains("trace main (a.lua:5)"))
    }

    @Test func `an error report indents a multiline message and escapes terminal control characters`() {
        #expect(ErrorReport("one\ntwo\u{1B}[2J", kind: "runtime").text == "error: one\n  two\\x1B[2J\n")
    }

    @Test func `an error report shortens a long traceback`() {
        var report = ErrorReport("deep", kind: "runtime")
        report.trace = (1...50).map { ErrorReport.Frame(name: "f\($0)", file: "a.lua", line: $0) }
        #expect(report.text.hasSuffix(" < f10 (a.lua:10) < ... 40 more\n"))
    }

    // MARK: - SQL

    private func sqlLines(_ sql: String, _ offset: Int?) -> String {
        var report = ErrorReport("x", kind: "sql")
        report.sql = sql
        report.sqlOffset = offset
        return String(report.text.dropFirst("error: x\n".count))
    }

    @Test func `the caret under SQL counts displayed characters, not bytes`() {
        let sql = "select 'é日👍', oops"
        let offset = sql.utf8.count - 4
        #expect(sqlLines(sql, offset) == "  SQL   select 'é日👍', oops\n" + String(repeating: " ", count: 8 + 16) + "^\n")
    }

    @Test func `the caret is below the right line of SQL`() {
        #expect(sqlLines("select a,\n\t  oops\nfrom t", 13) == "  SQL:2 oops\n        ^\n")
        #expect(sqlLines("\n\n  select oops\n", 11) == "  SQL   select oops\n               ^\n")
        #expect(sqlLines("select a\r\nfrom oops\r\n", 15) == "  SQL:2 from oops\n             ^\n")
    }

    @Test func `the caret moves with a wider label`() {
        let sql = String(repeating: "-- x\n", count: 1000) + "select oops"
        #expect(sqlLines(sql, 5007) == "  SQL:1001 select oops\n                  ^\n")
    }

    @Test func `tabs in SQL become spaces so that the caret is aligned`() {
        #expect(sqlLines("select\toops", 7) == "  SQL   select    oops\n                  ^\n")
    }

    @Test func `a long line of SQL is shortened around the caret`() throws {
        let sql = "select " + String(repeating: "a, ", count: 500) + "oops" + String(repeating: ", b", count: 500)
        let lines = sqlLines(sql, 1507).split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines[0].count <= 8 + 110 && lines[0].hasPrefix("  SQL   ...") && lines[0].hasSuffix("..."))
        let caret = try #require(lines[1].firstIndex(of: "^"))
        let column = lines[1].distance(from: lines[1].startIndex, to: caret)
        #expect(lines[0].dropFirst(column).hasPrefix("oops"))
    }

    @Test(arguments: [-1, 12, Int.max, Int.min])
    func `an offset outside the SQL has no caret`(offset: Int) {
        #expect(sqlLines("select oops", offset) == "  SQL   select oops\n")
    }

    @Test func `an offset at the end of the SQL puts the caret after the text`() {
        #expect(sqlLines("select (", 8) == "  SQL   select (\n                ^\n")
        #expect(sqlLines("", 0) == "  SQL   \n        ^\n")
    }

    @Test func `an offset inside a character puts the caret below the character`() {
        #expect(sqlLines("日本", 1) == "  SQL   日本\n        ^\n")
        #expect(sqlLines("日本", 4) == "  SQL   日本\n          ^\n")
    }

    @Test func `without an offset, the first lines of SQL are shown`() {
        #expect(
            sqlLines("\n    insert into t\n      values (1)\n", nil) == "  SQL   insert into t\n          values (1)\n")
        let long = (1...10).map { "line \($0)" }.joined(separator: "\n")
        #expect(sqlLines(long, nil).hasSuffix("        line 6\n        ...\n"))
    }
}
