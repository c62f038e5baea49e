internal import Foundation

/// The scenarios that are still to be run. Workers take them; of those with one lock only one is out at a time.
final class ScenarioQueue: @unchecked Sendable {
    /// One to be run.
    struct Job: Sendable {
        /// Identifies the job: a scenario may be run several times.
        let number: Int
        let entry: SelectedScenarios.Entry
        let round: Int
    }

    private let condition = NSCondition()
    // Guarded by the condition.
    private var waiting: ArraySlice<Job>
    private var locks: Set<String> = []
    private var isClosed = false

    init(_ jobs: [Job]) {
        waiting = jobs[...]
    }

    /// The next job; waits while all remaining ones are locked. `nil` at the end.
    func take() -> Job? {
        condition.lock()
        defer { condition.unlock() }
        while true {
            guard !isClosed, !waiting.isEmpty else { return nil }
            if let index = waiting.firstIndex(where: { !isLocked($0) }) {
                let job = waiting[index]
                // The first, as a rule: the others are not moved for it.
                if index == waiting.startIndex { waiting.removeFirst() } else { waiting.remove(at: index) }
                if let lock = job.entry.scenario.lock { locks.insert(lock) }
                return job
            }
            condition.wait()
        }
    }

    private func isLocked(_ job: Job) -> Bool {
        job.entry.scenario.lock.map { locks.contains($0) } ?? false
    }

    /// Ends one that was taken.
    func end(_ job: Job) {
        guard let lock = job.entry.scenario.lock else { return }
        condition.lock()
        locks.remove(lock)
        condition.broadcast()
        condition.unlock()
    }

    /// Starts no more jobs.
    func close() {
        condition.lock()
        isClosed = true
        condition.broadcast()
        condition.unlock()
    }

    /// The jobs that were not taken.
    var left: [Job] {
        condition.lock()
        defer { condition.unlock() }
        return Array(waiting)
    }
}
