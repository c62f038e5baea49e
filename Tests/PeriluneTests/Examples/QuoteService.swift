// swift-format-ignore-file
// The documentation shows this example word for word, in shorter lines.
import Foundation
import Perilune
import PeriluneTestSupport
import Testing

private let quotesSchema = Migrations.inTransaction { db in
    try db.execute(sql: """
        CREATE TABLE price (article TEXT PRIMARY KEY, amount REAL NOT NULL);
        INSERT INTO price VALUES ('tea', 2.5), ('coffee', 4)
        """)
}

/// A long-running service that computes its answers with scripts.
enum QuoteExample {
    // example
    struct QuoteRequest: Codable, Sendable {
        var customer: String
        var articles: [String: Int]
    }

    struct Quote: Codable, Sendable, Equatable {
        var total: Double
        var discount: Double?
    }

    /// Answers requests by the rules in rules.lua, several at a time. Limits
    /// end rules that run too long or use too much memory.
    actor QuoteService {
        private var pool: ScriptPool
        private let rules: String

        init(rules path: String) async throws {
            rules = path
            pool = try await Self.makePool(rules: path)
        }

        private static func makePool(
            rules path: String
        ) async throws -> ScriptPool {
            var configuration = ScriptHost.Configuration()
            configuration.limits = LuaLimits(
                memoryInBytes: 64 << 20, time: .seconds(5))
            configuration.output = .log
            return try await ScriptPool(size: 2, configuration: configuration) {
                host in try await host.run(file: path)
            }
        }

        func quote(_ request: QuoteRequest) async throws -> Quote {
            try await pool.call("quote", request)
        }

        /// Replaces the rules if the new ones load. Running rules finish.
        func reload() async throws {
            pool = try await Self.makePool(rules: rules)
        }
    }
    // end

    @Suite(.defaultDatabase(.pool("quotes.sqlite", migrations: quotesSchema, usesFilesInTests: true)), .timeLimit(.minutes(60)))
    struct Tests {
        @Test func `requests are answered in parallel, and a failing request does not affect the others`() async throws {
            let service = try await QuoteService(rules: "\(folder)/rules.lua")
            let quotes = try await withThrowingTaskGroup(of: Quote.self) { group in
                for count in 1...60 {
                    group.addTask { try await service.quote(QuoteRequest(customer: "Ada", articles: ["tea": count])) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let sum = quotes.reduce(0.0) { $0 + $1.total }
            #expect(abs(sum - 4117.5) < 0.001)
            let error = await #expect(throws: LuaError.self) {
                try await service.quote(QuoteRequest(customer: "Ada", articles: ["cake": 1]))
            }
            #expect(error?.kind == "record_not_found")
            let endless = await #expect(throws: LuaError.self) {
                try await service.quote(QuoteRequest(customer: "endless", articles: [:]))
            }
            #expect(endless?.code == .timeout)
            let quote = try await service.quote(QuoteRequest(customer: "Bob", articles: ["coffee": 2]))
            #expect(quote == Quote(total: 8, discount: nil))
        }

        @Test func `invalid rules are rejected`() async throws {
            try await withTemporaryFolder { folder in
                try makeExampleFiles(in: folder)
                let service = try await QuoteService(rules: "\(folder)/rules.lua")
                try "this is no Lua".write(toFile: "\(folder)/rules.lua", atomically: true, encoding: .utf8)
                await #expect(throws: LuaError.self) { try await service.reload() }
                let request = QuoteRequest(customer: "Bob", articles: ["tea": 2])
                #expect(try await service.quote(request).total == 5)
                try "function quote() return { total = 1 } end".write(toFile: "\(folder)/rules.lua", atomically: true, encoding: .utf8)
                try await service.reload()
                #expect(try await service.quote(request).total == 1)
            }
        }
    }
}
