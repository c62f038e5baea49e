import Foundation
import PeriluneTestTools
import Testing

@testable import PeriluneCLI

@Suite(.patience, .startsPrograms) struct PreviewCommandTests {
    /// A folder with a database and a script that changes it.
    private func makeFolder() throws -> TestFolder {
        let folder = try TestFolder([
            "make.lua": """
            db:execute[[
              CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, pages INTEGER);
              INSERT INTO book VALUES (1, 'Typee', 326), (2, 'Omoo', 322), (3, 'Mardi', NULL);
            ]]
            """,
            "change.lua": """
            print("working")
            db:execute("UPDATE book SET pages = 400 WHERE id = 3")
            db:execute("DELETE FROM book WHERE id = 1")
            db:execute("INSERT INTO book (title) VALUES ('Redburn')")
            """,
        ])
        let made = try folder.perilune("run", "make.lua", "--database", "shop.sqlite")
        try #require(made.status == 0)
        return folder
    }

    private func bytes(_ folder: TestFolder, _ name: String = "shop.sqlite") throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: folder.path + "/" + name))
    }

    private func titles(_ folder: TestFolder) throws -> String {
        try folder.perilune("query", "--database", "shop.sqlite", "SELECT group_concat(title) AS t FROM book").output
    }

    // MARK: - Reports

    @Test func `a preview is written as an HTML page with changed rows, statements and query plans`() throws {
        let folder = try makeFolder()
        let result = try folder.perilune("run", "change.lua", "--database", "shop.sqlite", "--preview", "--report", "out.html")
        #expect(result.status == 0 && result.output.contains("Would change in shop.sqlite"), "\(result.errors)")
        let page = try String(contentsOfFile: folder.path + "/out.html", encoding: .utf8)
        #expect(page.contains("<title>change.lua would change shop.sqlite</title>"), "\(page)")
        #expect(page.contains("1 row inserted, 1 updated, 1 deleted"))
        #expect(page.contains("<td class=\"changed\"><del><span class=\"dim\">NULL</span></del> <ins>400</ins></td>"), "\(page)")
        #expect(
            page.contains("UPDATE book SET pages = 400 WHERE id = 3") && page.contains("SEARCH book USING INTEGER PRIMARY KEY"))
        try folder.write("db:execute('DELETE FROM book') error('no </script> more')", to: "fail.lua")
        #expect(
            try folder.perilune("run", "fail.lua", "--database", "shop.sqlite", "--preview", "--report", "out.html").status == 1)
        let failed = try String(contentsOfFile: folder.path + "/out.html", encoding: .utf8)
        #expect(failed.contains("<title>fail.lua failed</title>") && failed.contains("no &lt;/script&gt; more"), "\(failed)")
        #expect(try folder.perilune("run", "change.lua", "--report", "out.html").errors.contains("--report requires --preview"))
        #expect(try folder.perilune("run", "change.lua", "--preview", "--report", "out.txt").status == 64)
    }

    @Test func `a preview shows rows before and after, and changes nothing`() throws {
        let folder = try makeFolder()
        let before = try bytes(folder)
        let result = try folder.perilune("run", "change.lua", "--database", "shop.sqlite", "--preview")
        #expect(result.status == 0)
        #expect(result.errors == "")
        #expect(
            result.output == """
                working
                Would change in shop.sqlite: 1 row inserted, 1 updated, 1 deleted

                book  +1 ~1 -1
                  ┌───┬────┬────────────┬─────────┐
                  │   │ id │      pages │ title   │
                  ├───┼────┼────────────┼─────────┤
                  │ - │  1 │        326 │ Typee   │
                  │ ~ │  3 │ NULL → 400 │ Mardi   │
                  │ + │  4 │       NULL │ Redburn │
                  └───┴────┴────────────┴─────────┘

                """)
        #expect(try bytes(folder) == before)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("shop.sqlite") }
                .count == 1)
    }

    @Test func `a colored preview marks added, removed and changed values`() throws {
        let folder = try makeFolder()
        let result = try folder.perilune(
            "run", "change.lua", "--database", "shop.sqlite", "--preview", "--color", "always")
        #expect(result.output.contains("\u{1B}[1;31m-\u{1B}[0m"))
        #expect(result.output.contains("\u{1B}[36mNULL → 400\u{1B}[0m"))
        #expect(result.output.contains("\u{1B}[32mRedburn\u{1B}[0m"))
    }

    @Test func `schema changes and tables without a key are shown`() throws {
        let folder = try makeFolder()
        let result = try folder.perilune(
            "run", "--database", "shop.sqlite", "--preview", "--rows", "1", "-e",
            """
            db:execute[[
              CREATE TABLE log (at, what); INSERT INTO log VALUES (1, 'a'), (2, 'b');
              CREATE INDEX by_title ON book (title);
              ALTER TABLE book ADD COLUMN isbn TEXT;
            ]]
            """)
        #expect(result.status == 0)
        #expect(
            result.output == """
                Would change in shop.sqlite: 2 rows inserted, 3 objects of the schema

                log  +2
                  ┌───┬────┬──────┐
                  │   │ at │ what │
                  ├───┼────┼──────┤
                  │ + │  1 │ a    │
                  └───┴────┴──────┘
                  and 1 row more

                schema
                  ~ table book
                      - CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, pages INTEGER)
                      + CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, pages INTEGER, isbn TEXT)
                  + table log
                  + index by_title on book

                note: log cannot be part of a plan: it has no PRIMARY KEY

                """)
    }

    @Test func `a preview report can be JSON, which is then the only standard output`() throws {
        let folder = try makeFolder()
        let result = try folder.perilune(
            "run", "change.lua", "--database", "shop.sqlite", "--preview", "--format", "json")
        #expect((result.status, result.errors) == (0, "working\n"))
        let report = try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        let tables = try #require(report["tables"] as? [[String: Any]])
        #expect(tables.map { $0["name"] as? String } == ["book"])
        #expect(tables[0]["updated"] as? Int == 1)
        #expect(report["version"] as? Int == 1)
    }

    @Test func `a preview shows differing long values`() throws {
        let folder = try makeFolder()
        let result = try folder.perilune(
            "run", "--database", "shop.sqlite", "--preview", "-e",
            "db:execute('UPDATE book SET title = ? WHERE id = 1', ('x'):rep(100) .. 'y')", "-e", "")
        #expect(result.output.contains("Typee → " + String(repeating: "x", count: 39) + "…"))

    }

    @Test(arguments: [
        ("('x'):rep(100) .. 'y'", "('x'):rep(100) .. 'z'", "…xxxxxxxxxxy → …xxxxxxxxxxz "),
        (
            "('é'):rep(100000) .. 'y'", "('é'):rep(100000) .. 'z' .. ('a'):rep(10000000)",
            "…ééééééééééy → …ééééééééééz" + String(repeating: "a", count: 28) + "… "
        ),
        ("('é'):rep(1001)", "('é'):rep(1000) .. 'è'", "…ééééééééééé → …ééééééééééè "),
        ("perilune.blob(('x'):rep(5000) .. '\\0')", "perilune.blob(('x'):rep(5000))", "…787878787800' → …7878787878' "),
    ])
    func `a preview shows a long value from its first difference`(old: String, new: String, shown: String) throws {
        let folder = try makeFolder()
        let change = "db:execute('UPDATE book SET title = ? WHERE id = 1', "
        #expect(try folder.perilune("run", "--database", "shop.sqlite", "-e", change + old + ")").status == 0)
        let result = try folder.perilune("run", "--database", "shop.sqlite", "--preview", "-e", change + new + ")")
        #expect(result.output.contains(shown), "\(result.output)")
    }

    @Test func `with --check, the exit status reports whether anything would change`() throws {
        let folder = try makeFolder()
        let changing = try folder.perilune("run", "change.lua", "--database", "shop.sqlite", "--preview", "--check")
        #expect(changing.status == 2)
        let idle = try folder.perilune(
            "run", "--database", "shop.sqlite", "--preview", "--check", "-e", "local books = db:fetch_all('SELECT * FROM book')")
        #expect((idle.status, idle.output) == (0, "Would change in shop.sqlite: nothing\n"))
    }

    @Test func `a failed script is reported with its changes until then`() throws {
        let folder = try makeFolder()
        let before = try bytes(folder)
        let result = try folder.perilune(
            "run", "--database", "shop.sqlite", "--preview", "--save", "x.plan", "-e",
            "db:execute('DELETE FROM book WHERE id = 1') error('stop')")
        #expect(result.status == 1)
        #expect(
            result.output.hasPrefix("Before it failed, the script would have changed in shop.sqlite: 1 row deleted\n"))
        #expect(result.errors.hasPrefix("error: stop\n"))
        #expect(try bytes(folder) == before)
        #expect(!folder.exists("x.plan"))
    }

    @Test func `a preview keeps the exit status of its script`() throws {
        let folder = try makeFolder()
        let result = try folder.perilune("run", "--database", "shop.sqlite", "--preview", "--check", "-e", "os.exit(7)")
        #expect((result.status, result.output) == (7, "Would change in shop.sqlite: nothing\n"))
    }

    @Test func `a missing database is not created`() throws {
        let folder = try TestFolder()
        let result = try folder.perilune(
            "run", "--database", "new.sqlite", "--preview", "--create", "-e", "db:execute('CREATE TABLE t (a)')")
        #expect(result.output == "Would change in new.sqlite: 1 object of the schema\n\nschema\n  + table t\n")
        #expect(!folder.exists("new.sqlite"))
    }

    @Test func `a preview refuses effects outside the database with advice`() throws {
        let folder = try makeFolder()
        let written = try folder.perilune("run", "--preview", "-e", "io.open('x.txt', 'w')")
        #expect(written.status == 1)
        #expect(written.errors.hasPrefix("error: io.open: a preview cannot change files\n"))
        #expect(written.errors.contains("  help  use --allow-effects to perform it\n"))
        #expect(!folder.exists("x.txt"))
        let allowed = try folder.perilune("run", "--preview", "--allow-effects", "-e", "io.open('x.txt', 'w'):close()")
        #expect(allowed.status == 0)
        #expect(folder.exists("x.txt"))
        let attached = try folder.perilune("run", "--preview", "-e", "db:execute([[ATTACH 'shop.sqlite' AS s]])")
        #expect(attached.errors.contains("help  run it without --preview\n"))
    }

    @Test func `preview options need a preview`() throws {
        for options in [["--save", "x"], ["--check"], ["--format", "json"], ["--rows", "3"], ["--allow-effects"]] {
            let result = try CommandProcess(TestFolder.binary, ["run"] + options + ["-e", ""], in: TestFolder()).wait()
            #expect(result.status == 64)
            #expect(result.errors.contains("\(options[0]) requires --preview"))
        }
        #expect(try TestFolder().perilune("run", "--preview", "--readonly", "-e", "").status == 64)
        #expect(try TestFolder().perilune("run", "--preview", "--rows", "-1", "-e", "").status == 64)
    }

    @Test func `Ctrl-C ends a preview, which still reports`() throws {
        let folder = try makeFolder()
        let process = try CommandProcess(
            TestFolder.binary,
            [
                "run", "--database", "shop.sqlite", "--preview", "-e",
                "db:execute('DELETE FROM book') print('ready') io.stdout:flush() while true do os.time() end",
            ],
            in: folder, isOutputRead: true)
        #expect(try process.readLine() == "ready")
        process.interrupt()
        let result = try process.wait()
        #expect(result.status == 130)
        #expect(
            result.output.hasPrefix("Before it failed, the script would have changed in shop.sqlite: 3 rows deleted\n"))
    }

    @Test func `the time limit of a preview covers the comparison`() throws {
        let folder = try TestFolder(["temporary/x": ""])
        let making = """
            db:execute[[
              CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE);
              WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 50000) INSERT INTO t SELECT i, i FROM n;
            ]]
            """
        #expect(try folder.perilune("run", "--database", "slow.sqlite", "-e", making).status == 0)
        // The changes conflict in a chain: each row must be changed after the next one, which SQLite finds by retrying.
        let result = try folder.perilune(
            "run", "--database", "slow.sqlite", "--preview", "--timeout", "1s", "-e",
            "db:execute('UPDATE t SET a = -a; UPDATE t SET a = -a - 1')",
            environment: ["TMPDIR": folder.path + "/temporary"])
        #expect(result.status == 5)
        #expect(result.errors.contains("the script ran longer than its limit of 1.0 seconds"), "\(result.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/temporary") == ["x"])
    }

    @Test(arguments: ["", "error('stop')", "os.exit(3)"])
    func `temporary copies of a preview are removed`(ending: String) throws {
        let folder = try TestFolder(["temporary/x": ""])
        let making = "db:execute('CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(70000000))')"
        #expect(try folder.perilune("run", "--database", "large.sqlite", "-e", making).status == 0)
        let environment = ["TMPDIR": folder.path + "/temporary"]
        let result = try folder.perilune(
            "run", "--database", "large.sqlite", "--preview", "-e", "print(db:path()) db:execute('DELETE FROM t') \(ending)",
            environment: environment)
        #expect(result.output.contains("/temporary/perilune-"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/temporary") == ["x"])
    }

    // MARK: - Plans

    @Test func `a plan is applied exactly once and can be undone`() throws {
        let folder = try makeFolder()
        let saved = try folder.perilune(
            "run", "change.lua", "--database", "shop.sqlite", "--preview", "--save", "x.plan")
        #expect(saved.status == 0)
        #expect(saved.errors == "saved to x.plan; use `perilune apply x.plan` to apply these changes\n")
        #expect(try titles(folder) == "{\"t\":\"Typee,Omoo,Mardi\"}\n")
        let applied = try folder.perilune("apply", "x.plan", "--database", "shop.sqlite", "--yes")
        #expect((applied.status, applied.output) == (0, ""))
        #expect(applied.errors == "applied to shop.sqlite: book +1 ~1 -1\n")
        #expect(try titles(folder) == "{\"t\":\"Omoo,Mardi,Redburn\"}\n")
        let again = try folder.perilune("apply", "x.plan", "--yes")
        #expect(again.status == 1)
        #expect(again.errors.hasPrefix("error: conflict: the row of book with id = "))
        #expect(again.errors.contains("; the plan has been applied already\n"), "\(again.errors)")
        #expect(again.errors.contains("  help  nothing was applied; "))
        let undone = try folder.perilune("apply", "x.plan", "--undo", "-y")
        #expect(undone.status == 0)
        // The rows do not have the values of the plan any more.
        let conflict = try folder.perilune("apply", "x.plan", "--undo", "-y")
        #expect(conflict.status == 1 && !conflict.errors.contains("since the plan was made"), "\(conflict.errors)")
        #expect(conflict.errors.contains("  help  nothing was reverted; "), "\(conflict.errors)")
        #expect(try titles(folder) == "{\"t\":\"Typee,Omoo,Mardi\"}\n")
    }

    @Test func `undoing a plan reports the changes that it makes`() throws {
        let folder = try makeFolder()
        _ = try folder.perilune(
            "run", "--database", "shop.sqlite", "--preview", "--save", "x.plan", "-e",
            "db:execute('DELETE FROM book WHERE rowid = (SELECT min(rowid) FROM book)')")
        #expect(try folder.perilune("apply", "x.plan", "-y").errors.hasSuffix("/shop.sqlite: book -1\n"))
        #expect(try folder.perilune("apply", "x.plan", "--undo", "-y").errors.hasSuffix("/shop.sqlite: book +1\n"))
    }

    @Test func `without a terminal, a plan is not applied without --yes`() throws {
        let folder = try makeFolder()
        _ = try folder.perilune("run", "change.lua", "--database", "shop.sqlite", "--preview", "--save", "x.plan")
        let before = try bytes(folder)
        let result = try folder.perilune("apply", "x.plan", input: "y\n")
        #expect(result.status == 64)
        #expect(
            result.errors == """
                error: cannot ask for confirmation without a terminal
                  help  use --yes to apply the plan without asking

                """)
        #expect(try bytes(folder) == before)
    }

    @Test func `changes that a plan cannot hold are shown and not saved`() throws {
        let folder = try makeFolder()
        let result = try folder.perilune(
            "run", "--database", "shop.sqlite", "--preview", "--save", "x.plan", "-e",
            "db:execute('CREATE TABLE t (a)')")
        #expect(result.status == 1)
        #expect(result.output.contains("+ table t"))
        #expect(
            result.errors == """
                error: no plan was saved: the schema would change, and a plan holds only row changes
                  help  run the script itself, without --preview

                """)
        #expect(!folder.exists("x.plan"))
    }

    @Test func `the first use of job queues is not reported as a change of the schema, and help shows how to create them`() throws
    {
        let folder = try makeFolder()
        let preview = [
            "run", "--database", "shop.sqlite", "--preview", "--save", "x.plan", "-e",
            "db:execute('DELETE FROM book WHERE id = 1') perilune.jobs('x'):enqueue(1, { key = 'a', unique_for = '2 days' })",
        ]
        let refused = try CommandProcess(TestFolder.binary, preview, in: folder).wait()
        #expect(refused.status == 1)
        #expect(
            refused.errors == """
                error: no plan was saved: perilune_job, perilune_job_queue would be created for Perilune itself, and a plan holds \
                only row changes
                  help  create them once, with `perilune run -e 'perilune.jobs("NAME")'` on this database, and preview again

                """)
        _ = try folder.perilune("run", "--database", "shop.sqlite", "-e", "perilune.jobs('NAME')")
        let saved = try CommandProcess(TestFolder.binary, preview, in: folder).wait()
        #expect(saved.status == 0 && folder.exists("x.plan"), "\(saved.errors)")
    }

    @Test func `the JSON report of a failed script has a warning`() throws {
        let folder = try makeFolder()
        let result = try folder.perilune(
            "run", "--database", "shop.sqlite", "--preview", "--format", "json", "-e",
            "db:execute('DELETE FROM book WHERE id = 1') error('stop')")
        #expect(result.status == 1)
        #expect(
            result.output.contains("\"warnings\":[\"the script failed; these are its changes until then\"]"), "\(result.output)")
    }

    @Test func `invalid plan files and missing databases are errors`() throws {
        let folder = try makeFolder()
        try folder.write("{}", to: "bad.plan")
        let bad = try folder.perilune("apply", "bad.plan", "--yes")
        #expect((bad.status, bad.errors) == (65, "error: bad.plan is not a plan file\n"))
        let none = try folder.perilune("apply", "none.plan", "--yes")
        #expect(
            (none.status, none.errors) == (74, "error: cannot read the plan none.plan: No such file or directory\n"))
        _ = try folder.perilune("run", "change.lua", "--database", "shop.sqlite", "--preview", "--save", "x.plan")
        let lost = try folder.perilune("apply", "x.plan", "--database", "lost.sqlite", "--yes")
        #expect(
            (lost.status, lost.errors) == (
                74, "error: cannot open the database lost.sqlite: No such file or directory\n"
            ))
        #expect(!folder.exists("lost.sqlite"))
        let unwritable = try folder.perilune(
            "run", "--database", "shop.sqlite", "--preview", "--save", "no/x.plan", "-e", "")
        #expect(unwritable.status == 74)
        #expect(unwritable.errors == "error: cannot write the plan no/x.plan: No such file or directory\n")
        let before = try bytes(folder)
        let mistaken = try folder.perilune("run", "change.lua", "--database", "shop.sqlite", "--preview", "--save", "shop.sqlite")
        #expect(mistaken.status == 74)
        #expect(mistaken.output == "", "it is said before the script runs")
        #expect(mistaken.errors.contains("it is not a plan file"))
        #expect(try bytes(folder) == before)
    }

    // MARK: - Trace

    @Test func `a profile shows the duration of each statement`() throws {
        let folder = try TestFolder()
        let result = try folder.perilune("run", "--trace", "profile", "-e", "db:fetch_value('SELECT ?', 'secret')")
        #expect(result.errors.contains(#/^sql: \d+\.\d\d ms  SELECT \?\n$/#))
        let valued = try folder.perilune(
            "run", "--trace=profile", "--trace-values", "-e", "db:fetch_value('SELECT ?', 'secret')")
        #expect(valued.errors.contains("SELECT 'secret'"))
    }

    @Test func `the option --trace accepts an optional detail, before and after the file`() throws {
        let folder = try TestFolder(["a.lua": "db:fetch_value('SELECT 1') print(...)"])
        for arguments in [
            ["--trace", "a.lua", "x"], ["a.lua", "--trace", "--", "x"], ["a.lua", "--trace", "statements", "x"],
        ] {
            let result = try CommandProcess(TestFolder.binary, ["run"] + arguments, in: folder).wait()
            #expect((result.output, result.errors) == ("x\n", "sql: SELECT 1\n"), "\(arguments)")
        }
        #expect(try folder.perilune("run", "a.lua", "--", "x", "--trace").output == "x\t--trace\n")
    }

    @Test func `the trace of a preview has only the script's statements`() throws {
        let folder = try makeFolder()
        let result = try folder.perilune(
            "run", "--database", "shop.sqlite", "--preview", "--trace", "-e", "db:execute('DELETE FROM book WHERE id = ?', 1)")
        #expect(result.errors == "sql: DELETE FROM book WHERE id = ?\n")
        #expect(result.output.contains("book  -1"))
    }

    @Test func `slow statements are reported with their plans`() throws {
        let folder = try TestFolder([
            "a.lua": """
            db:execute("CREATE TABLE t (a)")
            local slow = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT ?) SELECT MAX(n) FROM c, t"
            db:fetch_value("SELECT 1")
            db:execute("INSERT INTO t VALUES (1)")
            db:fetch_value(slow, 5000000)
            """
        ])
        let result = try folder.perilune("run", "a.lua", "--slow", "200ms")
        #expect(result.status == 0)
        #expect(result.errors.hasPrefix("slow: "))
        #expect(result.errors.contains("  SQL   WITH RECURSIVE"))
        #expect(result.errors.contains("  plan  "))
        #expect(result.errors.contains("SCAN c\n"))
        #expect(!result.errors.contains("INSERT"))
    }

    @Test func `durations are formatted with suitable units`() {
        #expect(TimeText.text(.microseconds(1)) == "0.00 ms")
        #expect(TimeText.text(.microseconds(1234)) == "1.23 ms")
        #expect(TimeText.text(.milliseconds(12.34)) == "12.3 ms")
        #expect(TimeText.text(.milliseconds(999)) == "999 ms")
        #expect(TimeText.text(.milliseconds(1500)) == "1.50 s")
        #expect(TimeText.text(.seconds(75)) == "75.0 s")
    }
}
