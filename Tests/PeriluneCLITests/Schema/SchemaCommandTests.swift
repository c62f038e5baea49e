import Foundation
import GRDB
import PeriluneTestTools
import Testing

@Suite(.patience, .startsPrograms) struct SchemaCommandTests {
    private static let sql = """
        CREATE TABLE author (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, born TEXT DEFAULT 'never');
        CREATE TABLE book (
          id INTEGER PRIMARY KEY, title TEXT CHECK (title <> ''), author_id INTEGER NOT NULL REFERENCES author(id) ON DELETE CASCADE);
        CREATE TABLE tag (book_id INTEGER REFERENCES book, word TEXT, PRIMARY KEY (book_id, word)) WITHOUT ROWID;
        CREATE INDEX book_by_author ON book(author_id);
        CREATE VIEW titles AS SELECT title FROM book;
        CREATE TRIGGER keep BEFORE DELETE ON author BEGIN SELECT raise(ABORT, 'no; never'); END;
        """

    private func makeFolder() throws -> TestFolder {
        let folder = try TestFolder(["schema.sql": Self.sql])
        let made = try folder.perilune("run", "--database", "x.sqlite", "-e", "db:execute[[\(Self.sql)]]")
        try #require(made.status == 0, "\(made.errors)")
        return folder
    }

