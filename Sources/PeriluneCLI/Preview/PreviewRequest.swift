import ArgumentParser

/// How a report is written.
enum PreviewFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
    case text, json
}

/// What `run --preview` is asked to do.
struct PreviewRequest: Sendable {
    /// Where the plan is written; `nil`: nowhere.
    var planPath: String?
    /// Whether the exit status says that something would change.
    var isChecking = false
    var format = PreviewFormat.text
    /// Where a page for browsers is written; `nil`: nowhere.
    var pagePath: String?
    /// How many rows of each kind are shown for a table.
    var rowLimit = 10
    /// Whether scripts may change files and run programs.
    var allowsEffects = false
}
