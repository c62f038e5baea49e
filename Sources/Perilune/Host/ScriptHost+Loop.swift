internal import Logging
internal import PeriluneBindings
public import PeriluneLua

/// The receiver of unhandled errors in timers, observations and tasks of scripts.
public enum CallbackErrors: Sendable {
    /// The errors are written to the logger of the dependency container.
    case log
    /// The errors are passed to a closure of the program.
    case handle(@Sendable (LuaError) -> Void)
    /// ``ScriptHost/waitUntilIdle()`` throws the first error.
    case fail
}

/// Callbacks: functions of scripts that timers, observations and signals call later. The host calls them on its thread whenever no script
/// is executing there, even while a script waits for an asynchronous function. Each call has separate limits.
extension ScriptHost {
    /// Waits until the scripts have no active timers, observations or tasks.
    ///
    /// - Throws: The first unhandled error of a callback, if the configuration is ``CallbackErrors/fail``; `LuaError` with code `cancelled`
    ///   after ``cancel()``, or with code `exit` if a script has called `os.exit`; `CancellationError` if the task is cancelled.
    public func waitUntilIdle() async throws {
        try await backend.waitUntilIdle(in: self)
    }

    /// Whether no script is running, and no timer, observation or task is active.
    public var isIdle: Bool {
        get async {
            await backend.isIdle(in: self)
        }
    }

    /// Ends the scripts' timers, observations and tasks, including running ones. No callback is called afterwards.
    public func endCallbacks() async {
        await backend.endCallbacks(in: self)
    }

    /// Forwards a system signal to the scripts that handle it. Callable from any thread.
    ///
    /// - Parameter name: The name without "SIG", for example "TERM". Scripts can handle only the signals in the configuration's `signals`.
    /// - Returns: Whether a script handles the signal.
    package nonisolated func deliver(signal name: String) -> Bool {
        control.deliver(signal: name)
    }

    /// Removes and returns the first unhandled error of a callback, if the configuration is ``CallbackErrors/fail``.
    package func takeCallbackFailure() async -> (any Error)? {
        await backend.takeCallbackFailure(in: self)
    }

    /// Starts the callbacks that are ready to run.
    func turn() {
        loop.startDue { source in
            calls.assumeIsolated { $0.start(source) { [weak self] in self?.assumeIsolated { $0.settleFailures() } } }
        }
        loop.announceChange()
    }

    /// Reports unhandled errors of callbacks to the configured receiver.
    private func settleFailures() {
        if case .fail = callbackErrors {
            // The error also ends scripts that are waiting for an asynchronous function.
            if loop.hasFailed { state.cancellation.cancelRuns() }
            return
        }
        while let failure = loop.takeFailure() {
            let error = failure as? LuaError ?? LuaError(.host, "\(failure)")
            if error.code != .exit { report(callbackFailure: error) }
        }
    }

    func report(callbackFailure error: LuaError) {
        if case .handle(let handle) = callbackErrors { return handle(error) }
        var metadata: Logger.Metadata = ["kind": "\(error.kind?.rawValue ?? error.code.description)"]
        // An observation whose fetch failed retries after this many seconds.
        if case .number(let seconds) = error.fields["retry_in"] { metadata["retry_in"] = "\(seconds)s" }
        if let underlying = error.underlying, !(underlying is BindingError) { metadata["cause"] = "\(underlying)" }
        environment.logger.error("\(error)", metadata: metadata, source: "script")
    }
}
