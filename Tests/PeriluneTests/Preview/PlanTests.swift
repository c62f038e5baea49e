import Foundation
import GRDB
import Perilune
import PeriluneTestTools
import Testing

@Suite struct PlanTests {
    private static let books = PreviewTests.books

    private func plan(_ folder: PreviewFolder, _ script: String) async throws -> PreviewPlan {
        try await #require(folder.preview(script).plan)
    }

    @Test func `a plan makes exactly the changes that were previewed`() async throws {
        let folder = try PreviewFolder(Self.books)
        let plan = try await plan(
            folder,
            """
            db:execute("UPDATE book SET pages = random() WHERE id < 3; DELETE FROM book WHERE id = 3")
            db:execute("INSERT INTO book VALUES (9, 'x', 0.5)")
            """)
        // Changes to other rows in the meantime do not matter.
        try folder.execute("INSERT INTO book VALUES (20, 'other', 1)")
        try await plan.apply(to: folder.database)
        #expect(try folder.values("SELECT id FROM book ORDER BY id") == ["1", "2", "9", "20"])
        #expect(try folder.values("SELECT title FROM book WHERE id = 1") == ["Typee"])
        #expect(try folder.values("SELECT COUNT(*) FROM book WHERE pages IN (326, 322)") == ["0"])
        try await plan.revert(in: folder.database)
        #expect(
            try folder.values("SELECT title || coalesce(pages, '?') FROM book ORDER BY id") == [
                "Typee326", "Omoo322", "Mardi?", "other1",
            ])
    }

    @Test func `the plan of a row that does not store an added column has its default`() async throws {
        let folder = try PreviewFolder(
            Self.books + " ALTER TABLE book ADD COLUMN stock INTEGER NOT NULL DEFAULT 7; INSERT INTO book VALUES (4, 'x', 1, 8)")
        let before = try folder.values("SELECT id || ' ' || stock FROM book ORDER BY id")
        let (report, found) = try await folder.preview(
            "db:execute[[UPDATE book SET pages = 1 WHERE id = 1; DELETE FROM book WHERE id = 2]]")
        #expect(try #require(report["book"]).rows[0].changedColumns == ["pages"])
        let plan = try #require(found)
        try await plan.apply(to: folder.database)
        try await plan.revert(in: folder.database)
        #expect(try folder.values("SELECT id || ' ' || stock FROM book ORDER BY id") == before)
    }

    @Test(arguments: [
        (
            "UPDATE book SET pages = 1 WHERE id = 1",
            "conflict: the row of book with id = 1 has changed since the plan was made: pages is 1, not 326"
        ),
        ("DELETE FROM book WHERE id = 1", "conflict: the row of book with id = 1 no longer exists"),
        (
            "INSERT INTO book VALUES (9, 'y', 1)",
            "conflict: cannot insert the row of book with id = 9: it already exists"
        ),
        (
            "INSERT INTO book VALUES (10, 'x', 1)",
            "conflict: the row of book with id = 9 would violate a constraint, such as another row with the same unique value"
        ),
    ])
    func `a conflict with a plan rolls everything back and names the row`(sql: String, message: String) async throws {
        let folder = try PreviewFolder(
            """
            CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT UNIQUE, pages);
            CREATE TABLE aaa (id INTEGER PRIMARY KEY);
            INSERT INTO book VALUES (1, 'Typee', 326), (2, 'Omoo', 322);
            """)
        let plan = try await plan(
            folder,
            """
            db:execute("INSERT INTO aaa VALUES (1); UPDATE book SET pages = 2 WHERE id = 1; INSERT INTO book VALUES (9, 'x', 0)")
            """)
        try folder.execute(sql)
        let before = try folder.contents()
        let error = await #expect(throws: PlanError.self) { try await plan.apply(to: folder.database) }
        #expect(error?.code == .conflict)
        #expect(error?.message == message)
        #expect(error?.conflict?.table == "book")
        #expect(try folder.values("SELECT COUNT(*) FROM aaa") == ["0"])
        #expect(try folder.contents()["shop.sqlite"] == before["shop.sqlite"])
    }

    @Test func `a plan that is applied or undone twice is explained`() async throws {
        let folder = try PreviewFolder(Self.books)
        let plan = try await plan(
            folder, "db:execute('UPDATE book SET pages = 1 WHERE id = 2; DELETE FROM book WHERE id = 1')")
        func applying() async -> String? {
            await #expect(throws: PlanError.self) { try await plan.apply(to: folder.database) }?.message
        }
        let error = await #expect(throws: PlanError.self) { try await plan.revert(in: folder.database) }
        #expect(error?.message.hasSuffix("; the plan has been undone already, or was never applied") == true)
        try await plan.apply(to: folder.database)
        let applied = try folder.values("SELECT id, pages FROM book")
        #expect(
            await applying()
                == "conflict: the row of book with id = 2 has changed since the plan was made: pages is 1, not 322; the plan has been applied already"
        )
        #expect(try folder.values("SELECT id, pages FROM book") == applied)
        // If only some of the changes are there, this is an ordinary conflict.
        try folder.execute("UPDATE book SET pages = 7 WHERE id = 2")
        #expect(
            await applying()
                == "conflict: the row of book with id = 2 has changed since the plan was made: pages is 7, not 322")
    }

    @Test func `a conflict with a plan reports the expected and the actual values`() async throws {
        let folder = try PreviewFolder(Self.books)
        let plan = try await plan(folder, "db:execute('UPDATE book SET pages = 1 WHERE id = 2')")
        try folder.execute("UPDATE book SET title = 'Piazza', pages = 5 WHERE id = 2")
        let error = await #expect(throws: PlanError.self) { try await plan.apply(to: folder.database) }
        #expect(error?.conflict?.kind == .update)
        #expect(error?.conflict?.columns == ["id", "title", "pages"])
        #expect(error?.conflict?.expected == [2, "Omoo", nil])
        #expect(error?.conflict?.found == [2, "Piazza", 5])
        let changed = await #expect(throws: PlanError.self) {
            try await plan.apply(to: folder.database, comparing: .changedColumns)
        }
        #expect(changed?.conflict?.expected == [2, nil, 322])
    }

    @Test func `a change in a column outside the plan is a conflict unless only the plan's columns are compared`()
        async throws
    {
        let folder = try PreviewFolder(Self.books)
        let plan = try await plan(folder, "db:execute('UPDATE book SET pages = 1 WHERE id = 2')")
        let path = folder.path + "/a.plan"
        try plan.write(to: path)
        let read = try PreviewPlan(contentsOf: path)
        try folder.execute("UPDATE book SET title = 'Piazza' WHERE id = 2")
        let message = "conflict: the row of book with id = 2 has changed since the plan was made: title is 'Piazza', not 'Omoo'"
        for plan in [plan, read] {
            let error = await #expect(throws: PlanError.self) { try await plan.apply(to: folder.database) }
            #expect(error?.code == .conflict)
            #expect(error?.message == message)
            #expect(error?.conflict?.kind == .update)
        }
        #expect(try folder.values("SELECT pages FROM book WHERE id = 2") == ["322"])
        try await read.apply(to: folder.database, comparing: .changedColumns)
        #expect(try folder.values("SELECT title || pages FROM book WHERE id = 2") == ["Piazza1"])

        let undo = await #expect(throws: PlanError.self) { try await read.revert(in: folder.database) }
        #expect(undo?.message == message)
        try await read.revert(in: folder.database, comparing: .changedColumns)
        #expect(try folder.values("SELECT title || pages FROM book WHERE id = 2") == ["Piazza322"])
    }

    @Test func `a plan compares values of all kinds in their stored form`() async throws {
        let folder = try PreviewFolder(
            """
            CREATE TABLE "odd ""table" (a TEXT, "b ""c", "n" INTEGER, PRIMARY KEY (a, "b ""c")) WITHOUT ROWID;
            INSERT INTO "odd ""table" VALUES ('', X'', 1), ('x', X'00FF', 2), (CAST(X'FF41' AS TEXT), -1.5, 3), ('9', 9223372036854775807, 4);
            ALTER TABLE "odd ""table" ADD COLUMN note;
            UPDATE "odd ""table" SET note = printf('%.*c', 20000, 'x') WHERE n = 1;
            UPDATE "odd ""table" SET note = 1e300 * n WHERE n > 1;
            """)
        let plan = try await plan(folder, #"db:execute('UPDATE "odd ""table" SET n = n + 10')"#)
        for (change, back) in [
            ("note = 1 WHERE n = 1", "note = printf('%.*c', 20000, 'x') WHERE n = 1"),
            ("note = '2e+300' WHERE n = 2", "note = 2e300 WHERE n = 2"),
            ("note = 1 WHERE n = 3", "note = 3e300 WHERE n = 3"), ("note = NULL WHERE n = 4", "note = 4e300 WHERE n = 4"),
        ] {
            try folder.execute(#"UPDATE "odd ""table" SET "# + change)
            let error = await #expect(throws: PlanError.self) { try await plan.apply(to: folder.database) }
            #expect(error?.message.contains(": note is ") == true)
            try folder.execute(#"UPDATE "odd ""table" SET "# + back)
        }
        try await plan.apply(to: folder.database)
        #expect(try folder.values(#"SELECT n FROM "odd ""table" ORDER BY n"#) == ["11", "12", "13", "14"])
    }

    @Test(.timeLimit(.minutes(10))) func `a plan triggers durable automations, even if they have read later changes`()
        async throws
    {
        let folder = try PreviewFolder(Self.books + " CREATE TABLE seen (id INTEGER, number INTEGER PRIMARY KEY);")
        let file = folder.path + "/watch.lua"
        let source = """
            perilune.automation{ name = "watch", durable = true, on = { change = perilune.record("book") }, run = function(run)
              db:execute("INSERT INTO seen (id) VALUES (?)", run.key)
            end }
            """
        try Data(source.utf8).write(to: URL(fileURLWithPath: file))
        func load() async throws -> ScriptHost {
            let host = try await ScriptHost(database: .pool(folder.database, inEveryContext: true))
            try await host.loadAutomations(file: file)
            return host
        }
        // Creates the triggers, so that the preview records the changes.
        try await load().close()
        let plan = try await plan(
            folder, "db:execute(\"INSERT INTO book VALUES (9, 'x', 1)\") db:execute(\"UPDATE book SET pages = 5 WHERE id = 1\")")
        let host = try await load()
        // The clock of a test stands still, so the host notices other writers only when it writes itself.
        func waitForRuns(of rows: Set<String>) async throws {
            try await host.run(source: "db:execute('UPDATE book SET pages = 7 WHERE id = 2')")
            #expect(try await eventually { try rows.isSubset(of: Set(folder.values("SELECT id FROM seen"))) })
        }
        for id in 20...24 {
            try await host.run(source: "db:execute('INSERT INTO book VALUES (?, ?, 1)', ...)", arguments: id, "book \(id)")
        }
        try await waitForRuns(of: ["20", "21", "22", "23", "24"])
        try await plan.apply(to: folder.database)
        try await waitForRuns(of: ["9", "1"])
        try await host.run(source: "db:execute('DELETE FROM seen')")
        try await plan.revert(in: folder.database)
        try await waitForRuns(of: ["9", "1"])
        #expect(try folder.values("SELECT COUNT(*) FROM book WHERE id = 9") == ["0"])
        await host.close()
    }

    @Test func `a plan in the previous format is refused`() async throws {
        let folder = try PreviewFolder(Self.books)
        let path = folder.path + "/a.plan"
        try Data(#"{"format":"perilune plan","version":1}"#.utf8).write(to: URL(fileURLWithPath: path))
        let error = #expect(throws: PlanError.self) { try PreviewPlan(contentsOf: path) }
        #expect(error?.message == "\(path) is a plan of version 1; this perilune reads version 2; make the plan again")
    }

    @Test func `a plan can be applied only once`() async throws {
        let folder = try PreviewFolder(Self.books)
        let plan = try await plan(folder, "db:execute('DELETE FROM book WHERE id = 2')")
        try await plan.apply(to: folder.database)
        await #expect(throws: PlanError.self) { try await plan.apply(to: folder.database) }
    }

    @Test func `a plan for a changed schema is refused`() async throws {
        let folder = try PreviewFolder(Self.books)
        let plan = try await plan(folder, "db:execute('DELETE FROM book WHERE id = 2')")
        for sql in ["CREATE INDEX i ON book (pages)", "DROP INDEX i; PRAGMA user_version = 3"] {
            try folder.execute(sql)
            let error = await #expect(throws: PlanError.self) { try await plan.apply(to: folder.database) }
            #expect(error?.code == .schema)
        }
        try folder.execute("PRAGMA user_version = 0")
        try await plan.apply(to: folder.database)
    }

    @Test func `a plan that would violate a foreign key is refused`() async throws {
        let folder = try PreviewFolder(
            """
            CREATE TABLE author (id INTEGER PRIMARY KEY);
            CREATE TABLE book (id INTEGER PRIMARY KEY, author_id INTEGER REFERENCES author (id));
            INSERT INTO author VALUES (1);
            PRAGMA foreign_keys = OFF; INSERT INTO book VALUES (5, 77);
            """)
        let plan = try await plan(folder, "db:execute('INSERT INTO book VALUES (1, 1)')")
        try folder.execute("DELETE FROM author")
        let error = await #expect(throws: PlanError.self) { try await plan.apply(to: folder.database) }
        #expect(error?.code == .foreignKey)
        #expect(error?.message.hasPrefix("conflict: row ") == true)
        #expect(try folder.values("SELECT id FROM book") == ["5"])
        // The row that already violated the foreign key is not part of the plan.
        try folder.execute("INSERT INTO author VALUES (1)")
        try await plan.apply(to: folder.database)
    }

    @Test func `a plan can shift unique values but not swap them`() async throws {
        let folder = try PreviewFolder(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE); INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)")
        let plan = try await plan(
            folder, "for id = 3, 1, -1 do db:execute('UPDATE t SET a = a + 1 WHERE id = ?', id) end")
        let (report, none) = try await folder.preview(
            """
            db:execute("UPDATE t SET a = NULL; UPDATE t SET a = 2 WHERE id = 1; UPDATE t SET a = 1 WHERE id = 2")
            """)
        #expect(report["t"]?.counts == [0, 3, 0])
        #expect(none == nil)
        #expect(
            report.obstacles.first?.hasPrefix("the changes cannot be applied row by row: the row of t with id = ") == true)
        try await plan.apply(to: folder.database)
        #expect(try folder.values("SELECT a FROM t ORDER BY id") == ["2", "3", "4"])
    }

    // MARK: - Files

    @Test func `a plan can be written to a file and read back`() async throws {
        let folder = try PreviewFolder(Self.books)
        var plan = try await plan(folder, "db:execute('DELETE FROM book WHERE id = 2')")
        plan.scripts = [PreviewPlan.Script(name: "a.lua", bytes: Array("abc".utf8))]
        let path = folder.path + "/a.plan"
        try plan.write(to: path)
        let read = try PreviewPlan(contentsOf: path)
        #expect(read.origin == plan.origin)
        #expect(read.origin.path == folder.database.replacing("//", with: "/"))
        #expect(read.scripts.first?.hash == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(read.creationDate == plan.creationDate)
        #expect(read.summary().map(\.counts) == [[0, 0, 1]])
        try await read.apply(to: folder.database)
        #expect(try folder.values("SELECT id FROM book") == ["1", "3"])
    }

    @Test func `a plan does not overwrite other files`() async throws {
        let folder = try PreviewFolder(Self.books)
        let plan = try await plan(folder, "db:execute('DELETE FROM book WHERE id = 2')")
        let before = try folder.contents()
        let error = #expect(throws: PlanError.self) { try plan.write(to: folder.database) }
        #expect(error?.message == "refusing to overwrite \(folder.database): it is not a plan file")
        #expect(try folder.contents() == before)

        let path = folder.path + "/a.plan", link = folder.path + "/link"
        try plan.write(to: path)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        try plan.write(to: link)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == path)
        #expect(try PreviewPlan(contentsOf: path).origin == plan.origin)
    }

    @Test func `a plan can be written to a device without replacing it`() async throws {
        let plan = try await plan(PreviewFolder(Self.books), "db:execute('DELETE FROM book WHERE id = 2')")
        let error = #expect(throws: PlanError.self) { try plan.write(to: "/dev/full") }
        #expect(error?.message == "cannot write the plan /dev/full: No space left on device")
        try plan.write(to: "/dev/null")
        #expect(
            try FileManager.default.attributesOfItem(atPath: "/dev/null")[.type] as? FileAttributeType == .typeCharacterSpecial)
    }

    @Test func `invalid plan files are refused`() async throws {
        let folder = try PreviewFolder(Self.books)
        let path = folder.path + "/a.plan"
        func code(_ text: String) throws -> PlanError.Code? {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            return #expect(throws: PlanError.self) { try PreviewPlan(contentsOf: path) }?.code
        }
        #expect(throws: PlanError.self) { try PreviewPlan(contentsOf: folder.path + "/none") }
        #expect(try code("") == .format)
        #expect(try code("{}") == .format)
        #expect(try code(#"{"format":"perilune plan","version":99}"#) == .format)
        #expect(try code(#"{"format":"perilune plan","version":1}"#) == .format)
        #expect(try code(#"{"format":"perilune plan","version":0}"#) == .format)
        try await plan(folder, "db:execute('DELETE FROM book WHERE id = 2')").write(to: path)
        let text = try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
        // "T" begins the changes of a table; "X" begins nothing.
        #expect(text.contains(#""changeset" : "VA"#))
        #expect(try code(text.replacing(#""changeset" : "VA"#, with: #""changeset" : "WA"#)) == .format)
        let error = #expect(throws: PlanError.self) { try PreviewPlan(contentsOf: path) }
        #expect(error?.message == "\(path) is a damaged plan file")
        // A column count that would make SQLite read forever.
        var plan = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        var changes = try #require(Data(base64Encoded: plan["changeset"] as? String ?? ""))
        changes[1] = 0x83
        plan["changeset"] = changes.base64EncodedString()
        try JSONSerialization.data(withJSONObject: plan).write(to: URL(fileURLWithPath: path))
        #expect(throws: PlanError.self) { try PreviewPlan(contentsOf: path) }
    }
}
