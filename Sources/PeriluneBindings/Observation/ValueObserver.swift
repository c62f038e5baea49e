internal import GRDB
internal import PeriluneLua
internal import Synchronization

/// The Swift part of a value observation, which reads values and signals when they may have changed.
final class ValueObserver: DatabaseValueObserver {
    /// The thread-safe part, which receives signals about changes.
    private final class Listener: Sendable {
        private struct State {
            var body: (@Sendable () -> Void)?
            var chain = 0
            var isPaused = false
            /// Whether the script has suspended the observation.
            var isSuspended = false
            /// Whether the observer was signaled since the last check.
            var isSignalled = false
            /// Whether rows may have changed since the last check.
            var hasRowChanges = false
        }

        private let state = Mutex(State())

        func set(_ body: (@Sendable () -> Void)?) { state.withLock { $0.body = body } }

        func signal(chain: Int = 0, hasRowChanges: Bool = true) {
            let body = state.withLock { state in
                state.chain = max(state.chain, chain)
                state.isSignalled = true
                if hasRowChanges { state.hasRowChanges = true }
                return state.isPaused || state.isSuspended ? nil : state.body
            }
            body?()
        }

        func pause() { state.withLock { $0.isPaused = true } }

        func resume() {
            state.withLock { $0.isPaused = false }
            signal()
        }

        func suspend(_ isSuspended: Bool) {
            let body = state.withLock { state in
                state.isSuspended = isSuspended
                return isSuspended || state.isPaused ? nil : state.body
            }
            body?()
        }

        func takeSignal() -> Bool {
            state.withLock { state in
                defer { state.isSignalled = false }
                return state.isSignalled
            }
        }

        func takeRowChanges() -> Bool {
            state.withLock { state in
                defer { state.hasRowChanges = false }
                return state.hasRowChanges
            }
        }

        func takeChain() -> Int {
            state.withLock { state in
                defer { state.chain = 0 }
                return state.chain
            }
        }
    }

    /// GRDB may retain the region observer longer than this object exists.
    private let regionObserver: RegionObserver
    private let listener: Listener
    var onRetire: ((any TransactionObserver) -> Void)?
    /// Called once when the observer ends.
    var onEnd: (() -> Void)?
    /// The timer that ends a pause.
    private var endOfPause: (timers: LoopTimers, id: Int)?
    private(set) var isEnded = false

    /// Creates an observer. Before its first read, it observes the whole database.
    ///
    /// - Parameter chain: The delivery chain of the observing state.
    init(on db: Database, chain: DeliveryChain) {
        let listener = Listener()
        self.listener = listener
        regionObserver = RegionObserver(db) { hasRowChanges in
            listener.signal(chain: chain.currentOnThisThread, hasRowChanges: hasRowChanges)
        }
        db.add(transactionObserver: regionObserver, extent: .observerLifetime)
    }

    deinit {
        end()
    }

    /// Sets the function that is called when the values may have changed. Calls it once immediately, unless the first value is
    /// already known.
    func listen(knowsFirst: Bool = false, _ body: @escaping @Sendable () -> Void) {
        listener.set(body)
        if !knowsFirst { body() }
    }

    /// Signals that the values may have changed in a way that the observer cannot detect.
    func signal() {
        listener.signal()
    }

    /// Suppresses signals for some time, and then signals once. Used after a failed read.
    func pause(seconds: Double, _ timers: LoopTimers) {
        endOfPause.map { $0.timers.remove($0.id) }
        listener.pause()
        endOfPause = (timers, timers.add(after: seconds) { [listener] in listener.resume() })
    }

    /// Begins or ends a suspension of signals. The end of a suspension always signals.
    func suspend(_ isSuspended: Bool) {
        listener.suspend(isSuspended)
    }

    /// Returns whether the values may have changed since the last call.
    func takeSignal() -> Bool {
        listener.takeSignal()
    }

    /// Returns whether rows may have changed since the last call; false if only the schema has changed.
    func takeRowChanges() -> Bool {
        listener.takeRowChanges()
    }

    /// Returns how many deliveries, each caused by the previous one, led to the signals since the last call.
    func takeChain() -> Int {
        listener.takeChain()
    }

    func end() {
        guard !isEnded else { return }
        isEnded = true
        regionObserver.end()
        listener.set(nil)
        endOfPause.map { $0.timers.remove($0.id) }
        endOfPause = nil
        onRetire?(regionObserver)
        onEnd?()
        onEnd = nil
    }

    /// Calls a function and observes the regions that it reads.
    func read(_ function: LuaFunction, in state: LuaState) throws -> [LuaValue] {
        let commits = regionObserver.beginReading()
        let (result, region) = RegionRecorder.recording(in: state) { try function.call([]) }
        switch result {
        case .success(let values):
            if regionObserver.didRead(region, since: commits) { signal() }
            return values
        case .failure(let error):
            regionObserver.didRead(partly: region)
            throw error
        }
    }
}

/// The position of a state's current delivery in a chain of deliveries. Writes of a delivery, or of runs that it starts, may cause
/// the next delivery.
///
/// `@unchecked Sendable`: the state is used only on its thread, while it is running.
final class DeliveryChain: @unchecked Sendable {
    private let identity: LuaStateIdentity
    private unowned let state: LuaState

    init(of state: LuaState) {
        identity = state.identity
        self.state = state
    }

    /// The position of the current delivery, from 1; 0 outside deliveries. Used only on the state's thread.
    var current: Int {
        get { state.currentRun?.chain ?? 0 }
        set { state.currentRun?.chain = newValue }
    }

    /// The current position if the state is running on the calling thread; otherwise 0.
    var currentOnThisThread: Int { identity.isRunningHere ? current : 0 }
}

extension ScriptLoop {
    /// Returns a closure that waits at a place. It can be called in any task.
    package func waiting(at number: Int) -> @Sendable () async throws -> Void {
        let parking = parking
        let place = LoopParking.Place(number: number)
        return { try await parking.park(at: place) }
    }
}
