/// The calls that wait for a host, in the order of their arrival. Belongs to an actor.
struct HostQueue {
    /// How a wait ends.
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

    /// Ends the longest wait. Returns whether there was any.
    @discardableResult
    mutating func resumeFirst() -> Bool {
        guard !waiting.isEmpty else { return false }
        waiting.removeFirst().continuation.resume(returning: .turn)
        return true
    }

    mutating func resumeAll() {
        while resumeFirst() {}
    }

    /// Ends a wait, if it has not ended.
    mutating func end(_ number: Int, _ outcome: Outcome) {
        guard let index = waiting.firstIndex(where: { $0.number == number }) else { return }
        waiting.remove(at: index).continuation.resume(returning: outcome)
    }
}
