internal import PeriluneLua
internal import Synchronization

/// A carrier that transfers a run's task-local values to the timers and tasks that the run starts.
///
/// Swift copies task-local values only when a task is created. Therefore the run's first source creates a helper task that waits
/// for work, and the tasks that later call the sources are created inside this helper task. The helper task ends after the last
/// source.
package final class LoopCarrier: Sendable {
    /// The carrier of the current run.
    @TaskLocal package static var current: LoopCarrier?

    private let bodies = Mutex<AsyncStream<@Sendable () -> Void>.Continuation?>(nil)

    package init() {}

    deinit { bodies.withLock { $0?.finish() } }

    /// Captures the task-local values of the current task, on the first call only.
    func open() {
        bodies.withLock { bodies in
            guard bodies == nil else { return }
            let (stream, continuation) = AsyncStream<@Sendable () -> Void>.makeStream()
            bodies = continuation
            // The values that belong only to the current run are not captured. If the task captured the carrier, the carrier would
            // never be released.
            LoopCarrier.$current.withValue(nil) {
                LuaRun.withoutRun {
                    _ = Task { for await body in stream { body() } }
                }
            }
        }
    }

    /// Calls a closure in the helper task. Tasks that the closure creates inherit the captured values.
    package func perform(_ body: @escaping @Sendable () -> Void) {
        _ = bodies.withLock { $0?.yield { [self] in LoopCarrier.$current.withValue(self) { body() } } }
    }
}
