import Foundation
import Perilune
import PeriluneTestSupport
import Synchronization
import Testing

@Suite(.defaultDatabase(migrations: "\(folder)/migrations"))
struct EmbeddingExamples {
    struct SaleRow: Codable, Sendable, Equatable {
        var id: Int
        var customer: String
        var total: Double
    }

    struct Prices: Sendable {
        func price(of article: String, in currency: String) async throws -> Double { currency == "EUR" ? 2 : 3 }
    }

    @Test func `a host`() async throws {
        try await Dependencies.with { $0.logger = LogRecords().logger } operation: {
            // example
            var configuration = ScriptHost.Configuration()
            configuration.limits = LuaLimits(memoryInBytes: 64 << 20, time: .seconds(5))
            configuration.modules = [.folder("\(folder)/scripts")]
            configuration.output = .log
            let host = try await ScriptHost(configuration)
            // end
            try await host.run(source: "print(db:fetch_value('SELECT 1'))")
        }
    }

    @Test func running() async throws {
        let host = try await ScriptHost()
        // example
        try await host.run(file: "\(folder)/orders.lua")
        let total: Double = try await host.call("orders.total", 42)
        let label: String = try await host.call("Sale:label_of", 1)
        let answer: Int = try await host.run(source: "local a, b = ... return a * b", arguments: 6, 7)
        // end
        #expect((total, label, answer) == (105, "Verne: 12.5", 42))
    }

    @Test func values() async throws {
        let host = try await ScriptHost()
        // example
        let report: ScriptValue = try await host.run(source: "return { total = 12.5, lines = { 'tea', 2 } }")
        let article = report["lines"]?[0]
        let copy: ScriptValue = try await host.run(source: "return ...", arguments: report)
        // end
        #expect(article == "tea")
        #expect(copy == report && copy == ["total": 12.5, "lines": ["tea", 2]])
    }

    @Test func `error reports`() async throws {
        let host = try await ScriptHost(), logged = Mutex<[String]>([])
        @Sendable func log(_ text: String) { logged.withLock { $0.append(text) } }
        // example
        do {
            try await host.run(source: "db:fetch_all('SELECT nme FROM sale')", named: "report.lua")
        } catch let error as LuaError {
            log(error.report.text)
        }
        // end
        let text = try #require(logged.withLock { $0.first })
        #expect(text.hasPrefix("error: no such column: nme\n  at report.lua:1\n  1 | db:fetch_all('SELECT nme FROM sale')\n"))
        #expect(text.contains("  SQL   SELECT nme FROM sale\n               ^\n"))
    }

    @Test func functions() async throws {
        let warehouse = ["tea": 7], prices = Prices()
        let host = try await ScriptHost()
        // example
        try await host.register(module: "stock", "What is in the warehouse.") { stock in
            stock.function("count", "How many there are.", parameters: ["article"]) { (article: String) -> Int in
                warehouse[article] ?? 0
            }
            stock.function("price", parameters: ["article", "currency"]) { (article: String, currency: String?) async throws -> Double in
                try await prices.price(of: article, in: currency ?? "EUR")
            }
        }
        // end
        let found: [Double] = try await host.run(source: """
            local stock = require "stock"
            return { stock.count("tea"), stock.price("tea"), stock.price("tea", "USD") }
            """)
        #expect(found == [7, 2, 3])
    }

    // example
    final class Letter: ScriptObject {
        static let scriptName = "letter"
        let to: String

        init(to: String) { self.to = to }

        static func describe(_ letter: ScriptObjectType<Letter>) {
            letter.property("to") { $0.to }
            letter.method("greeting") { (letter, title: String) in "Dear \(title) \(letter.to)" }
        }
    }
    // end

    @Test func objects() async throws {
        let host = try await ScriptHost()
        let text: String = try await host.run(
            source: "local letter = ... return letter:greeting('Mr') .. '/' .. letter.to", arguments: Letter(to: "Verne"))
        #expect(text == "Dear Mr Verne/Verne")
    }

    @Test func modules() async throws {
        var configuration = ScriptHost.Configuration()
        // example
        configuration.modules = [
            .folder("\(folder)/scripts"), .bundle(.main, folder: "lua"),
            .closure { name in name == "settings" ? "return { theme = 'dark' }" : nil },
        ]
        // end
        let theme: String = try await ScriptHost(configuration).run(source: "return require('settings').theme")
        #expect(theme == "dark")
    }

    @Test func `what scripts define`() async throws {
        let host = try await ScriptHost()
        try await host.run(file: "\(folder)/orders.lua")
        // example
        let sale = host.record("Sale", key: 1)
        let label: String = try await sale.call("label")
        let row = try await sale.decoded(as: SaleRow.self)
        let ofVerne = host.request("Sale:of", "Verne").named("order", "day")
        let rows: [SaleRow] = try await ofVerne.fetchAll()
        let count = try await ofVerne.fetchCount()
        // end
        #expect(label == "Verne: 12.5")
        #expect(row == SaleRow(id: 1, customer: "Verne", total: 12.5))
        #expect(rows == [row] && count == 1)
    }

    @Test func errors() async throws {
        let printed = Mutex<String>("")
        func print(_ items: Any...) { printed.withLock { $0 = items.map { "\($0)" }.joined(separator: " ") } }
        let host = try await ScriptHost()
        // example
        do {
            try await host.run(source: "db:execute('INSERT INTO sale (id) VALUES (1)')", named: "import.lua")
        } catch let error as LuaError {
            print(error.kind ?? error.code.description, error.file ?? "", error.line ?? 0, error.sql ?? "")
        }
        // end
        #expect(printed.withLock { $0 } == "constraint_not_null import.lua 1 INSERT INTO sale (id) VALUES (1)")
    }

    @Test func pools() async throws {
        // example
        let pool = try await ScriptPool(size: 4) { host in try await host.run(file: "\(folder)/orders.lua") }
        let totals = try await withThrowingTaskGroup(of: Double.self) { group in
            for customer in 1...100 { group.addTask { try await pool.call("orders.total", customer) } }
            var sum = 0.0
            for try await total in group { sum += total }
            return sum
        }
        // end
        #expect(totals == 12625)
    }

    @Test func `a pool`() async throws {
        // example
        let pool = try await ScriptPool(size: 4) { host in try await host.run(file: "\(folder)/orders.lua") }
        let total: Double = try await pool.call("orders.total", 42)
        // end
        #expect(total == 105)
    }
}
