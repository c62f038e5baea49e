// swift-format-ignore-file
// The documentation shows this example word for word, in shorter lines.
import Foundation
import GRDB
import Perilune
import PeriluneTestSupport
import Testing

/// A program that runs scripts only in its tests: they fill the database and check the result.
enum StockExample {
    // example
    /// The program: it knows GRDB only.
    struct Warehouse {
        static let migrations = Migrations.inTransaction { db in
            try db.execute(sql: """
                CREATE TABLE article (
                    id INTEGER PRIMARY KEY,
                    name TEXT NOT NULL UNIQUE,
                    count INTEGER NOT NULL CHECK (count >= 0)
                );
                CREATE TABLE delivery (
                    id INTEGER PRIMARY KEY,
                    article_id INTEGER NOT NULL REFERENCES article,
                    day TEXT NOT NULL
                );
                """)
        }

        let database: any DatabaseWriter

        func deliver(_ name: String, _ count: Int) async throws {
            try await database.write { db in
                try db.execute(
                    sql: "UPDATE article SET count = count - ? WHERE name = ?",
                    arguments: [count, name])
                try db.execute(
                    sql: """
                        INSERT INTO delivery (article_id, day)
                        SELECT id, CURRENT_DATE FROM article WHERE name = ?
                        """,
                    arguments: [name])
            }
        }
    }

    /// Its tests: each on a database of its own, filled by stock.lua.
    @Suite(
        .defaultDatabase(migrations: Warehouse.migrations),
        .script(file: "\(folder)/stock.lua"))
    struct WarehouseTests {
        @Test func `a delivery reduces the stock`() async throws {
            let database = try await DependencyContainer.defaultDatabase
            try await Warehouse(database: database).deliver("tea", 3)
            try await ScriptHost().run(source: """
                local Article = perilune.record("article")
                local Delivery = perilune.record("delivery")
                assert(Article:find{ name = "tea" }.count == 7)
                assert(Delivery:filter{ day = "2000-01-01" }:fetch_count() == 1)
                """)
        }

        @Test func `a delivery of missing goods is refused`() async throws {
            let database = try await DependencyContainer.defaultDatabase
            let warehouse = Warehouse(database: database)
            await #expect(throws: DatabaseError.self) {
                try await warehouse.deliver("tea", 11)
            }
            let count: Int = try await ScriptHost().run(
                source: "return perilune.record('delivery'):fetch_count()")
            #expect(count == 0)
        }
    }
    // end
}
