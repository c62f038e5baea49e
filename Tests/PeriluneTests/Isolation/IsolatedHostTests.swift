import Foundation
import GRDB
import Perilune
import PeriluneDependencies
import PeriluneLua
import PeriluneTestTools
import Synchronization
import Testing

/// An error of the program.
private struct MailError: LuaErrorDescribing, Equatable {
    let luaKind = "mail"
    let luaMessage: String
    var luaFields: [String: ScriptValue] { ["address": "nobody"] }
}

/// The lines that scripts have printed.
private final class Lines: Sendable {
    private let lines = Mutex([String]())

    var all: [String] { lines.withLock { $0 } }

    func add(_ line: String) { lines.withLock { $0.append(line) } }
}

private struct Order: Codable, Equatable {
    var id: Int
    var total: Double
    var lines: [String]
    var paid: Bool
    var due: Date
}

/// Creates a host whose scripts run in a separate process.
func makeIsolatedHost(
    _ change: (inout ScriptHost.Configuration) -> Void = { _ in }
) async throws -> ScriptHost {
    var configuration = ScriptPlace.isolated.configuration(ScriptHost.Configuration(database: .inMemory()))
    change(&configuration)
    return try await ScriptHost(configuration)
}

@Suite struct IsolatedHostTests {
    @Test func `an isolated script returns the same values`() async throws {
        let host = try await makeIsolatedHost()
        let sum: Int = try await host.run(source: "return 6 * 7")
        #expect(sum == 42)
        let value: ScriptValue = try await host.run(
            source:
                "return { list = { 1, 2.5, 'tea' }, null = perilune.null, blob = perilune.blob('\\0\\255'), f = print, none = {} }"
        )
        #expect(value["list"] == [1, 2.5, "tea"])
        #expect(value["null"] == .null)
        #expect(value["blob"] == .bytes(Data([0, 255])))
        #expect(value["f"] == .other("a function"))
        #expect(value["none"] == [])
    }

    @Test func `the example in the isolation article runs`() async throws {
        try await withTemporaryFolder { folder in
            let queue = try DatabaseQueue(path: "\(folder)/shop.sqlite")
            try await queue.write { db in try db.execute(sql: "CREATE TABLE sale AS SELECT 2.5 AS total UNION ALL SELECT 3.0") }
            try await DependencyContainer.inProcess(.live) {
                // example
                var configuration = ScriptHost.Configuration(
                    database: .queue("\(folder)/shop.sqlite"))
                configuration.isolation = .process()
                configuration.limits = LuaLimits(memoryInBytes: 64 << 20, time: .seconds(2))
                let host = try await ScriptHost(configuration)
                let total: Double = try await host.run(
                    source: "return db:fetch_value('SELECT sum(total) FROM sale')")
                // end
                #expect(total == 5.5)
            }
        }
    }

    @Test func `the settings in the isolation article apply`() async throws {
        try await withTemporaryFolder { folder in
            try "orders = {}".write(toFile: "\(folder)/orders.lua", atomically: true, encoding: .utf8)
            try await DependencyContainer.inProcess(.live) {
                // example
                var configuration = ScriptHost.Configuration(
                    database: .queue("\(folder)/shop.sqlite"))
                configuration.isolation = .process()
                configuration.diskQuota = 1 << 30
                // end
                // example
                configuration.isolation = .process(require: [.landlock, .seccomp])
                // end
                // example
                configuration.isolation = .process(grace: .seconds(1))
                // end
                func log(_ values: Any?...) {}
                func serve() async throws {
                    let host = try await ScriptHost(configuration)
                    // example
                    do {
                        try await host.run(file: "\(folder)/orders.lua")
                    } catch let error as LuaError where error.code == .crashed {
                        log(error.message, error.fields["signal"], error.fields["host_call"])
                    }
                    // end
                    #expect(try await host.run(source: "return type(orders)") == "table")
                }
                // This function is not called, because the test program would then be started as the worker.
                func main() async throws {
                    // example
                    ScriptWorker.runIfStarted()  // before anything else in main.swift
                    try await serve()
                    // end
                }
                try await serve()
            }
        }
    }

