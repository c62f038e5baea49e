import GRDB
import PeriluneDependencies
import Testing

@testable import Perilune
@testable import PeriluneLua

/// Reflection by test frameworks, which read errors and operands on any thread.
struct ReflectionTests {
    @Test func `reflecting errors and handles reaches no mutable object`() async throws {
        let queue = try DatabaseQueue()
        let host = try await ScriptHost(database: .existing(queue))
        try await host.run(source: "function fail() error(setmetatable({ kind = 'odd', f = print }, {})) end")
        let error = await #expect(throws: LuaError.self) { try await host.call("fail") }
        let fault = try #require(error)
        #expect(objects(in: fault).isEmpty)
    }

    @Test func `reflecting Lua values reaches no mutable object`() throws {
        let state = try LuaState()
        let values = try state.run("return {}, print, coroutine.create(print)")
        #expect(objects(in: values).isEmpty)
        #expect(objects(in: state).isEmpty)
        let error = #expect(throws: LuaError.self) { try state.run("error(print)") }
        let raised = try #require(error)
        #expect(objects(in: raised).isEmpty)
    }

    @Test func `mirrors of hosts, pools, previews and containers have no children`() async throws {
        let queue = try DatabaseQueue()
        let values: [any AnyObject] = [
            try await ScriptHost(database: .existing(queue)), try await ScriptPool(size: 1, database: .existing(queue)),
            try await ScriptPreview(of: .inMemory()), DependencyContainer.current, LuaThread(),
        ]
        for value in values { #expect(Mirror(reflecting: value).children.isEmpty, "\(type(of: value))") }
    }

    /// The objects that are reflected, with their children, when a value is shown.
    private func objects(in value: Any) -> [String] {
        let mirror = Mirror(reflecting: value)
        let isObject = mirror.displayStyle == .class && !mirror.children.isEmpty
        return (isObject ? ["\(mirror.subjectType)"] : []) + mirror.children.flatMap { objects(in: $0.value) }
    }
}
