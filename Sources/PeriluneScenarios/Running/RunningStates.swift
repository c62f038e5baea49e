internal import PeriluneLua
internal import Synchronization

/// The Lua states of an attempt that run now, each called by the one before it: ended together, from any thread.
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

    func removeLast() {
        list.withLock { _ = $0.cancellations.removeLast() }
    }

    func cancel() {
        let cancellations = list.withLock { list in
            list.isCancelled = true
            return list.cancellations
        }
        for cancellation in cancellations.reversed() { cancellation.cancel() }
    }
}
