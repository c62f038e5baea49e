import Foundation
import PeriluneLua
import PeriluneTestTools
import Synchronization
import Testing

@Suite struct AsyncTests {
    private actor Host {
        private let thread = LuaThread()
        nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

        func run<Result: Sendable>(_ body: nonisolated(nonsending) @Sendable () async throws -> Result) async throws -> Result {
            try await body()
        }

        func currentThread() -> UInt { threadIdentity() }

        /// Returns the thread before a script runs, at each of its calls of `note`, and afterwards.
        func threads(while source: String, in makeState: @Sendable () throws -> LuaState) async throws -> [UInt] {
            let state = try makeState()
            var threads = [threadIdentity()]
            try state.define("note") { _ in
                threads.append(threadIdentity())
                return []
            }
            try state.globals.set(
                "note_later",
                .function(
                    state.makeAsyncFunction(
                        "note_later",
                        Operation { _ in
                            threads.append(threadIdentity())
                            await Task.yield()
                            threads.append(threadIdentity())
                            return []
                        })))
            try await state.runAsync(source)
            return threads + [threadIdentity()]
        }
    }

    // example
    struct Echo: LuaAsyncOperation {
        func callAsFunction(_ arguments: [LuaValue]) async throws -> [LuaValue] {
            await Task.yield()
            return arguments
        }
    }
    // end

    /// Creates a state with `later(...)`, which returns its arguments after a suspension, and `fail_later()`.
    fileprivate static func makeState(limits: LuaLimits = .none) throws -> LuaState {
        let state = try LuaState(limits: limits)
        try state.globals.set("later", .function(state.makeAsyncFunction("later", Echo())))
        try state.globals.set(
            "fail_later",
            .function(
                state.makeAsyncFunction(
                    "fail_later",
                    Operation { _ in
                        await Task.yield()
                        throw HostError(number: 8)
                    })))
        try state.define("call") { try $0.get(1, as: LuaFunction.self).call(Array($0.values.dropFirst())) }
        return state
    }

    private func evaluate(_ source: String, limits: LuaLimits = .none) async throws -> String {
        try await Host().run {
            let state = try Self.makeState(limits: limits)
            let values = try await state.runAsync(source, named: "test.lua")
            let text: String = try state.load("return tostring((...))").callAsFunction(values.first ?? .nil)
            return text
        }
    }

    private func failure(_ source: String, limits: LuaLimits = .none) async throws -> LuaError {
        try await Host().run {
            let state = try Self.makeState(limits: limits)
            do throws(LuaError) {
                try await state.runAsync(source, named: "test.lua")
            } catch {
                return error
            }
            throw HostError(number: -1)
        }
    }

    private static let results: [(String, String)] = [
        ("return later(1)", "1"),
        ("return 1 + later(2) * later(3)", "7"),
        ("return select('#', later(nil, nil, nil))", "3"),
        ("return select('#', later())", "0"),
        ("local n = 0 for i = 1, 100 do n = n + later(i) end return n", "5050"),
        ("return coroutine.wrap(function() return later('deep') end)()", "deep"),
        ("return coroutine.wrap(function() return coroutine.wrap(function() return later('deeper') end)() end)()", "deeper"),
        ("local c = coroutine.create(later) return select(2, coroutine.resume(c, 'resumed'))", "resumed"),
        (
            """
            local c = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(later(i)) end end)
            return c() + c() + c()
            """, "6"
        ),
        ("return select(2, pcall(later, 'protected'))", "protected"),
        ("return select(2, xpcall(later, error, 'handled'))", "handled"),
        ("return coroutine.wrap(function() return select(2, pcall(later, 'both')) end)()", "both"),
        ("local ok, e = pcall(fail_later) return e.kind .. e.message", "hostHostError(number: 8)"),
        ("local r do local c <close> = setmetatable({}, {__close = function() r = later('closed') end}) end return r", "closed"),
        ("local function count(n) if n == 0 then return 0 end return 1 + count(later(n - 1)) end return count(50)", "50"),
    ]

    @Test(arguments: results)
    func `a script can wait for an asynchronous function wherever Lua can suspend`(source: String, result: String) async throws {
        #expect(try await evaluate(source) == result)
        #expect(try await evaluate(source, limits: LuaLimits(time: .seconds(600), instructions: 10_000_000)) == result)
    }

