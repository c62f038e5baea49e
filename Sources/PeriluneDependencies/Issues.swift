internal import IssueReporting

/// Reports of mistakes that must be noticed even if the error is caught. They fail the running test; outside of tests they are
/// printed.
enum Issues {
    static func report(_ message: String) {
        reportIssue("\(message)")
    }
}
