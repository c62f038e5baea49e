internal import GRDB
internal import PeriluneLua
internal import Synchronization

/// What one observation of values has of Swift: it reads, and hears when it should read again.
final class ValueObserver {
    /// What hears of changes, on any thread.
    private final class Listener: Sendable {
        private struct State {
            var body: (@Sendable () -> Void)?
            var chain = 0
            var isPaused = false
            /// By the script, until it goes on.
            var isSuspended = false
            /// Since the last look.
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

    /// GRDB lets go of it some time after this has.
    private let regionObserver: RegionObserver
    private let listener: Listener
    /// Is given what is to be removed from the connection, which GRDB would do after the next transaction.
    var onRetire: ((any TransactionObserver) -> Void)?
    /// Called once, when it ends.
    var onEnd: (() -> Void)?
    /// Ends the pause.
    private var endOfPause: (timers: LoopTimers, id: Int)?
    private(set) var isEnded = false

    /// Begins to observe; everything, as long as nothing has been read.
    ///
    /// - Parameter chain: That of the state.
    init(on db: Database, chain: DeliveryChain) {
        let listener = Listener()
        self.listener = listener
        regionObserver = RegionObserver(db) { listener.signal(chain: chain.currentOnThisThread) }
        db.add(transactionObserver: regionObserver, extent: .observerLifetime)
    }

    deinit {
        end()
    }

    /// Sets the function that is called when what was read may have changed; calls it at once, for the first value, unless that is
    /// known already.
    func listen(knowsFirst: Bool = false, _ body: @escaping @Sendable () -> Void) {
        listener.set(body)
        if !knowsFirst { body() }
    }

    /// Says that what was read may have changed: for what the observer cannot see.
    func signal() {
        listener.signal()
    }

    /// Signals nothing for some time, and then that what was read may have changed: for reads that have failed.
    func pause(seconds: Double, _ timers: LoopTimers) {
        endOfPause.map { $0.timers.remove($0.id) }
        listener.pause()
        endOfPause = (timers, timers.add(after: seconds) { [listener] in listener.resume() })
    }

    /// Begins or ends a time in which nothing is signalled. At its end the body is called, whatever has come meanwhile.
    func suspend(_ isSuspended: Bool) {
        listener.suspend(isSuspended)
    }

    /// Whether what was read may have changed since the last call.
    func takeSignal() -> Bool {
        listener.takeSignal()
    }

    /// The number of cascading deliveries that have led to the signals since the last call.
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

    /// Calls a function, and observes from now on what it reads.
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

/// Which delivery of a state goes on: what it writes, and what the runs write that it starts, may bring about the next one.
///
/// `@unchecked Sendable`: the state is used on its own thread only, while it runs.
final class DeliveryChain: @unchecked Sendable {
    private let identity: LuaStateIdentity
    private unowned let state: LuaState

    init(of state: LuaState) {
        identity = state.identity
        self.state = state
    }

    /// The place of the delivery that goes on in its chain, from 1; 0: none. Only touched on the thread of the state.
    var current: Int {
        get { state.currentRun?.chain ?? 0 }
        set { state.currentRun?.chain = newValue }
    }

    /// The same, if it is this state that runs on this thread; else 0.
    var currentOnThisThread: Int { identity.isRunningHere ? current : 0 }
}

extension ScriptLoop {
    /// Waits at a place of a script's, from any task.
    package func waiting(at number: Int) -> @Sendable () async throws -> Void {
        let parking = parking
        let place = LoopParking.Place(number: number)
        return { try await parking.park(at: place) }
    }
}
