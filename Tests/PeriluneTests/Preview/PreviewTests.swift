import Foundation
import GRDB
import Perilune
import PeriluneLua
import PeriluneTestTools
import Testing

@Suite struct PreviewTests {
    static let books = """
        CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, pages INTEGER);
        INSERT INTO book VALUES (1, 'Typee', 326), (2, 'Omoo', 322), (3, 'Mardi', NULL);
        """

    @Test func `a preview reports changed rows with old and new values, sorted by key`() async throws {
        let folder = try PreviewFolder(Self.books)
        let (report, plan) = try await folder.preview(
            """
            db:execute("INSERT INTO book (title) VALUES ('Redburn')")
            db:execute("UPDATE book SET pages = 400 WHERE title = 'Mardi'")
            db:execute("DELETE FROM book WHERE id = 1")
            """)
        let book = try #require(report["book"])
        #expect(book.columns == ["id", "title", "pages"])
        #expect(book.key == ["id"])
        #expect(book.counts == [1, 1, 1])
        #expect(
            book.rows == [
                RowChange(kind: .delete, before: [1, "Typee", 326]),
                RowChange(kind: .update, before: [3, "Mardi", nil], after: [3, "Mardi", 400]),
                RowChange(kind: .insert, after: [4, "Redburn", nil]),
            ])
        #expect(book.rows.map(\.key) == [[1], [3], [4]])
        #expect(book.rows[1].changedColumns == ["pages"])
        #expect(book.rows[1].before?["pages"] == .null && book.rows[1].after?["pages"] == 400)
        #expect(book.rows[0].before?["title"] == "Typee" && book.rows[0].after == nil)
        #expect(book.rows[2].after?["title"] == "Redburn" && book.rows[2].before == nil)
        let decoded = try JSONDecoder().decode(TableChanges.self, from: JSONEncoder().encode(book))
        #expect(decoded == book && decoded.rows[1].key == [3] && decoded.rows[1].after?["pages"] == 400)
        #expect(report.schema.isEmpty && report.warnings.isEmpty && report.obstacles.isEmpty)
        #expect(report.hasChanges)
        #expect(plan != nil)
        #expect(
            "\(report)" == """
                book: 1 inserted, 1 updated, 1 deleted
                  - id 1, title 'Typee', pages 326
                  ~ id 3, title 'Mardi', pages NULL -> 400
                  + id 4, title 'Redburn', pages NULL
                """)
    }

    @Test func `a script that observes changes can be previewed`() async throws {
        let folder = try PreviewFolder(Self.books)
        let (report, plan) = try await folder.preview(
            """
            db:execute("INSERT INTO book (title) VALUES ('Redburn')")
            local kinds = {}
            local observer = db:observe_transactions{ on_change = function(event) kinds[#kinds + 1] = event.operation end }
            db:execute("DELETE FROM book WHERE id = 1")
            observer:cancel()
            db:execute("UPDATE book SET pages = 400 WHERE title = 'Mardi'")
            assert(table.concat(kinds, " ") == "delete")
            """)
        #expect(report["book"]?.counts == [1, 1, 1])
        #expect(plan != nil)
    }

    @Test func `a script whose changes cancel out has an empty report`() async throws {
        let folder = try PreviewFolder(Self.books)
        let (report, plan) = try await folder.preview(
            """
            db:execute("UPDATE book SET title = title")
            db:execute("INSERT INTO book VALUES (9, 'x', 1)")
            db:execute("DELETE FROM book WHERE id = 9")
            db:in_transaction(function(db) db:execute("DELETE FROM book") return "rollback" end)
            pcall(db.write, db, function(db) db:execute("CREATE TABLE t (a)") error("no") end)
            assert(db:fetch_value("SELECT COUNT(*) FROM book") == 3)
            """)
        #expect(!report.hasChanges)
        #expect(report == PreviewReport())
        #expect(plan?.summary().isEmpty == true)
    }

    @Test func `a preview counts rows that its report leaves out`() async throws {
        let folder = try PreviewFolder(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 1), (2, 2)")
        let (report, _) = try await folder.preview(
            """
            db:write(function(db) for i = 5000, 3, -1 do db:execute("INSERT INTO t VALUES (?, ?)", i, i) end end)
            db:execute("UPDATE t SET a = 0")
            """
        ) { $0.rowLimit = 3 }
        let table = try #require(report["t"])
        #expect(table.counts == [4998, 2, 0])
        #expect(table.rows.map { $0.newValues?[0] } == [1, 2, 3, 4, 5])
        #expect(table.hiddenCount == 4995)
    }

    @Test func `a preview reports the deletion of all rows`() async throws {
        let folder = try PreviewFolder(Self.books)
        let (report, plan) = try await folder.preview("db:execute('DELETE FROM book')")
        #expect(report["book"]?.counts == [0, 0, 3])
        try await #require(plan).apply(to: folder.database)
        #expect(try folder.values("SELECT COUNT(*) FROM book") == ["0"])
    }

    @Test func `a preview reports a value whose type changes`() async throws {
        let folder = try PreviewFolder(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 1), (2, 2)")
        let (report, _) = try await folder.preview("db:execute('UPDATE t SET a = a * 1.0 WHERE id = 1')")
        #expect(report["t"]?.rows == [RowChange(kind: .update, before: [1, 1], after: [1, .real(1)])])
    }

    // MARK: - All kinds of tables

    @Test func `a preview reports changes by triggers and foreign key actions`() async throws {
        let folder = try PreviewFolder(
            """
            CREATE TABLE author (id INTEGER PRIMARY KEY);
            CREATE TABLE book (id INTEGER PRIMARY KEY, author_id REFERENCES author (id) ON DELETE CASCADE);
            CREATE TABLE log (id INTEGER PRIMARY KEY, what TEXT);
            CREATE TRIGGER gone AFTER DELETE ON book BEGIN INSERT INTO log (what) VALUES ('book ' || old.id); END;
            INSERT INTO author VALUES (1), (2);
            INSERT INTO book VALUES (1, 1), (2, 1), (3, 2);
            """)
        let (report, plan) = try await folder.preview("db:execute('DELETE FROM author WHERE id = 1')")
        #expect(report.tables.map(\.name) == ["author", "book", "log"])
        #expect(report.tables.map(\.counts) == [[0, 0, 1], [0, 0, 2], [2, 0, 0]])
        // Applying the plan must not run the trigger or the foreign key action again.
        try await #require(plan).apply(to: folder.database)
        #expect(try folder.values("SELECT what FROM log") == ["book 1", "book 2"])
        #expect(try folder.values("SELECT id FROM book") == ["3"])
    }

    @Test func `a preview records tables WITHOUT ROWID and STRICT tables`() async throws {
        let folder = try PreviewFolder(
            """
            CREATE TABLE a (x TEXT, y INTEGER, z, PRIMARY KEY (y, x)) WITHOUT ROWID;
            CREATE TABLE b (k TEXT PRIMARY KEY NOT NULL, v ANY) STRICT;
            INSERT INTO a VALUES ('p', 1, 1), ('q', 1, 1); INSERT INTO b VALUES ('k', 1);
            """)
        let (report, plan) = try await folder.preview(
            """
            db:execute("UPDATE a SET z = 2 WHERE x = 'q'; DELETE FROM a WHERE x = 'p'; UPDATE b SET v = x'00ff'")
            """)
        #expect(report["a"]?.key == ["y", "x"])
        #expect(
            report["a"]?.rows == [
                RowChange(kind: .delete, before: ["p", 1, 1]),
                RowChange(kind: .update, before: ["q", 1, 1], after: ["q", 1, 2]),
            ])
        #expect(report["b"]?.rows == [RowChange(kind: .update, before: ["k", 1], after: ["k", .blob([0, 255])])])
        try await #require(plan).apply(to: folder.database)
        #expect(try folder.values("SELECT x || y || z FROM a") == ["q12"])
    }

    @Test func `a preview compares and names tables that SQLite sessions cannot record`() async throws {
        let folder = try PreviewFolder(
            """
            CREATE TABLE keyless (a, b); INSERT INTO keyless VALUES (1, 'x'), (1, 'x'), (2, 'y');
            CREATE TABLE made (id INTEGER PRIMARY KEY, a, b AS (a * 2), c AS (a + 1) STORED);
            INSERT INTO made (id, a) VALUES (1, 10), (2, 20);
            CREATE TABLE nulls (k TEXT PRIMARY KEY, v); INSERT INTO nulls VALUES (NULL, 1), (NULL, 2), ('k', 3);
            CREATE TABLE falling (id INTEGER PRIMARY KEY DESC, v); INSERT INTO falling VALUES (NULL, 1);
            CREATE TABLE recorded (id INTEGER PRIMARY KEY);
            CREATE VIRTUAL TABLE text USING fts5(body); INSERT INTO text VALUES ('one'), ('two');
            """)
        let (report, plan) = try await folder.preview(
            """
            db:execute("INSERT INTO keyless VALUES (3, 'z'); DELETE FROM keyless WHERE rowid = 1")
            db:execute("UPDATE keyless SET b = 'w' WHERE a = 2")
            db:execute("UPDATE made SET a = 11 WHERE id = 1")
            db:execute("UPDATE nulls SET v = 9 WHERE v = 2; INSERT INTO nulls VALUES (NULL, 4); DELETE FROM nulls WHERE k = 'k'")
            db:execute("INSERT INTO recorded VALUES (1); UPDATE falling SET v = 2")
            db:execute("INSERT INTO text VALUES ('three'); UPDATE text SET body = 'ONE' WHERE rowid = 1")
            """)
        #expect(report.tables.map(\.name) == ["falling", "keyless", "made", "nulls", "recorded", "text"])
        #expect(report["keyless"]?.counts == [1, 1, 1])
        #expect(report["keyless"]?.unrecordable == "it has no PRIMARY KEY")
        #expect(report["made"]?.rows == [RowChange(kind: .update, before: [1, 10, 20, 11], after: [1, 11, 22, 12])])
        #expect(report["made"]?.unrecordable == "it has generated columns")
        #expect(report["nulls"]?.counts == [1, 1, 1])
        #expect(report["nulls"]?.unrecordable == "some of its rows have NULL in their key")
        #expect(report["falling"]?.unrecordable == "some of its rows have NULL in their key")
        #expect(report["recorded"]?.unrecordable == nil)
        #expect(report["text"]?.counts == [1, 1, 0])
        #expect(report["text"]?.unrecordable == "it is a virtual table")
        #expect(plan == nil)
        #expect(report.obstacles.count == 5)
        #expect(report.obstacles.contains("keyless cannot be recorded: it has no PRIMARY KEY"))
    }

    @Test func `the obstacle of a synchronized full-text table names the table that the script has changed`() async throws {
        let folder = try PreviewFolder(
            """
            CREATE TABLE a (id INTEGER PRIMARY KEY, x TEXT);
            CREATE VIRTUAL TABLE a_text USING fts5(x, content='a', content_rowid='id');
            CREATE TRIGGER __a_text_ai AFTER INSERT ON a BEGIN INSERT INTO a_text (rowid, x) VALUES (new.id, new.x); END;
            """)
        let (report, plan) = try await folder.preview("db:execute(\"INSERT INTO a VALUES (1, 'red')\")")
        #expect(plan == nil)
        let obstacle = "a cannot be recorded: the full-text table `a_text` is synchronized with it"
        #expect(report.obstacles.contains { $0.hasPrefix(obstacle) }, "\(report.obstacles)")
        #expect(!report.obstacles.contains { $0.hasPrefix("a_text") }, "\(report.obstacles)")
    }

    @Test func `a preview works with any table or column name`() async throws {
        let folder = try PreviewFolder(
            #"""
            CREATE TABLE "a""b'c" (id INTEGER PRIMARY KEY, "x""y" TEXT); INSERT INTO "a""b'c" VALUES (1, 2);
            CREATE TABLE "no""key" ("o""ne"); INSERT INTO "no""key" VALUES (1);
            CREATE TABLE "" (id INTEGER PRIMARY KEY, " ");
            """#)
        let (report, _) = try await folder.preview(
            """
            db:execute([[UPDATE "a""b'c" SET "x""y" = 5; UPDATE "no""key" SET "o""ne" = 2; INSERT INTO "" VALUES (1, 2)]])
            """)
        #expect(report.tables.map(\.name) == ["", "a\"b'c", "no\"key"])
        #expect(report["a\"b'c"]?.rows == [RowChange(kind: .update, before: [1, "2"], after: [1, "5"])])
        #expect(report["no\"key"]?.rows == [RowChange(kind: .update, before: [1], after: [2])])
    }

    @Test func `a preview distinguishes names that only Unicode considers equal`() async throws {
        let folder = try PreviewFolder(
            """
            CREATE TABLE "Ä" (id INTEGER PRIMARY KEY, a); CREATE TABLE "ä" (id INTEGER PRIMARY KEY, b);
            CREATE TABLE "e\u{301}" (id INTEGER PRIMARY KEY, c); CREATE TABLE "\u{e9}" (id INTEGER PRIMARY KEY, d);
            """)
        let (report, _) = try await folder.preview(
            """
            db:execute([[INSERT INTO "ä" VALUES (1, 2); INSERT INTO "e\u{301}" VALUES (3, 4); INSERT INTO "\u{e9}" VALUES (5, 6)]])
            db:execute([[ALTER TABLE "Ä" ADD COLUMN more]])
            """)
        #expect(
            report.tables.map { Array($0.name.unicodeScalars) } == ["ä", "e\u{301}", "\u{e9}"].map { Array($0.unicodeScalars) })
        #expect(report.tables.map(\.columns) == [["id", "b"], ["id", "c"], ["id", "d"]])
        #expect(report.tables.flatMap(\.rows).map(\.newValues) == [[1, 2], [3, 4], [5, 6]])
    }

    @Test func `keys that are replaced by equal keys are reported and prevent a plan`() async throws {
        let folder = try PreviewFolder(
            """
            CREATE TABLE named (name TEXT PRIMARY KEY COLLATE NOCASE, v); INSERT INTO named VALUES ('A', 1), ('b', 2);
            CREATE TABLE bare (k PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO bare VALUES (1, 1), (2, 2);
            """)
        let (report, plan) = try await folder.preview(
            "db:execute[[UPDATE named SET name = 'a' WHERE v = 1; UPDATE bare SET k = 1.0 WHERE k = 1]]")
        let reason = "keys of its rows changed to values that SQLite considers equal"
        #expect(report["named"]?.rows == [RowChange(kind: .update, before: ["A", 1], after: ["a", 1])])
        #expect(report["bare"]?.rows == [RowChange(kind: .update, before: [1, 1], after: [.real(1), 1])])
        #expect(report.obstacles == ["bare cannot be recorded: \(reason)", "named cannot be recorded: \(reason)"])
        #expect(plan == nil)

        let (others, otherPlan) = try await folder.preview(
            "db:execute[[UPDATE named SET v = 3 WHERE name = 'B'; DELETE FROM bare]]")
        #expect(others["named"]?.rows == [RowChange(kind: .update, before: ["b", 2], after: ["b", 3])])
        #expect(otherPlan != nil)
    }

    @Test func `keys that are replaced by equal keys and restored are unchanged`() async throws {
        let folder = try PreviewFolder(
            "CREATE TABLE named (name TEXT PRIMARY KEY COLLATE NOCASE, v); INSERT INTO named VALUES ('A', 1), ('b', 2)")
        let (report, _) = try await folder.preview(
            "db:execute[[UPDATE named SET name = 'a' WHERE v = 1; UPDATE named SET name = 'A' WHERE v = 1]]")
        #expect(report["named"]?.rows ?? [] == [])
        let (others, plan) = try await folder.preview(
            "db:execute[[UPDATE named SET name = 'a' WHERE v = 1; UPDATE named SET name = 'A', v = 3 WHERE v = 1]]")
        #expect(others["named"]?.rows == [RowChange(kind: .update, before: ["A", 1], after: ["A", 3])])
        try await plan?.apply(to: folder.database)
        #expect(try folder.values("SELECT name || v FROM named ORDER BY v") == ["b2", "A3"])
    }

    @Test(arguments: ["(q REAL PRIMARY KEY, v)", "(q DOUBLE NOT NULL, v, PRIMARY KEY (q)) WITHOUT ROWID"])
    func `a whole number that is inserted as a REAL key is reported as a float`(definition: String) async throws {
        let folder = try PreviewFolder("CREATE TABLE t \(definition); INSERT INTO t VALUES (1, 'a')")
        #expect(
            try await folder.preview("db:execute[[INSERT INTO t VALUES (2, 'x'); DELETE FROM t WHERE q = 2]]").report.tables
                .isEmpty)
        let (report, plan) = try await folder.preview(
            "db:execute[[INSERT INTO t VALUES (2, 'x'); UPDATE t SET v = 'y' WHERE q = 2; DELETE FROM t WHERE q = 1; INSERT INTO t VALUES (1, 'b')]]"
        )
        #expect(
            report["t"]?.rows == [
                RowChange(kind: .update, before: [.real(1), "a"], after: [.real(1), "b"]),
                RowChange(kind: .insert, before: nil, after: [.real(2), "y"]),
            ])
        try await plan?.apply(to: folder.database)
        #expect(try folder.values("SELECT q || v FROM t ORDER BY q") == ["1.0b", "2.0y"])
    }

    @Test func `changes that violate foreign keys prevent a plan`() async throws {
        let folder = try PreviewFolder(
            """
            CREATE TABLE author (id INTEGER PRIMARY KEY); INSERT INTO author VALUES (1), (2);
            CREATE TABLE book (id INTEGER PRIMARY KEY, author_id INTEGER REFERENCES author); INSERT INTO book VALUES (7, 1);
            """)
        let (report, plan) = try await folder.preview(
            "db:execute('PRAGMA foreign_keys = OFF') db:execute('DELETE FROM author WHERE id = 1')")
        #expect(
            report.obstacles == [
                "a foreign key would be violated: row 7 of book would refer to a row of author that does not exist"
            ])
        #expect(plan == nil)
        #expect(try await folder.preview("db:execute('DELETE FROM author WHERE id = 2')").plan != nil)
    }

    @Test func `virtual tables of missing modules do not prevent a preview`() async throws {
        let folder = try PreviewFolder(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY);
            PRAGMA writable_schema = 1;
            INSERT INTO sqlite_master VALUES ('table', 'z', 'z', 0, 'CREATE VIRTUAL TABLE z USING nowhere(a)');
            """)
        let (report, plan) = try await folder.preview("db:execute('INSERT INTO t VALUES (1)')")
        #expect(report["t"]?.counts == [1, 0, 0])
        #expect(plan != nil)
    }

    @Test func `a preview does not report an update without effect in an unrecordable table`() async throws {
        let folder = try PreviewFolder("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        let (report, plan) = try await folder.preview("db:execute('UPDATE t SET a = a')")
        #expect(!report.hasChanges)
        #expect(plan != nil)
    }

    // MARK: - Schemas

    @Test func `a preview reports the schema changes and rows of a migration`() async throws {
        let folder = try PreviewFolder(
            Self.books + """
                CREATE TABLE old (a); INSERT INTO old VALUES (1), (2);
                CREATE INDEX by_title ON book (title);
                CREATE VIEW titles AS SELECT title FROM book;
                """)
        let (report, plan) = try await folder.preview(
            """
            db:execute[[
              ALTER TABLE book ADD COLUMN is_read INTEGER NOT NULL DEFAULT 0;
              UPDATE book SET is_read = 1 WHERE id = 2;
              INSERT INTO book (title) VALUES ('Pierre');
              DROP TABLE old;
              DROP INDEX by_title;
              CREATE TABLE author (id INTEGER PRIMARY KEY, name);
              INSERT INTO author (name) VALUES ('Melville');
              CREATE TABLE empty (a);
              PRAGMA user_version = 7;
            ]]
            """)
        #expect(
            report.schema.map { "\($0.kind) \($0.type) \($0.name)" } == [
                "added table author", "changed table book", "added table empty", "removed table old",
                "removed index by_title",
                "changed pragma user_version",
            ])
        #expect(report.schema.last?.after == "7")
        #expect(report["author"]?.rows == [RowChange(kind: .insert, after: [1, "Melville"])])
        #expect(
            report["book"]?.rows == [
                RowChange(kind: .update, before: [2, "Omoo", 322, nil], after: [2, "Omoo", 322, 1]),
                RowChange(kind: .insert, after: [4, "Pierre", nil, 0]),
            ])
        #expect(report["old"]?.counts == [0, 0, 2])
        #expect(plan == nil)
        #expect(report.obstacles.first == "the schema would change, and a plan holds only row changes")
    }

    @Test func `a preview treats a table that a migration rebuilds as the same table`() async throws {
        let folder = try PreviewFolder(Self.books)
        let (report, _) = try await folder.preview(
            """
            db:execute[[
              CREATE TABLE new_book (id INTEGER PRIMARY KEY, title TEXT NOT NULL UNIQUE, pages INTEGER);
              INSERT INTO new_book SELECT * FROM book WHERE id < 3;
              DROP TABLE book;
              ALTER TABLE new_book RENAME TO book;
            ]]
            """)
        #expect(report.schema.map { "\($0.kind) \($0.type) \($0.name)" } == ["changed table book"])
        #expect(report["book"]?.counts == [0, 0, 1])
    }

    @Test func `a schema change that is undone does not prevent a plan`() async throws {
        let folder = try PreviewFolder(Self.books)
        for script in [
            "db:execute('VACUUM')",
            "db:execute('CREATE TABLE t (a INTEGER PRIMARY KEY); INSERT INTO t VALUES (1); DROP TABLE t')",
            """
            db:in_transaction(function(db)
              db:execute('CREATE TABLE t (a INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)')
              return 'rollback'
            end)
            """,
        ] {
            let (report, plan) = try await folder.preview(
                """
                db:execute("UPDATE book SET pages = 1 WHERE id = 1")
                \(script)
                db:execute("INSERT INTO book VALUES (7, 'x', 7)")
                """)
            #expect(report.schema.isEmpty)
            #expect(report["book"]?.counts == [1, 1, 0])
            #expect(plan?.summary().map(\.counts) == [[1, 1, 0]])
        }
    }

    @Test func `rows of a table without a key are matched by their values after VACUUM`() async throws {
        let folder = try PreviewFolder(
            "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (2), (3); DELETE FROM t WHERE a = 1")
        let (report, _) = try await folder.preview("db:execute('VACUUM') db:execute('INSERT INTO t VALUES (2)')")
        #expect(report["t"]?.counts == [1, 0, 0])
        #expect(report["t"]?.rows == [RowChange(kind: .insert, after: [2])])
    }

    @Test func `a script may copy another database over the previewed one`() async throws {
        let folder = try PreviewFolder(Self.books)
        let (report, _) = try await folder.preview(
            """
            local other = perilune.queue()
            other:execute("CREATE TABLE t (a INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)")
            other:backup_to(db)
            """)
        #expect(report.schema.map { "\($0.kind) \($0.name)" } == ["removed book", "added t"])
        #expect(report["book"]?.counts == [0, 0, 3])
        #expect(report["t"]?.counts == [1, 0, 0])
    }

    @Test func `a preview mentions rows that only the script's functions can read, without counting them`() async throws {
        let folder = try PreviewFolder(Self.books)
        let (report, plan) = try await folder.preview(
            """
            db:add_function("twice", { arguments = 1, deterministic = true }, function(x) return x * 2 end)
            db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b AS (twice(a))); INSERT INTO t (a) VALUES (1)")
            db:execute("DELETE FROM book WHERE id = 1")
            """)
        #expect(report.schema.map(\.name) == ["t"])
        #expect(report["book"]?.counts == [0, 0, 1])
        #expect(report.warnings.first?.hasPrefix("the rows of t cannot be compared: ") == true)
        #expect(plan == nil)
    }

    @Test(arguments: [
        "for i = 1, 10 do db:execute([[ATTACH ':memory:' AS x]] .. i) end", "rows = db:rows('SELECT * FROM t') rows()",
    ])
    func `attached databases and open cursors of a script do not prevent a report`(leaving: String) async throws {
        let folder = try PreviewFolder("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
        let (report, _) = try await folder.preview("\(leaving) db:execute('INSERT INTO t VALUES (3)')", trusted: true)
        #expect(report["t"]?.counts == [1, 0, 0])
    }

    @Test(.patience) func `releasing a preview does not wait for its scripts`() async throws {
        var configuration = ScriptHost.Configuration()
        configuration.limits = LuaLimits(isCancellable: true)
        var preview: ScriptPreview? = try await ScriptPreview(of: .inMemory(), configuration: configuration)
        let host = try #require(preview?.host)
        let entered = AsyncStream.makeStream(of: Void.self)
        try await host.register(module: "m") { $0.function("entered") { () -> Void in entered.continuation.yield() } }
        let script = Task {
            try await host.run(source: "local m = require 'm' db:write(function() m.entered() while true do end end)")
        }
        await entered.stream.first { _ in true }
        preview = nil
        host.cancel()
        await #expect(throws: LuaError.self) { try await script.value }
    }

    @Test func `a host may outlive its preview`() async throws {
        let folder = try PreviewFolder(Self.books)
        let before = try folder.contents()
        let host = try await ScriptPreview(of: .queue(folder.database, inEveryContext: true)).host
        let count: Int = try await host.run(
            source: "db:execute('DELETE FROM book') return db:fetch_value('SELECT COUNT(*) FROM book')")
        #expect(count == 0)
        #expect(try folder.contents() == before)
    }

    @Test func `a preview collects the changes once`() async throws {
        let preview = try await ScriptPreview(of: .inMemory(migrations: .script("db:execute('CREATE TABLE t (a)')")))
        try await preview.host.run(source: "db:execute('INSERT INTO t VALUES (1)')")
        let first = try await preview.finish().report
        try await preview.host.run(source: "db:execute('INSERT INTO t VALUES (1)')")
        #expect(try await preview.finish().report == first)
        #expect(first["t"]?.counts == [1, 0, 0])
    }

    // MARK: - Bounds

    @Test func `a preview compares tables with too many changes to record`() async throws {
        let folder = try PreviewFolder("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)")
        let (report, plan) = try await folder.preview(
            """
            db:execute[[
              WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 20000)
              INSERT INTO t SELECT n, hex(randomblob(20)) FROM c
            ]]
            """
        ) { $0.recordingLimitInBytes = 100_000 }
        #expect(report["t"]?.counts == [20000, 0, 0])
        #expect(report["t"]?.rows.map { $0.newValues?[0] } == (1...10).map { .integer($0) })
        #expect(report.obstacles == [])
        #expect(plan?.summary().map(\.counts) == [[20000, 0, 0]])
    }

    @Test(arguments: [0, 64 << 20])
    func `a preview writes large copies to files and removes them`(limit: Int) async throws {
        let folder = try PreviewFolder("PRAGMA journal_mode = WAL;" + Self.books)
        try folder.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        let before = try previewFolders()
        let (report, plan) = try await folder.preview(
            """
            assert((db:path() ~= ":memory:") == \(limit == 0))
            db:execute("UPDATE book SET pages = 1 WHERE id = 1; CREATE TABLE t (a); DROP TABLE t; VACUUM")
            """
        ) { $0.copyLimitInBytes = limit }
        #expect(report["book"]?.counts == [0, 1, 0])
        #expect(plan != nil)
        #expect(limit != 0 || previewFoldersAreGone(before))
    }

    private func previewFolders() throws -> Set<String> {
        let folder = URL(filePath: try TemporaryFolder.path("any")).deletingLastPathComponent().path
        return Set(try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix("-preview") })
    }

    /// Waits, because other tests may run previews at the same time, whose files are also removed in the end.
    private func previewFoldersAreGone(_ before: Set<String>) -> Bool {
        let deadline = Date(timeIntervalSinceNow: 20)
        while Date() < deadline {
            if (try? previewFolders().subtracting(before).isEmpty) == true { return true }
        }
        return false
    }
}
