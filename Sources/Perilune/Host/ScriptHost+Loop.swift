internal import Logging
internal import PeriluneBindings
public import PeriluneLua

/// The receiver of unhandled errors in timers, observations and tasks of scripts.
public enum CallbackErrors: Sendable {
    /// The logger of the dependency container.
    case log
    /// A closure of the program.
    case handle(@Sendable (LuaError) -> Void)
    /// ``ScriptHost/waitUntilIdle()`` throws the errors, so it ends with the first one.
    case fail
}

/// Scripts may leave functions that are called later: by timers, observations and signals. They are called on the host's thread whenever no
/// script runs there, even while one waits for an asynchronous function. Each call has its own limits.
extension ScriptHost {
    /// Waits until the scripts are idle: without timers, observations and tasks.
    ///
    /// - Throws: The first unhandled error of such a function, if the configuration is ``CallbackErrors/fail``; `LuaError` with code
    ///   `cancelled` after ``cancel()``, or with code `exit` if a script has ended the program; `CancellationError` if the task is
    ///   cancelled.
    public func waitUntilIdle() async throws {
        try await backend.waitUntilIdle(in: self)
    }

    /// Whether no script is running, or waiting for a timer, an observation or a task.
    public var isIdle: Bool {
        get async {
            await backend.isIdle(in: self)
        }
    }

    /// Ends the scripts' timers, observations and tasks, including active ones. None of them is called again.
    public func endCallbacks() async {
        await backend.endCallbacks(in: self)
    }

    /// Forwards a system signal to the scripts that handle it. Callable from any thread.
    ///
    /// - Parameter name: Its name without "SIG": "TERM". The configuration says which scripts may ask for.
    /// - Returns: Whether a script does.
    package nonisolated func deliver(signal name: String) -> Bool {
        control.deliver(signal: name)
    }

    /// Removes and returns the first unhandled error of such a function, if the configuration is ``CallbackErrors/fail``.
    package func takeCallbackFailure() async -> (any Error)? {
        await backend.takeCallbackFailure(in: self)
    }

    /// Starts due callbacks.
    func turn() {
        loop.startDue { source in
            calls.assumeIsolated { $0.start(source) { [weak self] in self?.assumeIsolated { $0.settleFailures() } } }
        }
        loop.announceChange()
    }

    /// Passes errors to their receiver.
    private func settleFailures() {
        if case .fail = callbackErrors {
            // Scripts that are waiting have ended as well.
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
        // The error of an observation that could not be fetched.
        if case .number(let seconds) = error.fields["retry_in"] { metadata["retry_in"] = "\(seconds)s" }
        if let underlying = error.underlying, !(underlying is BindingError) { metadata["cause"] = "\(underlying)" }
        environment.logger.error("\(error)", metadata: metadata, source: "script")
    }
}
