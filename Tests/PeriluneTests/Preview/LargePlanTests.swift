import Foundation
import GRDB
import Perilune
import PeriluneLua
import Testing

/// Plans that do not fit into memory.
@Suite struct LargePlanTests {
    /// A table whose changes are written to files if they exceed a megabyte.
    private static func table(_ count: Int) -> String {
        """
        CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b TEXT, c REAL);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT \(count))
        INSERT INTO t SELECT i, 'text ' || i, printf('%.*c', 40 + i % 20, 'x'), i * 0.5 FROM n;
        """
    }

    private static let sum =
        "SELECT COUNT(*) || ' ' || SUM(id) || ' ' || SUM(length(a)) || ' ' || SUM(length(b)) || ' ' || SUM(c) FROM t"

    @Test func `a large plan can be computed, written, read, applied and undone`() async throws {
        let folder = try PreviewFolder(Self.table(15_000))
        let script = """
            db:execute("UPDATE t SET c = c + 1, a = a || '!'")
            db:execute("DELETE FROM t WHERE id % 10 = 0; INSERT INTO t SELECT id + 100000, b, a, c FROM t WHERE id % 3 = 0")
            """
        let (report, plan) = try await folder.preview(script) { $0.recordingLimitInBytes = 1 << 20 }
        #expect(report["t"]?.counts == [4500, 13_500, 1500])
        #expect(report["t"]?.rows.count == 30)
        #expect(report.obstacles == [])
        let path = folder.path + "/large.plan"
        try #require(plan).write(to: path)
        let read = try PreviewPlan(contentsOf: path)
        #expect(read.summary().map(\.counts) == [[4500, 13_500, 1500]])

        let before = try folder.values(Self.sum)
        try await read.apply(to: folder.database)
        #expect(try folder.values(Self.sum) != before)
        #expect(try folder.values("SELECT COUNT(*) FROM t WHERE id > 100000 AND b LIKE 'text %!'") == ["4500"])
        try await read.revert(in: folder.database)
        #expect(try folder.values(Self.sum) == before)

        try folder.execute("UPDATE t SET b = 'other' WHERE id = 14999")
        let error = await #expect(throws: PlanError.self) { try await read.apply(to: folder.database) }
        #expect(error?.message.contains("the row of t with id = 14999 has changed") == true)
    }