    @Test func `structures and dates are passed to and from isolated scripts`() async throws {
        let host = try await makeIsolatedHost()
        let order = Order(id: 1, total: 2.5, lines: ["tea", "ü"], paid: true, due: Date(timeIntervalSince1970: 1_000_000.25))
        let back: Order = try await host.run(
            source: "local order = ...; assert(order.due:format('%Y') == '1970'); return order", arguments: order)
        #expect(back == order)
    }

    @Test func `functions of isolated scripts can be called by names with dots and colons`() async throws {
        let host = try await makeIsolatedHost()
        try await host.run(
            source: "orders = { rate = 2 }; function orders:total(n) return self.rate * n end; function fail() error('no') end")
        #expect(try await host.call("orders:total", 21) == 42)
        #expect(try await host.defines("orders.total"))
        #expect(try await !host.defines("orders.sum"))
        let error = try #require(await #expect(throws: LuaError.self) { try await host.call("order.total") })
        #expect(error.code == .usage)
        #expect(error.message == "call: no global `order`; did you mean `orders`?")
    }

    @Test func `an isolated host and Swift share a database file`() async throws {
        try await withTemporaryFolder { folder in
            let queue = try DatabaseQueue(path: folder + "/shop.sqlite")
            try await queue.write { db in try db.execute(sql: "CREATE TABLE author (name TEXT)") }
            let host = try await makeIsolatedHost { $0.database = .queue(folder + "/shop.sqlite", inEveryContext: true) }
            try await host.run(source: "db:execute('INSERT INTO author VALUES (?)', 'Ann')")
            #expect(try await queue.value("SELECT name FROM author") == "Ann")
            let readonly = try await makeIsolatedHost {
                $0.database = .queue("\(folder)/shop.sqlite", readonly: true, inEveryContext: true)
            }
            let error = try #require(
                await #expect(throws: LuaError.self) { try await readonly.run(source: "db:execute('DELETE FROM author')") })
            #expect(error.kind?.rawValue.hasPrefix("readonly") == true)
        }
    }

