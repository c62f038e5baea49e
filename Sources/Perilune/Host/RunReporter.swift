internal import PeriluneLua
internal import Synchronization

/// A reporter that passes the begin and end of runs to the receivers of a host, or of all hosts of a pool.
final class RunReporter: Sendable {
    private struct State {
        var streams: [Int: AsyncStream<ScriptRunEvent>.Continuation] = [:]
        var lastStream = 0
        /// Called once, when the first receiver comes. They return whether their owner still exists.
        var activations: [@Sendable () -> Bool] = []
    }

    private static let lastID = Atomic(0)
    /// The maximum number of events that wait for a slow receiver; beyond it, the oldest are lost.
    private static let bufferSize = 4096

    private let observer: (@Sendable (ScriptRunEvent) -> Void)?
    private let hasReceivers: Atomic<Bool>
    private let state = Mutex(State())

    /// Receives the figures of the run that the current task serves for a host in another process.
    let reportFigures: (@Sendable (RunFigures) -> Void)?

    /// - Parameters:
    ///   - isOn: Whether runs are reported from the beginning; by default only if there is an observer.
    ///   - observer: Receives each event, on the thread of the host.
    init(
        isOn: Bool? = nil, observer: (@Sendable (ScriptRunEvent) -> Void)?, reportFigures: (@Sendable (RunFigures) -> Void)? = nil
    ) {
        (self.observer, self.reportFigures) = (observer, reportFigures)
        hasReceivers = Atomic(isOn ?? (observer != nil))
    }

    /// Whether a receiver exists or has existed; before, runs need not be measured.
    var isOn: Bool { hasReceivers.load(ordering: .relaxed) }

    func turnOn() {
        hasReceivers.store(true, ordering: .relaxed)
        let activations = state.withLock { state in
            defer { state.activations = [] }
            return state.activations
        }
        for activation in activations { _ = activation() }
    }

    /// Calls a closure when the first receiver is added; immediately if one exists.
    func whenOn(_ activation: @escaping @Sendable () -> Bool, isAlive: @escaping @Sendable () -> Bool) {
        let isLate = state.withLock { state in
            if isOn { return true }
            state.activations.append { isAlive() && activation() }
            return false
        }
        if isLate { _ = activation() }
    }

    static func makeID() -> Int { lastID.add(1, ordering: .relaxed).newValue }

    func send(_ event: ScriptRunEvent) {
        observer?(event)
        let streams = state.withLock { Array($0.streams.values) }
        for stream in streams { stream.yield(event) }
    }

    /// Returns the events from now on, until the reader stops or the reporter is released.
    func events() -> AsyncStream<ScriptRunEvent> {
        let (stream, continuation) = AsyncStream<ScriptRunEvent>.makeStream(bufferingPolicy: .bufferingNewest(Self.bufferSize))
        let number = state.withLock { state in
            state.lastStream += 1
            state.streams[state.lastStream] = continuation
            return state.lastStream
        }
        continuation.onTermination = { [weak self] _ in self?.state.withLock { _ = $0.streams.removeValue(forKey: number) } }
        turnOn()
        return stream
    }

    /// Ends the sequences of events.
    func end() {
        let streams = state.withLock { Array($0.streams.values) }
        for stream in streams { stream.finish() }
    }

    deinit { end() }
}

/// A run that is measured.
final class RunWatch {
    private let reporter: RunReporter
    private let begin: ScriptRunEvent
    private let start = ContinuousClock.now
    let meter: LuaMeter

    /// Reports the begin of a run.
    init(_ kind: ScriptRunEvent.Kind, _ name: String?, tag: String?, of state: LuaState, _ reporter: RunReporter) {
        self.reporter = reporter
        meter = LuaMeter(of: state)
        begin = ScriptRunEvent(id: RunReporter.makeID(), kind: kind, name: name, tag: RunOptions.current?.tag ?? tag, end: nil)
        reporter.send(begin)
    }

    /// Reports its end.
    ///
    /// - Parameter figures: Replaces the counts of the meter by counts from another process.
    func end(_ error: (any Error)?, figures: RunFigures? = nil) {
        reporter.send(begin.ended(error, after: .now - start, figures ?? RunFigures(meter)))
    }
}

extension ScriptRunEvent {
    /// The end of the run.
    func ended(_ error: (any Error)?, after duration: Duration, _ figures: RunFigures) -> ScriptRunEvent {
        let outcome = Outcome(of: error)
        let end = End(outcome: outcome, error: outcome == .succeeded ? nil : error, duration: duration, figures: figures)
        return ScriptRunEvent(id: id, kind: kind, name: name, tag: tag, end: end)
    }
}
