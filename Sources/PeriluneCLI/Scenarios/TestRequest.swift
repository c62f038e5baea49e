internal import PeriluneScenarios

/// What `test` is asked to do.
struct TestRequest: Sendable {
    enum Listing: Sendable {
        case text, json
    }

    var options: ScenarioOptions
    var reports: [ReportSet.Request] = []
    /// `nil` for none.
    var coverage: CoverageRequest?
    var onlyFailed = false
    var onlyChanged = false
    var isWatching = false
    /// Whether scenarios run in processes of their own.
    var isIsolated = false
    var isReviewing = false
    /// Scenarios are only shown.
    var listing: Listing?
    /// The folder into which types for editors are written, in place of running scenarios.
    var typesFolder: String?
    var isVerbose = false
}

/// Where the coverage of lines is written.
struct CoverageRequest: Sendable, Equatable {
    let path: String

    /// Reads `lcov` or `lcov:FILE`.
    init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts[0] == "lcov", parts.count == 1 || !parts[1].isEmpty else { return nil }
        path = parts.count > 1 ? String(parts[1]) : "coverage.info"
    }
}
