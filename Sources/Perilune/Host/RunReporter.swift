internal import PeriluneLua
internal import Synchronization

/// A reporter that sends an event to its receivers when a run starts or ends, in one host or in all hosts of a pool.
final class RunReporter: Sendable {
    private struct State {
        var streams: [Int: AsyncStream<ScriptRunEvent>.Continuation] = [:]
        var lastStream = 0
        /// Closures that are called once, when the first receiver is added. They return whether their owner still exists.
        var activations: [@Sendable () -> Bool] = []
    }

    private static let lastID = Atomic(0)
    /// The maximum number of events that are buffered for a slow receiver. If the buffer is full, the oldest event is dropped.
    private static let bufferSize = 4096

    private let observer: (@Sendable (ScriptRunEvent) -> Void)?
    private let hasReceivers: Atomic<Bool>
    private let state = Mutex(State())

    /// A closure that receives the figures of each run requested by a host in another process.
    let reportFigures: (@Sendable (RunFigures) -> Void)?

    /// - Parameters:
    ///   - isOn: Whether runs are reported before a receiver is added; by default, only if there is an observer.
    ///   - observer: Receives each event, on the thread of the host.
    init(
        isOn: Bool? = nil, observer: (@Sendable (ScriptRunEvent) -> Void)?, reportFigures: (@Sendable (RunFigures) -> Void)? = nil
    ) {
        (self.observer, self.reportFigures) = (observer, reportFigures)
        hasReceivers = Atomic(isOn ?? (observer != nil))
    }

    /// Whether a receiver has ever been added. Until then, runs need not be measured.
    var isOn: Bool { hasReceivers.load(ordering: .relaxed) }

    func turnOn() {
        hasReceivers.store(true, ordering: .relaxed)
        let activations = state.withLock { state in
            defer { state.activations = [] }
            return state.activations
        }
        for activation in activations { _ = activation() }
    }

    /// Calls a closure when the first receiver is added, or immediately if the reporter is already on.
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

    /// Returns a stream of future events, which ends when the reader stops or the reporter is released.
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

    /// Finishes the event streams.
    func end() {
        let streams = state.withLock { Array($0.streams.values) }
        for stream in streams { stream.finish() }
    }

    deinit { end() }
}

/// The measurement of an active run.
final class RunWatch {
    private let reporter: RunReporter
    private let begin: ScriptRunEvent
    private let start = ContinuousClock.now
    let meter: LuaMeter

    /// Reports the start of a run and begins to measure it.
    init(_ kind: ScriptRunEvent.Kind, _ name: String?, tag: String?, of state: LuaState, _ reporter: RunReporter) {
        self.reporter = reporter
        meter = LuaMeter(of: state)
        begin = ScriptRunEvent(id: RunReporter.makeID(), kind: kind, name: name, tag: RunOptions.current?.tag ?? tag, end: nil)
        reporter.send(begin)
    }

    /// Reports the end of the run.
    ///
    /// - Parameter figures: The figures from another process, reported instead of the meter's; `nil` to report the meter's.
    func end(_ error: (any Error)?, figures: RunFigures? = nil) {
        reporter.send(begin.ended(error, after: .now - start, figures ?? RunFigures(meter)))
    }
}

extension ScriptRunEvent {
    /// Returns the event for the end of the run that started with this event.
    func ended(_ error: (any Error)?, after duration: Duration, _ figures: RunFigures) -> ScriptRunEvent {
        let outcome = Outcome(of: error)
        let end = End(outcome: outcome, error: outcome == .succeeded ? nil : error, duration: duration, figures: figures)
        return ScriptRunEvent(id: id, kind: kind, name: name, tag: tag, end: end)
    }
}
