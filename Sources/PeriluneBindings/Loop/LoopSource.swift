package import PeriluneLua

/// A source of calls to a script function, once or repeatedly: a timer, an observation, a signal.
///
/// ``signal()`` is thread-safe. Everything else belongs to the thread of the state. The function is called there when nothing else
/// is running, and not before its previous call has returned: signals in the meantime are combined into one call.
package final class LoopSource {
    /// The function to call. It is not an asynchronous closure, which might leave the thread of the state.
    package enum Body {
        /// A script function, called in a new run or in a given one.
        case calling(LuaFunction, [LuaValue] = [], as: LuaRun? = nil)
        case performing(() -> Void)
        case nothing

        /// Whether it calls a function of a script.
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
    /// The kind in messages: "timer".
    package let kind: String
    /// Whether the script waits for this source before it ends.
    package let keepsAlive: Bool
    /// Whether it ends with its first call.
    package let isOnce: Bool
    /// The scope to which it belongs.
    let scope: Int
    /// Whether SQLite memory and writes of its calls count toward the limits of the script that started it. In automation files,
    /// each call has the full limits.
    var isCountingOn: Bool { scope == 0 }
    let body: Body
    let queue: LoopQueue
    /// A label, such as the name of the automation that it runs.
    package var name: String?
    /// Called when it ends, to stop the origin of its signals.
    package var onEnd: (() -> Void)?
    /// The handler of its errors; `nil` for unhandled errors, see ``ScriptLoop``.
    package var onError: LuaFunction?

    package internal(set) var isEnded = false
    /// Whether its function has been called.
    var hasBegun = false
    var isCalling = false
    var isDueAgain = false
    /// The run of the current call, for a source whose calls can be interrupted.
    var run: LuaRun?
    /// The journal of its run, if one is kept.
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

    /// A thread-safe closure that signals the source.
    package var signaller: @Sendable () -> Void {
        { [id, queue] in queue.signal(id) }
    }

    /// Schedules a call.
    package func signal() {
        queue.signal(id)
    }
}
