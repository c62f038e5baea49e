import GRDB
import GRDBSQLite
import Perilune
import PeriluneLuaFileTools
import PeriluneTestTools
import Testing

/// The cost of a keyset page after many rows, in steps of SQLite's virtual machine.
@Suite struct KeysetPageTests {
    private static let orders = [
        "'code'", "'kind'", "c.kind:desc()", "c.kind:asc():nulls_last()", "c.kind:desc():nulls_first()",
        "'kind', c.amount:desc()",
        "'size', 'kind', 'code'", "c.size:desc(), c.kind:desc()", "c.amount % 4",
    ]

    /// Each value of `kind` and of `size` occurs in hundreds of rows; `kind` can be NULL.
    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE item (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE, kind INTEGER, amount INTEGER NOT NULL, size TEXT NOT NULL);
                    WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
                        INSERT INTO item (code, kind, amount, size) SELECT 'code ' || i, nullif(i % 5, 2), i % 7, 'size ' || i % 3 FROM n;
                    CREATE INDEX item_by_kind ON item (kind, amount DESC);
                    CREATE INDEX item_by_kind_alone ON item (kind);
                    CREATE INDEX item_by_size ON item (size, kind, code);
                    CREATE INDEX item_by_both ON item (size, kind);
                    CREATE INDEX item_by_expression ON item (amount % 4);
                    """)
        }
        return queue
    }

    /// Returns the number of steps that all statements of a connection have made since the last call.
    private func takeSteps(_ db: Database) -> Int {
        var (count, statement) = (0, sqlite3_next_stmt(db.sqliteConnection, nil))
        while let current = statement {
            count += Int(sqlite3_stmt_status(current, SQLITE_STMTSTATUS_VM_STEP, 1))
            statement = sqlite3_next_stmt(db.sqliteConnection, current)
        }
        return count
    }

    private func steps(of source: String, on host: ScriptHost, _ queue: DatabaseQueue) async throws -> Int {
        // The first fetch also explains the query for pages.
        try await host.run(source: source)
        _ = try await queue.read(takeSteps)
        try await host.run(source: source)
        return try await queue.read(takeSteps)
    }

    @Test(arguments: orders) func `fetching a keyset page takes the same number of steps at every position`(order: String)
        async throws
    {
        let queue = try makeQueue()
        let host = try testHost { $0.database = .existing(queue) }
        try await host.run(
            source: """
                local Item = perilune.record("item")
                local c = Item.c
                request = Item:order(\(order))
                """)
        let first = try await steps(of: "request:page_after(nil, 10)", on: host, queue)
        #expect(first > 0)
        for offset in [15, 395, 1190, 2000, 2405, 3600] {
            try await host.run(source: "cursor = request:page_after(nil, \(offset)).next")
            for method in ["page_after", "page_before"] {
                let far = try await steps(of: "request:\(method)(cursor, 10)", on: host, queue)
                // Where equal values end, SQLite searches their remaining rows first, then the following values.
                #expect(
                    Double(far) < 2.2 * Double(first) + 100,
                    "\(method) behind \(offset) rows: \(far) steps, the first page \(first)")
            }
        }
    }

    @Test func `a page ordered by a unique column needs one index search, and its cursor works without the index`() async throws {
        let queue = try makeQueue()
        let host = try testHost { $0.database = .existing(queue) }
        try await host.run(source: "request = perilune.record('item'):order('code') cursor = request:page_after(nil, 2000).next")
        let first = try await steps(of: "request:page_after(nil, 10)", on: host, queue)
        let far = try await steps(of: "request:page_after(cursor, 10)", on: host, queue)
        #expect(far <= first + 10, "\(far) steps, the first page \(first)")
        // A cursor from the indexed order also works without the index.
        try await host.run(
            source: """
                local before = request:page_after(cursor, 10).records
                db:execute[[
                    CREATE TABLE plain (id INTEGER PRIMARY KEY, code TEXT NOT NULL, kind INTEGER, amount INTEGER NOT NULL, size TEXT NOT NULL);
                    INSERT INTO plain SELECT * FROM item; DROP TABLE item; ALTER TABLE plain RENAME TO item;
                    CREATE INDEX item_by_code ON item (code)]]
                local after = perilune.record("item"):order("code"):page_after(cursor, 10).records
                assert(#before == 10 and #after == 10, #after)
                for index, record in ipairs(before) do assert(after[index].code == record.code) end
                """)
    }

    @Test func `an order without an index is sorted once per page`() async throws {
        let queue = try makeQueue()
        let host = try testHost { $0.database = .existing(queue) }
        try await host.run(
            source: "request = perilune.record('item'):order('amount', 'code') cursor = request:page_after(nil, 2000).next")
        let first = try await steps(of: "request:page_after(nil, 10)", on: host, queue)
        let far = try await steps(of: "request:page_after(cursor, 10)", on: host, queue)
        #expect(Double(far) < 1.5 * Double(first), "\(far) steps, the first page \(first)")
    }
}
