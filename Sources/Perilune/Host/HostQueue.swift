/// A queue of the calls that wait for a host, in order of arrival. Not thread-safe: an actor owns it.
struct HostQueue {
    /// The reason why a wait ends.
    enum Outcome {
        case turn, cancelled, tooLong
    }

    private var waiting: [(number: Int, continuation: CheckedContinuation<Outcome, Never>)] = []
    private var last = 0

    var count: Int { waiting.count }

    /// Returns the identifier of a new wait.
    mutating func makeNumber() -> Int {
        last += 1
        return last
    }

    mutating func add(_ continuation: CheckedContinuation<Outcome, Never>, number: Int) {
        waiting.append((number, continuation))
    }

    /// Resumes the call that has waited longest. Returns `false` if none waits.
    @discardableResult
    mutating func resumeFirst() -> Bool {
        guard !waiting.isEmpty else { return false }
        waiting.removeFirst().continuation.resume(returning: .turn)
        return true
    }

    mutating func resumeAll() {
        while resumeFirst() {}
    }

    /// Ends a wait with an outcome, unless the wait has already ended.
    mutating func end(_ number: Int, _ outcome: Outcome) {
        guard let index = waiting.firstIndex(where: { $0.number == number }) else { return }
        waiting.remove(at: index).continuation.resume(returning: outcome)
    }
}
