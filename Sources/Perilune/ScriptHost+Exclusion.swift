internal import PeriluneLua

/// One run after the other: a host that many tasks use at once keeps them waiting, in the order in which they have come.
extension ScriptHost {
    /// Who runs and who waits.
    struct Turns {
        fileprivate var isTaken = false
        fileprivate var waiting: [(number: Int, continuation: CheckedContinuation<Bool, Never>)] = []
        fileprivate var count = 0
    }

    /// The hosts whose scripts wait for the current task: in a function that such a script calls, they may be run at once.
    @TaskLocal private static var waitingHosts: Set<ObjectIdentifier> = []

    /// Runs an operation when nobody else uses the state.
    ///
    /// - Throws: `LuaError` with code `cancelled` if the task is cancelled before its turn.
    func exclusively<Result>(_ operation: () async throws -> Result) async throws -> Result {
        let id = ObjectIdentifier(self)
        if Self.waitingHosts.contains(id) { return try await operation() }
        try await takeTurn()
        defer { endTurn() }
        return try await Self.$waitingHosts.withValue(Self.waitingHosts.union([id])) { try await operation() }
    }

    private func takeTurn() async throws {
        guard !Task.isCancelled else { throw Self.cancelled }
        guard turns.isTaken else {
            turns.isTaken = true
            return
        }
        turns.count += 1
        let number = turns.count
        let hasTurn = await withTaskCancellationHandler {
            await withCheckedContinuation { turns.waiting.append((number, $0)) }
        } onCancel: {
            Task { await self.giveUp(number) }
        }
        guard hasTurn else { throw Self.cancelled }
    }

    private func giveUp(_ number: Int) {
        guard let index = turns.waiting.firstIndex(where: { $0.number == number }) else { return }
        turns.waiting.remove(at: index).continuation.resume(returning: false)
    }

    private func endTurn() {
        // It may have come too late for this run; it is not for the next one.
        if Task.isCancelled { state.forgetCancellation() }
        guard turns.waiting.isEmpty else { return turns.waiting.removeFirst().continuation.resume(returning: true) }
        turns.isTaken = false
    }

    private static var cancelled: LuaError {
        LuaError(.cancelled, "the task was cancelled before the script began")
    }
}
