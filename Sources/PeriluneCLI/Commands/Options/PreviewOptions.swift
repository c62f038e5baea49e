import ArgumentParser

/// The options for the format, rows and web page of a preview report.
struct PreviewReportOptions: ParsableArguments {
    @Option(help: "The format of the report.")
    var format: PreviewFormat?

    @OptionGroup var page: PageOption

    @Option(help: ArgumentHelp("Maximum number of rows shown for each table and kind of change.", valueName: "count"))
    var rows: Int?

    func apply(to request: inout PreviewRequest) {
        if let format { request.format = format }
        if let rows { request.rowLimit = rows }
        request.pagePath = page.report
    }

    func validate() throws {
        if let rows, !(0...10_000).contains(rows) { throw ValidationError("--rows: expected a number from 0 to 10000") }
    }
}

/// The options of a preview: whether to save, check or report the changes of the script.
struct PreviewOptions: ParsableArguments {
    @Flag(help: "Run on a private copy, and report what would change.")
    var preview = false

    @Option(help: ArgumentHelp("Save the changes of the preview as a plan file, replacing an earlier plan.", valueName: "path"))
    var save: String?

    @Flag(help: "Exit with status 2 if the script would change anything.")
    var check = false

    @OptionGroup var report: PreviewReportOptions

    @Flag(
        help: "Allow the previewed script to change files, run programs and load native modules, for real and without a report.")
    var allowEffects = false

    @OptionGroup var creating: CreateOption

    /// The name of an option that was given but works only with `--preview`.
    var firstForPreview: String? {
        let options = [
            ("--save", save != nil), ("--check", check), ("--format", report.format != nil),
            ("--report", report.page.report != nil), ("--rows", report.rows != nil),
            ("--allow-effects", allowEffects), ("--create", creating.create),
        ]
        return options.first(where: \.1)?.0
    }

    var request: PreviewRequest {
        var request = PreviewRequest(planPath: save, isChecking: check, allowsEffects: allowEffects)
        report.apply(to: &request)
        return request
    }

    func validate() throws {
        if save == "" { throw ValidationError("--save: expected the path of a file, got nothing") }
    }
}
