// swift-format-ignore-file
// The documentation shows these examples word for word, in shorter lines.
import Foundation
import GRDB
import Perilune
import PeriluneTestSupport
import PeriluneTestTools
import Synchronization
import Testing

// example
struct OutOfStock: LuaErrorDescribing {
    let article: String
    var luaKind: String { "out_of_stock" }
    var luaMessage: String { "no \(article) is left" }
    var luaFields: [String: ScriptValue] { ["article": .string(article)] }
}
// end

/// The examples on errors, on the end of a service, and on output.
@Suite struct ServiceExamples {
    private struct DiskError: Error {}

    @Test func `errors of functions`() async throws {
        let lines = Mutex<[String]>([]), logged = Mutex<[String]>([])
        @Sendable func log(_ text: String) { logged.withLock { $0.append(text) } }
        @Sendable func readPrices() throws -> [String: Double] { throw DiskError() }
        var configuration = ScriptHost.Configuration(database: .inMemory())
        configuration.output = .closure { line in lines.withLock { $0.append(line) } }
        let host = try await ScriptHost(configuration)
        // example
        try await host.register(module: "stock") { stock in
            stock.function("take", parameters: ["article"]) {
                (article: String) throws -> Int in
                throw OutOfStock(article: article)
            }
            stock.function("prices") { () throws -> [String: Double] in
                try readPrices()
            }
        }
        // end
        try await host.run(source: """
            local stock = require "stock"
            local _, err = pcall(stock.take, "tea")
            print(err.kind, err.message, err.article)
            print(select(2, pcall(stock.prices)).message)
            """)
        #expect(lines.withLock { $0 } == ["out_of_stock\tno tea is left\ttea", "a function of the program failed; the program does not show the reason to scripts"])
        // example
        do {
            try await host.run(
                source: "require('stock').prices()", named: "report.lua")
        } catch let error as LuaError where error.underlying != nil {
            log(error.logDescription)
        }
        // end
        #expect(logged.withLock { $0.first?.contains("DiskError") } == true)
    }

    @Test func output() async throws {
        let lines = Mutex<[String]>([])
        @Sendable func show(_ line: String) { lines.withLock { $0.append(line) } }
        var configuration = ScriptHost.Configuration(database: .inMemory())
        // example
        configuration.output = .closure { line in show(line) }
        // end
        try await ScriptHost(configuration).run(source: "print(1, 2)")
        #expect(lines.withLock { $0 } == ["1\t2"])
    }

    @Test func cancelling() async throws {
        var configuration = ScriptHost.Configuration(database: .inMemory())
        configuration.limits = LuaLimits(isCancellable: true)
        let host = try await ScriptHost(configuration)
        // example
        let run = Task { try await host.run(source: "while true do end") }
        run.cancel()
        // end
        await #expect(throws: CancellationError.self) { try await run.value }
    }

    @Test func `a service stops when its task is cancelled`() async throws {
        let host = try await ScriptHost(database: .inMemory())
        try await host.run(file: "\(folder)/products.lua")
        // example
        let service = Task {
            try await host.serveAutomations(
                file: "\(folder)/automations.lua", stoppingWithin: .seconds(10))
        }
        // end
        #expect(await eventually { (try? await host.automationRuns(of: "restock", last: 1)) != nil })
        func shutDown() async {}
        func stop() async throws {
            // example
            service.cancel()
            try? await service.value
            await shutDown()
            try await DependencyContainer.close()
            // end
        }
        /// Not called, because it would change how the tests end.
        func handleTermination() {
            // example
            signal(SIGTERM, SIG_IGN)  // the source receives the signal instead
            let termination = DispatchSource.makeSignalSource(signal: SIGTERM)
            termination.setEventHandler { @Sendable in service.cancel() }
            termination.resume()
            // end
        }
        service.cancel()
        try? await service.value
    }

    @Test func `the end of a host`() async throws {
        let host = try await ScriptHost(database: .inMemory())
        try await host.run(file: "\(folder)/products.lua")
        try await host.loadAutomations(file: "\(folder)/automations.lua")
        let call = Task { try await host.run(source: "return 1", as: Int.self) }
        // example
        let result = await call.result   // waits until this call has finished
        try await host.stopAutomations(within: .seconds(10))
        await host.close()               // ends everything else at once
        // end
        #expect(try result.get() == 1)
    }

    @Test func `the end of a job handler`() async throws {
        let host = try await ScriptHost(database: .inMemory()), sent = Tally()
        let handler = try await host.jobs("mail").handle(String.self) { _ in sent.add() }
        try await host.jobs("mail").enqueue("ada")
        await sent.wait()
        // example
        try await handler.stop()           // starts no more jobs
        try await handler.waitUntilIdle()  // waits until the active ones have ended
        await host.close()
        // end
        #expect(sent.count == 1)
    }

    @Test func `two versions of a program`() async throws {
        let database = try DatabaseQueue()
        // example
        let migrations = Migrations.folder("\(folder)/migrations", acceptsUnknown: true)
        let status = try await migrations.status(in: database)
        print("pending:", status.pending)
        // end
        #expect(!status.pending.isEmpty)
    }

    @Test func `an entry point without async`() {
        func main() throws {
            // example
            try DependencyContainer.prepareAndWait {
                $0.defaultDatabase = .pool("shop.sqlite", migrations: "migrations")
            }
            // end
        }
    }
}
