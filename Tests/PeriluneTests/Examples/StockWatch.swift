// swift-format-ignore-file
// The documentation shows this example word for word, in shorter lines.
import Foundation
import GRDB
import Perilune
import PeriluneDependencies
import PeriluneTestTools
import Testing

/// A program that offers an asynchronous function to an automation and observes a script's request.
enum StockWatchExample {
    private static let script = """
        local supplier = require "supplier"
        db:execute("CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT, stock INTEGER, is_ordered BOOLEAN DEFAULT FALSE)")
        Product = perilune.record("product")
        local low = Product:filter(Product.c.stock:lt(5)):order("name")

        function low_stock(db) return low:pluck(db, "name") end

        local unordered = low:filter{ is_ordered = false }
        perilune.automation{
          name = "order what runs low", on = { change = unordered }, mode = "queued",
          run = function()
            -- As it is now: the run before this one may have ordered what was low when this one was triggered.
            for _, product in ipairs(unordered:fetch_all()) do
              supplier.order(product.name)
              product:update_changes(function(p) p.is_ordered = true end)
            end
          end,
        }
        """

    /// The observations of the program.
    private actor Shop {
        private(set) var orders: [String] = []
        private(set) var shown: [[String]] = []

        func order(_ product: String) async throws {
            await Task.yield()
            orders.append(product)
        }

        func show(_ names: [String]) { shown.append(names) }
    }

    @Suite(.timeLimit(.minutes(60))) struct Tests {
        @Test func `a script orders goods through a function of the program, which observes the stock`() async throws {
            try await DependencyContainer.inProcess(.live) {
                try await withTemporaryFolder { folder in
                    try StockWatchExample.script.write(toFile: "\(folder)/stock.lua", atomically: true, encoding: .utf8)
                    let queue = try DatabaseQueue()
                    let host = try await ScriptHost(database: .existing(queue))
                    let shop = Shop()
                    let program = Task {
                        // example
                        try await host.register(module: "supplier") { supplier in
                            supplier.function("order", effect: .external) { (product: String) async throws in try await shop.order(product) }
                        }
                        try await host.run(file: "\(folder)/stock.lua")
                        for try await names: [String] in host.values(of: "low_stock") {
                            await shop.show(names)
                        }
                        // end
                    }
                    #expect(try await eventually { await shop.shown == [[]] })
                    try await queue.write { try $0.execute(sql: "INSERT INTO product(name, stock) VALUES ('tea', 9), ('ale', 2)") }
                    #expect(try await eventually { await shop.orders == ["ale"] })
                    #expect(try await eventually { await shop.shown == [[], ["ale"]] })
                    try await queue.write { try $0.execute(sql: "UPDATE product SET stock = 1 WHERE name = 'tea'") }
                    #expect(try await eventually { await shop.orders == ["ale", "tea"] })
                    #expect(try await eventually { await shop.shown.last == ["ale", "tea"] })
                    program.cancel()
                    await host.endCallbacks()
                }
            }
        }
    }
}
