package import PeriluneLua

/// A source of calls to a script function, such as a timer, an observation or a system signal.
///
/// ``signal()`` is thread-safe. All other members belong to the state's thread, on which the function is called when nothing else
/// is running. Calls of one source never overlap. Signals during a call cause a single further call.
package final class LoopSource {
    /// The function to call. It is not stored as an asynchronous closure, because such a closure could leave the state's thread.
    package enum Body {
        /// A script function with its arguments, called as a new run or as the given run.
        case calling(LuaFunction, [LuaValue] = [], as: LuaRun? = nil)
        case performing(() -> Void)
        case nothing

        /// Whether the source calls a script function.
        var isCalling: Bool { if case .calling = self { true } else { false } }

        nonisolated(nonsending) func callAsFunction(isCountingOn: Bool) async throws {
            switch self {
            case .calling(let function, let arguments, let run?): try await function.callAsync(arguments, as: run)
            case .calling(let function, let arguments, nil): try await function.callAsync(arguments, isCountingOn: isCountingOn)
            case .performing(let body): body()
            case .nothing: break
            }
        }
    }

    package let id: Int
    /// The kind of the source in error messages: "timer".
    package let kind: String
    /// Whether the script waits for this source before it ends.
    package let keepsAlive: Bool
    /// Whether the source ends after its first call.
    package let isOnce: Bool
    /// The scope to which the source belongs.
    let scope: Int
    /// Whether the calls share the limits for SQLite memory and writes with the script that started the source. In automation
    /// files, each call has the full limits.
    var isCountingOn: Bool { scope == 0 }
    let body: Body
    let queue: LoopQueue
    /// A label for reports, such as the name of the automation that the source runs.
    package var name: String?
    /// Called when the source ends, to stop whatever signals it.
    package var onEnd: (() -> Void)?
    /// The error handler of the source. If `nil`, errors go to the handler of the scope or to the host.
    package var onError: LuaFunction?

    package internal(set) var isEnded = false
    /// Whether the first call of the source has begun.
    var hasBegun = false
    var isCalling = false
    var isDueAgain = false
    /// The run of the current call, if its waits can be interrupted.
    var run: LuaRun?
    /// The journal of the run, if the source has one.
    var journal: StatementJournal?
    /// The carrier of the task-local values of the run that added the source.
    package internal(set) var carrier: LoopCarrier?
    /// The task of the current call.
    package var task: Task<Void, Never>?

    init(id: Int, kind: String, keepsAlive: Bool, isOnce: Bool, scope: Int, queue: LoopQueue, body: Body) {
        self.id = id
        self.kind = kind
        self.keepsAlive = keepsAlive
        self.isOnce = isOnce
        self.scope = scope
        self.queue = queue
        self.body = body
    }

    /// A thread-safe closure that calls ``signal()``.
    package var signaller: @Sendable () -> Void {
        { [id, queue] in queue.signal(id) }
    }

    /// Schedules a call.
    package func signal() {
        queue.signal(id)
    }
}