    @Test func `an error of an asynchronous function is thrown unchanged, with a traceback`() async throws {
        for source in ["\nfail_later()", "\ncoroutine.wrap(fail_later)()", "\nlocal ok, e = pcall(fail_later) error(e)"] {
            let error = try await failure(source)
            #expect(error.underlying as? HostError == HostError(number: 8))
            #expect(error.traceback?.contains("test.lua:2") == true, "\(source): \(error.traceback ?? "-")")
        }
        #expect(try await failure("\nfail_later()").line == 2)
    }

    private static let impossible = [
        "table.sort({2, 1}, function() return later(true) end)",
        "string.gsub('x', '.', later)",
        "call(later)",
        "call(function() coroutine.wrap(function() later() end)() end)",
        "table.sort({2, 1}, function() return coroutine.wrap(function() return later(true) end)() end)",
        "local t = setmetatable({}, {__tostring = function() return later('x') end}) return tostring(t)",
        "for k in pairs(setmetatable({}, {__pairs = function() return later(next, {}) end})) do end call(later)",
    ]

    @Test(arguments: impossible)
    func `calling an asynchronous function where Lua cannot suspend is an error of kind yield`(source: String) async throws {
        let error = try await failure("local ok, e = pcall(function() \(source) end) if not ok then error(e) end")
        #expect(error.kind == "yield", "\(error)")
    }

    @Test func `an asynchronous function in a synchronous run is an error of kind yield`() throws {
        let state = try Self.makeState()
        let error = #expect(throws: LuaError.self) { try state.run("later(1)") }
        #expect(error?.kind == "yield")
        #expect(#expect(throws: LuaError.self) { try state.run("coroutine.wrap(later)(1)") }?.kind == "yield")
        #expect(try state.evaluate("return 1") == 1)
    }

    @Test func `a Swift function knows whether the script can wait`() async throws {
        let source = """
            local inside
            table.sort({ 2, 1 }, function(a, b) inside = can_wait() return a < b end)
            return tostring(can_wait()) .. tostring(coroutine.wrap(can_wait)()) .. tostring(inside)
            """
        let found: String = try await Host().run {
            let state = try LuaState()
            try state.define("can_wait") { [.boolean($0.canWait)] }
            let synchronous = try state.evaluate(source, as: String.self)
            let values = try await state.runAsync(source)
            return try synchronous + " " + String.fromLua(values[0])
        }
        #expect(found == "falsefalsefalse truetruefalse")
    }

    @Test func `coroutine.yield outside a coroutine is an error`() async throws {
        let error = try await failure("coroutine.yield(1)")
        #expect(error.message.contains("yield"))
        #expect(try await failure("later(1) coroutine.yield(1)").message.contains("yield"))
    }

    @Test func `an asynchronous function whose results belong to another Lua state raises an error`() async throws {
        let kind: String = try await Host().run {
            let state = try LuaState()
            let other = try LuaState()
            let foreign = LuaValue.table(try other.makeTable())
            nonisolated(unsafe) let value = foreign
            try state.globals.set("get", .function(state.makeAsyncFunction("get", Operation { _ in [value] })))
            let values = try await state.runAsync("local ok, e = pcall(get) return ok, e.kind, select('#', pcall(get))")
            return values.map { "\($0)" }.joined(separator: " ")
        }
        #expect(kind.contains("usage"))
        #expect(kind.contains("integer(2)"))
    }

    // MARK: - Cancelling

    private func cancelling(_ source: String, limits: LuaLimits = .none) async throws -> LuaError? {
        try await Host().run {
            let state = try LuaState(limits: limits)
            let (started, start) = AsyncStream<Void>.makeStream()
            try state.globals.set(
                "wait",
                .function(
                    state.makeAsyncFunction(
                        "wait",
                        Operation { _ in
                            start.yield()
                            try await suspendUntilCancelled()
                            return []
                        })))
            nonisolated(unsafe) let running = state
            let task = Task { () -> LuaError? in
                do {
                    try await running.runAsync(source)
                    return nil
                } catch {
                    return error as? LuaError
                }
            }
            for await _ in started { break }
            task.cancel()
            let error = await task.value
            let result: Int = try await Int.fromLua(state.runAsync("return 5")[0])
            #expect(result == 5)
            return error
        }
    }

