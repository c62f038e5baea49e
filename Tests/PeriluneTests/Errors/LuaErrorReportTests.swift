import GRDB
import Perilune
import PeriluneLua
import Testing

/// The reports of `LuaError.report` for errors from hosts.
@Suite struct LuaErrorReportTests {
    private func report(of source: String, in host: ScriptHost? = nil) async throws -> ErrorReport {
        let host = try host ?? ScriptHost(standalone: ScriptHost.Configuration(database: .inMemory()))
        let error = await #expect(throws: LuaError.self) { try await host.run(source: source, named: "a.lua") }
        return try #require(error).report
    }

    private let table = "db:execute('CREATE TABLE invoice (id INTEGER PRIMARY KEY, total_cents INTEGER)')"

    @Test func `error reports suggest the nearest name, as on the command line`() async throws {
        let report = try await report(of: "\(table)\ndb:fetch_all('SELECT totl_cents FROM invoice')")
        #expect((report.kind, report.file, report.line) == ("sql", "a.lua", 2))
        #expect(report.sourceLine == "db:fetch_all('SELECT totl_cents FROM invoice')")
        #expect(report.suggestions == ["total_cents"])
        #expect(
            report.text == """
                error: no such column: totl_cents
                  at a.lua:2
                  2 | db:fetch_all('SELECT totl_cents FROM invoice')
                  SQL   SELECT totl_cents FROM invoice
                               ^
                  help  did you mean `total_cents`?  invoice has: id, total_cents

                """)
        #expect(report.json.contains(#""suggestions":["total_cents"]"#))
    }

    @Test func `an error report quotes a function from an earlier run and lists the calls`() async throws {
        let host = try ScriptHost(standalone: ScriptHost.Configuration(database: .inMemory()))
        try await host.run(source: "function outer()\n  inner()\nend\nfunction inner()\n  error('no')\nend", named: "defined.lua")
        let error = await #expect(throws: LuaError.self) { try await host.call("outer") }
        let report = try #require(error).report
        #expect((report.message, report.file, report.line, report.sourceLine) == ("no", "defined.lua", 5, "  error('no')"))
        #expect(report.trace.map(\.line) == [5, 2])
    }

    @Test func `the report of an error outside SQL has no SQL`() async throws {
        let report = try await report(of: "perilune.quue()")
        #expect(report.sql == nil)
        #expect(report.message.contains("did you mean `queue`?"))
        #expect(report.help == nil && report.suggestions == ["queue"])
        let syntax = try await self.report(of: "x = = 1")
        #expect(syntax.kind == "syntax")
        #expect(syntax.text.hasPrefix("error: "))
    }

    @Test func `a missing function of the script's own table gets no suggestion from perilune`() async throws {
        let report = try await report(of: "local rates = { rate = 1 } rates.rat()")
        #expect(report.message.contains("(field 'rat')"))
        #expect(report.help == nil && report.suggestions == [])
    }

    @Test func `errors that do not come from a host are reported with their contents`() throws {
        let state = try LuaState()
        let error = #expect(throws: LuaError.self) { try state.run("error('plain')") }
        let report = try #require(error).report
        #expect(report.message == "plain")
        #expect(report.sourceLine == nil)
    }

    @Test func `error reports explain functions that the sandbox removes`() async throws {
        var configuration = ScriptHost.Configuration(database: .inMemory())
        configuration.libraries = .sandboxed
        let host = try ScriptHost(standalone: configuration)
        for source in ["io.open('x')", "os.execute('ls')", "os.getenv('HOME')", "dofile('x.lua')"] {
            let report = try await report(of: source, in: host)
            #expect(report.help == "sandboxed scripts do not have it", "\(source)")
        }
        configuration.libraries = .trusted
        #expect(try await report(of: "io.open(nil)", in: ScriptHost(standalone: configuration)).help == nil)
    }

    @Test func `error reports suggest the nearest name for misspelled modules and their functions`() async throws {
        let host = try ScriptHost(standalone: ScriptHost.Configuration(database: .inMemory()))
        try await host.register(module: "mail") { mail in
            mail.function("count") { (text: String) -> Int in text.count }
        }
        #expect(try await report(of: "local mail = require 'mail' mail.cont('x')", in: host).suggestions == ["count"])
        #expect(try await report(of: "require 'mial'", in: host).suggestions == ["mail"])
        #expect(try await report(of: "('x'):uper()", in: host).suggestions == ["upper"])
        #expect(try await report(of: "local t = {} t.cont('x')", in: host).suggestions == [])
    }

    @Test func `an error without a value is reported with its location`() async throws {
        let report = try await report(of: "local function f()\n  error()\nend\nf()")
        #expect((report.file, report.line, report.message) == ("a.lua", 2, "nil was raised"))
    }

    @Test func `creating a report does not change the error`() async throws {
        let host = try ScriptHost(standalone: ScriptHost.Configuration(database: .inMemory()))
        let error = await #expect(throws: LuaError.self) { try await host.run(source: "db:fetch_all('SELECT 1 FROM nowhere')") }
        #expect(error?.message == "no such table: nowhere")
        #expect(error?.fields["help"] == nil)
    }
}
