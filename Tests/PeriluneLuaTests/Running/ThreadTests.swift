import Foundation
import PeriluneLua
import Synchronization
import Testing

@Suite struct ThreadTests {
    private actor Runner {
        private let thread: LuaThread
        nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
        private let state: LuaState

        init(_ thread: LuaThread) throws {
            self.thread = thread
            state = try LuaState()
        }

        func evaluate(_ source: String) throws -> Int {
            try Int.fromLua(state.run(source).first ?? .nil)
        }

        nonisolated func evaluateSoon(_ source: String) {
            thread.enqueue { [self] in assumeIsolated { _ = try? $0.evaluate(source) } }
        }

        func currentThread() -> UInt { UInt(bitPattern: pthread_self().hashValue) }
    }

    @Test func `all calls of an actor run on the same thread`() async throws {
        let runner = try Runner(LuaThread())
        #expect(try await runner.evaluate("x = 1 return x") == 1)
        #expect(try await runner.evaluate("return x + 1") == 2)
        let first = await runner.currentThread()
        for _ in 0..<20 {
            await Task.yield()
            #expect(await runner.currentThread() == first)
        }
        #expect(first != UInt(bitPattern: pthread_self().hashValue))
    }

    @Test func `work that is enqueued from anywhere runs in order, isolated to the actor`() async throws {
        let runner = try Runner(LuaThread())
        for number in 1...100 { runner.evaluateSoon("order = (order or 0) * 3 % 1009 + \(number)") }
        var expected = 0
        for number in 1...100 { expected = expected * 3 % 1009 + number }
        #expect(try await runner.evaluate("return order") == expected)
    }

    @Test(.timeLimit(.minutes(10))) func `a closure for an idle thread runs after all jobs, even jobs that other jobs add`()
        async throws
    {
        let thread = LuaThread()
        let order = Mutex([String]())
        await withCheckedContinuation { continuation in
            thread.enqueue {
                thread.enqueueWhenIdle {
                    order.withLock { $0.append("idle") }
                    continuation.resume()
                }
                thread.enqueue {
                    order.withLock { $0.append("first") }
                    thread.enqueue { order.withLock { $0.append("second") } }
                }
            }
        }
        #expect(order.withLock { $0 } == ["first", "second", "idle"])
    }

    @Test(.timeLimit(.minutes(10))) func `a closure for an idle thread runs even if the thread is never idle`() async throws {
        let thread = LuaThread()
        let isBusy = Atomic(true)
        @Sendable func work() { if isBusy.load(ordering: .relaxed) { thread.enqueue { work() } } }
        thread.enqueue { work() }
        await withCheckedContinuation { continuation in thread.enqueueWhenIdle { continuation.resume() } }
        isBusy.store(false, ordering: .relaxed)
    }

    @Test func `a waiting thread runs new jobs after short and long pauses`() async throws {
        let runner = try Runner(LuaThread())
        for pause in [0, 10, 60, 1000, 0, 0] {
            for _ in 0..<5 {
                try await Task.sleep(for: .microseconds(pause))
                #expect(try await runner.evaluate("return 1") == 1)
            }
        }
    }

    @Test func `a closure runs on the actor's thread, and its error is thrown to the caller`() throws {
        let thread = LuaThread()
        let here = pthread_self()
        #expect(try thread.run { pthread_equal(pthread_self(), here) == 0 })
        #expect(throws: HostError.self) { try thread.run { throw HostError() } }
        #expect(try thread.run { try LuaState().run("return 3") } == [3])
    }

    @Test func `a closure that is submitted from the actor's thread runs immediately`() throws {
        let thread = LuaThread()
        #expect(try thread.run { try thread.run { 4 } } == 4)
    }

    @Test func `a script thread has a large stack`() throws {
        func descend(_ depth: Int) -> Int {
            withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 16) { buffer in
                buffer[0] = 1
                return depth == 0 ? 0 : descend(depth - 1) + Int(buffer[0])
            }
        }
        // 32 MiB of 64 MiB; other threads have 8 MiB or less.
        #expect(try LuaThread().run { descend(2000) } == 2000)
    }

    @Test func `deep nesting of Swift and Lua calls fits the stack or ends with an error`() throws {
        try LuaThread().run {
            let state = try LuaState()
            try state.define("again") { try $0.get(1, as: LuaFunction.self).call([$0[1]]) }
            for source in [
                "local function f() return again(f) end f()",
                "local function f() return select(2, pcall(again, f)) end again(f) error('unwound')",
                "local function f() return coroutine.wrap(function() return again(f) end)() end f()",
                "local function f() return (('x'):gsub('.', function() again(f) end)) end f()",
            ] {
                _ = try failure(of: source, in: state)
            }
        }
    }

    @Test func `many script threads can start and end`() throws {
        for _ in 0..<200 { #expect(try LuaThread().run { 1 } == 1) }
    }
}
