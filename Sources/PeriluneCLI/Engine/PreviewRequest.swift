import ArgumentParser

/// The format of a preview report.
enum PreviewFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
    case text, json
}

/// The options of `run --preview`.
struct PreviewRequest: Sendable {
    /// The file for the plan; `nil` for none.
    var planPath: String?
    /// Whether the exit status indicates changes.
    var isChecking = false
    var format = PreviewFormat.text
    /// The file for a web page; `nil` for none.
    var pagePath: String?
    /// The number of rows of each kind to show per table.
    var rowLimit = 10
    /// Whether scripts may change files and run programs.
    var allowsEffects = false
}
