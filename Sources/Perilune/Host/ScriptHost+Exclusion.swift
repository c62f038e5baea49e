internal import PeriluneBindings
internal import PeriluneIsolation
internal import PeriluneLua
internal import Synchronization

/// Mutual exclusion of runs: if several tasks use a host, they run one at a time, in order of arrival.
extension ScriptHost {
    /// The runs whose scripts wait for the current task, by host. A Swift function called by such a script may use the host without
    /// acquiring the lock again.
    @TaskLocal private static var waitingRuns: [ObjectIdentifier: OngoingUse] = [:]

    /// Runs an operation with exclusive use of this host.
    ///
    /// - Parameter label: The kind and name of the run in events; `nil` if the operation is not reported as a run.
    /// - Throws: `CancellationError` if the task is cancelled, even while it waits.
    nonisolated func exclusively<Result: Sendable>(
        _ label: RunLabel? = nil, _ operation: @Sendable (isolated ScriptHost) async throws -> Result
    ) async throws -> Result {
        let id = ObjectIdentifier(self)
        if Self.waitingRuns[id]?.isGoingOn == true { return try await performRun(label, isInside: true, operation) }
        guard await lock.acquire() else { throw CancellationError() }
        if isClosed.load(ordering: .acquiring) {
            lock.release()
            throw LuaError(.usage, "the host is closed")
        }
        let run = OngoingUse()
        defer {
            run.end()
            lock.release()
        }
        return try await Self.$waitingRuns.withValue(Self.waitingRuns.merging([id: run]) { $1 }) {
            try await performRun(label, isInside: false, operation)
        }
    }

    /// Ends the active run and the scripts' callbacks, and releases the Lua state, the registered functions and the script process. Waiting
    /// and later calls throw a `LuaError` with code `usage`.
    ///
    /// Must not be called by a function that a script of the host waits for.
    public nonisolated func close() async {
        guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        control.cancelRuns()
        // Repeats the cancellation, because a call that holds the lock may start its run only after the first one.
        let ending = Task { [control] in
            while true {
                try await Task.sleep(for: .milliseconds(20))
                control.cancelRuns()
            }
        }
        // A cancelled task could not acquire the lock, so a new task does.
        await Task {
            guard await lock.acquire() else { return }
            ending.cancel()
            await endForGood()
            lock.release()
        }.value
    }

    private func endForGood() async {
        backend.close(in: self)
        cancellation.cancelRuns()
        automationClaim = nil
        modules.removeAll()
        state.close()
        if !sharesReporter { runReporter.end() }
    }

    /// Runs an operation that can start runs and wait for them, and converts its errors for the program.
    func performRun<Result: Sendable>(
        _ operation: @Sendable (isolated ScriptHost) async throws -> Result
    ) async throws -> Result {
        loop.beginRun()
        defer { loop.endRun() }
        do {
            return try await operation(self)
        } catch let error as LuaError where error.code == .cancelled {
            hostCancellation.notice()
            if Task.isCancelled { throw CancellationError() }
            throw error
        } catch let error as LuaError {
            throw explained(error).withoutInternalErrors
        } catch let error as BindingError {
            throw error.published
        }
    }
}

/// A flag that records whether an operation is still running. Tasks started by the operation may outlive it.
final class OngoingUse: Sendable {
    private let isOver = Atomic(false)

    var isGoingOn: Bool { !isOver.load(ordering: .acquiring) }

    func end() { isOver.store(true, ordering: .releasing) }
}

/// A fair asynchronous lock, acquired in the order of requests. The lock is separate from the host actor, because a waiting task must be
/// cancellable even while a script occupies the actor's thread.
final class FIFOLock: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [(number: Int, continuation: CheckedContinuation<Bool, Never>)] = []
        var count = 0

        mutating func take() -> Bool {
            defer { isTaken = true }
            return !isTaken
        }
    }

    private let state = Mutex(State())

    /// Waits for the lock. Returns `false` if the task is cancelled before it acquires the lock.
    func acquire() async -> Bool {
        if Task.isCancelled { return false }
        // Fast path: the lock is free.
        let number = state.withLock { state -> Int? in
            if state.take() { return nil }
            state.count += 1
            return state.count
        }
        guard let number else { return true }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> Bool? in
                    if Task.isCancelled { return false }
                    if state.take() { return true }
                    state.waiting.append((number, continuation))
                    return nil
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

    /// Releases the lock, and passes it to the task that has waited longest.
    func release() {
        let isFree = state.withLock { state in
            state.isTaken = !state.waiting.isEmpty
            return !state.isTaken
        }
        if !isFree { resumeNext() }
    }

    // A separate function, because Swift takes 0.1 ms to instantiate the metadata of the continuation's type.
    private func resumeNext() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst().continuation }
            // The last waiting task was cancelled in the meantime.
            state.isTaken = false
            return nil
        }
        next?.resume(returning: true)
    }
}
