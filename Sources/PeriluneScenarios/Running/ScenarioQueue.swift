internal import Foundation

/// A queue of scenarios for workers. Scenarios with the same lock never run at the same time.
final class ScenarioQueue: @unchecked Sendable {
    /// One run of a scenario.
    struct Job: Sendable {
        /// The number of the job. A scenario may have several jobs.
        let number: Int
        let entry: SelectedScenarios.Entry
        let round: Int
    }

    private let condition = NSCondition()
    // Guarded by `condition`.
    private var waiting: ArraySlice<Job>
    private var locks: Set<String> = []
    private var isClosed = false

    init(_ jobs: [Job]) {
        waiting = jobs[...]
    }

    /// Takes the next job, and waits while the locks of all remaining jobs are in use. Returns `nil` if no job is left.
    func take() -> Job? {
        condition.lock()
        defer { condition.unlock() }
        while true {
            guard !isClosed, !waiting.isEmpty else { return nil }
            if let index = waiting.firstIndex(where: { !isLocked($0) }) {
                let job = waiting[index]
                // Usually this is the first job, whose removal moves no others.
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

    /// Releases the lock of a job that has ended.
    func end(_ job: Job) {
        guard let lock = job.entry.scenario.lock else { return }
        condition.lock()
        locks.remove(lock)
        condition.broadcast()
        condition.unlock()
    }

    /// Prevents further jobs from being taken.
    func close() {
        condition.lock()
        isClosed = true
        condition.broadcast()
        condition.unlock()
    }

    /// The jobs that have not been taken.
    var left: [Job] {
        condition.lock()
        defer { condition.unlock() }
        return Array(waiting)
    }
}
