// swift-format-ignore-file
// The documentation shows these examples word for word, in shorter lines.
import Foundation
import GRDB
import Perilune
import PeriluneTestSupport
import PeriluneTestTools
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
        try await DependencyContainer.with { $0.logger = LogRecords().logger } operation: {
            // example
            var configuration = ScriptHost.Configuration(
                database: .pool("shop.sqlite", migrations: "\(folder)/migrations"))
            configuration.limits = LuaLimits(memoryInBytes: 64 << 20, time: .seconds(5))
            configuration.moduleSources = [.folder("\(folder)/scripts")]
            configuration.output = .log
            let host = try await ScriptHost(configuration)
            // end
            try await host.run(source: "print(db:fetch_value('SELECT 1'))")
        }
    }

    @Test func `a deterministic host`() async throws {
        // example
        let host = try await ScriptHost(
            ScriptHost.Configuration(deterministic: true))
        // end
        let keys: String = try await host.run(source: "local keys = '' for key in pairs{ b = 1, a = 2 } do keys = keys .. key end return keys")
        #expect(keys == "ab")
    }

    @Test func running() async throws {
        let host = try await ScriptHost()
        // example
        try await host.run(file: "\(folder)/orders.lua")
        let total: Double = try await host.call("orders.total", 42)
        let label: String = try await host.call("Sale:label_of", 1)
        let answer: Int = try await host.run(
            source: "local a, b = ... return a * b", arguments: 6, 7)
        // end
        #expect((total, label, answer) == (105, "Verne: 12.5", 42))
    }

    @Test func results() async throws {
        let host = try await ScriptHost()
        #expect(try await host.run(source: "return 1 + 1", as: Int.self) == 2)
        // example
        let sum: Int = try await host.run(
            source: "local list = ... return list[1] + list[2]",
            arguments: [6, 7])
        // end
        // example
        let range: [Int] = try await host.run(source: "return { 3, 9 }")
        // end
        #expect(sum == 13 && range == [3, 9])
    }

    @Test func `literals of mixed types`() async throws {
        let host = try await ScriptHost()
        try await host.run(source: "function handle(message) note = message.note .. message.id end")
        // example
        let order: ScriptValue = ["id": 7, "customer": "Verne"]
        try await host.run(source: "order = ...", arguments: order)
        try await host.call("handle", ["id": 7, "note": "x"] as ScriptValue)
        // end
        #expect(try await host.run(source: "return order.customer .. note") == "Vernex7")
    }

    private actor Journal {
        var entries: [[String]] = []
        func append(_ entry: [String]) { entries.append(entry) }
    }

    @Test func `constants, several results, any number of arguments, and callbacks`() async throws {
        let lines = Mutex<[String]>([]), journal = Journal()
        var configuration = ScriptHost.Configuration()
        configuration.output = .closure { line in lines.withLock { $0.append(line) } }
        let host = try await ScriptHost(configuration)
        // example
        try await host.run(source: "rate = ...", arguments: 3)
        try await host.register(module: "tools") { tools in
            tools.function("version") { 3 }
            tools.function("range") { [1, 9] }
            tools.function(variadic: "sum") { (parts: [Int]) in
                parts.reduce(0, &+)
            }
            tools.function(variadic: "log") { (parts: [String]) async in
                await journal.append(parts)
            }
            tools.function("each", parameters: ["callback"]) {
                [unowned host] (callback: String) async throws in
                try await host.call(callback, "tea")
            }
        }
        // end
        try await host.run(source: """
            local tools = require "tools"
            function show(name) print(name) end
            tools.each("show")
            print(rate, tools.version(), tools.sum(1, 2, 3), tools.range()[2])
            tools.log("tea", "sold")
            """)
        #expect(await journal.entries == [["tea", "sold"]])
        #expect(lines.withLock { $0 } == ["tea", "3\t3\t6\t9"])
    }

    @Test func `a function with the database`() async throws {
        let host = try await ScriptHost()
        // example
        let database = try await DependencyContainer.defaultDatabase
        try await host.register(module: "sales") { sales in
            sales.function("count", parameters: ["customer"]) {
                (customer: String) async throws -> Int in
                try await database.read { db in
                    try Int.fetchOne(
                        db, sql: "SELECT count(*) FROM sale WHERE customer = ?",
                        arguments: [customer]) ?? 0
                }
            }
        }
        // end
        #expect(try await host.run(source: "return require('sales').count('Verne')") == 1)
    }

    @Test func values() async throws {
        let host = try await ScriptHost()
        // example
        let report: ScriptValue = try await host.run(
            source: "return { total = 12.5, lines = { 'tea', 2 } }")
        let article = report["lines"]?[0]
        let copy: ScriptValue = try await host.run(
            source: "return ...", arguments: report)
        // end
        #expect(article == "tea")
        #expect(copy == report && copy == ["total": 12.5, "lines": ["tea", 2]])
    }

    @Test func `lists in the fields of an error`() async throws {
        let host = try await ScriptHost()
        let error = try #require(await #expect(throws: LuaError.self) {
            try await host.run(source: """
                db:execute("CREATE UNIQUE INDEX one_a_day ON sale (customer, day)")
                for i = 1, 2 do db:execute("INSERT INTO sale (customer, total, day) VALUES ('Ibsen', 1, '2026-01-02')") end
                """)
        })
        // example
        let columns = error.fields["columns"]?.array?.compactMap(\.string)
        // end
        #expect(columns == ["customer", "day"])
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
        try await host.register(module: "stock", "The warehouse.") { stock in
            stock.function("count", "The number left.", parameters: ["article"]) {
                (article: String) -> Int in
                warehouse[article] ?? 0
            }
            stock.function("price", parameters: ["article", "currency"]) {
                (article: String, currency: String?) async throws -> Double in
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

    @Test func `a function with an effect`() async throws {
        let outbox = Outbox(), mailer = outbox.mailer
        func registerMail(in host: ScriptHost) async throws {
            // example
            try await host.register(module: "mail") { mail in
                mail.function("send", parameters: ["to"], effect: .external) {
                    (to: String) async throws -> Int in
                    try await mailer.send(to, "Your cart is full.")
                    return 1
                } preview: { _ in
                    0
                }
            }
            // end
        }
        let host = try await ScriptHost()
        try await registerMail(in: host)
        let done: Int = try await host.run(source: "return require('mail').send('Verne')")
        #expect(done == 1 && outbox.letters == ["Verne: Your cart is full."])
        // example
        let preview = try await ScriptPreview(of: .inMemory())
        try await registerMail(in: preview.host)
        let sent: Int = try await preview.host.run(
            source: "return require('mail').send('Verne')")
        let (report, _) = try await preview.finish()
        print(sent, report.effects.map(\.name))    // 0 ["mail.send"]
        // end
        #expect(sent == 0 && report.effects.map(\.name) == ["mail.send"])
        #expect(outbox.letters.count == 1)
    }

    @Test func grants() async throws {
        // example
        var configuration = ScriptHost.Configuration(database: .inMemory())
        configuration.libraries.insert(.os)
        let host = try await ScriptHost(configuration)
        let path: String = try await host.run(source: "return os.getenv('PATH')")
        // end
        #expect(!path.isEmpty)
    }

    @Test func `a function that checks its numbers`() async throws {
        enum SumError: Error { case tooLarge }
        var configuration = ScriptHost.Configuration(database: .inMemory())
        // example
        configuration.limits = LuaLimits(isCancellable: true)
        // end
        let host = try await ScriptHost(configuration)
        // example
        try await host.register(module: "sums") { sums in
            sums.function("add", parameters: ["a", "b"]) {
                (a: Int, b: Int) throws -> Int in
                let (sum, overflows) = a.addingReportingOverflow(b)
                guard !overflows else { throw SumError.tooLarge }
                return sum
            }
        }
        // end
        let sum: Int = try await host.run(source: "return require('sums').add(1, 2)")
        #expect(sum == 3)
        let error = await #expect(throws: LuaError.self) {
            try await host.run(source: "return require('sums').add(math.maxinteger, 1)")
        }
        #expect(error?.underlying is SumError)
    }

    // example
    final class Letter: ScriptObject {
        static let scriptName = "letter"
        let to: String

        init(to: String) { self.to = to }

        static func describe(_ letter: ScriptObjectType<Letter>) {
            letter.property("to", "The recipient.") { $0.to }
            letter.method(
                "greeting", "The first line.", parameters: ["title"],
                effect: .none
            ) { (letter, title: String) in
                "Dear \(title) \(letter.to)"
            }
        }
    }
    // end

    @Test func objects() async throws {
        let host = try await ScriptHost()
        let text: String = try await host.run(
            source: "local letter = ... return letter:greeting('Mr') .. '/' .. letter.to", arguments: Letter(to: "Verne"))
        #expect(text == "Dear Mr Verne/Verne")
        #expect(try Letter.annotations() == """
            ---@meta

            ---@class letter
            ---@field to string The recipient.
            local object = {}

            --- The first line.
            ---@param title string
            ---@return string
            function object:greeting(title) end

            """)
    }

    private final class Letters: Sendable {
        private let list = Mutex<[String]>([])

        var all: [String] { list.withLock { $0 } }

        func add(_ letter: Letter) { list.withLock { $0.append(letter.to) } }
    }

    @Test func `objects as results and arguments`() async throws {
        let outbox = Letters(), host = try await ScriptHost()
        // example
        try await host.register(module: "post") { post in
            post.function("letter", parameters: ["to"]) { (to: String) in
                Letter(to: to)
            }
            post.function("send", effect: .external) { (letter: Letter) in
                outbox.add(letter)
            }
        }
        let greeting: String = try await host.run(
            source: "local letter = ... return letter:greeting('Ms')",
            arguments: Letter(to: "Ada"))
        // end
        #expect(greeting == "Dear Ms Ada")
        let text: String = try await host.run(source: """
            local post = require "post"
            local letter = post.letter("Verne")
            post.send(letter)
            return letter.to .. "/" .. letter:greeting("Mr")
            """)
        #expect(text == "Verne/Dear Mr Verne" && outbox.all == ["Verne"])
    }

    // example
    final class Cart: ScriptHandle {
        static let scriptName = "cart"
        private let items = Mutex(0)

        static func describe(_ cart: ScriptObjectType<Cart>) {
            cart.property("count", effect: .none) { cart in
                cart.items.withLock { $0 }
            } set: { cart, count in
                cart.items.withLock { $0 = count }
            }
        }
    }
    // end

    @Test func `an assigned property`() async throws {
        let host = try await ScriptHost(), cart = Cart()
        try await host.run(source: "local cart = ... cart.count = cart.count + 2", arguments: cart)
        #expect(try await host.run(source: "return (...).count", arguments: cart) == 2)
    }

    // example
    actor Diary: ScriptHandle {
        static let scriptName = "diary"
        private var entries = ["opened"]

        static func describe(_ diary: ScriptObjectType<Diary>) {
            diary.method("count", effect: .none) { diary in
                await diary.entries.count
            }
        }
    }
    // end

    @Test func `an actor`() async throws {
        let host = try await ScriptHost()
        #expect(try await host.run(source: "return (...):count()", arguments: Diary()) == 1)
    }

    @Test func modules() async throws {
        var configuration = ScriptHost.Configuration()
        // A folder of modules has to exist.
        let resources = try #require(Bundle.main.resourcePath)
        try FileManager.default.createDirectory(atPath: resources + "/lua", withIntermediateDirectories: true)
        // example
        configuration.moduleSources = [
            .folder("\(folder)/scripts"), .bundle(.main, folder: "lua"),
            .lookup { name in
                name == "settings" ? "return { theme = 'dark' }" : nil
            },
        ]
        // end
        let theme: String = try await ScriptHost(configuration).run(source: "return require('settings').theme")
        #expect(theme == "dark")
    }

    @Test func `records and requests that scripts define`() async throws {
        let host = try await ScriptHost()
        try await host.run(file: "\(folder)/orders.lua")
        // example
        let sale = host.record("Sale", key: 1)
        let label: String = try await sale.call("label")
        let row = try await sale.fetch(as: SaleRow.self)
        let ofVerne = host.request("Sale:of", "Verne").calling("order", "day")
        let rows: [SaleRow] = try await ofVerne.fetchAll()
        let count = try await ofVerne.fetchCount()
        // end
        #expect(label == "Verne: 12.5")
        #expect(row == SaleRow(id: 1, customer: "Verne", total: 12.5))
        #expect(rows == [row] && count == 1)
    }

    /// Records the rows that a program displays, in the order of its calls.
    private actor Display {
        private(set) var shown: [[String]] = []
        private(set) var refreshCount = 0

        func show(_ customers: [String]) { shown.append(customers) }
        func refresh() { refreshCount += 1 }
    }

    /// Creates a pool on a new file with the same rows as the default database.
    private func withPool(_ body: nonisolated(nonsending) (DatabasePool) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let pool = try DatabasePool(path: "\(folder)/sales.sqlite")
            try await pool.write { db in
                try db.execute(sql: Documentation.text(of: URL(filePath: "\(PeriluneTests.folder)/migrations/0001_sales.sql")))
            }
            try await body(pool)
            try pool.close()
        }
    }

    @Test(.patience) func `shared observations`() async throws {
        let host = try await ScriptHost(), display = Display()
        try await host.run(source: """
            orders = {}
            function orders.customers(db) return db:fetch_values("SELECT customer FROM sale ORDER BY customer") end
            function orders.late_customers(db) return db:fetch_values("SELECT customer FROM sale WHERE day < '2026-04' ORDER BY customer") end
            """)
        // example
        let observation = host.observation(
            of: "orders.customers", as: [String].self)
        let showing = Task {
            for try await customers in observation.values {
                await display.show(customers)
            }
        }
        try await observation.pause()
        try await observation.resume()
        try await observation.change(to: "orders.late_customers")
        // end
        #expect(await eventually { await display.shown.last == ["Verne"] })
        try await host.run(source: "db:execute(\"INSERT INTO sale (customer, total, day) VALUES ('Ibsen', 1, '2026-01-02')\")")
        #expect(await eventually { await display.shown.last == ["Ibsen", "Verne"] })
        showing.cancel()
        _ = await showing.result
    }

    @Test(.patience) func regions() async throws {
        try await withPool { pool in
            let display = Display()
            let refreshing = Task {
                // example
                for try await _ in pool.changes(in: [Table("sale")]) {
                    await display.refresh()
                }
                // end
            }
            // The observation begins at an unspecified later time.
            let isRefreshed = await eventually {
                try? await pool.write { db in try db.execute(sql: "UPDATE sale SET total = total + 1") }
                return await display.refreshCount > 0
            }
            #expect(isRefreshed)
            refreshing.cancel()
            _ = await refreshing.result
        }
    }

    @Test func changesets() async throws {
        try await withPool { pool in
            let host = try await ScriptHost(database: .existing(pool))
            let totals: @Sendable (Database) throws -> [Double] = { try Double.fetchAll($0, sql: "SELECT total FROM sale ORDER BY id") }
            // example
            let saved: Data = try await host.run(source: """
                local changes = db:record_changes(function(db)
                  db:execute[[
                    UPDATE sale SET total = total * 2 WHERE customer = 'Verne']]
                end)
                return changes:serialize()
                """)
            let changes = try Changeset(validating: saved)
            let tables = Set(try changes.rows().map(\.table))
            // end
            #expect(tables == ["sale"])
            let row = try #require(try changes.rows().first)
            #expect(row.operation == .update && row.old.contains(.real(12.5)) && row.new.contains(.real(25)))
            #expect(row.key == [.integer(1)] && row.old.contains(.integer(1)) && row.new.contains(nil))
            try await pool.write { db in
                #expect(try totals(db) == [25, 3])
                try db.execute(sql: "UPDATE sale SET total = 26 WHERE id = 1")
            }
            // example
            try await pool.write { db in
                _ = try changes.inverted().apply(to: db) { conflict in
                    conflict.kind == .data ? .replace : .abort
                }
            }
            // end
            #expect(try await pool.read(totals) == [12.5, 3])
            // example
            let (deletions, count) = try await pool.write { db in
                try Changeset.recording(in: db) {
                    try db.execute(sql: "DELETE FROM sale WHERE total < 5")
                    return db.changesCount
                }
            }
            // end
            #expect(count == 1)
            #expect(try deletions.rows().map(\.operation) == [.delete])
        }
    }

    @Test func snapshots() async throws {
        try await withPool { pool in
            let host = try await ScriptHost(database: .existing(pool))
            // example
            let totals: [Double] = try await host.run(source: """
                local snapshot = db:snapshot()
                db:execute("UPDATE sale SET total = 0")
                local before = snapshot:fetch_value("SELECT sum(total) FROM sale")
                snapshot:close()
                return { before, db:fetch_value("SELECT sum(total) FROM sale") }
                """)
            // end
            #expect(totals == [15.5, 0])
        }
    }

    @Test func extensions() async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: "\(folder)/extensions", withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(at: URL(filePath: "\(folder)/extensions/thrice.so"), withDestinationURL: URL(filePath: NativeLibrary.path))
            var configuration = ScriptHost.Configuration(database: .inMemory())
            // example
            configuration.sqliteExtensions = ["\(folder)/extensions/thrice.so"]
            let host = try await ScriptHost(configuration)
            let product: Int = try await host.run(
                source: "return db:fetch_value('SELECT thrice(5)')")
            // end
            #expect(product == 15)
        }
    }

    @Test func errors() async throws {
        let host = try await ScriptHost(), logged = Mutex<[String]>([])
        func log(_ text: String) { logged.withLock { $0.append(text) } }
        // example
        do {
            try await host.run(
                source: "db:execute('INSERT INTO sale (id) VALUES (1)')",
                named: "import.lua")
        } catch let error as LuaError where error.kind == .notNullConstraint {
            log(error.report.text)
        }
        // end
        #expect(logged.withLock { $0.first }?.contains("at import.lua:1") == true)
    }

    @Test func pools() async throws {
        // example
        let pool = try await ScriptPool(size: 4, database: .pool("shop.sqlite")) {
            host in try await host.run(file: "\(folder)/orders.lua")
        }
        let totals = try await withThrowingTaskGroup(of: Double.self) { group in
            for customer in 1...100 {
                group.addTask { try await pool.call("orders.total", customer) }
            }
            var sum = 0.0
            for try await total in group { sum += total }
            return sum
        }
        // end
        #expect(totals == 12625)
        try await pool.withHost { host in try await host.run(source: "cache = 1") }
        // example
        try await pool.withHost { host in
            try await host.run(source: "cache = nil")
        }
        // end
        #expect(try await pool.withHost { host in try await host.run(source: "return cache == nil", as: Bool.self) })
    }

    @Test func `a pool`() async throws {
        // example
        let pool = try await ScriptPool(size: 4, database: .pool("shop.sqlite")) {
            host in try await host.run(file: "\(folder)/orders.lua")
        }
        let total: Double = try await pool.call("orders.total", 42)
        // end
        #expect(total == 105)
    }

    @Test func `the journal of a file`() async throws {
        // example
        let source = DatabaseSource.queue("shop.sqlite", synchronous: .normal)
        // end
        let host = try await ScriptHost(database: source)
        #expect(try await host.run(source: "return db:fetch_value('SELECT 1')") == 1)
    }
}
