internal import PeriluneLua
internal import Synchronization

/// Keeps the task-local values of a run for the timers and tasks that it starts.
///
/// Swift can copy these values only into a new task. So a task is made when the run starts its first source, and waits; it makes the tasks
/// that call the sources. It ends when the last source is gone.
package final class LoopCarrier: Sendable {
    /// The carrier of the current run.
    @TaskLocal package static var current: LoopCarrier?

    private let bodies = Mutex<AsyncStream<@Sendable () -> Void>.Continuation?>(nil)

    package init() {}

    deinit { bodies.withLock { $0?.finish() } }

    /// Keeps the values of the current task, if it is the first time.
    func open() {
        bodies.withLock { bodies in
            guard bodies == nil else { return }
            let (stream, continuation) = AsyncStream<@Sendable () -> Void>.makeStream()
            bodies = continuation
            // Without the values that belong to the current run alone. With itself, the carrier would never be released.
            LoopCarrier.$current.withValue(nil) {
                LuaRun.withoutRun {
                    _ = Task { for await body in stream { body() } }
                }
            }
        }
    }

    /// Calls a closure in a task with the values. The closure makes the task that they are for.
    package func perform(_ body: @escaping @Sendable () -> Void) {
        _ = bodies.withLock { $0?.yield { [self] in LoopCarrier.$current.withValue(self) { body() } } }
    }
}