    @Test func `errors of isolated scripts keep all their fields`() async throws {
        let host = try await makeIsolatedHost()
        let error = try #require(
            await #expect(throws: LuaError.self) {
                try await host.run(source: "local function f()\n  db:execute('SELEC 1')\nend\nf()", named: "@shop.lua")
            })
        #expect(error.code == .host || error.code == .runtime)
        #expect(error.sql == "SELEC 1")
        #expect(error.line == 2)
        #expect(error.file?.contains("shop.lua") == true)
        #expect(error.traceback?.contains("shop.lua") == true)
        #expect((error.underlying as? DatabaseError)?.resultCode == .SQLITE_ERROR)
        #expect(error.report.sourceLine?.contains("SELEC 1") == true)
        let syntax = try #require(await #expect(throws: LuaError.self) { try await host.run(source: "local = 1") })
        #expect(syntax.code == .syntax)
        let fields = try #require(
            await #expect(throws: LuaError.self) { try await host.run(source: "error({ kind = 'shop', price = 3 })") })
        #expect(fields.kind == "shop")
        #expect(fields.fields["price"] == .integer(3))
    }

    @Test func `printed text of an isolated script arrives in order and before the result`() async throws {
        let lines = Lines()
        let host = try await makeIsolatedHost { $0.output = .closure { lines.add($0) } }
        try await host.run(source: "for i = 1, 500 do print('line', i) end")
        #expect(lines.all == (1...500).map { "line\t\($0)" })
        try await host.run(source: "print(('x'):rep(3000000))")
        #expect(lines.all.last?.count == 3_000_000)
    }

    @Test func `module functions run in the host's process and report their errors`() async throws {
        let host = try await makeIsolatedHost()
        let sent = Lines()
        try await host.register(module: "mail") { mail in
            mail.function("send") { (to: String, order: Order) throws -> Int in
                sent.add(to)
                return order.id + 1
            }
            mail.function("wait") { (text: String) async throws -> String in
                await Task.yield()
                return text + "!"
            }
            mail.function("fail") { () throws -> Void in throw MailError(luaMessage: "no such address") }
            mail.function("none") { () -> Void in }
        }
        let order = Order(id: 7, total: 1, lines: [], paid: false, due: Date(timeIntervalSince1970: 0))
        let number: Int = try await host.run(source: "return require('mail').send('ann', ...)", arguments: order)
        #expect(number == 8)
        #expect(sent.all == ["ann"])
        #expect(try await host.run(source: "return require('mail').wait('hi')") == "hi!")
        #expect(try await host.run(source: "return select('#', require('mail').none())") == 0)
        // A script catches an error object; an uncaught error is thrown as the program's own error.
        let caught: [String] = try await host.run(
            source: "local ok, e = pcall(require('mail').fail); return { tostring(ok), e.kind, e.message, e.address }")
        #expect(caught == ["false", "mail", "no such address", "nobody"])
        let error = try #require(
            await #expect(throws: LuaError.self) { try await host.run(source: "\nrequire('mail').fail()", named: "@m.lua") })
        #expect(error.underlying as? MailError == MailError(luaMessage: "no such address"))
        #expect(error.code == .host)
        #expect(error.line == 2)
        let argument = try #require(
            await #expect(throws: LuaError.self) { try await host.run(source: "require('mail').wait({})") })
        #expect(argument.message.contains("mail.wait: argument 1: expected a string, got a table"))
        let missing = try #require(await #expect(throws: LuaError.self) { try await host.run(source: "require('male')") })
        #expect(missing.message.contains("male"))
    }

    @Test func `a function may call the isolated host that is waiting for it`() async throws {
        let host = try await makeIsolatedHost()
        try await host.register(module: "again") { again in
            again.function("run") { [unowned host] (n: Int) async throws -> Int in
                n == 0 ? 0 : try await host.run(source: "local n = ...; return 1 + require('again').run(n - 1)", arguments: n)
            }
        }
        #expect(try await host.run(source: "return require('again').run(5)") == 5)
    }

    @Test func `concurrent calls of asynchronous functions that end at once, wait or fail get their own results`() async throws {
        let host = try await makeIsolatedHost()
        try await host.register(module: "m") { m in
            m.function("echo") { (n: Int) async throws -> Int in
                // The host sends some answers before it releases the waiting thread, and some afterwards.
                for _ in 0..<(n % 11 == 3 ? 200 : n % 7) { await Task.yield() }
                if n % 5 == 4 { throw MailError(luaMessage: "number \(n)") }
                return n * 2
            }
        }
        let wrong: [String] = try await host.run(
            source: """
                local m, wrong, tasks = require "m", {}, {}
                for i = 1, 600 do
                  tasks[i] = perilune.spawn(function()
                    for n = i, i + 3 do
                      local ok, result = pcall(m.echo, n)
                      local expected = n % 5 ~= 4 and n * 2 or "number " .. n
                      if (ok and result or result.message) ~= expected then wrong[#wrong + 1] = n .. ": " .. tostring(result) end
                    end
                  end)
                end
                for _, task in ipairs(tasks) do task:wait() end
                return wrong
                """)
        #expect(wrong == [])
    }

    @Test func `other tasks of an isolated script run while an asynchronous function waits`() async throws {
        let host = try await makeIsolatedHost()
        let isOpen = Tally()
        try await host.register(module: "gate") { gate in
            gate.function("wait") { () async in await isOpen.wait(for: 1) }
            gate.function("open") { () -> Void in isOpen.add() }
        }
        let order: [String] = try await host.run(
            source: """
                local gate, order = require "gate", {}
                local waiter = perilune.spawn(function() gate.wait() order[#order + 1] = "waited" end)
                order[#order + 1] = "open"
                gate.open()
                waiter:wait()
                return order
                """)
        #expect(order == ["open", "waited"])
    }

    @Test func `isolated scripts require Lua modules from the host's sources`() async throws {
        let host = try await makeIsolatedHost {
            $0.moduleSources = [.lookup { name in name == "rates" ? "return { vat = 19 }" : nil }]
        }
        #expect(try await host.run(source: "return require('rates').vat + require('rates').vat") == 38)
    }

    @Test func `limits end isolated runs, and the host keeps working`() async throws {
        let host = try await makeIsolatedHost { $0.limits = LuaLimits(memoryInBytes: 16 << 20, time: .milliseconds(300)) }
        let late = try #require(await #expect(throws: LuaError.self) { try await host.run(source: "while true do end") })
        #expect(late.code == .timeout)
        #expect(late.line == 1)
        // The time limit is long, because a busy machine may need more time to reach the other limit.
        await host.limitTime(to: .seconds(600))
        let large = try #require(
            await #expect(throws: LuaError.self) {
                try await host.run(source: "local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t end")
            })
        #expect(large.code == .memory)
        #expect(try await host.run(source: "return 1") == 1)
    }

    @Test func `cancelling the task or the host ends an isolated run`() async throws {
        let host = try await makeIsolatedHost { $0.limits = LuaLimits(isCancellable: true) }
        let began = Tally()
        try await host.register(module: "test") { test in test.function("began") { () -> Void in began.add() } }
        let task = Task { try await host.run(source: "require('test').began() while true do end") }
        await began.wait(for: 1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let other = Task { try await host.run(source: "require('test').began() while true do end") }
        await began.wait(for: 2)
        host.cancel()
        #expect(await (#expect(throws: LuaError.self) { try await other.value })?.code == .cancelled)
        #expect(try await host.run(source: "return 1") == 1)
    }

    @Test func `timers of isolated scripts run until they are idle, and their errors are thrown`() async throws {
        let lines = Lines()
        let host = try await makeIsolatedHost {
            $0.output = .closure { lines.add($0) }
            $0.callbackErrors = .fail
        }
        try await host.run(source: "perilune.after(0.01, function() print('late') end)")
        #expect(await !host.isIdle)
        try await host.waitUntilIdle()
        #expect(lines.all == ["late"])
        #expect(await host.isIdle)
        try await host.run(source: "perilune.after(0.01, function() error('no', 0) end)")
        let error = try #require(await #expect(throws: LuaError.self) { try await host.waitUntilIdle() })
        #expect(error.message == "no")
    }

    @Test func `clock, random numbers and UUIDs of isolated scripts come from the container`() async throws {
        func values() async throws -> [String] {
            try await DependencyContainer.inProcess(.test) {
                let source = "return { perilune.now():iso8601(), perilune.uuid(), tostring(math.random(1000000)) }"
                return try await makeIsolatedHost().run(source: source)
            }
        }
        let first = try await values()
        #expect(first[0].hasPrefix("2000-01-01"))
        #expect(first[1] == "00000000-0000-0000-0000-000000000000")
        // All tests start with the same random number.
        #expect(try await values()[2] == first[2])
    }

    @Test func `isolated scripts use custom sources of time and randomness in every context`() async throws {
        func values(in isolation: ScriptIsolation) async throws -> [String] {
            try await DependencyContainer.inProcess(.live) {
                try await DependencyContainer.with {
                    $0.uuid = .counting
                    $0.random = .seeded(5)
                } operation: {
                    let source = "return { perilune.uuid(), tostring(perilune.random(0)), tostring(math.random(0)) }"
                    return try await makeIsolatedHost { $0.isolation = isolation }.run(source: source)
                }
            }
        }
        let isolated = try await values(in: .process())
        #expect(isolated[0] == "00000000-0000-0000-0000-000000000000")
        #expect(try await values(in: .none) == isolated)
    }

    private final class Stamp: ScriptObject {
        static let scriptName = "stamp"
        static func describe(_ stamp: ScriptObjectType<Stamp>) {}
    }

    @Test func `isolated hosts refuse Swift objects as arguments, even nested ones`() async throws {
        let host = try await makeIsolatedHost()
        for error in [
            await #expect(throws: LuaError.self) { try await host.run(source: "", arguments: Stamp()) },
            await #expect(throws: LuaError.self) { try await host.run(source: "", arguments: 1, ["a": [Stamp()]]) },
        ] { #expect(error?.code == .conversion && error?.message.contains("which cannot go to another process") == true) }
    }

    @Test func `features that isolation does not support are refused with a reason`() async throws {
        func refusal(_ change: (inout ScriptHost.Configuration) -> Void) async throws -> String? {
            await (#expect(throws: LuaError.self) { _ = try await makeIsolatedHost(change) })?.message
        }
        #expect(try await refusal { $0.libraries = .trusted }?.contains("libraries that reach files or programs") == true)
        #expect(try await refusal { $0.allowsFiles = true }?.contains("other database files") == true)
        #expect(try await refusal { $0.moduleFolder = "." }?.contains("moduleFolder") == true)
        #expect(try await refusal { $0.database = .existing(try! DatabaseQueue()) }?.contains("in memory") == true)
        #expect(try await refusal { $0.isolation = .process(program: "/nonexistent") }?.contains("/nonexistent") == true)
    }

    @Test func `isolated scripts migrate the database once, and an error names the migration`() async throws {
        try await withTemporaryFolder { folder in
            let migrate = """
                local migrator = perilune.migrator()
                migrator:register("v1", "CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT)")
                migrator:register("v2", function(db) db:execute("INSERT INTO author (name) VALUES ('Ann')") end)
                migrator:migrate(db)
                return db:fetch_value("SELECT COUNT(*) FROM author")
                """
            for _ in 0..<2 {
                let host = try await makeIsolatedHost { $0.database = .queue("\(folder)/x.sqlite", inEveryContext: true) }
                #expect(try await host.run(source: migrate) == 1)
            }
            let host = try await makeIsolatedHost { $0.database = .queue("\(folder)/x.sqlite", inEveryContext: true) }
            let failing = migrate.replacing(
                "migrator:migrate", with: "migrator:register('v3', 'DROP TABLE authors') migrator:migrate")
            let error = try #require(await #expect(throws: LuaError.self) { try await host.run(source: failing) })
            #expect(error.fields["migration"] == "v3")
            #expect(try await host.run(source: "return perilune.migrator():register('v1', 'x'):completed(db)[1]") == "v1")
        }
    }

    @Test func `Swift APIs that need a Lua state are refused by isolated hosts with the feature's name`() async throws {
        let host = try await makeIsolatedHost()
        try await host.run(
            source: "db:execute('CREATE TABLE author (id INTEGER PRIMARY KEY)') Author = perilune.record('author')")
        func refusal(_ operation: () async throws -> Void) async -> String? {
            await (#expect(throws: LuaError.self) { try await operation() })?.message
        }
        func text(_ what: String) -> String {
            "scripts in a process of their own cannot have \(what); make a host without isolation"
        }
        #expect(await refusal { _ = try await host.records("Author").fetchCount() } == text("records that Swift uses"))
        try await withTemporaryFolder { folder in
            var configuration = ScriptHost.Configuration()
            configuration.isolation = .process()
            try await DatabaseQueue(path: "\(folder)/x.sqlite").write { try $0.execute(sql: "CREATE TABLE t (a)") }
            let preview = await refusal {
                _ = try await ScriptPreview(of: .queue("\(folder)/x.sqlite", inEveryContext: true), configuration: configuration)
            }
            #expect(preview == "previews and hosts without dependencies run scripts in this process; leave out the isolation")
        }
    }

    @Test func `oversized results and arguments of isolated scripts are errors, and the host keeps working`() async throws {
        let host = try await makeIsolatedHost()
        let large = try #require(
            await #expect(throws: LuaError.self) { let _: String = try await host.run(source: "return ('x'):rep(20 << 20)") })
        #expect(large.code == .conversion)
        #expect(large.message.contains("too large"))
        let argument = String(repeating: "x", count: 20 << 20)
        #expect(
            await (#expect(throws: LuaError.self) { try await host.run(source: "", arguments: argument) })?.code == .conversion)
        let deep = try #require(
            await #expect(throws: LuaError.self) {
                let _: ScriptValue = try await host.run(source: "local t = {} t.t = t return t")
            })
        #expect(deep.code == .conversion)
        #expect(try await host.run(source: "return 1") == 1)
    }
}
