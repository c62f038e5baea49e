import Foundation
import PeriluneTestTools
import Testing

@testable import PeriluneCLI

/// Paging of long output on a terminal with the program in `PAGER`.
@Suite(.patience, .startsPrograms) struct PagerTests {
    /// A pager that marks all text that it receives.
    private static let marking = ["PAGER": "sed 's/^/paged: /'"]
    private static let sql = "WITH RECURSIVE c(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM c WHERE n < 60) SELECT n FROM c"

    private static func run(_ arguments: [String], in folder: TestFolder, _ environment: [String: String] = marking) throws -> (
        text: String, status: Int32
    ) {
        let process = try TerminalProcess(arguments, in: folder, environment: environment)
        let status = process.wait()
        return (process.text, status)
    }

    @Test func `rows, schemas, dumps and help are paged`() throws {
        let folder = try TestFolder()
        #expect(try folder.perilune("run", "--database", "x.sqlite", "-e", "db:execute('CREATE TABLE t (a)')").status == 0)
        let rows = try Self.run(["query", Self.sql], in: folder)
        #expect(rows.status == 0 && rows.text.contains("paged: │ 60 │"), "\(rows.text)")
        #expect(try Self.run(["schema", "--database", "x.sqlite"], in: folder).text.contains("paged: CREATE TABLE t (a);"))
        #expect(try Self.run(["dump", "--database", "x.sqlite"], in: folder).text.contains("paged: COMMIT;"))
        #expect(try Self.run(["help", "db:fetch_all"], in: folder).text.contains("paged: "))
        #expect(try Self.run(["help", "run"], in: folder).text.contains("paged: OVERVIEW"))
    }

    @Test(arguments: [
        (["--no-pager"], marking), ([], ["PAGER": ""]), ([], ["PAGER": "no-such-pager"]),
        ([], ["PAGER": "sed 's/^/paged: /'", "TERM": "dumb"]),
    ])
    func `output is not paged if the pager is disabled or missing`(arguments: [String], environment: [String: String]) throws {
        let shown = try Self.run(["query"] + arguments + [Self.sql], in: TestFolder(), environment)
        #expect(shown.status == 0 && shown.text.contains("│ 60 │") && !shown.text.contains("paged: "), "\(shown.text)")
    }

    @Test func `help is not paged with --no-pager`() throws {
        let folder = try TestFolder()
        for topic in ["run", "db:fetch_all"] {
            let shown = try Self.run(["help", topic, "--no-pager"], in: folder)
            #expect(
                shown.status == 0 && !shown.text.contains("paged: ")
                    && shown.text.contains(topic == "run" ? "OVERVIEW" : "fetch_all"), "\(shown.text)")
        }
    }

    @Test func `an error follows the paged output, and piped output is not paged`() throws {
        let folder = try TestFolder()
        let shown = try Self.run(["query", "SELECT abs(-9223372036854775808)"], in: folder)
        #expect(shown.status == 1 && shown.text.contains("integer overflow"), "\(shown.text)")
        let piped = try folder.perilune("query", Self.sql, environment: Self.marking)
        #expect(piped.output.hasSuffix("{\"n\":60}\n"), "\(piped.output.suffix(40))")
    }

    @Test func `quitting the pager ends the command`() throws {
        let endless = "WITH RECURSIVE c(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM c) SELECT n FROM c"
        let shown = try Self.run(["query", "--format", "csv", endless], in: TestFolder(), ["PAGER": "head -n 3"])
        // The same status as in `perilune query | head`.
        #expect(shown.status == 128 + SIGPIPE && shown.text.hasPrefix("n\r\n"), "\(shown)")
    }
}
