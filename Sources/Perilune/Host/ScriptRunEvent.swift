internal import PeriluneLua

/// The start or the end of a run: a script, a function call by the program, or a callback of a timer, a task or an automation.
///
/// Use the events for metrics, quotas and billing. See ``ScriptHost/runEvents`` and ``ScriptHost/Configuration/runObserver``.
public struct ScriptRunEvent: Sendable {
    /// The cause of a run.
    public enum Kind: String, Sendable, CaseIterable {
        /// The program ran a script.
        case script
        /// The program called a function.
        case call
        /// An attempt to run an automation.
        case automation
        /// A timer fired.
        case timer
        /// A script started a task.
        case task
        /// An observed value changed.
        case observation
        /// The program delivered a signal.
        case signal
    }

    /// The outcome of a run.
    public enum Outcome: String, Sendable, CaseIterable {
        /// The run ended without an error.
        case succeeded
        /// The run ended with an error.
        case failed
        /// The run exceeded a limit.
        case limited
        /// The program cancelled the run.
        case cancelled
        /// The scripts' process ended unexpectedly.
        case crashed
    }

    /// The end of a run.
    public struct End: Sendable {
        /// The outcome of the run.
        public let outcome: Outcome
        /// The error that ended the run; `nil` if the run succeeded.
        public let error: (any Error)?
        /// The time from start to end, including waits.
        public let duration: Duration
        /// The resources used by the run.
        public let figures: RunFigures
    }

    /// The identifier of the run, unique in this process. The start and end events of a run have the same identifier.
    public let id: Int
    /// The cause of the run.
    public let kind: Kind
    /// The name of the script, the function or the automation; `nil` for timers, tasks, observations and signals.
    public let name: String?
    /// The tag in the options of the run, or else in the host's configuration, for example a tenant.
    public let tag: String?
    /// The result of the run; `nil` in its start event.
    public let end: End?
}

extension ScriptRunEvent.Kind {
    /// Creates the kind of run for an event source; `nil` if its calls are not reported as runs.
    ///
    /// - Parameter source: The kind of the event loop's source.
    init?(source: String) {
        switch source {
        case "timer": self = .timer
        case "task": self = .task
        case "observation", "observer": self = .observation
        case "signal": self = .signal
        default: return nil
        }
    }
}

extension ScriptRunEvent.Outcome {
    init(of error: (any Error)?) {
        guard let error else {
            self = .succeeded
            return
        }
        guard let error = error as? LuaError else {
            self = error is CancellationError ? .cancelled : .failed
            return
        }
        switch error.code {
        case .cancelled: self = .cancelled
        case .crashed: self = .crashed
        case .exit: self = error.fields["status"] == .integer(0) ? .succeeded : .failed
        default: self = error.code.isLimit ? .limited : .failed
        }
    }
}
