import Foundation
import Logging
import Perilune
import PeriluneDependencies
import PeriluneLua
import Synchronization
import Testing

@Suite struct ScriptEnvironmentTests {
    @Test func `in tests, the clock, UUIDs and random numbers are deterministic`() async throws {
        for _ in 1...2 {
            try await DependencyContainer.withTestScope {
                try await DependencyContainer.prepare { $0.defaultDatabase = .inMemory() }
                let host = try await ScriptHost()
                try await host.run(
                    source: """
                        assert(perilune.context == "test")
                        assert(tostring(perilune.now()) == "2000-01-01 00:00:00.000")
                        assert(perilune.uuid() == "00000000-0000-0000-0000-000000000000")
                        assert(perilune.uuid() == "00000000-0000-0000-0000-000000000001")
                        assert(db:fetch_value("SELECT CURRENT_TIMESTAMP") == "2000-01-01 00:00:00")
                        assert(os.time() == 946684800 and os.date("!%Y-%m-%d") == "2000-01-01")
                        assert(os.date("!%Y", 0) == "1970" and os.time{ year = 2020, month = 1, day = 1, hour = 12 } > 1e9)
                        local numbers = { perilune.random(), perilune.random(6), perilune.random(-5, 5), perilune.random(0),
                          math.random(1000000), db:fetch_value("SELECT random()") }
                        io = table.concat(numbers, " ")
                        """)
                let numbers: String = try await host.run(source: "return io")
                let again = try await Self.numbers()
                #expect(numbers == again)
            }
        }
    }

    /// The values that another test finds.
    private static func numbers() async throws -> String {
        try await DependencyContainer.withTestScope {
            try await DependencyContainer.prepare { $0.defaultDatabase = .inMemory() }
            let host = try await ScriptHost()
            return try await host.run(
                source: """
                    return table.concat({ perilune.random(), perilune.random(6), perilune.random(-5, 5), perilune.random(0),
                      math.random(1000000), db:fetch_value("SELECT random()") }, " ")
                    """)
        }
    }

    @Test func `in live, the clock, UUIDs and random numbers come from the machine`() async throws {
        try await DependencyContainer.inProcess(.live) {
            let host = try await ScriptHost(database: .inMemory())
            try await host.run(
                source: """
                    assert(perilune.context == "live")
                    assert(math.abs(perilune.now().unix - os.time()) < 5)
                    assert(perilune.uuid() ~= perilune.uuid() and #perilune.uuid() == 36)
                    for i = 1, 1000 do
                      local x, n, m = perilune.random(), perilune.random(6), perilune.random(-1, 1)
                      assert(x >= 0 and x < 1 and n >= 1 and n <= 6 and m >= -1 and m <= 1)
                      assert(math.type(n) == "integer")
                    end
                    assert(math.type(perilune.random(math.mininteger, math.maxinteger)) == "integer")
                    for _, arguments in ipairs{ { 2, 1 }, { -1 }, { 1.5 }, { "x" }, { 1, 2, 3 } } do
                      assert(not pcall(perilune.random, table.unpack(arguments)))
                    end
                    """)
        }
    }

    @Test func `a script and its SQL share one clock, even if it was overridden after the database was opened`() async throws {
        try await DependencyContainer.withTestScope {
            try await DependencyContainer.prepare { $0.defaultDatabase = .inMemory(migrations: library) }
            let outer = try await ScriptHost()
            let moment = Date(timeIntervalSince1970: 1e9)
            try await DependencyContainer.with {
                $0.date = .constant(moment)
            } operation: {
                let inner = try await ScriptHost()
                let found: [String] = try await inner.run(
                    source: """
                        db:execute("INSERT INTO author (name) VALUES ('Verne')")
                        return { db:fetch_value("SELECT created FROM author"), perilune.now():format("%Y-%m-%d %H:%M:%S") }
                        """)
                #expect(found == ["2001-09-09 01:46:40", "2001-09-09 01:46:40"])
            }
            let found: String = try await outer.run(source: "return db:fetch_value('SELECT CURRENT_DATE')")
            #expect(found == "2000-01-01")
        }
    }

    @Test func `a host keeps its environment for its lifetime`() async throws {
        try await DependencyContainer.withTestScope {
            try await DependencyContainer.prepare { $0.defaultDatabase = .inMemory() }
            let host = try await ScriptHost()
            try await DependencyContainer.with {
                $0.date = .constant(Date(timeIntervalSince1970: 0))
            } operation: {
                let year: Int = try await host.run(source: "return perilune.now().year")
                #expect(year == 2000)
            }
        }
    }

    @Test func `log messages reach the container's logger with their fields and the line in the script`() async throws {
        let records = LogRecords()
        try await DependencyContainer.withTestScope {
            try await DependencyContainer.prepare {
                $0.logger = records.logger
                $0.defaultDatabase = .inMemory()
            }
            let host = try await ScriptHost()
            try await host.run(
                source: """
                    perilune.log.info("closing", { month = 3, ok = true })

                    perilune.log.error("failed")
                    perilune.log.trace("unheard")
                    assert(not pcall(perilune.log.info))
                    assert(not pcall(perilune.log.info, "x", 5))
                    """, named: "close.lua")
        }
        #expect(
            records.lines == [
                "info closing line=1 month=3 ok=true script=close.lua", "error failed line=3 script=close.lua",
            ])
    }
}

/// Keeps all log messages.
final class LogRecords: Sendable {
    private let list = Mutex<[String]>([])
    var lines: [String] { list.withLock { $0 } }

    var logger: Logger {
        var logger = Logger(label: "test") { _ in Handler(records: self) }
        logger.logLevel = .debug
        return logger
    }

    struct Handler: LogHandler {
        let records: LogRecords
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.debug

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let fields = (event.metadata ?? [:]).map { "\($0)=\($1)" }.sorted()
            records.list.withLock { $0.append((["\(event.level)", "\(event.message)"] + fields).joined(separator: " ")) }
        }
    }
}
