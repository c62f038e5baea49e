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
                CREATE TABLE article (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, count INTEGER NOT NULL CHECK (count >= 0));
                CREATE TABLE delivery (id INTEGER PRIMARY KEY, article_id INTEGER NOT NULL REFERENCES article, day TEXT NOT NULL);
                """)
        }

        let database: any DatabaseWriter

        func deliver(_ name: String, _ count: Int) async throws {
            try await database.write { db in
                try db.execute(sql: "UPDATE article SET count = count - ? WHERE name = ?", arguments: [count, name])
                try db.execute(
                    sql: "INSERT INTO delivery (article_id, day) SELECT id, CURRENT_DATE FROM article WHERE name = ?", arguments: [name])
            }
        }
    }

    /// Its tests: each on a database of its own, filled by stock.lua.
    @Suite(.defaultDatabase(migrations: Warehouse.migrations), .script(file: "\(folder)/stock.lua"))
    struct WarehouseTests {
        @Test func `a delivery takes from the stock`() async throws {
            try await Warehouse(database: DependencyContainer.defaultDatabase).deliver("tea", 3)
            try await ScriptHost().run(source: """
                local Article, Delivery = perilune.record("article"), perilune.record("delivery")
                assert(Article:find{ name = "tea" }.count == 7)
                assert(Delivery:filter{ day = "2000-01-01" }:fetch_count() == 1)
                """)
        }

        @Test func `nothing is delivered that does not exist`() async throws {
            let warehouse = Warehouse(database: try await DependencyContainer.defaultDatabase)
            await #expect(throws: DatabaseError.self) { try await warehouse.deliver("tea", 11) }
            try await ScriptHost().run(source: "assert(perilune.record('delivery'):fetch_count() == 0)")
        }
    }
    // end
}
