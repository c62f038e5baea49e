internal import Synchronization

/// The number of runs in a loop that wait for a time, another run or a change. Thread-safe. The code that resumes a run first
/// decrements the number, which prevents the clock from advancing before the run continues.
package final class LoopWaits: Sendable {
    struct Counts {
        var sleeping = 0
        var parked = 0
        var all: Int { sleeping + parked }
    }

    /// The wait of one run.
    package final class Wait: Sendable {
        private let waits: LoopWaits
        private let path: any WritableKeyPath<Counts, Int> & Sendable
        private let isOver = Mutex(false)

        fileprivate init(_ path: any WritableKeyPath<Counts, Int> & Sendable, of waits: LoopWaits) {
            (self.waits, self.path) = (waits, path)
            waits.state.withLock { $0[keyPath: path] += 1 }
        }

        /// Ends the wait. Only the first call has an effect.
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

    /// Registers a run that waits for a time.
    func beginSleeping() -> Wait { Wait(\.sleeping, of: self) }

    /// Registers a run that waits for another run or a change.
    func beginParking() -> Wait { Wait(\.parked, of: self) }
}
