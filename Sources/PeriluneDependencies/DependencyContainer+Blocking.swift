internal import Dispatch
internal import Synchronization

/// The blocking counterpart of ``prepare(_:)``, for programs without asynchronous code.
extension DependencyContainer {
    /// Sets the program's dependencies, and blocks the thread until their values are created. Use it in entry points that are not
    /// asynchronous.
    ///
    /// It follows the same rules as ``prepare(_:)``. Asynchronous code cannot call it, because it must not block a thread of Swift
    /// concurrency.
    ///
    /// - Throws: The same errors as ``prepare(_:)``.
    @available(*, noasync, message: "use prepare(_:), which does not block the thread")
    public static func prepareAndWait(_ body: (inout DependencyContainer.Values) throws -> Void) throws {
        var values = DependencyContainer.Values()
        try body(&values)
        let (container, prepared) = (current, values)
        let outcome = Outcome()
        Task.detached {
            do {
                try await container.with { try await prepare { $0 = prepared } }
                outcome.finish(.success(()))
            } catch {
                outcome.finish(.failure(error))
            }
        }
        try outcome.wait().get()
    }
}

/// A result that a task sets and a thread waits for.
private final class Outcome: Sendable {
    private let result = Mutex<Result<Void, any Error>>(.success(()))
    private let isKnown = DispatchSemaphore(value: 0)

    func finish(_ result: Result<Void, any Error>) {
        self.result.withLock { $0 = result }
        isKnown.signal()
    }

    func wait() -> Result<Void, any Error> {
        isKnown.wait()
        return result.withLock { $0 }
    }
}
