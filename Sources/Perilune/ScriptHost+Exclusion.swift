internal import PeriluneLua
internal import Synchronization

/// One run after the other: a host that many tasks use at once keeps them waiting, in the order in which they have come.
extension ScriptHost {
    /// The runs whose scripts wait for the current task, by their hosts: in a function that such a script calls, the host may be run
    /// at once.
    @TaskLocal private static var waitingRuns: [ObjectIdentifier: OngoingUse] = [:]

    /// Runs an operation when nobody else runs a script in this host.
    ///
    /// - Throws: `LuaError` with code `cancelled` if the task is cancelled before its turn.
    nonisolated func exclusively<Result: Sendable>(
        _ operation: @Sendable (isolated ScriptHost) async throws -> Result
    ) async throws -> Result {
        let id = ObjectIdentifier(self)
        if Self.waitingRuns[id]?.isGoingOn == true { return try await operation(self) }
        guard await turns.take() else { throw LuaError(.cancelled, "the task was cancelled before the script began") }
        let run = OngoingUse()
        defer {
            run.end()
            turns.end()
        }
        return try await Self.$waitingRuns.withValue(Self.waitingRuns.merging([id: run]) { $1 }) { try await perform(operation) }
    }

    private func perform<Result: Sendable>(
        _ operation: @Sendable (isolated ScriptHost) async throws -> Result
    ) async throws -> Result {
        loop.beginRun()
        defer { loop.endRun() }
        do {
            return try await operation(self)
        } catch let error as LuaError where error.code == .cancelled {
            idling.notice()
            throw error
        } catch let error as LuaError {
            throw explained(error)
        }
    }
}

/// Whether something goes on that tasks know of which it has begun: they may be there longer.
final class OngoingUse: Sendable {
    private let isOver = Atomic(false)

    var isGoingOn: Bool { !isOver.load(ordering: .acquiring) }

    func end() { isOver.store(true, ordering: .releasing) }
}

/// Who runs, and who waits. Outside of the actor, whose thread is taken while a script runs: whoever waits can give up.
final class Turns: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [(number: Int, continuation: CheckedContinuation<Bool, Never>)] = []
        var count = 0
    }

    private let state = Mutex(State())

    /// Waits for the turn of the current task. Returns whether it has come: `false` if the task is cancelled before.
    func take() async -> Bool {
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> Bool? in
                    if Task.isCancelled { return false }
                    if state.isTaken {
                        state.waiting.append((number, continuation))
                        return nil
                    }
                    state.isTaken = true
                    return true
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            giveUp(number)
        }
    }

    private func giveUp(_ number: Int) {
        let continuation = state.withLock { state in
            state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0).continuation }
        }
        continuation?.resume(returning: false)
    }

    /// Ends the turn; the next one that waits has it then.
    func end() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst().continuation }
            state.isTaken = false
            return nil
        }
        next?.resume(returning: true)
    }
}
