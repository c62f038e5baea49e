internal import Synchronization

/// The queue of a loop's due sources, in the order of their signals. Thread-safe.
package final class LoopQueue: Sendable {
    private struct State {
        /// The sources in the order of their signals, some of which may have ended since.
        var due: [Int] = []
        /// The sources in `due` that have not ended.
        var listed: Set<Int> = []
        /// Whether the host was woken and has not called ``take()`` since.
        var isAwake = false
        var wake: (@Sendable () -> Void)?

        /// Returns the function that wakes the host, or `nil` if the host was already woken or is not attached.
        mutating func takeWakeFunction() -> (@Sendable () -> Void)? {
            guard !isAwake else { return nil }
            isAwake = wake != nil
            return wake
        }
    }

    private let state = Mutex(State())

    package init() {}

    /// Sets the function that wakes the host when a source is due. It is called on an arbitrary thread.
    package func setWake(_ wake: @escaping @Sendable () -> Void) {
        let isDue = state.withLock { state in
            state.wake = wake
            state.isAwake = !state.due.isEmpty
            return state.isAwake
        }
        if isDue { wake() }
    }

    /// Marks a source as due. Several signals before its call have the effect of one.
    package func signal(_ id: Int) {
        let wake = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.listed.insert(id).inserted else { return nil }
            state.due.append(id)
            return state.takeWakeFunction()
        }
        wake?()
    }

    /// Wakes the host without a due source.
    package func wake() {
        let wake = state.withLock { $0.takeWakeFunction() }
        wake?()
    }

    /// Removes and returns the due sources.
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

    /// Ignores the signals of a source that has ended.
    func forget(_ id: Int) {
        state.withLock { _ = $0.listed.remove(id) }
    }

    package var isEmpty: Bool { state.withLock { $0.listed.isEmpty } }
}
