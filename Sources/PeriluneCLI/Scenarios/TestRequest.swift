internal import PeriluneScenarios

/// A request of the `test` command.
struct TestRequest: Sendable {
    enum Listing: Sendable {
        case text, json
    }

    var options: ScenarioOptions
    var reports: [ReportSet.Request] = []
    var coverage: [CoverageRequest] = []
    /// The number of slowest scenarios to list.
    var durations = 0
    var onlyFailed = false
    var onlyChanged = false
    var isWatching = false
    /// Whether scenarios run in separate processes.
    var isIsolated = false
    var isReviewing = false
    /// The format for listing scenarios instead of running them; `nil` to run them.
    var listing: Listing?
    /// The folder to which types for editors are written instead of running scenarios.
    var typesFolder: String?
    var isVerbose = false
}

/// The form and destination of line coverage.
enum CoverageRequest: Sendable, Equatable {
    /// A table after the results.
    case table
    /// A file in the format of lcov, for other programs.
    case lcov(path: String)

    /// Reads `table`, `lcov` or `lcov:FILE`.
    init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        if text == "table" {
            self = .table
        } else if parts[0] == "lcov", parts.count == 1 || !parts[1].isEmpty {
            self = .lcov(path: parts.count > 1 ? String(parts[1]) : "coverage.info")
        } else {
            return nil
        }
    }
}
