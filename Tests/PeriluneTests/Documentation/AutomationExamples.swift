// swift-format-ignore-file
// The documentation shows these examples word for word, in shorter lines.
import Perilune
import PeriluneTestSupport
import PeriluneTestTools
import Testing

@Suite struct AutomationExamples {
    private actor Display {
        private(set) var shown: [[String]] = []

        func show(_ names: [String]) { shown.append(names) }
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
        #expect(await host.isIdle)
    }
}
