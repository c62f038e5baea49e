internal import PeriluneLua

/// The begin or the end of a run: of a script, a call, or a function called by a host for a timer, a task or an automation.
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
        /// A timer was due.
        case timer
        /// A script started a task.
        case task
        /// An observed value changed.
        case observation
        /// The program delivered a signal.
        case signal
    }

    /// How a run ended.
    public enum Outcome: String, Sendable, CaseIterable {
        /// Without an error.
        case succeeded
        /// With an error.
        case failed
        /// It passed a limit.
        case limited
        /// The program cancelled it.
        case cancelled
        /// The process of its scripts ended.
        case crashed
    }

    /// The end of a run.
    public struct End: Sendable {
        /// How the run ended.
        public let outcome: Outcome
        /// The error that ended it; `nil` if it succeeded.
        public let error: (any Error)?
        /// The time since its begin, waits included.
        public let duration: Duration
        /// The resources used by the run.
        public let figures: RunFigures
    }

    /// Identifies the run in this process: the events of its begin and end have the same number.
    public let id: Int
    /// The cause of the run.
    public let kind: Kind
    /// The name of the script, the function or the automation; `nil` for timers, tasks, observations and signals.
    public let name: String?
    /// The tag in the options of the run, or else in the host's configuration, for example a tenant.
    public let tag: String?
    /// The end of the run; `nil` in the event of its begin.
    public let end: End?
}

extension ScriptRunEvent.Kind {
    /// - Parameter source: The kind of a source of the loop.
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
