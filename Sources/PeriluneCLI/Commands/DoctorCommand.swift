import ArgumentParser
internal import GRDB
internal import Perilune
internal import PeriluneRecords

/// The command `perilune doctor`.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Look whether the libraries and a database are as they should be.",
        discussion: """
            Names the libraries and what is known to be wrong with them; of a database,
            whether it is whole, its foreign keys, missing indexes, the journal, free
            pages, and who else has it open. Each fault comes with its cure. Nothing is
            changed.

            EXAMPLES:
              perilune doctor
              perilune doctor --database shop.sqlite
              perilune doctor --database shop.sqlite --format json | jq '.[] | select(.verdict != "ok")'

            EXIT STATUS: 0 nothing is wrong, though there may be warnings; 1 there is a fault.
            """)

    /// How the findings are written.
    enum Format: String, CaseIterable, ExpressibleByArgument, Sendable {
        case text, json
    }

    @OptionGroup var database: DatabaseOption<DoctorCommand>

    @Option(help: "How the findings are written.")
    var format = Format.text

    @OptionGroup var common: CommonOptions

    func run() async throws {
        var findings = LibraryExamination.findings()
        if let path = database.path {
            let queue = try DatabaseFile.openForReading(path)
            findings += try await DatabaseFile.reading(queue) { db in try DatabaseExamination(path: path, db: db).findings() }
        }
        let text = format == .json ? Self.json(findings) : Self.text(findings, common.outputColors)
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
                .object([("verdict", .string($0.verdict.rawValue)), ("text", .string($0.text)), ("cure", $0.cure.map { .string($0) })])
            }
        ).text + "\n"
    }
}

extension DoctorCommand: DatabaseCommand {
    static var databaseHelp: String { "The database to look at." }
}
