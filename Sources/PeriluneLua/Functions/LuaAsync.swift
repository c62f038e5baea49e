internal import CPeriluneShim

/// The body of an asynchronous function that scripts call. The body runs on the state's actor, before and after each `await`.
///
/// The operation is a method and not a closure, because Swift 6.3 ignores `nonisolated(nonsending)` on closures with a capture list
/// and runs them on an arbitrary thread. The compiler rejects a method that leaves the actor, since Lua values are not `Sendable`.
/// For a closure that does not use the state, see `LuaState.makeCodedAsyncFunction(_:_:)`.
///
/// ```swift
/// struct Echo: LuaAsyncOperation {
///     func callAsFunction(_ arguments: [LuaValue]) async throws -> [LuaValue] {
///         await Task.yield()
///         return arguments
///     }
/// }
/// ```
public protocol LuaAsyncOperation {
    /// Performs the operation.
    ///
    /// - Parameter arguments: The arguments of the script's call.
    /// - Returns: The results of the call.
    /// - Throws: The error to raise in the calling script.
    nonisolated(nonsending) func callAsFunction(_ arguments: [LuaValue]) async throws -> [LuaValue]
}

/// The error with which an asynchronous operation ends the run that waits for it. It is the only error that is not raised in the
/// script; the suspended coroutine is discarded instead.
package struct LuaAbandonment: Error {
    package init() {}
}

/// The asynchronous call for which a script waits.
struct PendingOperation {
    let operation: any LuaAsyncOperation
    let arguments: [LuaValue]
}

extension LuaState {
    /// Creates a Lua function from an asynchronous Swift operation.
    ///
    /// A script calls it like any other function. While the operation runs, the script's coroutine is suspended, and no thread is
    /// blocked. The call raises an error of kind `yield` if Lua cannot suspend the caller (inside a database block, a metamethod,
    /// or a function called by `table.sort`), or if the run was started by a synchronous call.
    ///
    /// - Parameters:
    ///   - name: The function's name in errors: `mail.send`.
    ///   - operation: The operation, which lives as long as the Lua function.
    /// - Throws: ``LuaError`` with code `memory` if there is not enough memory.
    public func makeAsyncFunction(_ name: String, _ operation: some LuaAsyncOperation) throws(LuaError) -> LuaFunction {
        try core.prepare()
        let function = SwiftFunction(core: core) { core, count in
            let arguments = LuaArguments(core: core, name: name, count: count)
            core.pendingOperation = PendingOperation(operation: operation, arguments: arguments.values)
            return CInt(PLUA_YIELD)
        }
        plua_push_async_function(core.L, Unmanaged.passRetained(function).toOpaque(), name)
        return LuaFunction(LuaReference(takingTopOf: core))
    }

    /// Compiles and runs source text that may call asynchronous functions.
    ///
    /// - Throws: ``LuaError`` if the text does not compile, raises, or exceeds a limit, or the task is cancelled.
    @discardableResult
    nonisolated(nonsending) public func runAsync(
        _ source: String, named name: String = "script"
    ) async throws(LuaError) -> [LuaValue] {
        try await load(source, named: name).callAsync([])
    }
}

extension LuaFunction {
    /// Calls the function, which may call asynchronous functions, and returns its results.
    ///
    /// Cancelling the task ends the script with code `cancelled`. The function runs on the caller's actor, which must be the actor
    /// that uses the state.
    ///
    /// - Throws: ``LuaError`` if the function raises or exceeds a limit, or the task is cancelled.
    @discardableResult
    nonisolated(nonsending) public func callAsync(_ arguments: [LuaValue]) async throws(LuaError) -> [LuaValue] {
        try await callAsync(arguments, as: LuaRun(of: reference.core))
    }

    /// Calls the function like ``callAsync(_:)``. With `isCountingOn`, SQLite's allocations and writes are added to the totals of
    /// earlier runs.
    nonisolated(nonsending) package func callAsync(_ arguments: [LuaValue], isCountingOn: Bool) async throws(LuaError) {
        _ = try await callAsync(arguments, as: LuaRun(of: reference.core, isCountingOn: isCountingOn))
    }

