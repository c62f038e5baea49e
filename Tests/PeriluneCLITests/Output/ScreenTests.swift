import Foundation
import PeriluneTestTools
import Testing

@testable import PeriluneCLI

/// The output of the console, previews and the test runner on terminals of several widths, with colors and wide characters. Lines
/// must fit, and escape sequences must not appear as text.
@Suite(.patience, .startsPrograms) struct ScreenTests {
    private static let widths: [UInt16] = [60, 80, 140]

    private static let scenarios = [
        "scenarios/wide_scenario.lua": """
        scenario("日本語 is kept", function(t)
          t.db:execute("CREATE TABLE task (id INTEGER PRIMARY KEY, title TEXT, done BOOLEAN)")
          t.db:execute("INSERT INTO task VALUES (1, '日本語 drink', 1), (2, 'eat', 0), (3, '🍎 buy', 0)")
          expect(t.db:fetch_all("SELECT * FROM task ORDER BY id")):rows[[
            | id | title        | done  |
            | 1  | 日本語 drink | true  |
            | 2  | 日本語 eat   | false |
            | 3  | buy          | false |
          ]]
        end)
        scenario("an error names the statement", function(t)
          t.db:fetch_all("SELECT 1 AS one, 2 AS two, 3 AS three, 4 AS four, 5 AS five, 6 AS six, 7 AS seven, 8 AS eight")
          print("日本語")
          check("日本語" == "日本")
        end)
        scenario("it passes", function() check(true) end)
        scenario("it is left out", { skip = "later" }, function() end)
        """
    ]

    private static let statements = [
        ":help", ":help keys", ":help sql", "SELECT '日本語' AS name, 1.5 AS number, NULL AS nothing, x'00ff' AS bytes",
        "SELECT * FROM author, book", "Author", "Book:filter{ author_id = 1 }", "{ 1, '日本語', three = { 3 } }", "error('日本語', 0)",
        "SELECT titel FROM book", "Book:find(1):fetch_all()", ":schema", ":models", ":plan SELECT * FROM book", ":chnges",
        ":preview", "UPDATE book SET title = '日本語' WHERE id = 1", "INSERT INTO author VALUES (3, 'ア', NULL)", ":changes",
        ":discard", ":live", "BEGIN",
        "ROLLBACK", ":chart SELECT name, id FROM author", ":help db:fetch_value",
    ]

    @Test(arguments: widths) func `the console fits the width of the terminal`(_ width: UInt16) throws {
        let folder = try ConsoleProcess.makeFolder()
        let process = try TerminalProcess(["console", "--color", "always", "library.sqlite"], in: folder, columns: width)
        for statement in Self.statements { process.press(statement + "\r") }
        process.press("\u{4}")
        _ = process.wait()
        // The line editor draws typed lines; the terminal echoes lines that are typed before the prompt.
        let lines = process.text.components(separatedBy: "\r\n").filter { line in
            !line.contains("\u{1B}[K") && !line.contains("\u{1B}[?2004") && !Self.statements.contains { line.hasSuffix($0) }
        }
        check(lines, width)
    }

    @Test(arguments: widths) func `failure reports are colored and escape control characters in values`(_ width: UInt16) throws {
        for report in ["pretty", "dots", "tap"] {
            let folder = try TestFolder(Self.scenarios)
            let process = try TerminalProcess(
                ["test", "--color", "always", "--seed", "7f3a", "--order", "file", "--report", report, "--jobs", "1"], in: folder,
                columns: width)
            _ = process.wait()
            check(process.text.components(separatedBy: "\r\n"), nil)
            #expect(report == "tap" || process.text.contains("\u{1B}[31m"), "\(report)")
        }
    }

    @Test(arguments: widths) func `previews fit the width of the terminal and show each change`(_ width: UInt16) throws {
        let columns = (1...13).map { "column_\($0) TEXT DEFAULT 'value \($0)'" }.joined(separator: ", ")
        let folder = try TestFolder()
        _ = try folder.perilune(
            "run", "--database", "wide.sqlite", "-e",
            "db:execute[[CREATE TABLE wide (id INTEGER PRIMARY KEY, \(columns)); INSERT INTO wide (id) VALUES (1), (2)]]")
        let process = try TerminalProcess(
            [
                "run", "--color", "always", "--database", "wide.sqlite", "--preview", "-e",
                "db:execute(\"UPDATE wide SET column_9 = '日本語'\")",
            ], in: folder,
            columns: width)
        _ = process.wait()
        check(process.text.components(separatedBy: "\r\n"), width)
        #expect(process.text.contains("value 9 → 日本語"), "\(process.text)")
    }

    @Test(arguments: widths) func `charts and the findings of doctor fill the terminal, even through a pager`(_ width: UInt16)
        throws
    {
        let folder = try TestFolder()
        _ = try folder.perilune("run", "--database", "a.sqlite", "-e", "db:execute'CREATE TABLE t (a)'")
        let line = ["chart", "SELECT 1, 1 UNION SELECT 900, 3"], bar = ["chart", "SELECT '日本語', 3 UNION SELECT 'b', -7"]
        for arguments in [line, bar, ["doctor", "--database", "a.sqlite"]] {
            let process = try TerminalProcess(arguments + ["--color", "always"], in: folder, columns: width)
            _ = process.wait()
            let lines = process.text.components(separatedBy: "\r\n")
            check(lines, width)
            if arguments == line { #expect(lines.contains { $0.count >= Int(width) - 8 }, "\(process.text)") }
        }
    }

    private func check(_ lines: [String], _ width: UInt16?) {
        for line in lines {
            let plain = line.replacing(/\u{1B}\[[0-9;?]*[a-zA-Z]/, with: "").replacing("\r", with: "")
            if let width { #expect(DisplayWidth.of(plain) <= Int(width) || !plain.trimmed.contains(" "), "\(plain)") }
            #expect(!plain.contains("\\u{1b}") && !plain.contains("\\x1B"), "\(plain)")
        }
    }
}

/// The width of text on a terminal.
private enum DisplayWidth {
    static func of(_ text: String) -> Int {
        text.reduce(0) { width, character in
            let scalar = character.unicodeScalars.first!.value
            let isWide =
                (0x1100...0x115F).contains(scalar) || (0x2E80...0xA4CF).contains(scalar) || (0xAC00...0xD7A3).contains(scalar)
                || (0xFF00...0xFF60).contains(scalar) || (0x1F300...0x1FAFF).contains(scalar)
            return width + (isWide ? 2 : 1)
        }
    }
}