    @Test func `the printed SQL recreates the schema`() throws {
        let folder = try makeFolder()
        let result = try folder.perilune("schema", "--database", "x.sqlite", "--output", "out.sql")
        try #require(result.status == 0, "\(result.errors)")
        let again = try folder.shell(
            "\"$PERILUNE\" run --database y.sqlite -e 'db:execute(io.open(\"out.sql\"):read(\"a\"))' && \"$PERILUNE\" schema --database y.sqlite"
        )
        #expect(
            again.output == (try folder.perilune("schema", "--database", "x.sqlite").output) && again.status == 0,
            "\(again.errors)")
        #expect(
            again.output.contains("CREATE TRIGGER keep BEFORE DELETE ON author BEGIN SELECT raise(ABORT, 'no; never'); END;\n"))
    }

    @Test func `the printed Lua migration uses create_table if possible`() throws {
        let folder = try makeFolder()
        let result = try folder.perilune("schema", "--database", "x.sqlite", "--format", "lua")
        try #require(result.status == 0, "\(result.errors)")
        #expect(
            result.output.contains("db:create_table(\"author\", function(t)\n    t:auto_incremented_primary_key(\"id\")"),
            "\(result.output)")
        #expect(result.output.contains("db:create_table(\"tag\", { without_rowid = true }, function(t)"), "\(result.output)")
        // SQLite stores a CHECK constraint only as text.
        #expect(result.output.contains("db:execute([[\nCREATE TABLE book"), "\(result.output)")
        try folder.write(result.output, to: "migrations/0001_start.lua")
        let migrated = try folder.perilune("migrate", "--database", "y.sqlite")
        try #require(migrated.status == 0, "\(migrated.errors)")
        let columns =
            "SELECT m.name, c.name, c.type, c.\"notnull\", c.dflt_value, c.pk FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.name NOT LIKE 'sqlite%' AND m.name NOT LIKE 'grdb%' AND m.name NOT LIKE 'perilune%' ORDER BY 1, c.cid"
        let keys =
            "SELECT m.name, k.\"table\", k.\"from\", coalesce(k.\"to\", 'id'), k.on_delete FROM sqlite_schema m, pragma_foreign_key_list(m.name) k WHERE m.type = 'table' ORDER BY 1, 2"
        for sql in [columns, keys] {
            let (left, right) = try (
                folder.perilune("query", "--database", "x.sqlite", sql), folder.perilune("query", "--database", "y.sqlite", sql)
            )
            #expect(left.output.lowercased() == right.output.lowercased() && !left.output.isEmpty)
        }
    }

    @Test func `the migration and the diagram leave out Perilune's own tables`() throws {
        let folder = try TestFolder(["m/1.sql": "CREATE TABLE t (a);"])
        try #require(try folder.perilune("migrate", "m", "--database", "x.sqlite").status == 0)
        #expect(try folder.perilune("schema", "--database", "x.sqlite").output.contains("grdb_migrations"))
        #expect(
            try folder.perilune("schema", "--database", "x.sqlite", "--format", "diagram").output
                == "erDiagram\n    t {\n        ANY a\n    }\n")
        #expect(
            try folder.perilune("schema", "grdb_migrations", "--database", "x.sqlite", "--format", "lua").output.contains(
                "grdb_migrations"))
        try folder.write(folder.perilune("schema", "--database", "x.sqlite", "--format", "lua").output, to: "n/0001_start.lua")
        let migrated = try folder.perilune("migrate", "n", "--database", "y.sqlite")
        #expect(migrated.status == 0, "\(migrated.errors)")
    }

    @Test func `the diagram and the console leave out the table in which a full-text table notes replaced rows`() throws {
        let folder = try TestFolder()
        let made = try folder.perilune(
            "run", "--database", "x.sqlite", "-e",
            """
            db:execute "CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT); CREATE TABLE __other_replaced (a)"
            db:create_fts5("t_text", { synchronize_with = "t", columns = { "x" } })
            """)
        #expect(made.status == 0, "\(made.errors)")
        let diagram = try folder.perilune("schema", "--database", "x.sqlite", "--format", "diagram").output
        #expect(diagram.contains("    __other_replaced {") && !diagram.contains("__t_text_replaced"), "\(diagram)")
        let tables = try folder.shell("printf '.tables\\n' | $PERILUNE console x.sqlite").output
        #expect(tables.contains("__other_replaced") && !tables.contains("__t_text_replaced"), "\(tables)")
    }

    @Test func `the option --output does not overwrite a database, and accepts a name of one letter`() throws {
        let folder = try makeFolder()
        for command in [["query", "SELECT 1 AS x"], ["schema"], ["dump"]] {
            let result = try CommandProcess(
                TestFolder.binary, command + ["--database", "x.sqlite", "--output", "x.sqlite"], in: folder
            ).wait()
            #expect(
                result.status == 74 && result.errors.contains("refusing to overwrite x.sqlite: it is a database"),
                "\(result.errors)")
            #expect(
                try CommandProcess(TestFolder.binary, command + ["--database", "x.sqlite", "--output", "o"], in: folder).wait()
                    .status == 0)
        }
        #expect(try folder.perilune("query", "--database", "x.sqlite", "SELECT count(*) AS n FROM author").status == 0)
    }

    @Test func `the JSON and the diagram of a schema contain columns and keys`() throws {
        let folder = try makeFolder()
        let json = try folder.perilune("schema", "book", "--database", "x.sqlite", "--format", "json").output
        #expect(json.hasPrefix("{\"tables\":[{\"name\":\"book\",\"type\":\"table\","), "\(json)")
        #expect(
            json.contains(
                "\"foreign_keys\":[{\"columns\":[\"author_id\"],\"table\":\"author\",\"referenced_columns\":[\"id\"],\"on_update\":\"no action\",\"on_delete\":\"cascade\"}]"
            ))
        let diagram = try folder.perilune("schema", "--database", "x.sqlite", "--format", "diagram").output
        #expect(diagram.hasPrefix("erDiagram\n    author {\n        INTEGER id PK\n"), "\(diagram)")
        #expect(diagram.contains("    author ||--o{ book : \"author_id\"\n"), "\(diagram)")
        #expect(diagram.contains("        INTEGER book_id PK, FK\n"))
    }

    @Test func `a missing table is reported with the nearest name`() throws {
        let result = try makeFolder().perilune("schema", "bok", "--database", "x.sqlite")
        #expect(result.status == 1 && result.errors == "error: unknown table bok\n  help  did you mean `book`?\n")
    }

    @Test func `the option overrides the environment variable for the database`() throws {
        let folder = try makeFolder()
        let variable = ["PERILUNE_DATABASE": "x.sqlite"]
        #expect(
            try folder.perilune("query", "--format", "csv", "SELECT count(*) AS n FROM book", environment: variable).output
                == "n\n0\n")
        #expect(
            try folder.perilune("query", "--database", ":memory:", "SELECT count(*) FROM book", environment: variable).status == 1
        )
        #expect(try folder.perilune("schema").errors.contains("PERILUNE_DATABASE"))
    }

    @Test func `a dump recreates the database`() throws {
        let folder = try makeFolder()
        let filled = try folder.perilune(
            "run", "--database", "x.sqlite", "-e",
            """
            db:execute[[
              CREATE TABLE odd ("a b" BLOB, c); CREATE VIRTUAL TABLE text USING fts5(body);
              INSERT INTO author (name) VALUES ('O''Neill'), ('two
            lines'); DELETE FROM author WHERE 0;
              INSERT INTO book VALUES (7, 'x', 1); INSERT INTO tag VALUES (7, 'w');
              INSERT INTO odd VALUES (x'00ff', 9e999), ('a' || char(0) || 'b', -9223372036854775808), (NULL, 0.1);
              INSERT INTO text (body) VALUES ('whales and ships')]]
            """)
        try #require(filled.status == 0, "\(filled.errors)")
        let again = try folder.shell(
            "\"$PERILUNE\" dump --database x.sqlite --output d.sql && \"$PERILUNE\" run --database y.sqlite -e 'local text = io.open(\"d.sql\"):read(\"a\") db:execute((text:gsub(\"PRAGMA foreign_keys=OFF;\\nBEGIN TRANSACTION;\", \"\"):gsub(\"COMMIT;\", \"\")))'"
        )
        try #require(again.status == 0, "\(again.errors)")
        for sql in [
            "SELECT * FROM author", "SELECT * FROM book", "SELECT * FROM tag", "SELECT rowid, * FROM odd",
            "SELECT rowid, * FROM text",
            "SELECT * FROM sqlite_sequence", "SELECT count(*) FROM text WHERE text MATCH 'ships'",
            "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite%' ORDER BY name",
        ] {
            let (left, right) = try (
                folder.perilune("query", "--database", "x.sqlite", sql), folder.perilune("query", "--database", "y.sqlite", sql)
            )
            #expect(
                left.output == right.output && left.status == 0 && !left.output.isEmpty, "\(sql)\n\(left.output)\(right.output)")
        }
        let data = try folder.perilune("dump", "author", "--data-only", "--database", "x.sqlite").output
        #expect(
            data.contains("INSERT INTO \"author\" (\"id\", \"name\", \"born\") VALUES (1,'O''Neill','never');\n")
                && !data.contains("CREATE TABLE"), "\(data)")
    }

    @Test func `a dump keeps carriage returns, contentless indexes, settings and counters`() throws {
        let folder = try TestFolder()
        let filled = try folder.perilune(
            "run", "--database", "x.sqlite", "-e",
            """
            db:execute[[
              CREATE TABLE t (a); INSERT INTO t VALUES ('x' || char(13, 10) || 'y'), ('\r' || char(13)), (char(13)); CREATE INDEX t_a ON t (a);
              CREATE VIRTUAL TABLE own USING fts5(body); INSERT INTO own VALUES ('whales'); INSERT INTO own (own, rank) VALUES ('rank', 'bm25(10.0)');
              CREATE VIRTUAL TABLE five USING fts5(body, content = ''); INSERT INTO five (rowid, body) VALUES (7, 'ships');
              CREATE VIRTUAL TABLE four USING fts4(content="", body); INSERT INTO four (docid, body) VALUES (3, 'harpoons');
              PRAGMA application_id = 77; PRAGMA user_version = 5; ANALYZE]]
            """)
        try #require(filled.status == 0, "\(filled.errors)")
        let dump = try folder.perilune("dump", "--database", "x.sqlite", "--output", "d.sql")
        try #require(dump.status == 0, "\(dump.errors)")
        let text = try String(contentsOfFile: folder.path + "/d.sql", encoding: .utf8)
        #expect(!text.contains("\r"), "SQLite's shell drops them before line feeds")
        // Reading the dump requires permission to write the schema, as in SQLite's shell.
        try DatabaseQueue(path: folder.path + "/y.sqlite").writeWithoutTransaction { db in try db.execute(sql: text) }
        for sql in [
            "SELECT hex(a) FROM t", "SELECT rowid FROM own WHERE own MATCH 'whales'", "SELECT v FROM own_config WHERE k = 'rank'",
            "SELECT rowid FROM five WHERE five MATCH 'ships'", "SELECT rowid FROM four WHERE four MATCH 'harpoons'",
            "PRAGMA application_id",
            "PRAGMA user_version", "SELECT tbl, idx, stat FROM sqlite_stat1 WHERE tbl = 't'",
            "SELECT name FROM sqlite_schema ORDER BY name",
        ] {
            let (left, right) = try (
                folder.perilune("query", "--database", "x.sqlite", "--format", "jsonl", sql),
                folder.perilune("query", "--database", "y.sqlite", "--format", "jsonl", sql)
            )
            #expect(
                left.output == right.output && left.status == 0 && !left.output.isEmpty,
                "\(sql)\n\(left.output)\(right.output)\(right.errors)")
        }
    }

    @Test func `a dump of a damaged file contains the readable parts and reports the rest`() throws {
        let folder = try TestFolder()
        let filled = try folder.perilune(
            "run", "--database", "x.sqlite", "-e",
            """
            db:execute[[CREATE TABLE p (id INTEGER PRIMARY KEY, a); CREATE TABLE q (a); INSERT INTO q VALUES ('kept');
              INSERT INTO p (a) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000) SELECT hex(zeroblob(30)) FROM n]]
            db:checkpoint()
            """)
        try #require(filled.status == 0, "\(filled.errors)")
        let file = URL(fileURLWithPath: folder.path + "/x.sqlite")
        var bytes = try Data(contentsOf: file)
        let page = bytes.count / 4096 / 2 * 4096
        bytes.replaceSubrange(page..<page + 500, with: Data(repeating: 0xFF, count: 500))
        try bytes.write(to: file)
        let dump = try folder.perilune("dump", "--database", "x.sqlite", "--output", "d.sql")
        #expect(
            dump.status == 65 && dump.errors.contains("some rows of p cannot be read, the others were written"), "\(dump.errors)")
        let text = try String(contentsOfFile: folder.path + "/d.sql", encoding: .utf8)
        let lines = text.split(separator: "\n")
        let count = lines.count { $0.hasPrefix("INSERT INTO \"p\"") }
        #expect(count > 4800 && count < 5000 && Set(lines).count == lines.count, "\(count)")
        #expect(text.contains("'kept'") && text.hasSuffix("COMMIT;\n"))
    }

    @Test func `a dump of a file with damaged cell pointers, which SQLite reads without an error, reports the damage`() throws {
        let folder = try TestFolder()
        let filled = try folder.perilune(
            "run", "--database", "x.sqlite", "-e",
            """
            db:execute[[CREATE TABLE p (name TEXT NOT NULL); CREATE TABLE q (a);
              INSERT INTO p VALUES ('first'), ('second'), ('third'); INSERT INTO q VALUES ('kept')]]
            print(db:fetch_value("SELECT rootpage FROM sqlite_schema WHERE name = 'p'"))
            db:checkpoint()
            """)
        let root = try #require(Int(filled.output.split(separator: "\n").first ?? ""), "\(filled.errors)")
        let whole = try folder.perilune("dump", "--database", "x.sqlite")
        #expect(whole.status == 0 && whole.errors == "", "\(whole.errors)")
        let file = URL(fileURLWithPath: folder.path + "/x.sqlite")
        var bytes = try Data(contentsOf: file)
        // The pointers to the second and third cell follow the header of 8 bytes and the first pointer.
        let pointers = (root - 1) * 4096 + 10
        bytes.replaceSubrange(pointers..<pointers + 38, with: Data(repeating: 0x58, count: 38))
        try bytes.write(to: file)
        for arguments in [[], ["p"], ["--data-only"]] {
            let dump = try CommandProcess(TestFolder.binary, ["dump", "--database", "x.sqlite"] + arguments, in: folder).wait()
            #expect(
                dump.status == 65 && dump.errors.contains("some rows of p cannot be read, the others were written"),
                "\(dump.errors)")
            #expect(
                dump.output.contains("'first'") && !dump.output.contains(",NULL)") && dump.output.hasSuffix("COMMIT;\n"),
                "\(dump.output)")
        }
        #expect(try folder.perilune("dump", "q", "--database", "x.sqlite").status == 0)
        _ = try folder.perilune("dump", "--database", "x.sqlite", "--output", "d.sql")
        let restored = try folder.perilune("restore", "d.sql", "--database", "y.sqlite")
        #expect(restored.status == 0, "\(restored.errors)")
        #expect(try folder.perilune("query", "SELECT a FROM q", "--database", "y.sqlite").output == "{\"a\":\"kept\"}\n")
    }

    @Test func `a dump reports damaged pages of a table without NOT NULL`() throws {
        let folder = try TestFolder()
        let filled = try folder.perilune(
            "run", "--database", "x.sqlite", "-e",
            """
            db:execute[[CREATE TABLE p (name TEXT); CREATE TABLE q (a); INSERT INTO p VALUES ('first'), ('second'), ('third')]]
            print(db:fetch_value("SELECT rootpage FROM sqlite_schema WHERE name = 'p'"))
            db:checkpoint()
            """)
        let root = try #require(Int(filled.output.split(separator: "\n").first ?? ""), "\(filled.errors)")
        let file = URL(fileURLWithPath: folder.path + "/x.sqlite")
        var bytes = try Data(contentsOf: file)
        let pointers = (root - 1) * 4096 + 10
        bytes.replaceSubrange(pointers..<pointers + 38, with: Data(repeating: 0x58, count: 38))
        try bytes.write(to: file)
        let dump = try folder.perilune("dump", "--database", "x.sqlite")
        #expect(
            dump.status == 65
                && dump.errors.contains("the file is damaged: rows of p may be missing or wrong in the dump\n")
                && dump.errors.contains("`perilune doctor --database x.sqlite` shows the damage"), "\(dump.errors)")
        #expect(dump.output.contains("'first'"))
        // The schema is complete without the rows.
        #expect(try folder.perilune("dump", "--schema-only", "--database", "x.sqlite").status == 0)
    }

    @Test func `rows are dumped in each format and to files`() throws {
        let folder = try TestFolder()
        let sql = "SELECT 1 AS a, 'x<y' AS b, NULL AS c UNION ALL SELECT 2.5, 'it''s', x'00'"
        func output(_ format: String) throws -> String { try folder.perilune("query", "--format", format, sql).output }
        #expect(try output("tsv") == "a\tb\tc\n1\tx<y\t\n2.5\tit's\tx'00'\n")
        #expect(
            try output("insert")
                == "INSERT INTO \"result\" (\"a\", \"b\", \"c\") VALUES (1, 'x<y', NULL);\nINSERT INTO \"result\" (\"a\", \"b\", \"c\") VALUES (2.5, 'it''s', x'00');\n"
        )
        #expect(try output("html").contains("<tr><td align=\"right\">1</td><td>x&lt;y</td><td></td></tr>"))
        #expect(try folder.perilune("query", "--output", "a.html", sql).status == 0)
        let page = try folder.read("a.html")
        #expect(
            page.hasPrefix("<!DOCTYPE html>") && page.contains("<meta charset=\"utf-8\">") && page.contains("<title>a</title>"),
            "\(page)")
        #expect(page.contains("<td class=\"null\">NULL</td>") && page.hasSuffix("</table>\n</body>\n</html>\n"))
        #expect(try output("box") == output("table"))
        let written = try folder.perilune("query", "--output", "out.csv", sql)
        #expect(written.output == "" && written.status == 0)
        #expect(try String(contentsOfFile: folder.path + "/out.csv", encoding: .utf8) == "a,b,c\n1,x<y,\n2.5,it's,x'00'\n")
        // A failure keeps the previous file.
        #expect(try folder.perilune("query", "--output", "out.csv", "SELECT nonsense").status == 1)
        #expect(try String(contentsOfFile: folder.path + "/out.csv", encoding: .utf8).hasPrefix("a,b,c"))
    }

    @Test func `a file whose extension belongs to another format is not written`() throws {
        let folder = try TestFolder()
        #expect(try folder.perilune("run", "--database", "x.sqlite", "-e", "db:execute('CREATE TABLE t (a)')").status == 0)
        for (arguments, file) in [
            (["query", "SELECT 1"], "x.parquet"), (["query", "SELECT 1"], "x.xlsx"), (["schema"], "x.png"), (["dump"], "x.csv"),
            (["dump"], "copy.db"),
        ] {
            let words = arguments + ["--database", "x.sqlite", "--output", file]
            let result = try CommandProcess(TestFolder.binary, words, in: folder).wait()
            #expect(result.status == 64 && result.errors.hasPrefix("error: --output: "), "\(result.errors)")
            #expect(!folder.exists(file))
        }
        for file in ["out", "out.2026-03", ".rows"] {
            #expect(try folder.perilune("query", "--output", file, "SELECT 1 AS a").errors == "")
            #expect(try folder.read(file) == "{\"a\":1}\n")
        }
        #expect(try folder.perilune("query", "--output", "x.data", "--format", "csv", "SELECT 1 AS a").status == 0)
    }

    @Test func `the output file - is standard output`() throws {
        let folder = try TestFolder()
        #expect(try folder.perilune("query", "--output", "-", "SELECT 1 AS a").output == "{\"a\":1}\n")
        #expect(try folder.perilune("query", "--output", "-", "--format", "html", "SELECT 1 AS a").output.hasPrefix("<table"))
        #expect(try folder.perilune("run", "--database", "x.sqlite", "-e", "db:execute('CREATE TABLE t (a)')").status == 0)
        #expect(try folder.perilune("dump", "--database", "x.sqlite", "--output", "-").output.contains("CREATE TABLE t (a)"))
        #expect(!folder.exists("-"))
    }
}
