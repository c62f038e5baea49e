import ArgumentParser
internal import GRDB
internal import Perilune

/// The command `perilune apply`.
struct ApplyCommand: AsyncParsableCommand, DatabaseCommand {
    static let databaseHelp = "The database file; by default the one named in the plan."

    static let configuration = CommandConfiguration(
        commandName: "apply",
        abstract: "Apply a plan file saved by run --preview --save.",
        usage: "perilune apply <file> [<options>]",
        discussion: """
            Applies exactly the row changes that were previewed, or none of them if a row
            has changed since in any column, or the schema has changed. For updated rows,
            --changed-columns-only compares only the columns that the plan changes, and
            leaves the others alone. Triggers and foreign key actions are disabled while a
            plan is applied, because their changes are part of it. Effects outside of the
            database are not performed.

            Asks for confirmation first; without a terminal, --yes is required.

            EXAMPLES:
              perilune run close.lua --database shop.sqlite --preview --save close.plan
              perilune apply close.plan
              perilune apply close.plan --database copy.sqlite --yes
              perilune apply close.plan --undo

            EXIT STATUS: 0 success, 1 a conflict, or the answer was no, 64 usage error, 65
            FILE is not a plan file or the database file not a database, 74 a file cannot
            be used, 75 the database is locked.
            """.paragraphs)

    @Argument(help: "The plan file.", completion: .file(extensions: ["plan"]))
    var file: String

    @OptionGroup var database: DatabaseOption<ApplyCommand>

    @Flag(help: "Revert the changes of the plan.")
    var undo = false

    @Flag(help: "Compare only the columns that the plan changes in updated rows.")
    var changedColumnsOnly = false

    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.")
    var yes = false

    @OptionGroup var context: LiveContextOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if file.isEmpty { throw ValidationError("expected the path of a plan file, got nothing") }
        if database.database != nil, database.path == nil { throw ValidationError("--database: expected the path of a file") }
    }

    func run() async throws {
        let colors = common.errorColors
        do {
            let plan = try PreviewPlan(contentsOf: file)
            guard let path = database.path ?? plan.origin.path else {
                throw CommandFailure(
                    ErrorReport("the plan names no database", kind: "usage", help: "use --database to name one"))
            }
            try context.resolved().requireLive("apply", database: path)
            try DatabaseFile.requireExisting(path)
            let changes = Self.describe(undo ? plan.summary().map(Self.reversed) : plan.summary())
            guard try confirms("\(undo ? "Revert in" : "Apply to") \(path): \(changes)?") else {
                throw ExitCode(ExitStatus.failure)
            }
            try await apply(plan, to: path)
            CommandOutput.note("\(undo ? "reverted in" : "applied to") \(path): \(changes)", colors)
            if !plan.effects.isEmpty, !undo {
                CommandOutput.note("not performed: \(Self.describe(plan.effects))", colors)
            }
        } catch let error as PlanError {
            var report = ErrorReport(error)
            if report.kind == "conflict" || report.kind == "schema" {
                report.help =
                    undo
                    ? "nothing was reverted; the database no longer has the values that the plan wrote, so change the rows by hand"
                    : "nothing was applied; preview the script again, or run it without --preview"
                if error.conflict?.isInUnchangedColumns == true {
                    report.help = "the plan changes other columns of the row; use --changed-columns-only to compare only those"
                }
            }
            if undo { report.message = report.message.replacing("since the plan was made", with: "since the plan was applied") }
            throw CommandFailure(report)
        }
    }

    private func apply(_ plan: PreviewPlan, to path: String) async throws {
        do {
            let comparison = changedColumnsOnly ? PreviewPlan.Comparison.changedColumns : .allColumns
            if undo {
                try await plan.revert(in: path, comparing: comparison)
            } else {
                try await plan.apply(to: path, comparing: comparison)
            }
        } catch let error as DatabaseError {
            var report = ErrorReport(error)
            report.message = "cannot apply to the database \(path): \(report.message)"
            report.sql = nil
            throw CommandFailure(report)
        }
    }

    private func confirms(_ question: String) throws -> Bool {
        if yes { return true }
        guard StandardStreams.isInputTerminal, StandardStreams.isErrorTerminal else {
            throw CommandFailure(
                ErrorReport(
                    "cannot ask for confirmation without a terminal", kind: "usage",
                    help: "use --yes to apply the plan without asking")
            )
        }
        StandardStreams.writeError(DisplayText.escaped(question) + " [y/N] ")
        let answer = readLine()?.lowercased() ?? ""
        return answer == "y" || answer == "yes"
    }

    /// Returns the numbers of changes after undoing: inserted rows are deleted, and deleted rows are inserted.
    private static func reversed(_ table: TableChanges) -> TableChanges {
        var table = table
        (table.inserted, table.deleted) = (table.deleted, table.inserted)
        return table
    }

    private static func describe(_ tables: [TableChanges]) -> String {
        if tables.isEmpty { return "nothing" }
        return tables.map { "\($0.name) \(PreviewFormatter.counts(of: $0))" }.joined(separator: ", ")
    }

    private static func describe(_ effects: [PreviewEffect]) -> String {
        effects.map { "\($0.name)(\($0.arguments.joined(separator: ", ")))" }.joined(separator: "; ")
    }
}
