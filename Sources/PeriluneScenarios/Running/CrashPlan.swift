internal import CPeriluneRows
internal import Foundation
internal import PeriluneBindings
internal import PeriluneLua

/// A counter of the crash points in one run of a scenario, which decides at which points a process ends.
final class CrashPlan {
    /// The numbers of the points at which a process ends.
    let chosen: [Int]
    private(set) var points: [CrashPoint] = []
    /// The points at which a process has ended.
    private(set) var crashes: [CrashPoint] = []
    private(set) var count = 0
    /// The results at the end of the run, which are compared with another run.
    var evidence: CrashEvidence?
    private var start: Date?
    private static let mostPoints = 20_000

    init(endingAt chosen: [Int]) {
        self.chosen = chosen
    }

    /// Counts a point, and returns whether the process ends there.
    func reach(_ moment: String, _ action: String, at place: String?, _ now: Date) -> Bool {
        count += 1
        let begin = start ?? now
        start = begin
        let point = CrashPoint(
            number: count, moment: moment, action: action, place: place, time: .seconds(now.timeIntervalSince(begin)))
        if points.count < Self.mostPoints { points.append(point) }
        guard chosen.contains(count) else { return false }
        crashes.append(point)
        return true
    }
}

/// A watch that ends a Lua state at a crash point like a killed process: an open transaction is rolled back, and the state executes no
/// further instructions.
final class CrashWatch {
    private let plan: CrashPlan
    private let clock: ScenarioClock
    private unowned let state: LuaState
    private unowned let loop: ScriptLoop
    private let onEnd: () -> Void
    private(set) var hasEnded = false

    /// - Parameter onEnd: Called once, at the point at which the state ends.
    init(_ plan: CrashPlan, clock: ScenarioClock, state: LuaState, loop: ScriptLoop, onEnd: @escaping () -> Void) throws {
        (self.plan, self.clock, self.state, self.loop, self.onEnd) = (plan, clock, state, loop, onEnd)
        let context = Unmanaged.passUnretained(self).toOpaque()
        // The owner of this object keeps it alive while the state is open.
        try state.withUnsafeStack { L, _ in
            pdb_set_crash_handler(
                L,
                { L, context, moment, name, label in
                    let watch = Unmanaged<CrashWatch>.fromOpaque(context!).takeUnretainedValue()
                    let place = StatementTrace.place(of: L!).map { "\($0.file):\($0.line)" }
                    return watch.reach(String(cString: moment!), String(cString: name!), String(cString: label!), at: place)
                }, context)
        }
    }

    private func reach(_ moment: String, _ name: String, _ label: String, at place: String?) -> Bool {
        let action =
            if name != "commit" { "the \(name)" } else if label.isEmpty { "a commit" } else { "the commit of \(label)" }
        return reach(moment, action, at: place)
    }

    /// Counts a point, and returns whether the state has ended at this point or at an earlier one.
    func reach(_ moment: String, _ action: String, at place: String?) -> Bool {
        guard !hasEnded else { return true }
        guard plan.reach(moment, action, at: place, clock.now) else { return false }
        end()
        return true
    }

    /// Ends the Lua state immediately.
    func end() {
        guard !hasEnded else { return }
        hasEnded = true
        loop.kill()
        state.cancellation.cancel()
        onEnd()
    }
}
