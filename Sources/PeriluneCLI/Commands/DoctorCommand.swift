import ArgumentParser
internal import GRDB
internal import Perilune
internal import PeriluneRecords

/// The command `perilune doctor`.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check the libraries and a database for problems.",
        usage: "perilune doctor [<options>]",
        discussion: """
            Reports the versions of the libraries and their known bugs, and the layers of
            isolation that the system has for sandboxed scripts. For a database, it
            checks integrity, foreign keys, missing indexes, the journal mode and free
            pages, names views and virtual tables that cannot be used, and lists the other
            processes that have it open. Each problem comes with a suggested fix. Nothing is
            changed.

            EXAMPLES:
              perilune doctor
              perilune doctor --database shop.sqlite
              perilune doctor --database shop.sqlite --format json | jq '.[].verdict'

            In JSON, each finding has a verdict (ok, warning or fault), a text and, for most
            problems, a cure. The known bugs of the Lua release are one finding in text, and
            with --verbose or in JSON one each.

            EXIT STATUS: 0 no faults, though there may be warnings; 1 at least one fault;
            64 usage error, 65 the file is not a database or too damaged to be examined, 74
            it cannot be opened, 75 it is locked.
            """.paragraphs)

    /// The output format of the findings.
    enum Format: String, CaseIterable, ExpressibleByArgument, Sendable {
        case text, json
    }

    @OptionGroup var database: DatabaseOption<DoctorCommand>

    @Option(help: "The format of the findings.")
    var format = Format.text

    @OptionGroup var extending: ExtensionOptions
    @OptionGroup var common: CommonOptions

    func run() async throws {
        var findings =
            LibraryExamination.findings(groupsBugs: format == .text && !common.verbose) + IsolationExamination.findings()
        if let path = database.path {
            let queue = try DatabaseFile.openForReading(path, extensions: extending.paths())
            if DatabaseFile.isCluster(path) {
                findings += try DatabaseFile.inCluster(path) { original, place in
                    try ClusterExamination(queue: original, place: place, copy: queue).findings()
                }
            }
            findings += try await DatabaseFile.reading(queue, isTransaction: false) { db in
                try DatabaseExamination(path: path, db: db, isCopy: DatabaseFile.isCluster(path)).findings()
            }
        }
        let text =
            format == .json
            ? Self.json(findings) : WordWrap.wrapped(Self.text(findings, common.outputColors), to: TerminalSize.outputColumns)
        try StandardStreams.write(Array(text.utf8))
        try StandardStreams.flush()
        if findings.contains(where: { $0.verdict == .fault }) { throw ExitCode(ExitStatus.failure) }
    }

    private static func text(_ findings: [Finding], _ colors: Colors) -> String {
        findings.map { finding in
            let mark =
                switch finding.verdict {
                case .ok: colors.green("ok     ")
                case .warning: colors.cyan("warning")
                case .fault: colors.red("fault  ")
                }
            let cure = finding.cure.map { "\n         " + colors.dim(DisplayText.escaped($0)) } ?? ""
            return "\(mark)  \(DisplayText.escaped(finding.text))\(cure)\n"
        }.joined()
    }

    private static func json(_ findings: [Finding]) -> String {
        JSONText.list(
            findings.map {
                .object([
                    ("verdict", .string($0.verdict.rawValue)), ("text", .string($0.text)), ("cure", $0.cure.map { .string($0) }),
                ])
            }
        ).text + "\n"
    }
}

extension DoctorCommand: DatabaseCommand {
    static var databaseHelp: String { "The database file to check." }
}
