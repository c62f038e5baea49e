internal import Synchronization

/// The places of a loop where tasks wait until another task releases the place. Thread-safe.
package final class LoopParking: Sendable {
    /// A place for any number of waiters. Without waiters, a release is stored for the next waiter.
    package struct Place: Hashable, Sendable {
        let number: Int
        /// The place where a host waits for changes in its loop.
        static let change = Place(number: 0)
    }

    private struct Waiting {
        let id: Int
        let resume: @Sendable () -> Void
    }

    private struct State {
        var waiting: [Place: [Waiting]] = [:]
        var released: Set<Place> = []
        /// Whether a release of ``Place/change`` is stored. Kept separate from the set, because most loops use only this place and
        /// release it after each run.
        var hasChanged = false

        mutating func keepRelease(of place: Place) {
            if place == .change { hasChanged = true } else { released.insert(place) }
        }

        /// Removes a stored release of the place. Returns whether a release was stored.
        mutating func takeRelease(of place: Place) -> Bool {
            guard place == .change else { return released.remove(place) != nil }
            defer { hasChanged = false }
            return hasChanged
        }
        var count = 0
    }

    private let state = Mutex(State())

    package func makePlace() -> Place {
        state.withLock { state in
            state.count += 1
            return Place(number: state.count)
        }
    }

    /// Registers a closure that is called once, at the next release of the place, or immediately if a release is stored. Returns an
    /// id for ``remove(_:at:)``.
    func add(at place: Place, _ resume: @escaping @Sendable () -> Void) -> Int {
        let (id, isReleased) = state.withLock { state in
            state.count += 1
            let isReleased = state.takeRelease(of: place)
            if !isReleased { state.waiting[place, default: []].append(Waiting(id: state.count, resume: resume)) }
            return (state.count, isReleased)
        }
        if isReleased { resume() }
        return id
    }

    /// Unregisters a closure. Returns whether it was still registered.
    @discardableResult
    func remove(_ id: Int, at place: Place) -> Bool {
        state.withLock { state in
            guard let index = state.waiting[place]?.firstIndex(where: { $0.id == id }) else { return false }
            state.waiting[place]?.remove(at: index)
            if state.waiting[place]?.isEmpty == true { state.waiting[place] = nil }
            return true
        }
    }

    /// Waits until the place is released.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    nonisolated(nonsending) package func park(at place: Place) async throws {
        let gate = Gate()
        let id = add(at: place) { gate.open(.success(())) }
        try await withTaskCancellationHandler {
            try await gate.pass()
        } onCancel: {
            if remove(id, at: place) { gate.open(.failure(CancellationError())) }
        }
    }

    /// Resumes all waiters. Without waiters, stores the release for the next waiter.
    package func release(_ place: Place) {
        let waiting = state.withLock { state -> [Waiting] in
            guard let waiting = state.waiting.removeValue(forKey: place), !waiting.isEmpty else {
                state.keepRelease(of: place)
                return []
            }
            return waiting
        }
        for item in waiting { item.resume() }
    }

    /// Discards the stored release of a place that is no longer used.
    package func forget(_ place: Place) {
        state.withLock { _ = $0.takeRelease(of: place) }
    }
}

/// A gate at which one task waits until another task opens it.
private final class Gate: Sendable {
    private enum State {
        case closed
        case awaited(CheckedContinuation<Void, any Error>)
        case open(Result<Void, any Error>)
    }

    private let state = Mutex<State>(.closed)

    /// Opens the gate. Only the first call has an effect.
    func open(_ result: Result<Void, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            switch state {
            case .closed: state = .open(result)
            case .awaited(let continuation):
                state = .open(result)
                return continuation
            case .open: break
            }
            return nil
        }
        continuation?.resume(with: result)
    }

    nonisolated(nonsending) func pass() async throws {
        try await withCheckedThrowingContinuation { continuation in
            let known = state.withLock { state -> Result<Void, any Error>? in
                if case .open(let result) = state { return result }
                state = .awaited(continuation)
                return nil
            }
            if let known { continuation.resume(with: known) }
        }
    }
}
