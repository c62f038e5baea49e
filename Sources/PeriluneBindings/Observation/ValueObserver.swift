internal import GRDB
internal import PeriluneLua
internal import Synchronization

/// The Swift part of a value observation: it reads values and receives signals to read them again.
final class ValueObserver: DatabaseValueObserver {
    /// The thread-safe receiver of changes.
    private final class Listener: Sendable {
        private struct State {
            var body: (@Sendable () -> Void)?
            var chain = 0
            var isPaused = false
            /// Suspended by the script until it resumes.
            var isSuspended = false
            /// Signaled since the last check.
            var isSignalled = false
        }

        private let state = Mutex(State())

        func set(_ body: (@Sendable () -> Void)?) { state.withLock { $0.body = body } }

        func signal(chain: Int = 0) {
            let body = state.withLock { state in
                state.chain = max(state.chain, chain)
                state.isSignalled = true
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

        func takeChain() -> Int {
            state.withLock { state in
                defer { state.chain = 0 }
                return state.chain
            }
        }
    }

    /// GRDB may release it some time after this object.
    private let regionObserver: RegionObserver
    private let listener: Listener
    var onRetire: ((any TransactionObserver) -> Void)?
    /// Called once at the end.
    var onEnd: (() -> Void)?
    /// The timer that ends a pause.
    private var endOfPause: (timers: LoopTimers, id: Int)?
    private(set) var isEnded = false

    /// Starts to observe everything, until something has been read.
    ///
    /// - Parameter chain: The delivery chain of the state.
    init(on db: Database, chain: DeliveryChain) {
        let listener = Listener()
        self.listener = listener
        regionObserver = RegionObserver(db) { listener.signal(chain: chain.currentOnThisThread) }
        db.add(transactionObserver: regionObserver, extent: .observerLifetime)
    }

    deinit {
        end()
    }

    /// Sets the function to call when the values may have changed. It is called immediately for the first value, unless that is
    /// known.
    func listen(knowsFirst: Bool = false, _ body: @escaping @Sendable () -> Void) {
        listener.set(body)
        if !knowsFirst { body() }
    }

    /// Signals that the values may have changed, for changes that the observer cannot detect.
    func signal() {
        listener.signal()
    }

    /// Suppresses signals for some time, then signals once. Used after failed reads.
    func pause(seconds: Double, _ timers: LoopTimers) {
        endOfPause.map { $0.timers.remove($0.id) }
        listener.pause()
        endOfPause = (timers, timers.add(after: seconds) { [listener] in listener.resume() })
    }

    /// Begins or ends a suspension. When it ends, the function is always called.
    func suspend(_ isSuspended: Bool) {
        listener.suspend(isSuspended)
    }

    /// Returns whether the values may have changed since the last call.
    func takeSignal() -> Bool {
        listener.takeSignal()
    }

    /// Returns the number of cascading deliveries that led to the signals since the last call.
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

/// The position of a state's current delivery in a chain: its writes, and the writes of runs that it starts, may cause the next delivery.
///
/// `@unchecked Sendable`: the state is only used on its own thread, while it is running.
final class DeliveryChain: @unchecked Sendable {
    private let identity: LuaStateIdentity
    private unowned let state: LuaState

    init(of state: LuaState) {
        identity = state.identity
        self.state = state
    }

    /// The position of the current delivery, from 1; 0 for none. Only used on the thread of the state.
    var current: Int {
        get { state.currentRun?.chain ?? 0 }
        set { state.currentRun?.chain = newValue }
    }

    /// The current position if this state is running on this thread; otherwise 0.
    var currentOnThisThread: Int { identity.isRunningHere ? current : 0 }
}

extension ScriptLoop {
    /// Returns a closure that waits at a place of a script, for use in any task.
    package func waiting(at number: Int) -> @Sendable () async throws -> Void {
        let parking = parking
        let place = LoopParking.Place(number: number)
        return { try await parking.park(at: place) }
    }
}
