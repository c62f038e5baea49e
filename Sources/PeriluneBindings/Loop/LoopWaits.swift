internal import Synchronization

/// How many runs of a loop wait for time to pass, or for each other. Used from any thread: the one that resumes a run takes it off at once,
/// before it goes on, so that time does not pass meanwhile.
package final class LoopWaits: Sendable {
    struct Counts {
        var sleeping = 0
        var parked = 0
        var all: Int { sleeping + parked }
    }

    /// A run that waits.
    package final class Wait: Sendable {
        private let waits: LoopWaits
        private let path: any WritableKeyPath<Counts, Int> & Sendable
        private let isOver = Mutex(false)

        fileprivate init(_ path: any WritableKeyPath<Counts, Int> & Sendable, of waits: LoopWaits) {
            (self.waits, self.path) = (waits, path)
            waits.state.withLock { $0[keyPath: path] += 1 }
        }

        /// It waits no more. What comes after the first call counts for nothing.
        package func end() {
            let isFirst = isOver.withLock { isOver in
                defer { isOver = true }
                return !isOver
            }
            if isFirst { waits.state.withLock { $0[keyPath: path] -= 1 } }
        }
    }

    private let state = Mutex(Counts())

    var counts: Counts { state.withLock { $0 } }

    /// One that waits for time to pass.
    func beginSleeping() -> Wait { Wait(\.sleeping, of: self) }

    /// One that waits for another, or for a change.
    func beginParking() -> Wait { Wait(\.parked, of: self) }
}