    @Test(arguments: [
        "wait()", "pcall(wait)", "while true do pcall(wait) end", "coroutine.wrap(wait)()",
        "coroutine.wrap(function() while true do pcall(wait) end end)()",
        "local c <close> = setmetatable({}, {__close = wait}) wait()",
    ])
    func `cancelling the task ends the script, with and without limits`(source: String) async throws {
        #expect(try await cancelling(source)?.code == .cancelled)
        #expect(try await cancelling(source, limits: LuaLimits(isCancellable: true))?.code == .cancelled)
    }

    @Test func `an already cancelled task runs nothing`() async throws {
        let ran: Bool = try await Host().run {
            let state = try LuaState()
            nonisolated(unsafe) let running = state
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                _ = try? await running.runAsync("ran = true")
            }
            await task.value
            return try state.globals.get("ran").isTruthy
        }
        #expect(!ran)
    }

    @Test func `the time limit includes suspensions`() async throws {
        let error = try await failure("while true do later() end", limits: LuaLimits(time: .milliseconds(50)))
        #expect(error.code == .timeout)
    }

    /// Runs scripts in one state, each in its own task.
    private actor Turns {
        private let thread = LuaThread()
        nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
        private let state: LuaState

        init() throws {
            state = try AsyncTests.makeState()
        }

        func sum(_ number: Int) async throws -> Int {
            try await Int.fromLua(state.runAsync("local n = 0 for _ = 1, 20 do n = n + later(\(number)) end return n")[0])
        }
    }

    @Test func `several scripts take turns in one Lua state`() async throws {
        let turns = try Turns()
        let total = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 1...10 { group.addTask { try await turns.sum(number) } }
            return try await group.reduce(0, +)
        }
        #expect(total == 55 * 20)
    }

    @Test func `a Lua state that is released while a script waits is closed when the script ends`() async throws {
        let result: Int = try await Host().run {
            var state: LuaState? = try Self.makeState()
            let function = try #require(try state?.load("local x = later(20) drop() return x + later(1)"))
            try state?.define("drop") { _ in
                state = nil
                return []
            }
            let result = try await Int.fromLua(function.callAsync([]).first ?? .nil)
            #expect(throws: LuaError.self) { try function.call([]) }
            return result
        }
        #expect(result == 21)
    }

    @Test func `a script stays on its actor's thread across suspensions`() async throws {
        let host = Host()
        let threads = try await host.threads(while: "note() later(1) note() coroutine.wrap(later)() note()") {
            try Self.makeState()
        }
        let own = await host.currentThread()
        #expect(threads == Array(repeating: own, count: 5))
    }

    /// Waits twice and records its threads.
    private struct Notes: LuaAsyncOperation {
        let note: (UInt) -> Void
        unowned let core: LuaCore

        func callAsFunction(_ arguments: [LuaValue]) async throws -> [LuaValue] {
            note(threadIdentity())
            await Task.yield()
            note(threadIdentity())
            try await core.waiting(for: { await Task.yield() })
            note(threadIdentity())
            return []
        }
    }

    @Test func `an operation that captures values stays on the actor's thread`() async throws {
        let host = Host()
        let threads = try await host.run {
            let state = try LuaState()
            var threads: [UInt] = []
            try state.globals.set(
                "note", .function(state.makeAsyncFunction("note", Notes(note: { threads.append($0) }, core: state.core))))
            try await state.runAsync("note() pcall(note)")
            return threads
        }
        let own = await host.currentThread()
        #expect(threads == Array(repeating: own, count: 6))
    }

    @Test func `the body of an asynchronous function runs on the actor's thread`() async throws {
        let host = Host()
        let threads = try await host.threads(while: "note_later()") { try Self.makeState() }
        let own = await host.currentThread()
        #expect(threads == Array(repeating: own, count: 4))
    }

    @Test func `an asynchronous function with Codable arguments leaves the actor's thread at its first suspension`() async throws
    {
        let host = Host()
        let threads = Mutex([UInt]())
        try await host.run {
            let state = try LuaState()
            try state.globals.set(
                "work",
                .function(
                    state.makeCodedAsyncFunction("work") { (suspends: Bool) async throws in
                        threads.withLock { $0.append(threadIdentity()) }
                        guard suspends else { return }
                        await Task.yield()
                        threads.withLock { $0.append(threadIdentity()) }
                    }))
            try await state.runAsync("work(false) work(true)")
        }
        let own = await host.currentThread()
        let seen = threads.withLock { $0 }
        #expect(seen.prefix(2) == [own, own])
        #expect(seen.count == 3 && seen[2] != own)
    }
}

private func threadIdentity() -> UInt {
    UInt(pthread_self())
}
