package import PeriluneLua

/// Something that calls a function of a script again and again, or once: a timer, an observation, a signal.
///
/// ``signal()`` may come from any thread. Everything else belongs to the thread of the state; the function is called there when
/// nothing else runs, and not again before it has returned: what is signalled meanwhile is one call afterwards.
package final class LoopSource {
    /// What it calls. No asynchronous closure, which might leave the thread of the state.
    package enum Body {
        /// A function of a script, as a run of its own or as one that others know.
        case calling(LuaFunction, [LuaValue] = [], as: LuaRun? = nil)
        case performing(() -> Void)
        case nothing

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
    /// What people call it: "timer".
    package let kind: String
    /// Whether a script that has nothing else to do waits for it.
    package let keepsAlive: Bool
    /// Whether it ends with its first call.
    package let isOnce: Bool
    /// What it belongs to.
    let scope: Int
    /// Whether what its calls make SQLite allocate and write counts for the script that has begun it. What a file of automations begins has
    /// the whole limits each time.
    var isCountingOn: Bool { scope == 0 }
    let body: Body
    let queue: LoopQueue
    /// Called when it ends: stops what signals it.
    package var onEnd: (() -> Void)?
    /// The handler of its errors; `nil`: they are unhandled, see ``ScriptLoop``.
    package var onError: LuaFunction?

    package internal(set) var isEnded = false
    /// Whether its function was ever called.
    var hasBegun = false
    var isCalling = false
    var isDueAgain = false
    /// The run of the call that goes on, for a source whose calls can be interrupted.
    var run: LuaRun?
    /// The journal of what its run executes, if one is kept.
    var journal: StatementJournal?
    /// The task of the call that goes on.
    var task: Task<Void, Never>?

    init(id: Int, kind: String, keepsAlive: Bool, isOnce: Bool, scope: Int, queue: LoopQueue, body: Body) {
        self.id = id
        self.kind = kind
        self.keepsAlive = keepsAlive
        self.isOnce = isOnce
        self.scope = scope
        self.queue = queue
        self.body = body
    }

    /// What signals it from other threads.
    package var signaller: @Sendable () -> Void {
        { [id, queue] in queue.signal(id) }
    }

    /// Has it called soon.
    package func signal() {
        queue.signal(id)
    }
}
