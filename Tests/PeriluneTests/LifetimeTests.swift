import Foundation
import GRDB
import Perilune
import PeriluneLua
import PeriluneTestSupport
import PeriluneTestTools
import Testing

/// Hosts and pools that a program closes.
@Suite(.patience) struct LifetimeTests {
    private final class HostHolder: @unchecked Sendable { var host: ScriptHost? }

    @Test(arguments: ScriptPlace.allCases) func `a closed host ends the current run and refuses new ones`(_ place: ScriptPlace)
        async throws
    {
        var configuration = place.configuration(ScriptHost.Configuration(database: .inMemory()))
        configuration.limits = LuaLimits(isCancellable: true)
        let host = try await ScriptHost(configuration)
        let reached = Tally()
        try await host.register(module: "m") { $0.function("reach") { reached.add() } }
        try await host.run(source: "perilune.every('1h', print)")
        let run = Task { try await host.run(source: "require('m').reach() while true do end") }
        await reached.wait()
        let waiting = Task { try await host.run(source: "return 1", as: Int.self) }
        await host.close()
        await host.close()
        await #expect(throws: LuaError.self) { try await run.value }
        await #expect(throws: LuaError.self) { _ = try await waiting.value }
        let error = await #expect(throws: LuaError.self) { try await host.run(source: "return 1") }
        #expect(error?.code == .usage && error?.message == "the host is closed")
        if place == .isolated { #expect(await eventually { host.hasCrashed }) }
    }

    @Test func `closing a host ends the wait for its callbacks without an error`() async throws {
        let host = try await ScriptHost(database: .inMemory())
        try await host.run(source: "perilune.every('1h', print)")
        let waiting = Task.immediate { try await host.waitUntilIdle() }
        // The host runs this after the wait has begun.
        #expect(await !host.isIdle)
        await host.close()
        try await waiting.value
    }

    @Test func `a closed host releases the functions that refer to it`() async throws {
        weak var released: ScriptHost?
        do {
            let host = try await ScriptHost(database: .inMemory())
            released = host
            let holder = HostHolder()
            holder.host = host
            try await host.register(module: "m") {
                $0.function("again") { () async throws -> Int in try await #require(holder.host).call("one") }
            }
            try await host.run(source: "function one() return 1 end function two() return require('m').again() + 1 end")
            #expect(try await host.call("two", as: Int.self) == 2)
            await host.close()
        }
        #expect(await eventually { released == nil })
    }

    @Test(.patience, arguments: ScriptPlace.allCases)
    func `closing a host ends a run that has not started yet`(_ place: ScriptPlace) async throws {
        var configuration = place.configuration(ScriptHost.Configuration(database: .inMemory()))
        configuration.limits = LuaLimits(isCancellable: true)
        for pause in stride(from: 0, to: place == .here ? 100 : 10, by: 3) {
            let host = try await ScriptHost(configuration)
            let run = Task { try await host.run(source: "while true do end") }
            // At this point, the run may be waiting for the host, holding it, or running.
            for _ in 0..<pause { await Task.yield() }
            await host.close()
            await #expect(throws: LuaError.self) { try await run.value }
        }
    }

    @Test(.defaultDatabase(.pool("x.sqlite", migrations: library, usesFilesInTests: true)), arguments: ScriptPlace.allCases)
    func `a closed pool finishes its calls and refuses new ones`(_ place: ScriptPlace) async throws {
        let rendezvous = Rendezvous(), reached = Tally()
        let pool = try await ScriptPool(size: 1, configuration: place.configuration()) { host in
            try await host.register(module: "m") { m in
                m.function("meet") { () async in
                    reached.add()
                    await rendezvous.meet()
                }
            }
            try await host.run(source: "function meet() require('m').meet() return 'met' end function one() return 1 end")
        }
        let call = Task { try await pool.call("meet", as: String.self) }
        await reached.wait()
        let waiting = Task { try await pool.call("one", as: Int.self) }
        let closing = Task { await pool.close(within: .seconds(600)) }
        await #expect(throws: ScriptPoolError.self) { _ = try await waiting.value }
        await rendezvous.meet()
        #expect(try await call.value == "met")
        await closing.value
        let error = await #expect(throws: ScriptPoolError.self) { try await pool.call("one") }
        #expect(error?.code == .closed)
    }

    @Test(arguments: ScriptPlace.allCases)
    func `automations are served until the task is cancelled`(_ place: ScriptPlace) async throws {
        try await withTemporaryFolder { folder in
            let file = "\(folder)/automations.lua"
            try Data(
                """
                local m = require "m"
                perilune.automation{ name = "x", on = { event = "e" }, run = function()
                  m.reach()
                  pcall(perilune.sleep, "1h")
                  m.clean()
                end }
                perilune.spawn(function() perilune.emit("e") end)
                """.utf8
            ).write(to: URL(filePath: file))
            let host = try await place.host()
            let reached = Tally(), cleaned = Tally()
            try await host.register(module: "m") { m in
                m.function("reach") { reached.add() }
                m.function("clean") { cleaned.add() }
            }
            let service = Task { try await host.serveAutomations(file: file) }
            await reached.wait()
            service.cancel()
            try await service.value
            #expect(cleaned.count == 1)
            #expect(try await host.automations().isEmpty)
            await #expect(throws: ScriptFileError.self) { try await host.serveAutomations(file: folder + "/none.lua") }
        }
    }

    @Test(arguments: ScriptPlace.allCases) func `cancelling a host does not end later runs`(_ place: ScriptPlace) async throws {
        var configuration = place.configuration(ScriptHost.Configuration(database: .inMemory()))
        configuration.limits = LuaLimits(isCancellable: true)
        let host = try await ScriptHost(configuration)
        for _ in 0..<10 {
            host.cancel()
            #expect(try await host.run(source: "return 1", as: Int.self) == 1)
            host.cancel()
            try await host.waitUntilIdle()
        }
    }

    @Test func `results of scripts are decoded as an explicit type`() async throws {
        let host = try await ScriptHost(database: .inMemory())
        #expect("\(try await host.run(source: "return ... + 1", arguments: 1, as: Int.self))" == "2")
        try await host.run(source: "function add(a, b) return a + b end")
        #expect("\(try await host.call("add", 1, 2, as: Int.self))" == "3")
    }

    @Test func `errors have localized descriptions`() {
        let error: any Error = LuaError(.runtime, "no such sale", fields: ["kind": "record_not_found"])
        #expect(error.localizedDescription == "no such sale")
        #expect((error as? LuaError)?.kind == "record_not_found")
    }

    @Test(arguments: [
        DatabaseSource.pool("/nowhere/a/shop.sqlite", inEveryContext: true),
        .queue("/nowhere/a/shop.sqlite", inEveryContext: true),
    ])
    func `a database in a missing folder is refused with the name of the folder`(database: DatabaseSource) async throws {
        let error = try #require(await #expect(throws: (any Error).self) { try await ScriptHost(database: database) })
        #expect(
            "\(error)".contains("cannot open the database /nowhere/a/shop.sqlite: the folder /nowhere/a does not exist"),
            "\(error)")
    }

    @Test func `a host with a missing module folder is refused`() async throws {
        var configuration = ScriptHost.Configuration(database: .inMemory())
        configuration.moduleSources = [.folder("/nowhere")]
        let error = await #expect(throws: LuaError.self) { try await ScriptHost(configuration).run(source: "") }
        #expect(error?.code == .usage && error?.message.contains("/nowhere") == true)
    }
}
