import ArgumentParser

/// The format of a preview report.
enum PreviewFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
    case text, json
}

/// The options of `run --preview`.
struct PreviewRequest: Sendable {
    /// The path of the plan file to write; `nil` to write none.
    var planPath: String?
    /// Whether the exit status indicates changes.
    var isChecking = false
    var format = PreviewFormat.text
    /// The path of the web page to write; `nil` to write none.
    var pagePath: String?
    /// The maximum number of rows of each kind to show per table.
    var rowLimit = 10
    /// Whether scripts may change files and run programs.
    var allowsEffects = false
}
