import Foundation
import GRDB
import Perilune
import PeriluneTestSupport
import PeriluneTestTools
import Testing

/// The error messages that scripts receive.
@Suite struct ErrorDisclosureTests {
    private struct Secret: Error {
        let path = "/srv/secret"
    }

    private struct Friendly: LocalizedError {
        var errorDescription: String? { "the mailbox is full" }
    }

    private struct Described: LuaErrorDescribing {
        var luaKind: String { "quota" }
        var luaMessage: String { "no letters left" }
    }

    private static func host(_ place: ScriptPlace, showsAll: Bool = false) async throws -> ScriptHost {
        var configuration = place.configuration(ScriptHost.Configuration(database: .inMemory()))
        if showsAll {
            // example
            configuration.errorDisclosure = .all
            // end
        }
        let host = try await ScriptHost(configuration)
        let queue = try DatabaseQueue()
        try await host.register(module: "m") { m in
            m.function("secret") { () throws in throw Secret() }
            m.function("secret_later") { () async throws in throw Secret() }
            m.function("friendly") { () throws in throw Friendly() }
            m.function("described") { () throws in throw Described() }
            m.function("sql") { () throws in try queue.write { db in try db.execute(sql: "SELECT secret FROM nowhere") } }
            m.function("file") { () async throws in
                try await ScriptHost(ScriptHost.Configuration(database: .inMemory())).run(file: "/srv/secret.lua")
            }
        }
        return host
    }

    private static func seen(_ function: String, by host: ScriptHost) async throws -> String {
        try await host.run(
            source: """
                local ok, e = pcall(require("m").\(function))
                return tostring(e) .. " " .. tostring(e.kind) .. " " .. tostring(e.sql)
                """)
    }

    @Test(.patience, arguments: ScriptPlace.allCases)
    func `by default, scripts see only error messages that are written for people`(_ place: ScriptPlace) async throws {
        let host = try await Self.host(place)
        for function in ["secret", "secret_later", "sql", "file"] {
            let seen = try await Self.seen(function, by: host)
            #expect(!seen.contains("secret") && !seen.contains("nowhere"), "\(function): \(seen)")
            #expect(
                seen.contains("a function of the program failed; the program does not show the reason to scripts host nil"),
                "\(seen)")
        }
        #expect(try await Self.seen("friendly", by: host).contains("the mailbox is full"))
        #expect(try await Self.seen("described", by: host).contains("no letters left quota"))
    }

    @Test(.patience, arguments: ScriptPlace.allCases)
    func `the program receives the original error for its log`(_ place: ScriptPlace) async throws {
        let host = try await Self.host(place)
        let error = await #expect(throws: LuaError.self) { try await host.run(source: "require('m').secret()") }
        #expect(error?.underlying is Secret)
        #expect(error?.message.contains("secret") == false)
        #expect(error.map { "\($0.report)" }?.contains("/srv") == false)
        #expect(error?.logDescription.contains("/srv/secret") == true)
    }

    @Test(.patience, arguments: ScriptPlace.allCases) func `a host can show scripts all error messages`(_ place: ScriptPlace)
        async throws
    {
        let host = try await Self.host(place, showsAll: true)
        #expect(try await Self.seen("secret", by: host).contains("/srv/secret"))
        #expect(try await Self.seen("sql", by: host).contains("nowhere"))
    }

    @Test(arguments: ScriptPlace.allCases) func `the program never receives errors of internal types`(_ place: ScriptPlace)
        async throws
    {
        let host = try await ScriptHost(place.configuration(ScriptHost.Configuration(database: .inMemory())))
        for source in [
            "db:fetch_all(1)", "perilune.every(-1, print)", "db:execute('SELECT :a', { b = 1 })", "perilune.date('x')",
            "local x = db.nothing",
        ] {
            let error = await #expect(throws: LuaError.self) { try await host.run(source: source) }
            #expect(
                error.map { $0.underlying == nil || $0.underlying is DatabaseError } == true,
                "\(source): \(String(describing: error?.underlying))")
        }
    }
}
