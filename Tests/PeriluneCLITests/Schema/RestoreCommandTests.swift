import Foundation
import GRDB
import PeriluneTestTools
import Testing

@testable import PeriluneCLI

/// `perilune restore`, and dumps that are read back.
@Suite(.patience, .startsPrograms) struct RestoreCommandTests {
    /// Returns the schema and all rows of all tables with their row ids and exact bits.
    private func contents(_ path: String) throws -> [String] {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try queue.read { db in
            let schema = try String.fetchAll(
                db, sql: "SELECT type || name || ifnull(sql, '') FROM sqlite_schema ORDER BY type, name")
            let tables = try Row.fetchAll(
                db,
                sql: "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'shadow') ORDER BY name")
            let rows = try tables.flatMap { table -> [String] in
                let name: String = table["name"]
                // Full-text indexes are rebuilt from the rows of their tables.
                if ["sqlite_schema", "ft_data", "ft_idx", "ft_config"].contains(name) { return [] }
                let columns = try String.fetchAll(db, sql: "SELECT name FROM pragma_table_xinfo(?)", arguments: [name])
                let values = columns.map { column in
                    let quoted = "\"" + column.replacing("\"", with: "\"\"") + "\""
                    return
                        "typeof(\(quoted)) || CASE typeof(\(quoted)) WHEN 'real' THEN printf('%!.25g', \(quoted)) ELSE ifnull(hex(\(quoted)), '') END"
                }
                let key = table["wr"] == 1 ? "''" : "rowid"
                return try String.fetchAll(
                    db,
                    sql:
                        "SELECT \(key) || ':' || \(values.joined(separator: " || ',' || ")) FROM \"\(name.replacing("\"", with: "\"\""))\" ORDER BY 1"
                )
                .map { "\(name): \($0)" }
            }
            return schema + rows
                + (try ["application_id", "user_version"].map { "\(try Int.fetchOne(db, sql: "PRAGMA \($0)") ?? 0)" })
        }
    }

    private func made(_ sql: String, in folder: TestFolder) throws {
        let queue = try DatabaseQueue(path: folder.path + "/a.sqlite")
        try queue.writeWithoutTransaction { db in try db.execute(sql: sql) }
        try queue.close()
    }

    private static let everything = """
        PRAGMA user_version = -7; PRAGMA application_id = 99;
        CREATE TABLE "odd ""t" (a, "b'c" TEXT COLLATE NOCASE DEFAULT 'x', r REAL, n NUMERIC);
        INSERT INTO "odd ""t" VALUES (1e999, 'a' || char(0) || 'b', 204.000651972, -0.0), (x'00ff', CAST(x'61ff' AS TEXT), 5e-324, 1e300),
          ('line' || char(13, 10) || '\\r', 'é', 0.1, '007x'), (-0.0, '', -152.63219943, 9223372036854775807), (NULL, NULL, 1.7976931348623157e308, 3.0);
        CREATE TABLE k (id INTEGER PRIMARY KEY AUTOINCREMENT, v INTEGER CHECK (v > 0), g AS (v * 2) STORED);
        INSERT INTO k (v) VALUES (1), (2); DELETE FROM k WHERE id = 2;
        CREATE TABLE w (a TEXT, b INTEGER, PRIMARY KEY (b, a)) WITHOUT ROWID; INSERT INTO w VALUES ('x', 2), ('y', 1);
        CREATE TABLE d (id INTEGER PRIMARY KEY DESC, v); INSERT INTO d (rowid, v) VALUES (7, 'a'), (9, 'b');
        CREATE TABLE log (what TEXT); INSERT INTO log (rowid, what) VALUES (5, 'old');
        CREATE TABLE counter (n INTEGER); INSERT INTO counter VALUES (0);
        CREATE TRIGGER k_logged AFTER INSERT ON k BEGIN INSERT INTO log VALUES ('new ' || NEW.id); UPDATE counter SET n = n + 1; END;
        INSERT INTO k (v) VALUES (3);
        CREATE VIEW doubled AS SELECT v * 2 AS d FROM k; CREATE UNIQUE INDEX w_by_b ON w (b DESC) WHERE b > 1; CREATE INDEX k_by_v ON k (v + 1);
        CREATE TABLE gone (x); CREATE VIEW bad AS SELECT * FROM gone; DROP TABLE gone;
        CREATE VIRTUAL TABLE ft USING fts5(title, body); INSERT INTO ft VALUES ('a b', 'c'); INSERT INTO ft (ft, rank) VALUES ('rank', 'bm25(10.0)');
        CREATE VIRTUAL TABLE bare USING fts5(t, content=''); INSERT INTO bare (rowid, t) VALUES (3, 'find me');
        CREATE VIRTUAL TABLE words USING fts5vocab('ft', 'row'); CREATE VIRTUAL TABLE box USING rtree(id, x0, x1); INSERT INTO box VALUES (1, 0.5, 1.5);
        ANALYZE;
        """

    @Test func `a dump is restored exactly, from a file and from a pipe, by perilune and by sqlite3`() throws {
        let folder = try TestFolder()
        try made(Self.everything, in: folder)
        let lines = [
            "$PERILUNE dump --database a.sqlite > d.sql && $PERILUNE restore d.sql --database b.sqlite",
            "$PERILUNE dump --database a.sqlite | $PERILUNE restore --database c.sqlite",
            "sqlite3 a.sqlite .dump | $PERILUNE restore - --database e.sqlite", "sqlite3 f.sqlite < d.sql",
        ]
        for line in lines {
            let result = try folder.shell(line)
            #expect(result.status == 0, "\(line): \(result.errors)")
        }
        let before = try contents(folder.path + "/a.sqlite")
        #expect(before.count > 40)
        for name in ["b", "c", "f"] { #expect(try contents("\(folder.path)/\(name).sqlite") == before, "\(name)") }
        // SQLite's shell dumps neither statistics nor versions, and quotes names differently.
        let found = try folder.shell(
            "$PERILUNE query --database e.sqlite \"SELECT (SELECT count(*) FROM bare('find')) || (SELECT group_concat(what) FROM log) AS a\""
        )
        #expect(found.output == "{\"a\":\"1old,new 3\"}\n", "\(found.errors)")
    }

    @Test func `a schema dump and a row dump together recreate the database`() throws {
        let folder = try TestFolder()
        try made(Self.everything, in: folder)
        for restore in ["$PERILUNE restore - --database b.sqlite", "sqlite3 c.sqlite"] {
            let line =
                "$PERILUNE dump --schema-only --database a.sqlite | \(restore) && $PERILUNE dump --data-only --database a.sqlite | \(restore)"
            let result = try folder.shell(line)
            #expect(result.status == 0 || restore.hasPrefix("sqlite3"), "\(result.errors)")
        }
        let before = try contents(folder.path + "/a.sqlite")
        let after = try contents(folder.path + "/b.sqlite")
        #expect(after.sorted() == before.sorted())
    }

    @Test func `a dump keeps the encoding of the database, with NULs and line ends`() throws {
        let folder = try TestFolder()
        try made(
            "PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (a); INSERT INTO t VALUES ('é\\r\\0' || char(0) || char(13, 10)), ('b' || char(0)), ('c')",
            in: folder)
        let result = try folder.shell(
            "$PERILUNE dump --database a.sqlite > d.sql && $PERILUNE restore d.sql --database b.sqlite && sqlite3 c.sqlite < d.sql"
        )
        #expect(try result.status == 0 && folder.read("d.sql").hasPrefix("PRAGMA encoding='UTF-16le';\n"), "\(result.errors)")
        let before = try contents(folder.path + "/a.sqlite")
        for name in ["b", "c"] { #expect(try contents("\(folder.path)/\(name).sqlite") == before, "\(name)") }
    }

    @Test func `definitions with strings in double quotes are restored`() throws {
        let folder = try TestFolder()
        let schema = """
            CREATE TABLE t (a TEXT CHECK (a <> "bad"), b DEFAULT "x", c AS (a || "y")); CREATE INDEX i ON t (a) WHERE a = "yes";
            CREATE VIEW v AS SELECT "lit" AS x FROM t; CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT "z"; END; INSERT INTO t (a) VALUES ('yes');
            """
        try folder.write(schema, to: "a.sql")
        let result = try folder.shell(
            "sqlite3 a.sqlite < a.sql && $PERILUNE dump --database a.sqlite | $PERILUNE restore --database b.sqlite")
        #expect(result.status == 0, "\(result.errors)")
        #expect(try folder.shell("sqlite3 b.sqlite .dump").output == folder.shell("sqlite3 a.sqlite .dump").output)
    }

    @Test func `definitions that end with a comment are restored`() throws {
        let folder = try TestFolder()
        let schema = """
            CREATE TABLE t (a); CREATE INDEX i ON t (a) WHERE a > 1 -- most
            ;
            CREATE VIEW v AS SELECT a FROM t -- all
            ;
            CREATE VIEW w AS SELECT a FROM t /* all */;
            CREATE VIEW x AS SELECT a FROM t /* all
            """
        try folder.write(schema, to: "a.sql")
        let result = try folder.shell(
            """
            sqlite3 a.sqlite < a.sql && $PERILUNE dump --database a.sqlite > d.sql \
            && $PERILUNE restore d.sql --database b.sqlite && sqlite3 c.sqlite < d.sql && $PERILUNE schema --format sql --database a.sqlite > s.sql \
            && sqlite3 e.sqlite < s.sql
            """)
        #expect(result.status == 0, "\(result.errors)")
        for name in ["b", "c", "e"] {
            #expect(try folder.shell("sqlite3 \(name).sqlite 'SELECT count(*) FROM sqlite_schema'").output == "5\n", "\(name)")
        }
    }

    @Test func `an empty or incomplete dump is refused`() throws {
        let folder = try TestFolder()
        for (dump, message) in [
            ("", "no statements"), ("-- nothing\n", "no statements"), ("BEGIN;\nCREATE TABLE t (a);\n", "ends without COMMIT"),
            ("BEGIN;\nCREATE TABLE t (a);\nINSERT INTO t VALUES ('1;", "it ends inside the statement of line 3"),
            ("BEGIN;\nCREATE TABLE t (a);\nINSERT INT", "it ends inside the statement of line 3"),
        ] {
            let result = try folder.perilune("restore", "--database", "x.sqlite", input: dump)
            #expect(result.status == 65 && result.errors.contains(message) && !folder.exists("x.sqlite"), "\(result.errors)")
        }
        let wrong = "BEGIN;\nCREATE TABLE t (a);\nINSERT INT;\nCOMMIT;\n"
        #expect(try folder.perilune("restore", "--database", "x.sqlite", input: wrong).status == 1)
        let savepoints = "SAVEPOINT s; CREATE TABLE a (b); ROLLBACK TO s; RELEASE s; CREATE TABLE c (d);"
        #expect(try folder.perilune("restore", "--database", "x.sqlite", input: savepoints).status == 0)
    }

    @Test func `a dump that fails changes nothing, and its line is reported`() throws {
        let folder = try TestFolder([
            "bad.sql": "BEGIN;\nCREATE TABLE t (a);\nINSERT INTO t VALUES (1);\n\nINSERT INTO u VALUES (1);\nCOMMIT;\n",
            "end.sql": "BEGIN;\nCREATE TABLE t (a);\nROLLBACK; -- due to errors\n",
        ])
        var result = try folder.perilune("restore", "bad.sql", "--database", "x.sqlite")
        #expect(result.status == 1 && result.errors.contains("bad.sql:5: no such table: u"), "\(result.errors)")
        #expect(!folder.exists("x.sqlite"))
        result = try folder.perilune("restore", "end.sql", "--database", "x.sqlite")
        #expect(result.status == 65 && result.errors.contains("ROLLBACK") && !folder.exists("x.sqlite"), "\(result.errors)")
        try made("CREATE TABLE t (a); INSERT INTO t VALUES (7)", in: folder)
        _ = try folder.shell("$PERILUNE dump --database a.sqlite --output d.sql")
        result = try folder.perilune("restore", "d.sql", "--database", "a.sqlite")
        #expect(
            result.status == 1 && result.errors.contains("already exists")
                && result.errors.contains("restored into an empty one"), "\(result.errors)")
        #expect(try folder.perilune("restore", "none.sql", "--database", "x.sqlite").status == 74)
        #expect(try folder.perilune("restore", "--database", "x.sqlite", input: "SELECT 1;").status == 0)
    }

    @Test func `a dump with rows that violate constraints is restored, and a dump of a damaged file is refused`() throws {
        let folder = try TestFolder()
        try made(
            "CREATE TABLE k (v INTEGER CHECK (v > 0), r REFERENCES k); PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF; INSERT INTO k VALUES (-1, 9)",
            in: folder)
        #expect(try folder.shell("$PERILUNE dump --database a.sqlite | $PERILUNE restore --database b.sqlite").status == 0)
        #expect(try contents(folder.path + "/b.sqlite") == contents(folder.path + "/a.sqlite"))
        try folder.write(
            "BEGIN;\nCREATE TABLE t (a);\n/**** ERROR: (11) ****/\n-- more\nROLLBACK; -- due to errors\n", to: "d.sql")
        let damaged = try folder.perilune("restore", "d.sql", "--database", "x.sqlite")
        #expect(damaged.status == 65 && damaged.errors.contains("replace ROLLBACK by COMMIT"), "\(damaged.errors)")
    }

    @Test func `commands that do not accept a dump suggest the one that does`() throws {
        let folder = try TestFolder(["m/0001.sql": "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE t (a);\nCOMMIT;\n"]
        )
        let migration = try folder.perilune("migrate", "m", "--database", "x.sqlite")
        #expect(migration.status != 0 && migration.errors.contains("perilune restore FILE"), "\(migration.errors)")
        try made("CREATE TABLE t (a)", in: folder)
        let query = try folder.perilune("query", "--write", "--database", "a.sqlite", "-", input: try folder.read("m/0001.sql"))
        #expect(query.status != 0 && query.errors.contains("perilune restore FILE"), "\(query.errors)")
        let script = try folder.perilune("run", "--database", "a.sqlite", "-e", "db:execute('PRAGMA writable_schema=ON')")
        #expect(script.status != 0 && script.errors.contains("`perilune restore FILE` restores a dump"), "\(script.errors)")
    }

    @Test func `all commands can read a schema with a missing view, module or collation`() throws {
        let folder = try TestFolder()
        try made(
            """
            CREATE TABLE t (a INTEGER PRIMARY KEY); INSERT INTO t VALUES (1); CREATE TABLE gone (x); CREATE VIEW bad AS SELECT * FROM gone; DROP TABLE gone;
            CREATE VIEW worse AS SELECT nonsense FROM t; CREATE TABLE v_chunks (k INTEGER PRIMARY KEY, data BLOB); INSERT INTO v_chunks VALUES (4, x'01');
            PRAGMA writable_schema = ON;
            INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES ('table', 'v', 'v', 0, 'CREATE VIRTUAL TABLE v USING vec0(a)');
            CREATE TABLE c (a TEXT, b, PRIMARY KEY (a)) WITHOUT ROWID; INSERT INTO c VALUES ('x', 1);
            UPDATE sqlite_schema SET sql = 'CREATE TABLE c (a TEXT COLLATE german, b, PRIMARY KEY (a)) WITHOUT ROWID' WHERE name = 'c';
            """, in: folder)
        let dump = try folder.perilune("dump", "--database", "a.sqlite")
        #expect(
            dump.status == 0 && dump.output.contains("INSERT INTO \"c\"") && dump.output.contains("CREATE VIEW bad AS"),
            "\(dump.errors)")
        for message in [
            "the view bad cannot be used: no such table: main.gone", "the view worse cannot be used: no such column: nonsense",
            "the virtual table v cannot be used: no such module: vec0",
        ] {
            #expect(dump.errors.contains(message), "\(dump.errors)")
        }
        for format in ["sql", "lua", "json", "diagram"] {
            let schema = try folder.perilune("schema", "--format", format, "--database", "a.sqlite")
            #expect(schema.status == 0 && schema.output.contains("c"), "\(format): \(schema.errors)")
            #expect(
                schema.errors.contains("the view bad cannot be used")
                    && (format == "diagram" || schema.output.contains("CREATE VIRTUAL TABLE v")), "\(schema.errors)")
        }
        let doctor = try folder.perilune("doctor", "--database", "a.sqlite")
        #expect(
            doctor.status == 1 && doctor.output.contains("the view bad cannot be used: no such table: main.gone")
                && doctor.output.contains("DROP VIEW \"bad\""), "\(doctor.output)\(doctor.errors)")
        #expect(
            doctor.output.contains("no such module: vec0") && doctor.output.contains("collation german")
                && doctor.output.contains("every foreign key has an index"))
        let types = try folder.perilune("types", ".types", "--database", "a.sqlite")
        #expect(types.status == 0 && types.errors.contains("left out: the view bad cannot be used"), "\(types.errors)")
        let text = try folder.read(".types/schema.d.lua")
        #expect(
            text.contains("perilune.record.t:") && text.contains("perilune.record.c:") && !text.contains("perilune.record.bad"),
            "\(text)")
        let console = try folder.perilune("console", "a.sqlite", input: ":schema\n:models\nT:fetch_count()\n.tables\n")
        #expect(
            console.status == 0 && console.output.contains("cannot be used: no such table: main.gone")
                && console.output.contains("v_chunks"), "\(console.output)\(console.errors)")
        // The lines that need the missing collation are removed before the restore.
        let restored = try folder.shell(
            "$PERILUNE dump --database a.sqlite | grep -v german | grep -v '\"c\"' | $PERILUNE restore --database b.sqlite")
        #expect(restored.status == 0, "\(restored.errors)")
        #expect(
            try folder.shell("$PERILUNE query --database b.sqlite \"SELECT count(*) AS n FROM sqlite_schema WHERE name = 'v'\"")
                .output == "{\"n\":1}\n")
    }

    @Test func `databases with any rows are restored exactly`() throws {
        var random = SeededGenerator(state: 7)
        let folder = try TestFolder()
        for _ in 0..<4 {
            let path = folder.path + "/a.sqlite"
            try? FileManager.default.removeItem(atPath: path)
            let queue = try DatabaseQueue(path: path)
            try queue.writeWithoutTransaction { db in
                let types = ["", "INTEGER", "TEXT", "REAL", "NUMERIC", "BLOB", "BOOLEAN", "DATE"]
                for table in 0..<4 {
                    let columns = (0...Int.random(in: 0...4, using: &random)).map {
                        "c\($0) \(types.randomElement(using: &random)!)"
                    }
                    try db.execute(sql: "CREATE TABLE t\(table) (\(columns.joined(separator: ", ")))")
                    for _ in 0..<150 {
                        let values = columns.map { _ in Self.value(&random) }
                        let marks = values.map { _ in "?" }.joined(separator: ", ")
                        try db.execute(sql: "INSERT INTO t\(table) VALUES (\(marks))", arguments: StatementArguments(values))
                    }
                    try db.execute(sql: "DELETE FROM t\(table) WHERE rowid % 7 = 3")
                }
            }
            try queue.close()
            let result = try folder.shell(
                "rm -f b.sqlite; $PERILUNE dump --database a.sqlite | $PERILUNE restore --database b.sqlite")
            #expect(result.status == 0, "\(result.errors)")
            #expect(try contents(folder.path + "/b.sqlite") == contents(path))
        }
    }

    private static func value(_ random: inout SeededGenerator) -> DatabaseValue {
        switch Int.random(in: 0..<7, using: &random) {
        case 0: .null
        case 1: Int64.random(in: .min ... .max, using: &random).databaseValue
        case 2: Int64.random(in: -9...9, using: &random).databaseValue
        case 3: Double(bitPattern: .random(in: 0...UInt64.max, using: &random)).databaseValue
        case 4:
            Double(
                "\(Int.random(in: -999_999_999_999...999_999_999_999, using: &random))e\(Int.random(in: -12...3, using: &random))"
            )!.databaseValue
        case 5:
            Data((0..<Int.random(in: 0...9, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }).databaseValue
        default:
            String(
                decoding: (0..<Int.random(in: 0...9, using: &random)).map { _ in
                    "a'\"\\\r\n;-ü0".utf8.randomElement(using: &random)!
                }, as: UTF8.self
            ).databaseValue
        }
    }
}
