import ArgumentParser
internal import GRDB
internal import Perilune

struct ApplyCommand: AsyncParsableCommand, DatabaseCommand {
    static let databaseHelp = "The database, if it is not that of the plan."

    static let configuration = CommandConfiguration(
        commandName: "apply",
        abstract: "Make the changes of a plan that run --preview --save has written.",
        discussion: """
            Makes exactly the changes of rows that were previewed, all of them or none: if
            a row that the plan changes is not as it was in all columns, or the schema has
            changed, nothing is applied. --changed-columns-only compares of updated rows
            only the columns that the plan changes, and leaves the others as they are.
            Triggers and foreign keys do nothing of their own meanwhile, since what they
            did is part of the plan. Effects outside of the database are not performed.

            Asks before it changes anything; where there is no terminal to ask on, --yes is
            needed.

            EXAMPLES:
              perilune run close_month.lua --database shop.sqlite --preview --save month.plan
              perilune apply month.plan
              perilune apply month.plan --database copy.sqlite --yes
              perilune apply month.plan --undo

            EXIT STATUS: 0 success, 1 a conflict, or the answer was no, 64 wrong usage, 65
            FILE is no plan or the database is none, 74 a file cannot be used, 75 the
            database is locked.
            """)

    @Argument(help: "The plan.")
    var file: String

    @OptionGroup var database: DatabaseOption<ApplyCommand>

    @Flag(help: "Take the changes of the plan back.")
    var undo = false

    @Flag(help: "Of rows that are updated compare only the columns that the plan changes.")
    var changedColumnsOnly = false

    @Flag(name: .shortAndLong, help: "Do not ask.")
    var yes = false

    @OptionGroup var context: ContextOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if file.isEmpty { throw ValidationError("expected the path of a plan, got nothing") }
        if database.database != nil, database.path == nil { throw ValidationError("--database: expected the path of a file") }
    }

    func run() async throws {
        let colors = common.errorColors
        do {
            let plan = try PreviewPlan(contentsOf: file)
            guard let path = database.path ?? plan.origin.path else {
                throw CommandFailure(
                    ErrorReport("the plan names no database", kind: "usage", help: "name one by --database"))
            }
            try context.resolved().requireLive("apply", database: path)
            try DatabaseFile.requireExisting(path)
            let changes = try Self.describe(plan.summary())
            guard try confirms("\(undo ? "Take back in" : "Apply to") \(path): \(changes)?") else {
                throw ExitCode(ExitStatus.failure)
            }
            try await apply(plan, to: path)
            CommandOutput.note("\(undo ? "taken back in" : "applied to") \(path): \(changes)", colors)
            if !plan.effects.isEmpty, !undo {
                CommandOutput.note("not performed: \(Self.describe(plan.effects))", colors)
            }
        } catch let error as PlanError {
            var report = ErrorReport(error)
            if report.kind == "conflict" || report.kind == "schema" {
                report.help = "nothing was applied; preview the script again, or run it without --preview"
                if error.conflict?.isInUnchangedColumns == true {
                    report.help = "the plan changes other columns of the row: --changed-columns-only compares these alone"
                }
            }
            throw CommandFailure(report)
        }
    }

    private func apply(_ plan: PreviewPlan, to path: String) async throws {
        do {
            try await plan.apply(to: path, comparing: changedColumnsOnly ? .changedColumns : .allColumns, isUndoing: undo)
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
                    "there is no terminal to ask on whether to apply the plan", kind: "usage", help: "--yes applies it")
            )
        }
        StandardStreams.writeError(DisplayText.escaped(question) + " [y/N] ")
        let answer = readLine()?.lowercased() ?? ""
        return answer == "y" || answer == "yes"
    }

    private static func describe(_ tables: [TableChanges]) -> String {
        if tables.isEmpty { return "nothing" }
        return tables.map { "\($0.name) \(PreviewFormatter.counts(of: $0))" }.joined(separator: ", ")
    }

    private static func describe(_ effects: [PreviewEffect]) -> String {
        effects.map { "\($0.name)(\($0.arguments.joined(separator: ", ")))" }.joined(separator: "; ")
    }
}
