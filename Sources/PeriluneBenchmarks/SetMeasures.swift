import CPeriluneBenchmarks
import Foundation
import GRDB
import Perilune

/// Operations on many rows: upserts, pages by key, and history. Measured in this process, compared with the same SQL written by hand.
struct SetMeasures: TimedMeasures {
    let rounds: Int
    let folder: URL
    private let rowCount = 100_000

    func run() async throws {
        SQLiteTuning.disableMemoryStatistics()
        SQLiteTuning.useAdaptiveMutexes()
        print("Sets of \(rowCount) rows in a file, the least of \(rounds) rounds:")
        try await measureUpserts()
        try await measurePages()
        try await measureHistory()
    }

    private func makeHost(_ name: String, _ sql: String) async throws -> (pool: DatabasePool, host: ScriptHost) {
        let pool = try DatabasePool(path: folder.appendingPathComponent("\(name).sqlite").path)
        try await pool.write { db in try db.execute(sql: sql) }
        let host = try await ScriptHost(database: .existing(pool))
        return (pool, host)
    }

    // MARK: - Upserts

    private static let upsert = """
        INSERT INTO item (code, amount) VALUES (?, ?) ON CONFLICT (code) DO UPDATE SET amount = excluded.amount
        """

    /// Measures upserts into a table in which every other row already exists.
    private func measureUpserts() async throws {
        let (pool, host) = try await makeHost(
            "upserts", "CREATE TABLE item (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE, amount INTEGER)")
        var (ours, reference) = (Double.infinity, Double.infinity)
        for _ in 0..<rounds {
            try await refill(pool)
            try await host.run(
                source: """
                    local count = ...
                    Item = Item or perilune.record("item")
                    items = {}
                    for i = 1, count do items[i] = { code = "code " .. i, amount = i } end
                    collectgarbage()
                    """, arguments: rowCount)
            ours = min(
                ours,
                try await time {
                    try await host.run(source: "Item:upsert_all(items, { target = 'code', update = { 'amount' } })")
                })
            try await refill(pool)
            let seconds = perilune_time_upserts(pool.path, Self.upsert, CInt(rowCount))
            guard seconds >= 0 else { throw DatabaseError(message: "the upserts in C failed") }
            reference = min(reference, seconds)
        }
        report("upsert_all with target, of plain tables", ours * 1e3, "ms", digits: 1)
        report("  one prepared statement in C", reference * 1e3, "ms", digits: 1)
        report("  ratio", ours / reference, "×", target: 1.3)
    }

    private func refill(_ pool: DatabasePool) async throws {
        try await pool.write { [rowCount] db in
            try db.execute(
                sql: """
                    DELETE FROM item;
                    WITH n (i) AS (SELECT 2 UNION ALL SELECT i + 2 FROM n WHERE i < \(rowCount)) INSERT INTO item (code) SELECT 'code ' || i FROM n
                    """)
        }
        try await pool.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
    }

    // MARK: - Pages

    private func measurePages() async throws {
        let (_, host) = try await makeHost(
            "pages",
            """
            CREATE TABLE item (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE, kind INTEGER, amount INTEGER);
            WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rowCount * 2))
              INSERT INTO item (code, kind, amount) SELECT 'code ' || i, i % 10, i FROM n;
            CREATE INDEX item_by_kind ON item (kind);
            """)
        try await host.run(
            source: """
                local Item, offset = perilune.record("item"), ...
                function begin(...)
                  request = Item:order(...)
                  near, cursor = request:page_after(nil, 20).next, request:page_after(nil, offset).next
                end
                function fetch(from) for _ = 1, 100 do request:page_after(from, 20) end end
                """, arguments: rowCount)
        for (title, order) in [("by a unique column", "'code'"), ("by a column with 20,000 ties each", "'kind'")] {
            try await host.run(source: "begin(\(order)) fetch(nil) fetch(cursor)")
            let first = try await least { try await host.run(source: "fetch(nil)") }
            let second = try await least { try await host.run(source: "fetch(near)") }
            let far = try await least { try await host.run(source: "fetch(cursor)") }
            report("the first page of 20, \(title)", first * 1e4, "µs", digits: 1)
            report("  the second page", second * 1e4, "µs", digits: 1)
            report("  the page behind \(rowCount) rows", far * 1e4, "µs", digits: 1)
            report("  ratio to the second", far / second, "×", target: 1.2)
            report("  ratio to the first, which reads no cursor", far / first, "×", target: 1.2)
        }
    }

    // MARK: - History

    /// Measures history triggers, compared with a script that writes each version by hand with the time as text.
    private func measureHistory() async throws {
        let table = "(id INTEGER PRIMARY KEY, title TEXT NOT NULL, pages INTEGER)"
        let (pool, host) = try await makeHost("history", "CREATE TABLE book \(table); CREATE TABLE plain \(table);")
        try await host.run(
            source: """
                perilune.history(perilune.record("book")):install(db)
                db:execute[[
                  CREATE TABLE plain_version (version INTEGER PRIMARY KEY, event TEXT NOT NULL, time DATETIME NOT NULL, id INTEGER, title TEXT,
                    pages INTEGER);
                  CREATE INDEX plain_version_by_key ON plain_version (id)]]
                local insert = "INSERT INTO %s (title, pages) VALUES (?, ?)"
                local version = "INSERT INTO plain_version (event, time, id, title, pages) VALUES ('insert', "
                  .. "strftime('%Y-%m-%d %H:%M:%f', 'now'), ?, ?, ?)"
                function kept(count)
                  db:write(function(db)
                    local statement = db:prepare(insert:format("book"))
                    for i = 1, count do statement:execute("some title", i) end
                  end)
                end
                function by_hand(count, has_version)
                  db:write(function(db)
                    local statement, other = db:prepare(insert:format("plain")), db:prepare(version)
                    for i = 1, count do
                      local result = statement:execute("some title", i)
                      if has_version then other:execute(result.inserted_rowid, "some title", i) end
                    end
                  end)
                end
                """)
        func measure(_ call: String) async throws -> Double {
            var least = Double.infinity
            for _ in 0..<rounds {
                try await pool.write { db in
                    try db.execute(
                        sql: "DELETE FROM book; DELETE FROM plain; DELETE FROM book_history; DELETE FROM plain_version")
                }
                try await pool.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
                least = min(least, try await time { try await host.run(source: call, arguments: rowCount) })
            }
            return least / Double(rowCount) * 1e6
        }
        let plain = try await measure("by_hand(...)"), both = try await measure("by_hand(..., true)"),
            kept = try await measure("kept(...)")
        report("an insert without a history", plain, "µs")
        report("  and of its version by hand", both, "µs")
        report("  with a history", kept, "µs")
        report("  what the history adds, in inserts of versions", (kept - plain) / (both - plain), "×", target: 1)
    }
}
