internal import IssueReporting

/// Mistakes that must be seen, whatever becomes of the error: in a test they fail it, else they are printed.
enum Issues {
    static func report(_ message: String) {
        reportIssue("\(message)")
    }
}
