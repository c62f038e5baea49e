internal import Synchronization

/// Places where tasks wait until they are released. Used from any thread.
package final class LoopParking: Sendable {
    /// Where several may wait; a release that comes before the first of them is kept for it.
    package struct Place: Hashable, Sendable {
        let number: Int
        /// Where a host waits for any change of its loop.
        static let change = Place(number: 0)
    }

    private struct Waiting {
        let id: Int
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var waiting: [Place: [Waiting]] = [:]
        var released: Set<Place> = []
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

    /// Waits until the place is released.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    nonisolated(nonsending) package func park(at place: Place) async throws {
        let id = state.withLock { state in
            state.count += 1
            return state.count
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome = state.withLock { state -> Result<Void, any Error>? in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if state.released.remove(place) != nil { return .success(()) }
                    state.waiting[place, default: []].append(Waiting(id: id, continuation: continuation))
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            cancel(id, at: place)
        }
    }

    private func cancel(_ id: Int, at place: Place) {
        let waiting = state.withLock { state -> Waiting? in
            guard let index = state.waiting[place]?.firstIndex(where: { $0.id == id }) else { return nil }
            return state.waiting[place]?.remove(at: index)
        }
        waiting?.continuation.resume(throwing: CancellationError())
    }

    /// Lets all who wait at the place go on; if nobody does, the next one who comes.
    package func release(_ place: Place) {
        let waiting = state.withLock { state -> [Waiting] in
            guard let waiting = state.waiting.removeValue(forKey: place), !waiting.isEmpty else {
                state.released.insert(place)
                return []
            }
            return waiting
        }
        for item in waiting { item.continuation.resume() }
    }

    /// Forgets a place where nobody will wait any more.
    package func forget(_ place: Place) {
        state.withLock { state in
            state.released.remove(place)
            if state.waiting[place]?.isEmpty == true { state.waiting[place] = nil }
        }
    }
}
