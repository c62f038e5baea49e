import Foundation
import PeriluneLua
import PeriluneTestTools
import Testing

@Suite struct CancellationTests {
    /// Cancels from another thread as soon as a script reports that it is running.
    private func cancelWhenRunning(_ state: LuaState) throws {
        let cancellation = state.cancellation
        try state.define("running") { _ in
            Thread.detachNewThread { cancellation.cancel() }
            return []
        }
    }

    private static let spinning = [
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "coroutine.wrap(function() while true do end end)()",
        "while true do coroutine.wrap(function() pcall(function() while true do end end) end)() end",
        "string.gsub('x', '.', function() while true do end end)",
        "local c <close> = setmetatable({}, {__close = function() while true do end end}) while true do end",
    ]

    @Test(arguments: spinning)
    func `another thread can end a run of a Lua state with a hook`(source: String) throws {
        let state = try LuaState(limits: LuaLimits(isCancellable: true))
        try cancelWhenRunning(state)
        let error = try failure(of: "running() " + source, in: state)
        #expect(error.code == .cancelled)
        #expect(try state.evaluate("return 1") == 1)
    }

    @Test(
        .unless(.thread, "it holds signals back until the thread blocks, which a script that spins does not"), arguments: spinning
    )
    func `another thread can end a run without a hook through a signal`(source: String) throws {
        let thread = LuaThread()
        try thread.run {
            let state = try LuaState()
            state.listen(for: SIGUSR2)
            try cancelWhenRunning(state)
            let error = try failure(of: "running() " + source, in: state)
            #expect(error.code == .cancelled)
            #expect(try state.evaluate("local n = 0 for i = 1, 1000000 do n = n + 1 end return n") == 1_000_000)
            state.close()
            // The signal handler finds no state.
            raise(SIGUSR2)
        }
    }

    @Test func `a signal after another thread has closed the Lua state is safe`() throws {
        let thread = LuaThread()
        nonisolated(unsafe) var state: LuaState?
        for _ in 0..<20 {
            try thread.run {
                state = try LuaState()
                state?.listen(for: SIGUSR2)
            }
            state?.cancellation.cancel()
            state?.close()
            state = nil
            _ = try thread.run { raise(SIGUSR2) }
        }
    }

    @Test func `a cancellation before the run ends it when it starts`() throws {
        let state = try LuaState(limits: LuaLimits(isCancellable: true))
        state.cancellation.cancel()
        #expect(try failure(of: "while true do end", in: state).code == .cancelled)
        #expect(try state.evaluate("return 1") == 1)
    }

    @Test func `a Swift function can cancel its own run`() throws {
        let state = try LuaState()
        try state.define("cancel") {
            try $0.state.cancellation.cancel(); return []
        }
        #expect(try failure(of: "cancel() while true do end", in: state).code == .cancelled)
        #expect(try failure(of: "pcall(cancel) while true do end", in: state).code == .cancelled)
        #expect(try state.evaluate("return 1") == 1)
    }

    @Test func `cancelling a run at any time is safe`() throws {
        let state = try LuaState(limits: LuaLimits(isCancellable: true))
        let cancellation = state.cancellation
        let thread = Thread { for _ in 0..<20_000 { cancellation.cancel() } }
        thread.start()
        while !thread.isFinished {
            _ = try? state.run("local t = {} for i = 1, 100 do t[i] = coroutine.wrap(function() return tostring(i) end)() end")
        }
        // The last cancellation may affect the next run.
        _ = try? state.run("return 1")
        try expectSurvives(state) {}
    }
}
