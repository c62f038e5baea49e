import Foundation
import PeriluneScenarios
import Testing

/// The report as an HTML page.
@Suite struct HTMLReportTests {
    private static func page(_ files: [String: String]) async throws -> String {
        let project = try ScenarioProject(files)
        return try await project.run(.html) { $0.keepsDetails = true }[.html]
    }

    @Test func `the HTML report shows scenarios with steps, statements, changed rows, and expected and actual values`()
        async throws
    {
        let page = try await Self.page([
            "scenarios/shop_scenario.lua": """
            scenario("rows <differ>", function(t)
              t.db:execute("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)")
              t.step("fill", function() t.db:execute("INSERT INTO item VALUES (1, ?)", "<b>&") end)
              print("seen & printed")
              expect(t.db:fetch_all("SELECT id, name FROM item WHERE id = 1")):rows [[
                | id | name  |
                | 1  | other |
              ]]
            end)
            scenario("a row is missing", function(t)
              t.db:execute("CREATE TABLE item (id INTEGER)")
              expect(t.db:fetch_all("SELECT id FROM item")):rows [[
                | id |
                | 7  |
              ]]
            end)
            scenario("all is well", { tags = { "quick" } }, function(t) check(1 == 1) end)
            scenario.skip("it waits", "later", function(t) end)
            """
        ])
        #expect(page.contains("<title>2 of 4 scenarios failed</title>"), "\(page)")
        #expect(page.contains("rows &lt;differ&gt;") && !page.contains("rows <differ>"))
        #expect(page.contains("<li>fill <span"), "\(page)")
        #expect(
            page.contains("INSERT INTO item VALUES (1, ?)") && page.contains("SEARCH item USING INTEGER PRIMARY KEY"), "\(page)")
        #expect(page.contains("<mark>! 1   &lt;b&gt;&amp;") && page.contains("<ins>+ 7"), "\(page)")
        #expect(page.contains("seen &amp; printed") && page.contains("tags: quick"))
        #expect(page.contains("data-kind=\"failed\" aria-pressed=\"true\" class=\"failed\">failed <b>2</b>"))
        #expect(page.contains("perilune test scenarios/shop_scenario.lua:1 --seed "))
    }

    @Test func `the HTML report marks changed rows`() async throws {
        let page = try await Self.page([
            "migrations/1.sql":
                "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO item VALUES (1, 'old'), (2, 'gone');",
            "scenarios/shop_scenario.lua": """
            scenario("changes", function(t)
              t.db:execute("UPDATE item SET name = 'new' WHERE id = 1")
              t.db:execute("DELETE FROM item WHERE id = 2")
              t.db:execute("INSERT INTO item VALUES (3, NULL)")
              check(true)
            end)
            """,
        ])
        #expect(page.contains("<td class=\"changed\"><del>old</del> <ins>new</ins></td>"), "\(page)")
        #expect(
            page.contains("<tr class=\"delete\">") && page.contains("<tr class=\"insert\">")
                && page.contains("<span class=\"dim\">NULL</span>"))
    }

    @Test func `the HTML report is self-contained, and its contents cannot run as scripts`() async throws {
        let page = try await Self.page([
            "scenarios/bad_scenario.lua": """
            scenario("</script><script>alert(1)</script>", function(t)
              print("<img src=x onerror=alert(1)>\\27[31m")
              t.note("\\" onmouseover=alert(1)")
              error("</pre><script>alert(2)</script>")
            end)
            """
        ])
        #expect(page.components(separatedBy: "<script>").count == 2 && !page.contains("<img") && !page.contains("\u{1B}"))
        #expect(!page.contains("\" onmouseover"))
        for outside in ["http://", "https://", "src=\"", "href=\"", "url(", "@import"] {
            #expect(!page.contains(outside), "\(outside)")
        }
        #expect(page.contains("default-src 'none'"))
    }

    @Test func `a path that ends in html selects the HTML report`() {
        #expect(ReportSet.Request("out/Report.html") == .init(.html, path: "out/Report.html"))
        #expect(ReportSet.Request("html:x") == .init(.html, path: "x"))
        #expect(ReportSet.Request("junit:x.html") == .init(.junit, path: "x.html"))
        #expect(ReportSet.Request("junit:-") == .init(.junit) && ReportSet.Request("tap:/dev/stdout") == .init(.tap))
        #expect(ReportSet.Request("report.htm") == nil)
    }
}
