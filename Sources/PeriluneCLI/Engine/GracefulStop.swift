internal import Foundation
internal import Perilune
internal import Synchronization

/// The reaction to signals: an immediate stop while a script is running, and a graceful stop while the process runs automations or waits
/// for work that scripts have started.
final class GracefulStop: Sendable {
    private struct State {
        /// The exit status of a graceful stop; `nil` to stop immediately.
        var status: Int32?
        var isWaiting = false
        var hasStopped = false
    }

    private let state: Mutex<State>
    /// The time that automations have to finish.
    private let limit: Duration

    /// - Parameter status: The exit status if stops are graceful from the beginning; `nil` if scripts run first.
    init(status: Int32?) {
        state = Mutex(State(status: status))
        limit = status == nil ? .milliseconds(200) : .seconds(5)
    }

    /// Makes stops graceful from now on, because the scripts have finished.
    func beginWaiting() {
        state.withLock { $0.isWaiting = true }
    }

    /// The exit status after a graceful stop; `nil` otherwise.
    var status: Int32? { state.withLock { $0.hasStopped ? $0.status : nil } }

    /// Stops the program. Can be called from any thread.
    ///
    /// - Parameter signal: The name of the signal without "SIG".
    func stop(_ host: ScriptHost, by signal: String) {
        let endsInOwnTime = state.withLock { state in
            // A sender of SIGTERM expects a successful end; Ctrl-C must also end the surrounding commands, such as a shell loop.
            if state.isWaiting, state.status == nil {
                state.status = signal == "INT" ? ExitStatus.interrupted : ExitStatus.success
            }
            state.hasStopped = state.status != nil
            return state.hasStopped
        }
        guard endsInOwnTime else { return host.cancelRunOrNext() }
        Task {
            try? await host.stopAutomations(within: limit)
            host.cancelRunOrNext()
        }
        endProcess(after: limit + Self.grace)
    }

    /// The time that cancelled runs have to finish.
    private static let grace = Duration.seconds(5)

    /// Ends the process after some time if a run could not be cancelled.
    private func endProcess(after time: Duration) {
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: time / .seconds(1))
            var report = ErrorReport("a run could not be stopped, so all runs were ended", kind: "cancelled")
            report.help = "open transactions were rolled back"
            ErrorOutput().end(at: CommandFailure(report))
        }
    }
}
