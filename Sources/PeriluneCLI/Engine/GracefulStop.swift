internal import Foundation
internal import Perilune
internal import Synchronization

/// How a program ends when it is asked to by a signal: at once while a script runs; in its own time while it only waits for what
/// scripts have left behind, or runs automations.
final class GracefulStop: Sendable {
    private struct State {
        /// The exit status, where it is to end in its own time.
        var status: Int32?
        var isWaiting = false
        var hasStopped = false
    }

    private let state: Mutex<State>
    /// How long what runs may take to end.
    private let limit: Duration

    /// - Parameter status: The exit status of a program that ends in its own time from the beginning on.
    init(status: Int32?) {
        state = Mutex(State(status: status))
        limit = status == nil ? .milliseconds(200) : .seconds(5)
    }

    /// The scripts are over, and it only waits from now on.
    func beginWaiting() {
        state.withLock { $0.isWaiting = true }
    }

    /// The exit status, if it has ended in its own time.
    var status: Int32? { state.withLock { $0.hasStopped ? $0.status : nil } }

    /// Ends it, from any thread.
    ///
    /// - Parameter signal: Its name without "SIG".
    func stop(_ host: ScriptHost, by signal: String) {
        let endsInOwnTime = state.withLock { state in
            // Who asks by SIGTERM wants it to end, and finds that it has; Ctrl-C ends what people have typed before and behind it too.
            if state.isWaiting, state.status == nil { state.status = signal == "INT" ? ExitStatus.interrupted : ExitStatus.success }
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

    /// How long cancelled runs may take to end.
    private static let grace = Duration.seconds(5)

    /// Ends the process if something in it still runs then, which cannot be cancelled.
    private func endProcess(after time: Duration) {
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: time / .seconds(1))
            var report = ErrorReport("a run could not be stopped, so all runs were ended", kind: "cancelled")
            report.help = "open transactions were rolled back"
            ErrorEnding().end(at: CommandFailure(report))
        }
    }
}
