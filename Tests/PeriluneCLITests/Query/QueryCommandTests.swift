import PeriluneTestTools
import Testing

@Suite(.patience, .startsPrograms) struct QueryCommandTests {
    private func shop() throws -> TestFolder {
        let folder = try TestFolder()
        let made = try folder.perilune(
            "run", "--database", "shop.sqlite", "-e",
            """
            db:execute[[
              CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price REAL, is_sold BOOLEAN);
              INSERT INTO item VALUES (1, 'cup', 2.5, TRUE), (2, NULL, 3, FALSE), (3, '', NULL, 7);
            ]]
            """)
        try #require(made.status == 0, "\(made.errors)")
        return folder
    }

    @Test func `in a pipe, rows are JSON Lines`() throws {
        let result = try shop().perilune("query", "--database", "shop.sqlite", "SELECT * FROM item")
        #expect((result.status, result.errors) == (0, ""))
        #expect(
            result.output == """
                {"id":1,"name":"cup","price":2.5,"is_sold":true}
                {"id":2,"name":null,"price":3.0,"is_sold":false}
                {"id":3,"name":"","price":null,"is_sold":7}

                """)
    }

    @Test(arguments: [
        ("csv", "id,name\n1,cup\n2,\n3,\"\"\n"),
        ("json", "[{\"id\":1,\"name\":\"cup\"},\n{\"id\":2,\"name\":null},\n{\"id\":3,\"name\":\"\"}]\n"),
        (
            "table",
            "┌────┬──────┐\n│ id │ name │\n├────┼──────┤\n│  1 │ cup  │\n│  2 │ NULL │\n│  3 │      │\n└────┴──────┘\n"
        ),
        ("markdown", "|  id | name |\n| --: | ---- |\n|   1 | cup  |\n|   2 | NULL |\n|   3 |      |\n"),
        ("line", "  id = 1\nname = cup\n\n  id = 2\nname = NULL\n\n  id = 3\nname = \n"),
    ])
    func `the output format of a query can be chosen`(format: String, output: String) throws {
        let result = try shop().perilune(
            "query", "SELECT id, name FROM item", "--database", "shop.sqlite", "--format", format)
        #expect((result.status, result.output, result.errors) == (0, output, ""))
    }

    @Test func `only columns declared BOOLEAN are printed as true or false`() throws {
        let folder = try TestFolder()
        let made = try folder.perilune(
            "run", "--database", "a.sqlite", "-e",
            "db:execute[[CREATE TABLE t (a BOOLEAN(1), b Bool, c BOOLEANS); INSERT INTO t VALUES (1, 0, 1)]]")
        try #require(made.status == 0, "\(made.errors)")
        let result = try folder.perilune("query", "--database", "a.sqlite", "SELECT * FROM t")
        #expect(result.output == "{\"a\":true,\"b\":false,\"c\":1}\n")
    }

    @Test func `query parameters are bound by name and by number`() throws {
        let folder = try shop()
        let named = try folder.perilune(
            "query", "SELECT typeof(:a) AS a, typeof(@b) AS b, typeof($c) AS c, :a AS d", "-p", "a=12", "-p",
            "b:text=12",
            "-p", "c=null")
        #expect(named.output == "{\"a\":\"integer\",\"b\":\"text\",\"c\":\"null\",\"d\":12}\n")
        let numbered = try folder.perilune("query", "SELECT ? AS a, ? AS b", "-p", "2=x", "-p", "1=true")
        #expect(numbered.output == "{\"a\":1,\"b\":\"x\"}\n")
        let gaps = try folder.perilune("query", "SELECT ?3 AS a", "-p", "3=-1.5")
        #expect(gaps.output == "{\"a\":-1.5}\n")
    }

    @Test func `wrong query parameters are wrong usage`() throws {
        let folder = try TestFolder()
        let unknown = try folder.perilune("query", "SELECT :country", "-p", "contry=x")
        #expect(unknown.status == 64)
        #expect(unknown.errors == "error: the statement has no parameter contry\n  help  did you mean `country`?\n")
        let missing = try folder.perilune("query", "SELECT :a, :b", "-p", "a=1")
        #expect(missing.errors == "error: the parameter b has no value\n  help  pass one with -p b=VALUE\n")
        #expect(try folder.perilune("query", "SELECT :a", "-p", "a=1", "-p", "a=2").status == 64)
        #expect(try folder.perilune("query", "SELECT :a", "-p", "a").status == 64)
    }

    @Test func `the query can be read from standard input`() throws {
        let result = try shop().perilune(
            "query", "-", "--database", "shop.sqlite", input: "SELECT count(*) AS n\nFROM item;\n")
        #expect((result.status, result.output) == (0, "{\"n\":3}\n"))
    }

    @Test func `a query writes a copy of the database only on request`() throws {
        let folder = try shop()
        let vacuum = "VACUUM INTO 'copy.sqlite'"
        for database in [["--database", "shop.sqlite"], []] {
            let refused = try CommandProcess(TestFolder.binary, ["query", vacuum] + database, in: folder).wait()
            #expect((refused.status, refused.output) == (1, ""))
            #expect(
                refused.errors == """
                    error: VACUUM INTO writes a file
                      SQL   VACUUM INTO 'copy.sqlite'
                      help  pass --write to let the statement write it

                    """)
        }
        #expect(!folder.exists("copy.sqlite"))
        #expect(try folder.perilune("query", "EXPLAIN \(vacuum)", "--database", "shop.sqlite").status == 0)
        // On a read-only connection, ATTACH opens only existing files.
        let attached = try folder.perilune("query", "ATTACH 'new.sqlite' AS x", "--database", "shop.sqlite")
        #expect(attached.status == 74, "\(attached.errors)")
        #expect(!folder.exists("new.sqlite") && !folder.exists("copy.sqlite"))
        #expect(try folder.perilune("query", "--write", vacuum, "--database", "shop.sqlite").status == 0)
        #expect(folder.exists("copy.sqlite"))
    }

    @Test func `a query changes the database only on request`() throws {
        let folder = try shop()
        let refused = try folder.perilune("query", "--database", "shop.sqlite", "DELETE FROM item")
        #expect((refused.status, refused.output) == (1, ""))
        #expect(refused.errors.contains("help  pass --write to let the statement change the database\n"))
        let written = try folder.perilune(
            "query", "-v", "--write", "--database", "shop.sqlite", "DELETE FROM item WHERE id > ?", "-p", "1=1")
        #expect((written.status, written.output) == (0, ""))
        #expect(written.errors == "database: shop.sqlite (--database)\n2 rows changed\n")
        let returned = try folder.perilune(
            "query", "--write", "--database", "shop.sqlite", "INSERT INTO item (name) VALUES ('x') RETURNING id")
        #expect(returned.output == "{\"id\":2}\n")
        #expect(
            try folder.perilune("query", "--database", "shop.sqlite", "SELECT count(*) AS n FROM item").output
                == "{\"n\":2}\n")
    }

    @Test func `a query requires an existing database`() throws {
        let folder = try TestFolder()
        for option in ["--write", "--verbose"] {
            let result = try folder.perilune("query", option, "--database", "none.sqlite", "SELECT 1")
            #expect((result.status, result.output) == (74, ""))
            #expect(result.errors.contains("error: cannot open the database none.sqlite: No such file or directory\n"))
        }
        #expect(!folder.exists("none.sqlite"))
    }

    @Test func `errors show their location and a suggestion`() throws {
        let folder = try shop()
        let column = try folder.perilune("query", "--database", "shop.sqlite", "SELECT id,\n  prise\nFROM item")
        #expect(column.status == 1)
        #expect(
            column.errors == """
                error: no such column: prise
                  SQL:2 prise
                        ^
                  help  did you mean `price`?  item has: id, name, price, is_sold

                """)
        let table = try folder.perilune("query", "--database", "shop.sqlite", "SELECT * FROM itm")
        #expect(table.errors.contains("help  did you mean `item`?  tables: item\n"))
        let function = try folder.perilune("query", "SELECT lenght('x')")
        #expect(function.errors.contains("help  did you mean `length`?\n"))
        let empty = try folder.perilune("query", "SELECT * FROM item")
        #expect(
            empty.errors.contains(
                "help  the database is empty and in memory; use --database PATH to open a file\n"))
    }

    @Test func `errors of a query show bound values only on request`() throws {
        let folder = try TestFolder()
        let arguments = ["query", "SELECT abs(:a), json(:b)", "-p", "a=1", "-p", "b={secret"]
        let quiet = try CommandProcess(TestFolder.binary, arguments, in: folder).wait()
        #expect(quiet.status == 1 && !quiet.errors.contains("secret"))
        let verbose = try CommandProcess(TestFolder.binary, arguments + ["-v"], in: folder).wait()
        #expect(verbose.errors.contains("  args  a = 1, b = {secret\n"))
    }

    @Test(arguments: ["", ";", "-- nothing", "SELECT 1; SELECT 2", "SELECT 1; DROP TABLE item"])
    func `exactly one statement is expected`(sql: String) throws {
        let result = try TestFolder().perilune("query", sql)
        #expect((result.status, result.output) == (1, ""))
        #expect(result.errors.hasPrefix("error: expected one SQL statement"))
    }

    @Test(arguments: [
        "BEGIN", "SAVEPOINT s", "COMMIT", "PRAGMA foreign_keys = 0", "EXPLAIN QUERY PLAN SELECT 1", "VACUUM",
        "ROLLBACK",
        "ATTACH ':memory:' AS x", "DETACH main", "PRAGMA journal_mode = WAL", "REINDEX", "ANALYZE",
    ])
    func `a query of any kind ends the process cleanly`(sql: String) throws {
        for write in [[], ["--write"]] {
            let result = try CommandProcess(
                TestFolder.binary, ["query", sql, "--database", "shop.sqlite"] + write, in: shop()
            ).wait()
            #expect([0, 1].contains(result.status), "\(result.errors)")
        }
    }

    @Test func `a transaction that a query begins is rolled back, and a note reports this`() throws {
        for sql in ["BEGIN", "SAVEPOINT s"] {
            let result = try TestFolder().perilune("query", "--write", sql)
            #expect(result.status == 0)
            #expect(result.errors == "the transaction was rolled back, because query runs only one statement\n")
        }
        #expect(try TestFolder().perilune("query", "--write", "CREATE TABLE t (a)").errors == "")
    }

    @Test func `a query may begin with a comment`() throws {
        let result = try TestFolder().perilune("query", "--format", "csv", "-v", "-- why\nSELECT 1 AS a", "--write")
        #expect((result.status, result.output) == (0, "a\n1\n"))
    }

    @Test func `a NUL byte in the query is refused`() throws {
        let result = try TestFolder().perilune("query", "-", input: "SELECT 1\0 + 1")
        #expect((result.status, result.output) == (1, ""))
        #expect(result.errors == "error: the SQL contains a NUL character\n")
    }

    @Test func `Ctrl-C ends a query`() throws {
        let folder = try TestFolder()
        // The query prints some rows and then runs forever.
        let sql = """
            WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c WHERE n <= 20000
            """
        let process = try CommandProcess(TestFolder.binary, ["query", sql], in: folder, isOutputRead: true)
        #expect(try process.readLine() == "{\"n\":1}")
        process.interrupt()
        let result = try process.wait()
        #expect(result.status == 130)
        #expect(result.errors.hasPrefix("error: interrupted\n"))
    }

    @Test func `a query ends quietly when its reader closes the pipe`() throws {
        let sql = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c"
        let result = try TestFolder().shell("$PERILUNE query '\(sql)' --format csv | head -n 3")
        #expect((result.output, result.errors) == ("n\n1\n2\n", ""))
    }
}