    @Test func `a plan whose JSON is reformatted is valid, and a damaged one is not`() async throws {
        let folder = try PreviewFolder(Self.table(5000))
        let plan = try #require(try await folder.preview("db:execute('UPDATE t SET a = ?', ('?'):rep(50))").plan)
        let path = folder.path + "/a.plan"
        try plan.write(to: path)
        let object = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: path)))
        // Compact, with its keys in a different order and escaped slashes.
        for options in [JSONSerialization.WritingOptions(), [.sortedKeys, .prettyPrinted]] {
            try JSONSerialization.data(withJSONObject: object, options: options).write(to: URL(filePath: path))
            #expect(try PreviewPlan(contentsOf: path).summary().map(\.counts) == [[0, 5000, 0]])
        }
        let whole = try Data(contentsOf: URL(filePath: path))
        let middle = whole.count / 2
        for damaged in [whole.prefix(middle), whole[..<middle] + whole[(middle + 1)...], whole + Data("x".utf8)] {
            try damaged.write(to: URL(filePath: path))
            #expect(throws: PlanError.self) { try PreviewPlan(contentsOf: path) }
        }
    }

    @Test func `the changed tables are known even if there are too many changes`() async throws {
        let folder = try PreviewFolder(
            Self.table(30_000)
                + "CREATE TABLE u (id INTEGER PRIMARY KEY); CREATE TABLE v (id INTEGER PRIMARY KEY); CREATE TABLE keyless (a); INSERT INTO keyless VALUES (1), (2)"
        )
        let (report, plan) = try await folder.preview(
            """
            db:execute("UPDATE t SET a = 'x'")
            db:execute("INSERT INTO u VALUES (7)")
            local changes = db:record_changes(function(db) db:execute("INSERT INTO u VALUES (8)") end)
            assert(#changes:rows() == 1)
            db:execute("DELETE FROM u WHERE id = 7")
            """
        ) { $0.recordingLimitInBytes = 100_000 }
        #expect(report.tables.map(\.name) == ["t", "u"])
        #expect(report.tables.map(\.counts) == [[0, 30_000, 0], [1, 0, 0]])
        #expect(plan != nil)

        let (keyless, none) = try await folder.preview(
            "db:execute([[UPDATE t SET a = 'x'; UPDATE keyless SET a = 3 WHERE a = 2]])"
        ) {
            $0.recordingLimitInBytes = 100_000
        }
        #expect(keyless["keyless"]?.rows == [RowChange(kind: .update, before: [2], after: [3])])
        #expect(keyless.obstacles == ["keyless cannot be recorded: it has no PRIMARY KEY"])
        #expect(none == nil)
    }

    @Test func `an observer that is added after changes are no longer recorded hides none of them`() async throws {
        let folder = try PreviewFolder(Self.table(30_000) + "CREATE TABLE u (id INTEGER PRIMARY KEY)")
        for observing in ["local o = db:observe_transactions{ on_change = function() end }", ""] {
            let (report, plan) = try await folder.preview(
                """
                db:execute("UPDATE t SET a = 'x'")
                \(observing)
                db:execute("INSERT INTO u VALUES (7)")
                """
            ) { $0.recordingLimitInBytes = 100_000 }
            #expect(report.tables.map(\.counts) == [[0, 30_000, 0], [1, 0, 0]])
            #expect(plan != nil)
        }
    }

    @Test func `beyond the disk limit, changes are counted but not recorded`() async throws {
        let folder = try PreviewFolder(Self.table(40_000))
        var configuration = ScriptHost.Configuration()
        configuration.limits = LuaLimits(diskInBytes: 2_000_000)
        let preview = try await ScriptPreview(
            of: .queue(folder.database, inEveryContext: true), configuration: configuration, recordingLimitInBytes: 0)
        try await preview.host.run(source: "db:execute([[UPDATE t SET a = 'x']])")
        let (report, plan) = try await preview.finish()
        #expect(report["t"]?.counts == [0, 40_000, 0])
        #expect(
            report.obstacles == [
                "the changes cannot be kept in a temporary file: they would take more than 2000000 bytes of disk"
            ])
        #expect(plan == nil)
    }

    @Test func `comparing the databases of a preview can be cancelled`() async throws {
        let folder = try PreviewFolder(Self.table(300_000))
        let preview = try await ScriptPreview(of: .queue(folder.database, inEveryContext: true), recordingLimitInBytes: 0)
        try await preview.host.run(source: "db:execute([[UPDATE t SET a = 'x']])")
        let finishing = Task { try await preview.finish() }
        finishing.cancel()
        await #expect(throws: CancellationError.self) { try await finishing.value }
        #expect(try await preview.finish().report["t"]?.counts == [0, 300_000, 0])
    }

    @Test func `ordering the changes of a plan can be cancelled`() async throws {
        let folder = try PreviewFolder(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 50000) INSERT INTO t SELECT i, i FROM n"
        )
        let preview = try await ScriptPreview(of: .queue(folder.database, inEveryContext: true))
        // The changes conflict in a chain: each row must be changed after the next one.
        try await preview.host.run(source: "db:execute([[UPDATE t SET a = -a; UPDATE t SET a = -a - 1]])")
        let finishing = Task { try await preview.finish() }
        finishing.cancel()
        await #expect(throws: CancellationError.self) { try await finishing.value }
    }

    @Test func `a plan tests changes that may depend on each other, and ignores independent ones`() async throws {
        let folder = try PreviewFolder(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE, b); INSERT INTO t VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3);
            CREATE TABLE c (id INTEGER PRIMARY KEY, a CHECK (a > 0)); INSERT INTO c VALUES (1, 1);
            """)
        let swap = "db:execute([[UPDATE t SET a = NULL; UPDATE t SET a = 2 WHERE id = 1; UPDATE t SET a = 1 WHERE id = 2]])"
        for limit in [0, 64 << 20] {
            let (swapped, none) = try await folder.preview(swap) { $0.recordingLimitInBytes = limit }
            #expect(
                swapped.obstacles.first?.hasPrefix("the changes cannot be applied row by row: the row of t with id = ") == true)
            #expect(none == nil)
            let moved =
                "db:execute([[DELETE FROM t WHERE id = 1; UPDATE t SET a = 1 WHERE id = 2; INSERT INTO t VALUES (9, 2, 0); UPDATE c SET a = 5]])"
            let plan = try #require(try await folder.preview(moved) { $0.recordingLimitInBytes = limit }.plan)
            try await plan.apply(to: folder.database)
            #expect(try folder.values("SELECT id || ' ' || a FROM t ORDER BY id") == ["2 1", "3 3", "9 2"])
            try await plan.revert(in: folder.database)
            #expect(try folder.values("SELECT id || ' ' || a FROM t ORDER BY id") == ["1 1", "2 2", "3 3"])
        }
    }

    @Test func `a plan contains a key that replaces an equal key once`() async throws {
        let folder = try PreviewFolder("CREATE TABLE t (k TEXT COLLATE NOCASE PRIMARY KEY NOT NULL, v)")
        for limit in [0, 64 << 20] {
            let (report, plan) = try await folder.preview(
                "db:execute([[INSERT INTO t VALUES ('a', 1); DELETE FROM t; INSERT INTO t VALUES ('A', 2)]])"
            ) { $0.recordingLimitInBytes = limit }
            #expect(report["t"]?.rows == [RowChange(kind: .insert, after: ["A", 2])])
            #expect(plan?.summary().map(\.counts) == [[1, 0, 0]])
        }
    }
}
