import ArgumentParser

/// The option to write a report as a web page.
struct PageOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write the report as a page for browsers as well, with all statements, replacing an existing file.", valueName: "file"
        ),
        completion: .file(extensions: ["html"]))
    var report: String?

    func validate() throws {
        if let report, !report.lowercased().hasSuffix(".html") {
            throw ValidationError("--report: expected a file NAME.html, got \(report)")
        }
    }
}
