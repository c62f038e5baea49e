internal import IssueReporting

/// Mistakes that must not go unnoticed, even if the error is caught. In a test they fail the test; otherwise they are printed.
enum Issues {
    static func report(_ message: String) {
        reportIssue("\(message)")
    }
}
