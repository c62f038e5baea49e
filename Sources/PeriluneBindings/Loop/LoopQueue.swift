internal import Synchronization

/// The sources of a loop that have something to call, in the order in which they said so. Used from any thread.
package final class LoopQueue: Sendable {
    private struct State {
        var due: [Int] = []
        var listed: Set<Int> = []
        /// Whether the host was woken because something is due, and has not come yet.
        var isAwake = false
        var wake: (@Sendable () -> Void)?

        /// The function that wakes the host; `nil` if it was woken already, or no host is attached.
        mutating func takeWakeFunction() -> (@Sendable () -> Void)? {
            guard !isAwake else { return nil }
            isAwake = wake != nil
            return wake
        }
    }

    private let state = Mutex(State())

    package init() {}

    /// Sets the function that is called, on any thread, when something is due.
    package func setWake(_ wake: @escaping @Sendable () -> Void) {
        let isDue = state.withLock { state in
            state.wake = wake
            state.isAwake = !state.due.isEmpty
            return state.isAwake
        }
        if isDue { wake() }
    }

    /// Has a source called soon: once, however often it is said before that.
    package func signal(_ id: Int) {
        let wake = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.listed.insert(id).inserted else { return nil }
            state.due.append(id)
            return state.takeWakeFunction()
        }
        wake?()
    }

    /// Has the loop look whether anything has changed.
    package func wake() {
        let wake = state.withLock { $0.takeWakeFunction() }
        wake?()
    }

    /// Takes what is due.
    package func take() -> [Int] {
        state.withLock { state in
            defer {
                state.due = []
                state.listed = []
            }
            state.isAwake = false
            return state.due
        }
    }

    package var isEmpty: Bool { state.withLock { $0.due.isEmpty } }
}
