/// A point at which a scenario can end a process: before or after a commit or a call.
public struct CrashPoint: Codable, Sendable {
    /// The number of the point in its run, from 1.
    public let number: Int
    /// "before" or "after".
    public let moment: String
    /// The commit or the call, such as "the commit of step `charge`".
    public let action: String
    /// The line of the script, as `FILE:LINE`; `nil` if the library itself commits.
    public let place: String?
    /// The time on the scenario's clock since the scenario began.
    public let time: Duration

    /// A description with the moment, the action and the place.
    public var text: String { "\(moment) \(action)\(place.map { " (\($0))" } ?? "")" }
}

/// The runs of a scenario with the option `crash`. Each of them ends one or two processes at crash points.
public struct CrashSummary: Codable, Sendable {
    /// A run with crashes.
    public struct Trial: Codable, Sendable {
        /// The numbers of the points at which processes ended.
        public var numbers: [Int]
        /// The points at which processes ended, in the order in which this run reached them.
        public var points: [CrashPoint]
        /// Whether the run met all expectations.
        public var hasPassed: Bool
    }

    /// The crash points of the run without crashes.
    public var points: [CrashPoint] = []
    /// The number of points, which exceeds the length of ``points`` if there are very many.
    public var count = 0
    /// The runs with crashes, in order; empty if none was requested.
    public var trials: [Trial] = []

    /// The runs that failed.
    public var failed: [Trial] { trials.filter { !$0.hasPassed } }

    /// A readable summary of the counts.
    public var text: String {
        let points = "\(count) crash point\(count == 1 ? "" : "s")"
        guard !trials.isEmpty else { return "\(points); --crash tries each" }
        let tries = trials.count == 1 ? "1 run with a crash" : "\(trials.count) runs with crashes"
        return "\(points), \(tries)\(failed.isEmpty ? "" : ", \(failed.count) failed")"
    }
}

/// The crash points at which a run ends processes.
public enum CrashSelection: Codable, Sendable, Equatable {
    /// No crashes; points are only counted.
    case none
    /// All points, or a selection by the seed if there are many.
    case all
    /// One run that ends a process at each of these points.
    case at([Int])
}