    /// Calls the function as the given run, whose waits other code can interrupt.
    @discardableResult
    nonisolated(nonsending) package func callAsync(_ arguments: [LuaValue], as run: LuaRun) async throws(LuaError) -> [LuaValue] {
        let driver = try AsyncDriver(function: self, arguments: arguments, run: run)
        return try await Self.run(driver, isolation: #isolation)
    }

    /// Calls an error handler like ``callAsync(_:)``. Its argument is the value that the script raised, which stays in Lua.
    nonisolated(nonsending) package func callAsync(handling error: any Error, isCountingOn: Bool) async throws(LuaError) {
        let driver = try AsyncDriver(function: self, handling: error, run: LuaRun(of: reference.core, isCountingOn: isCountingOn))
        _ = try await Self.run(driver, isolation: #isolation)
    }

    /// Runs a driver on an actor until the function ends or the task is cancelled.
    private static func run(
        _ driver: AsyncDriver, isolation: isolated (any Actor)?
    ) async throws(LuaError) -> [LuaValue] {
        let (core, ownRun) = (driver.core, driver.ownRun)
        // The closures of `withTaskCancellationHandler` cannot throw typed errors.
        let result: Result<[LuaValue], LuaError> = await withTaskCancellationHandler {
            // Capturing the isolation makes the closure and the script run on the actor.
            _ = isolation
            do throws(LuaError) {
                return .success(try await driver.run())
            } catch {
                return .failure(error)
            }
        } onCancel: {
            core.cancel(ownRun)
        }
        return try result.get()
    }
}

/// A driver that runs a function in its own coroutine and resumes it with the outcome of each asynchronous call.
private final class AsyncDriver {
    let core: LuaCore
    /// The run that the driver executes.
    let ownRun: LuaRun
    private let coroutine: LuaReference
    private let thread: OpaquePointer
    private var argumentCount: CInt

    convenience init(function: LuaFunction, arguments: [LuaValue], run: LuaRun) throws(LuaError) {
        try self.init(function, run, argumentCount: arguments.count)
        try Self.push(arguments, on: thread, of: core)
    }

    convenience init(function: LuaFunction, handling error: any Error, run: LuaRun) throws(LuaError) {
        try self.init(function, run, argumentCount: 1)
        core.entering(thread) { core.push(error) }
    }

    /// Creates the coroutine and pushes the function. The caller pushes the arguments.
    private init(_ function: LuaFunction, _ run: LuaRun, argumentCount: Int) throws(LuaError) {
        core = function.reference.core
        ownRun = run
        try core.prepare()
        if LuaRun.ownLimits != nil, !core.limits.isLimited {
            throw LuaError(
                .usage, "a run can have limits of its own only if its state has limits; set `isCancellable`, for example")
        }
        let L = core.L
        guard let thread = lua_newthread(L) else { throw LuaError(.memory, "not enough memory for a coroutine") }
        self.thread = thread
        coroutine = LuaReference(takingTopOf: core)
        self.argumentCount = CInt(argumentCount)
        function.reference.push(on: thread)
    }

    private static func push(_ values: [LuaValue], on thread: OpaquePointer, of core: LuaCore) throws(LuaError) {
        let result: Result<Void, LuaError> = core.entering(thread) {
            do throws(LuaError) {
                return .success(try core.push(contentsOf: values))
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    nonisolated(nonsending) func run() async throws(LuaError) -> [LuaValue] {
        core.begin(ownRun)
        defer { core.end(ownRun) }
        while true {
            switch try step() {
            case .ended(let results): return results
            case .waiting(let operation, let count): try await perform(operation, yieldedCount: count)
            }
        }
    }

    private enum Step {
        case ended([LuaValue])
        case waiting(PendingOperation, yieldedCount: CInt)
    }

    /// Resumes the coroutine, which runs until the function returns or waits.
    private func step() throws(LuaError) -> Step {
        core.beginStep(of: ownRun)
        defer { core.endStep(of: ownRun) }
        try throwIfCancelled()
        let place = placeOfWait()
        let (status, count) = resume()
        if status == LUA_YIELD || status == LUA_OK {
            if core.limits.isLimited { _ = plua_poll(core.context) }
            try throwIfCancelled()
        }
        switch status {
        case LUA_OK: return .ended(core.entering(thread) { core.takeValues(Int(count)) })
        case LUA_YIELD:
            guard let operation = core.pendingOperation else {
                throw LuaError(.runtime, "attempt to yield from outside a coroutine")
            }
            core.pendingOperation = nil
            return .waiting(operation, yieldedCount: count)
        default:
            var error = core.entering(thread) { core.takeError(status: status) }
            // The run exceeded its limit before the script resumed, so the error has no position yet.
            if error.code.isLimit, error.file == nil { (error.file, error.line) = place }
            throw error
        }
    }

    /// Throws if the run is cancelled. In a state without limits, this check is the only one that ends a script which catches the
    /// errors of its asynchronous calls.
    private func throwIfCancelled() throws(LuaError) {
        guard core.cancelReason != .none else { return }
        var error = ownRun.limits.error(for: core.cancelReason, exitStatus: core.exitStatus)
        (error.file, error.line) = placeOfWait()
        throw error
    }

    /// Returns the position at which the script waits.
    private func placeOfWait() -> (file: String?, line: Int?) {
        var activation = lua_Debug()
        guard lua_status(thread) == LUA_YIELD, plua_find_position(thread, &activation), let source = activation.source else {
            return (nil, nil)
        }
        let name = String(cString: source)
        return (name.hasPrefix("@") ? String(name.dropFirst()) : name, Int(activation.currentline))
    }

    private func resume() -> (status: CInt, count: CInt) {
        var count: CInt = 0
        core.pendingOperation = nil
        let hadDriver = core.context.pointee.has_driver
        core.context.pointee.has_driver = true
        let status = plua_resume(thread, core.main, argumentCount, &count)
        core.context.pointee.has_driver = hadDriver
        return (status, count)
    }

    /// Awaits the operation for which the script has yielded, and pushes its outcome on the coroutine for the next `resume()`.
    nonisolated(nonsending) private func perform(_ operation: PendingOperation, yieldedCount: CInt) async throws(LuaError) {
        // The yielded marker stays on the coroutine's stack until the outcome arrives, which prevents other runs from resuming the
        // coroutine.
        let outcome = await Self.outcome(of: operation, for: ownRun, isolation: #isolation)
        if case .failure(is LuaAbandonment) = outcome { throw LuaError(.cancelled, "the run was abandoned where it waited") }
        plua_pop(thread, yieldedCount)
        do {
            let values = try outcome.get()
            try Self.push([.boolean(true)] + values, on: thread, of: core)
            argumentCount = CInt(values.count) + 1
        } catch {
            core.entering(thread) {
                lua_pushboolean(thread, 0)
                core.push(error)
            }
            argumentCount = 2
        }
    }

    private static func outcome(
        of operation: PendingOperation, for run: LuaRun, isolation: isolated (any Actor)?
    ) async -> Result<[LuaValue], any Error> {
        do {
            return .success(
                try await LuaRun.$waiting.withValue(run) {
                    // Capturing the isolation makes the body run on the actor.
                    _ = isolation
                    return try await operation.operation(operation.arguments)
                })
        } catch {
            return .failure(error)
        }
    }
}
