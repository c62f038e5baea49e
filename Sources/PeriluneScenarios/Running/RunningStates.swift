internal import PeriluneLua
internal import Synchronization

/// The Lua states of the scenario and its scripts in one attempt. Any thread can cancel all of them at once.
final class RunningStates: Sendable {
    private let list = Mutex<(cancellations: [LuaState.Cancellation], isCancelled: Bool)>(([], false))

    func add(_ state: LuaState) {
        let cancellation = state.cancellation
        let isCancelled = list.withLock { list in
            list.cancellations.append(cancellation)
            return list.isCancelled
        }
        if isCancelled { cancellation.cancel() }
    }

    func cancel() {
        let cancellations = list.withLock { list in
            list.isCancelled = true
            return list.cancellations
        }
        for cancellation in cancellations.reversed() { cancellation.cancel() }
    }
}
