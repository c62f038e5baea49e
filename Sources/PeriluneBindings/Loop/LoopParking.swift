internal import Synchronization

/// Places where it is waited until they are released. Used from any thread.
package final class LoopParking: Sendable {
    /// Where several may wait; a release that comes before the first of them is kept for it.
    package struct Place: Hashable, Sendable {
        let number: Int
        /// Where a host waits for any change of its loop.
        static let change = Place(number: 0)
    }

    private struct Waiting {
        let id: Int
        let resume: @Sendable () -> Void
    }

    private struct State {
        var waiting: [Place: [Waiting]] = [:]
        var released: Set<Place> = []
        /// Whether ``Place/change`` is released: at the end of each run, and for most it is the only one.
        var hasChanged = false

        mutating func keepRelease(of place: Place) {
            if place == .change { hasChanged = true } else { released.insert(place) }
        }

        /// Whether there was one.
        mutating func takeRelease(of place: Place) -> Bool {
            guard place == .change else { return released.remove(place) != nil }
            defer { hasChanged = false }
            return hasChanged
        }
        var count = 0
    }

    private let state = Mutex(State())

    /// Makes a place.
    package func makePlace() -> Place {
        state.withLock { state in
            state.count += 1
            return Place(number: state.count)
        }
    }

    /// Has a closure called, once, when the place is released: at once if it was. Returns what ``remove(_:at:)`` takes.
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

    /// Has it called no more. Returns whether it would have been.
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

    /// Resumes all waiters at the place; without waiters, lets the next one pass.
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

    /// Forgets a place that will have no more waiters.
    package func forget(_ place: Place) {
        state.withLock { _ = $0.takeRelease(of: place) }
    }
}

/// What one task waits at, until another opens it.
private final class Gate: Sendable {
    private enum State {
        case closed
        case awaited(CheckedContinuation<Void, any Error>)
        case open(Result<Void, any Error>)
    }

    private let state = Mutex<State>(.closed)

    /// Only the first call counts.
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
