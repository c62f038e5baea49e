import Foundation
import GRDB
import Perilune
import PeriluneTestSupport
import PeriluneTestTools
import Testing

struct Month: Codable, Sendable {
    var year: Int
    var month: Int

    init(_ year: Int, _ month: Int) {
        self.year = year
        self.month = month
    }
}

struct MonthReport: Codable, Sendable, Equatable {
    struct Line: Codable, Sendable, Equatable {
        var customer: String
        var total: Double
    }

    var title: String
    var lines: [Line]
    var closed: Date?
}

@Suite(.defaultDatabase())
struct RunningTests {
    @Test(arguments: ScriptPlace.allCases) func `arguments of a script are encoded, and its results are decoded`(
        _ place: ScriptPlace
    ) async throws {
        try await withTemporaryFolder { folder in
            let script = """
                local month = ...
                return { title = ("%d-%02d"):format(month.year, month.month), closed = perilune.now(),
                  lines = { { customer = "Melville", total = 12.5 }, { customer = "Verne", total = 3 } } }
                """
            try script.write(toFile: "\(folder)/close_month.lua", atomically: true, encoding: .utf8)
            let host = try await place.host()
            let report: MonthReport = try await host.run(file: "\(folder)/close_month.lua", arguments: Month(2026, 3))
            #expect(
                report
                    == MonthReport(
                        title: "2026-03", lines: [.init(customer: "Melville", total: 12.5), .init(customer: "Verne", total: 3)],
                        closed: Date(timeIntervalSince1970: 946_684_800)))
        }
    }

    @Test(arguments: ScriptPlace.allCases) func `several arguments become the script's varargs`(_ place: ScriptPlace) async throws
    {
        let host = try await place.host()
        let sum: Int = try await host.run(source: "local a, b, c = ... return a + b + #c", arguments: 1, 2, ["x", "y", "z"])
        #expect(sum == 6)
        let count: Int = try await host.run(source: "return select('#', ...)", arguments: Int?.none, 2)
        #expect(count == 2)
        try await host.run(source: "assert(select('#', ...) == 0)")
    }

    @Test(arguments: ScriptPlace.allCases) func `rows are decoded into Swift types`(_ place: ScriptPlace) async throws {
        struct Author: Codable, Sendable, Equatable {
            var id: Int
            var name: String
            var born: Date?
        }
        let host = try await place.host()
        let authors: [Author] = try await host.run(
            source: """
                db:execute("CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT, born DATETIME)")
                db:execute("INSERT INTO author (name, born) VALUES ('Verne', '1828-02-08'), ('Nobody', NULL)")
                return db:fetch_all("SELECT * FROM author ORDER BY id")
                """)
        #expect(
            authors == [
                Author(id: 1, name: "Verne", born: Date(timeIntervalSince1970: -4_477_852_800)), Author(id: 2, name: "Nobody"),
            ])
    }

    @Test(arguments: ScriptPlace.allCases)
    func `decimal numbers, URLs and large integers round-trip through scripts`(_ place: ScriptPlace)
        async throws
    {
        let host = try await place.host()
        func kind(_ value: some Encodable & Sendable) async throws -> String {
            try await host.run(
                source: "local value = ... return (math.type(value) or type(value)) .. ' ' .. tostring(value)", arguments: value)
        }
        let long = "123456789012345678901234567890.125"
        for (text, expected) in [("12", "integer 12"), ("0.1", "float 0.1"), ("-12.50", "float -12.5"), (long, "string \(long)")]
        {
            let number = try #require(Decimal(string: text))
            try await #expect(kind(number) == expected)
            let back: Decimal = try await host.run(source: "return ...", arguments: number)
            #expect(back == number)
        }
        let written: [Decimal] = try await host.run(source: "return { 1.25, '1.25', 3, '1e2' }")
        #expect(written == [1.25, 1.25, 3, 100].map { Decimal(string: "\($0)") })
        for source in ["'12abc'", "0/0", "1/0", "''", "true", "'\(String(repeating: "9", count: 39))'"] {
            await #expect(throws: LuaError.self, "\(source)") { let _: Decimal = try await host.run(source: "return \(source)") }
        }

        try await #expect(kind(#require(URL(string: "http://a/b?c"))) == "string http://a/b?c")
        let url: URL = try await host.run(source: "return 'http://a/b?c'")
        #expect(url.query == "c")
        let integer: Int128 = try await host.run(source: "return ...", arguments: Int128(-5))
        #expect(integer == -5)
    }

    @Test(arguments: ScriptPlace.allCases) func `a cyclic result is an error with a readable message`(_ place: ScriptPlace)
        async throws
    {
        struct Node: Codable, Sendable { let next: [Node] }
        let host = try await place.host()
        let error = await #expect(throws: LuaError.self) {
            let _: Node = try await host.run(source: "local t = {} t.next = { t } return t")
        }
        #expect(
            error?.message
                == (place == .here
                    ? "the result of script: next[1].next[1].next[1] ... [1].next: nested deeper than 100 levels"
                    : "the value is nested too deeply: more than 100 tables"))
    }

    @Test(arguments: ScriptPlace.allCases) func `Swift calls functions that a script has defined by name`(_ place: ScriptPlace)
        async throws
    {
        let host = try await place.host()
        try await host.run(
            source: """
                orders = { tax = 2 }
                function orders.total(a, b) return a + b end
                function orders:gross(n) return n * self.tax end
                function greet(name) return "hello " .. name end
                function nothing() end
                counter = setmetatable({}, { __index = function(_, name) return function(self, x) return name .. x end end })
                """)
        let total: Int = try await host.call("orders.total", 1, 2)
        #expect(total == 3)
        let gross: Int = try await host.call("orders:gross", 21)
        #expect(gross == 42)
        let greeting: String = try await host.call("greet", "Ada")
        #expect(greeting == "hello Ada")
        let other: String = try await host.call("counter:label", 1)
        #expect(other == "label1")
        try await host.call("nothing")
        let absent: String? = try await host.call("nothing")
        #expect(absent == nil)
    }

    @Test(
        arguments: ScriptPlace.allCases,
        [
            ("nowhere", "no global `nowhere`"), ("t.a.b", "no `a` in `t`"), ("t", "is a table, not a function"),
            ("", "expected the name of a function"), ("a:b:c", "expected the name of a function"),
            (".a", "expected the name of a function"), ("a:b.c", "expected the name of a function"),
            ("n.x", "index a number value"),
        ])
    func `calling a name that is not a function is reported`(_ place: ScriptPlace, _ values: (String, String)) async throws {
        let (name, message) = values
        let host = try await place.host()
        try await host.run(source: "t, n = {}, 1")
        let error = await #expect(throws: LuaError.self) { try await host.call(name) }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: ScriptPlace.allCases) func `mismatched results and arguments are errors with the coding path`(
        _ place: ScriptPlace
    ) async throws {
        let host = try await place.host()
        let result = await #expect(throws: LuaError.self) {
            let _: MonthReport = try await host.run(source: "return { title = 1, lines = {} }", named: "close.lua")
        }
        #expect(result?.code == .conversion)
        #expect(result?.message == "the result of close.lua: title: expected a string, got the integer 1")
        let nothing = await #expect(throws: LuaError.self) { let _: Int = try await host.run(source: "", named: "x") }
        #expect(nothing?.message == "the result of x: expected an integer, got nil")
        let argument = await #expect(throws: LuaError.self) {
            try await host.run(source: "", named: "x", arguments: 1, ["a": UInt64.max])
        }
        #expect(argument?.message.hasPrefix("x: argument 2: a: 18446744073709551615") == true)
    }

    @Test(arguments: ScriptPlace.allCases)
    func `errors of scripts have a kind, position, traceback, SQL and the underlying Swift error`(
        _ place: ScriptPlace
    ) async throws {
        let host = try await place.host()
        let error = await #expect(throws: LuaError.self) {
            try await host.run(
                source: """
                    db:execute("CREATE TABLE t (a UNIQUE)")
                    local function insert() db:execute("INSERT INTO t VALUES (?)", 1) end
                    insert()
                    insert()
                    """, named: "insert.lua")
        }
        #expect(error?.kind == "constraint_unique")
        #expect(error?.file == "insert.lua")
        #expect(error?.line == 2)
        #expect(error?.traceback?.contains("insert.lua:4") == true)
        #expect(error?.sql == "INSERT INTO t VALUES (?)")
        #expect((error?.underlying as? DatabaseError)?.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE)
        let syntax = await #expect(throws: LuaError.self) { try await host.run(source: "x = = 1", named: "bad.lua") }
        #expect(syntax?.code == .syntax)
        #expect(syntax?.line == 1)
        await #expect(throws: ScriptFileError.self) { try await host.run(file: "/nowhere.lua") }
    }

    @Test(arguments: ScriptPlace.allCases) func `tasks that share a host take turns`(_ place: ScriptPlace) async throws {
        let host = try await place.host()
        try await host.register(module: "slow") { slow in
            slow.function("wait") { () async in await Task.yield() }
        }
        try await host.run(
            source: """
                inside = 0
                function enter()
                  assert(inside == 0, "two runs at once")
                  inside = inside + 1
                  require("slow").wait()
                  inside = inside - 1
                  entered = (entered or 0) + 1
                end
                """)
        try await withThrowingTaskGroup { group in
            for _ in 0..<50 { group.addTask { try await host.call("enter") } }
            try await group.waitForAll()
        }
        let entered: Int = try await host.run(source: "return entered")
        #expect(entered == 50)
    }

    @Test(.patience, arguments: ScriptPlace.allCases) func `a cancelled task ends only its own run or wait`(_ place: ScriptPlace)
        async throws
    {
        var configuration = ScriptHost.Configuration()
        configuration.limits.isCancellable = true
        let host = try await place.host(configuration)
        let (starts, start) = AsyncStream<Void>.makeStream()
        try await host.register(module: "test") { $0.function("started") { () in _ = start.yield() } }
        let endless = Task { try await host.run(source: "require('test').started() while true do end") }
        for await _ in starts { break }
        let begun = Tally()
        let waiting = Task {
            begun.add()
            try await host.run(source: "ran = true")
        }
        let last = Task { () -> Int in
            begun.add()
            return try await host.run(source: "return 7")
        }
        await begun.wait(for: 2)
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        endless.cancel()
        await #expect(throws: CancellationError.self) { try await endless.value }
        #expect(try await last.value == 7)
        let ran: Bool? = try await host.run(source: "return ran")
        #expect(ran == nil)
    }

    @Test(arguments: ScriptPlace.allCases) func `an already cancelled task runs nothing`(_ place: ScriptPlace) async throws {
        let host = try await place.host()
        let task = Task {
            try? await suspendUntilCancelled()
            try await host.run(source: "ran = true")
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let ran: Bool? = try await host.run(source: "return ran")
        #expect(ran == nil)
    }

    @Test(arguments: ScriptPlace.allCases) func `a handle that a script has stored is unusable in its next run`(
        _ place: ScriptPlace
    ) async throws {
        let host = try await place.host()
        try await host.run(source: "db:read(function(handle) stored = handle end)")
        let error = await #expect(throws: LuaError.self) { try await host.run(source: "stored:fetch_value('SELECT 1')") }
        #expect(error?.kind == "dead_handle")
    }

    @Test(arguments: ScriptPlace.allCases) func `printed text can be captured, logged or dropped`(_ place: ScriptPlace)
        async throws
    {
        let records = LogRecords()
        let source = "print('a', 1, nil, true) print() print(setmetatable({}, { __tostring = function() return 'object' end }))"
        var configuration = ScriptHost.Configuration()
        configuration.output = .closure { records.logger.info("\($0)") }
        try await place.host(configuration).run(source: source)
        #expect(records.lines == ["info a\t1\tnil\ttrue", "info ", "info object"])
        configuration.output = .log
        let logged = LogRecords()
        try await DependencyContainer.with {
            $0.logger = logged.logger
        } operation: {
            try await place.host(configuration).run(source: source)
        }
        #expect(logged.lines == records.lines)
        configuration.output = .discarded
        try await place.host(configuration).run(source: source)
    }
}
