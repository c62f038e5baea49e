import GRDB
import Perilune
import PeriluneTestTools
import Testing

/// Observations in Swift.
@Suite struct RegionChangesTests {
    @Test(.patience) func `the sequence of changes in a region contains no changes of other tables`() async throws {
        let queue = try DatabaseQueue()
        try await queue.write { db in
            try db.execute(sql: "CREATE TABLE book (id INTEGER PRIMARY KEY); CREATE TABLE tag (id INTEGER PRIMARY KEY)")
        }
        var changes = queue.changes(in: [Table("book")]).makeAsyncIterator()
        // The write follows the start of the observation in the database queue.
        try await queue.write { db in try db.execute(sql: "INSERT INTO tag DEFAULT VALUES") }
        try await queue.write { db in try db.execute(sql: "INSERT INTO book DEFAULT VALUES") }
        #expect(try await changes.next() != nil)
        try await queue.write { db in try db.execute(sql: "INSERT INTO book DEFAULT VALUES") }
        try await queue.write { db in try db.execute(sql: "DELETE FROM book") }
        #expect(try await changes.next() != nil)
        let waiting = Task {
            for try await _ in queue.changes(in: [Table("book")]) {}
            return true
        }
        waiting.cancel()
        #expect(try await waiting.value)
    }

    @Test(.patience) func `an observation delivers repeated values on request`() async throws {
        let queue = try DatabaseQueue()
        try await queue.write { db in try db.execute(sql: "CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT)") }
        let host = try await ScriptHost(database: .existing(queue))
        try await host.run(source: "function count(db) return db:fetch_value('SELECT COUNT(*) FROM book') end")
        let stored: any AsyncSequence<Int, any Error> & Sendable = host.values(of: "count", removesDuplicates: false)
        var values = stored.makeAsyncIterator()
        #expect(try await values.next(isolation: nil) == 0)
        try await queue.write { db in try db.execute(sql: "INSERT INTO book (title) VALUES ('x')") }
        #expect(try await values.next(isolation: nil) == 1)
        try await queue.write { db in try db.execute(sql: "UPDATE book SET title = 'y'") }
        #expect(try await values.next(isolation: nil) == 1)
    }
}
