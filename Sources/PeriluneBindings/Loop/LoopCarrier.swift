internal import PeriluneLua
internal import Synchronization

/// A carrier of the task-local values of a run to the timers and tasks that it starts.
///
/// Swift copies these values only when a task is created. Therefore a task is created when the run starts its first source, and waits; it
/// creates the tasks that call the sources. The task ends after the last source.
package final class LoopCarrier: Sendable {
    /// The carrier of the current run.
    @TaskLocal package static var current: LoopCarrier?

    private let bodies = Mutex<AsyncStream<@Sendable () -> Void>.Continuation?>(nil)

    package init() {}

    deinit { bodies.withLock { $0?.finish() } }

    /// Keeps the values of the current task, on the first call.
    func open() {
        bodies.withLock { bodies in
            guard bodies == nil else { return }
            let (stream, continuation) = AsyncStream<@Sendable () -> Void>.makeStream()
            bodies = continuation
            // Excludes the values that belong only to the current run. If the carrier contained itself, it would never be released.
            LoopCarrier.$current.withValue(nil) {
                LuaRun.withoutRun {
                    _ = Task { for await body in stream { body() } }
                }
            }
        }
    }

    /// Calls a closure in a task with the values. The closure creates the task that receives the values.
    package func perform(_ body: @escaping @Sendable () -> Void) {
        _ = bodies.withLock { $0?.yield { [self] in LoopCarrier.$current.withValue(self) { body() } } }
    }
}
