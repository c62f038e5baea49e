// swift-format-ignore-file
// The documentation shows these examples word for word, in shorter lines.
import Perilune
import PeriluneTestSupport
import PeriluneTestTools
import Synchronization
import Testing

@Suite struct AutomationExamples {
    private actor Display {
        private(set) var shown: [[String]] = []

        func show(_ names: [String]) { shown.append(names) }

        func show(_ count: Int) { shown.append(["\(count)"]) }
    }

    private static func makeHost() async throws -> ScriptHost {
        try await ScriptHost(database: .inMemory())
    }

    @Test func values() async throws {
        let host = try await Self.makeHost(), display = Display()
        let watching = Task {
            // example
            try await host.run(file: "\(folder)/products.lua")
            for try await names: [String] in host.values(of: "low_stock") {
                await display.show(names)
            }
            // end
        }
        #expect(await eventually { await !display.shown.isEmpty })
        #expect(await display.shown == [["ale"]])
        watching.cancel()
        _ = await watching.result
    }

    @Test func `values with an argument`() async throws {
        let host = try await Self.makeHost(), display = Display()
        try await host.run(file: "\(folder)/products.lua")
        let watching = Task {
            // example
            try await host.run(
                source: """
                    local most = ...
                    function scarce(db)
                      return db:fetch_value(
                        "SELECT count(*) FROM product WHERE stock < ?", most)
                    end
                    """,
                arguments: 10)
            for try await count: Int in host.values(of: "scarce") {
                await display.show(count)
            }
            // end
        }
        #expect(await eventually { await display.shown == [["2"]] })
        watching.cancel()
        _ = await watching.result
    }

    @Test func `an event from Swift`() async throws {
        let host = try await Self.makeHost()
        try await host.run(source: """
            perilune.automation{ name = "paid", on = { event = "order_paid" }, run = function(run) paid = run.event.id end }
            """)
        // example
        try await host.run(
            source: "perilune.emit('order_paid', ...)", arguments: ["id": 7])
        // end
        let hasRun = try await eventually { try await host.run(source: "return paid == 7", as: Bool.self) }
        #expect(hasRun)
        await host.close()
    }

    @Test func `errors of callbacks`() async throws {
        let lines = Mutex<[String]>([])
        @Sendable func log(_ text: String) { lines.withLock { $0.append(text) } }
        var configuration = ScriptHost.Configuration(database: .inMemory())
        // example
        configuration.callbackErrors = .handle { error in
            log(error.report.text)
        }
        // end
        let host = try await ScriptHost(configuration)
        try await host.run(source: "perilune.spawn(function() error('late') end)")
        #expect(await eventually { lines.withLock { $0.first?.contains("late") == true } })
    }

    @Test func observation() async throws {
        let host = try await Self.makeHost(), display = Display()
        try await host.run(file: "\(folder)/products.lua")
        // example
        let observation = host.observation(of: "low_stock", as: [String].self)
        let showing = Task { for try await names in observation.values { await display.show(names) } }
        let counting = Task { for try await names in observation.values { await display.show(["\(names.count)"]) } }
        try await observation.pause()
        try await observation.resume()
        // end
        #expect(await eventually { await display.shown.count == 2 })
        #expect(Set(await display.shown) == [["ale"], ["1"]])
        showing.cancel()
        counting.cancel()
        _ = await (showing.result, counting.result)
    }

    @Test func automations() async throws {
        let host = try await Self.makeHost()
        try await host.run(file: "\(folder)/products.lua")
        // example
        try await host.loadAutomations(file: "\(folder)/automations.lua")
        let result = try await host.runAutomation("restock")
        let runs = try await host.automationRuns(of: "restock", last: 5)
        try await host.stopAutomations()
        // end
        #expect(result.outcome == .succeeded && result.trigger == "manual" && result.duration != nil)
        #expect(runs.contains { $0.outcome == .succeeded && $0.startedAt > .distantPast })
        #expect(try await host.automations().isEmpty)
        // The observation of the table may still deliver the last change.
        #expect(await eventually { await host.isIdle })
    }
}
