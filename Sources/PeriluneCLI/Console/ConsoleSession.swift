internal import Foundation
internal import Perilune
internal import PeriluneLua
internal import PeriluneRecords
internal import PeriluneScenarios

/// A console session, which reads statements, runs them and shows their results.
final class ConsoleSession {
    let options: ConsoleOptions
    let editor: any LineEditor
    private let interruption: ConsoleInterruption
    /// The database on which statements run.
    private(set) var place: ConsolePlace
    /// The original database during a preview; `nil` if it is not open.
    private var live: ConsolePlace?
    private var number = 0
    private var showsTiming = false
    /// The change count of the preview before any changes; `nil` without a preview.
    private var baseline: [ConsoleValue]?
    private var hasChanges = false
    /// Whether any statement has failed, which makes a session without a terminal end with an error status.
    private var hasFailed = false
    /// Whether the last input failed or was interrupted.
    private(set) var inputHasFailed = false
    /// Whether a transaction that was started by SQL is open.
    private(set) var isInTransaction = false
    /// The line of a failed statement in a batch that was read ahead.
    private var failedLine: Int?
    /// The last statement that was typed, which `:edit` opens.
    private(set) var lastStatement = ""
    /// The file that `:read` is running, and the line of its current statement.
    var source: (path: String, line: Int)?
    /// The exit status of the session, which ends as soon as this is set.
    private var status: Int32?

    private init(_ options: ConsoleOptions, _ editor: any LineEditor, _ place: ConsolePlace, _ interruption: ConsoleInterruption)
    {
        self.options = options
        self.editor = editor
        self.place = place
        self.interruption = interruption
    }

    /// Opens the database and creates the session.
    static func start(_ options: ConsoleOptions, _ editor: any LineEditor) async throws -> ConsoleSession {
        let interruption = ConsoleInterruption(endsWhenIdle: !options.isTerminal)
        let place = try await ConsolePlace.open(options, preview: options.isPreview, editor)
        let session = ConsoleSession(options, editor, place, interruption)
        if options.isPreview { await session.takeBaseline() }
        return session
    }

    /// Runs the session to its end and returns the exit status.
    func run() async -> Int32 {
        if options.isTerminal { await greet() }
        while status == nil {
            switch await read() {
            case .text(let text):
                if let editor = editor as? PlainEditor, SQLSyntax.isPlainChange(text) {
                    await take(changes: [PlainEditor.Statement(text: text, line: editor.line ?? 1)] + readAhead(editor))
                } else {
                    await take(text)
                }
            case .interrupted: break
            case .end: await quit()
            }
            if inputHasFailed, options.stopsAtErrors, !options.isTerminal { status = status ?? ExitStatus.failure }
        }
        await rollBackAtEnd()
        await place.host.endCallbacks()
        await live?.host.endCallbacks()
        return status == ExitStatus.success && hasFailed && !options.isTerminal
            ? ExitStatus.failure : status ?? ExitStatus.success
    }

    // MARK: - Reading

    private func greet() async {
        let count = (try? await place.evaluator.models().count) ?? 0
        let tables = count == 1 ? "1 table" : "\(count) tables"
        let name = options.database.map { DisplayText.escaped($0) } ?? "temporary database in memory"
        show(wrapped: options.colors.dim("\(Version.line) · \(name), \(tables) · :help\n"))
    }

    /// Reads a statement on a separate thread, so that timers, observations and automations keep running.
    private func read() async -> LineInput {
        let assistant = ConsoleAssistant(needsSemicolon: !options.isTerminal, names: HostNames(host: place.host))
        interruption.beginReading()
        // Available input is read on this thread, because that does not block.
        if let editor = editor as? PlainEditor, editor.isReady() { return editor.read(LinePrompt(""), assistant) }
        let prompt = place.prompt(hasChanges: hasChanges, isInTransaction: isInTransaction)
        let reading = UncheckedValue((editor, prompt, assistant))
        return await withCheckedContinuation { continuation in
            let thread = Thread {
                let (editor, prompt, assistant) = reading.value
                continuation.resume(returning: editor.read(prompt, assistant))
            }
            thread.stackSize = 4 << 20
            thread.start()
        }
    }

    /// Reads further statements that are plain changes, because a dump contains thousands of them.
    private func readAhead(_ editor: PlainEditor) -> [PlainEditor.Statement] {
        editor.readAhead(ConsoleAssistant(needsSemicolon: true), atMost: 500, while: SQLSyntax.isPlainChange)
    }

    /// Runs a batch of changes with a single call to the host.
    private func take(changes: [PlainEditor.Statement]) async {
        inputHasFailed = false
        var rest = changes[...]
        while !rest.isEmpty {
            let evaluator = place.evaluator, texts = rest.map(\.text)
            let outcome = await evaluate(named: nil, "") { try await evaluator.run(changes: texts) }
            guard let outcome else { break }
            show(outcome.values.map { ConsoleRenderer(colors: options.colors).text([$0]) }.joined())
            rest = rest.dropFirst(outcome.values.count)
            guard let error = outcome.error, let failed = rest.popFirst() else { break }
            failedLine = failed.line
            await showFailure(error, named: nil, failed.text)
            failedLine = nil
            if options.stopsAtErrors || status != nil { break }
        }
        if inputHasFailed { await noticeTransaction() }
        await noticeChanges()
    }

    /// Runs typed input, and remembers it for the history and `:edit`.
    func take(_ text: String) async {
        editor.remember(text)
        inputHasFailed = false
        if case .command = ConsoleInput(text) {} else { lastStatement = text }
        await runInput(text)
    }

    /// Runs input that was typed or read from a file.
    func runInput(_ text: String) async {
        let input = ConsoleInput(text)
        switch input {
        case .nothing: break
        case .command(let name, let argument): await run(command: name, argument)
        case .sql(let sql): await run(sql: sql)
        case .lua(let lua): await run(lua: lua)
        }
        if inputHasFailed || input.mayBeginOrEndTransaction { await noticeTransaction() }
        await noticeChanges()
    }

    // MARK: - Transactions

    private func noticeTransaction() async {
        let wasInTransaction = isInTransaction
        isInTransaction = (try? await place.evaluator.isInTransaction()) ?? false
        if wasInTransaction, !isInTransaction, inputHasFailed { note("the transaction was rolled back") }
    }

    /// Rolls back an open transaction at the end of the session. Reports this so that changes are not lost silently.
    private func rollBackAtEnd() async {
        guard isInTransaction, (try? await place.evaluator.rollBack()) == true else { return }
        isInTransaction = false
        let isUnexpected = status == ExitStatus.success && !inputHasFailed && !options.isTerminal
        guard isUnexpected else { return note("the open transaction was rolled back") }
        hasFailed = true
        var report = ErrorReport("the input ended inside a transaction, which was rolled back", kind: "open_transaction")
        report.help = "end it with COMMIT"
        StandardStreams.writeError(report.text(colors: options.errorColors))
    }

    /// Shows a message of the console itself, which goes to standard error if the session has no terminal.
    func note(_ text: String) {
        if options.isTerminal {
            show(options.colors.dim(text) + "\n")
        } else {
            StandardStreams.writeError(options.errorColors.dim(text) + "\n")
        }
    }

    /// Returns `true` if no transaction is open; otherwise shows an error that names the command.
    func isOutsideTransaction(_ command: String) -> Bool {
        guard isInTransaction else { return true }
        var report = ErrorReport(":\(command) cannot be used while a transaction is open", kind: "open_transaction")
        report.help = "end it with COMMIT or ROLLBACK first"
        show(error: report)
        return false
    }

    // MARK: - Statements

    func run(lua text: String, named fileName: String? = nil) async {
        number += 1
        let name = fileName ?? "console:\(number)", evaluator = place.evaluator
        let values = await evaluate(named: name, text) { try await evaluator.run(lua: text, named: name) }
        guard let values else { return }
        show(values)
        if values == [.text("nil", type: "nil")] { await explainNil(text.trimmed) }
    }

    private func run(sql text: String) async {
        for statement in SQLSyntax.statements(in: text) {
            guard await mayRun(statement) else { return show(options.colors.dim("not executed\n")) }
            let evaluator = place.evaluator
            guard let values = await evaluate(named: nil, statement, { try await evaluator.run(sql: statement) }) else { return }
            if case .outcome? = values.first, !SQLSyntax.changesRows(statement) { continue }
            show(values)
        }
    }

    /// Runs an operation that Ctrl-C can cancel, and shows its duration if `:timing` is on. If it fails, shows the error and returns `nil`.
    func evaluate<Value: Sendable>(
        named name: String?, _ text: String, _ operation: @escaping @Sendable () async throws -> Value
    ) async -> Value? {
        let start = ContinuousClock.now
        let task = interruption.begin { Task { try await operation() } }
        let result = await task.result
        interruption.end()
        try? StandardStreams.flush()
        let duration = ContinuousClock.now - start
        defer { if showsTiming { show(options.colors.dim(TimeText.text(duration) + "\n")) } }
        switch result {
        case .success(let value): return value
        case .failure(let error):
            await showFailure(error, named: name, text)
            return nil
        }
    }

    /// The width of the terminal in columns; `nil` without a terminal.
    var width: Int? { options.isTerminal ? TerminalSize.current.columns : nil }

    func show(_ text: String) {
        editor.show(text)
    }

    func show(failure error: any Error) {
        show(error: (error as? CommandFailure)?.report ?? ErrorReport("\(error)", kind: "host"))
    }

    /// Shows text wrapped at the width of the terminal.
    func show(wrapped text: String) {
        show(WordWrap.wrapped(text, to: width))
    }

    func show(_ values: [ConsoleValue]) {
        guard !values.isEmpty else { return }
        show(ConsoleRenderer(colors: options.colors, width: width, mentionsLast: options.isTerminal).text(values))
    }

    // MARK: - Failures

    private func showFailure(_ error: any Error, named name: String?, _ text: String) async {
        if let failure = error as? CommandFailure { return show(error: failure.report) }
        let interrupted = (options.isTerminal ? "\n" : "") + options.colors.dim("interrupted") + "\n"
        if error is CancellationError {
            inputHasFailed = true
            return show(interrupted)
        }
        guard let error = error as? LuaError else { return show(error: ErrorReport("\(error)", kind: "host")) }
        if error.code == .exit {
            if case .integer(let wanted) = error.fields["status"] {
                status = ExitStatus.status(requested: wanted)
            } else {
                status = 0
            }
            return
        }
        inputHasFailed = true
        if error.code == .cancelled { return show(interrupted) }
        var report = ErrorReport(error)
        // In one-line input, the location of an error is obvious.
        if !text.contains("\n"), name?.hasPrefix("console:") != false { report.removePlace(named: name) }
        if report.kind == "constraint_foreign_key", case .object("table", let table)? = SQLSyntax.dropping(text),
            let others = try? await place.evaluator.referrers(of: table), !others.isEmpty
        {
            report.help = "rows of \(others.joined(separator: ", ")) refer to it"
        }
        if report.isLock { report.addHelp(forLockOf: options.database) }
        if report.help == nil, let help = await self.help(for: report.message) { report.help = help }
        if report.help == nil, report.kind == "syntax" { report.help = ConsoleInput.help(onSyntaxErrorIn: text) }
        show(error: report)
    }

    func show(error report: ErrorReport) {
        (hasFailed, inputHasFailed) = (true, true)
        var report = report
        if let source {
            report.message = "\(source.path):\(source.line): \(report.message)"
        } else if let line = failedLine ?? editor.line {
            report.message = "near line \(line): \(report.message)"
        }
        if options.isTerminal {
            show(report.text(colors: options.colors, width: width))
        } else {
            StandardStreams.writeError(report.text(colors: options.errorColors))
        }
    }

    /// Suggests the most similar global variable if the message is about a nil global.
    private func help(for message: String) async -> String? {
        guard let match = message.firstMatch(of: /\(global '([^']+)'\)/) else { return nil }
        return await nearestGlobal(to: String(match.1)).map { "did you mean `\($0)`?" }
    }

    private func explainNil(_ text: String) async {
        guard text.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil, text != "nil", let nearest = await nearestGlobal(to: text)
        else { return }
        show(options.colors.dim("unknown variable `\(text)`; did you mean `\(nearest)`?\n"))
    }

    private func nearestGlobal(to name: String) async -> String? {
        // Short names resemble too many others.
        guard name.count > 2 else { return nil }
        let names = (try? await place.evaluator.members(of: [], separator: "")) ?? []
        return nearestName(
            to: name, among: names.filter { $0 != name && !$0.hasPrefix("_") && !Highlighter.luaKeywords.contains($0) })
    }

    // MARK: - Questions

    /// Asks before a statement changes all rows of a table in a database that others may use. Returns whether to run it.
    private func mayRun(_ sql: String) async -> Bool {
        guard place.isLive, options.isTerminal, !isInTransaction, let what = await destruction(of: sql) else { return true }
        return await confirms("This \(what) in \(options.database ?? ""). Continue? [y/N] ") ?? false
    }

    /// Returns a description of the data that a statement destroys, such as "deletes all 3 rows of book"; `nil` if it destroys
    /// nothing.
    private func destruction(of sql: String) async -> String? {
        func rows(of table: String) async -> String? {
            guard let count = try? await place.evaluator.count(of: table) else { return nil }
            return count == 1 ? "the only row" : "all \(ConsoleRenderer.grouped(count)) rows"
        }
        if let (verb, table) = SQLSyntax.changesAllRows(sql) {
            return "\(verb)s \(await rows(of: table) ?? "all rows") of \(table)"
        }
        guard let dropping = SQLSyntax.dropping(sql) else { return nil }
        switch dropping {
        case .column(let column, let table):
            return await rows(of: table).map { "drops the column \(column) of \(table), with its values in \($0)" }
        case .object("table", let name): return await rows(of: name).map { "drops the table \(name), with \($0)" }
        case .object(let kind, let name): return "drops the \(kind) \(name)"
        }
    }

    /// Asks a question; returns `nil` at the end of the input.
    private func confirms(_ question: String) async -> Bool? {
        let asking = UncheckedValue((editor, DisplayText.escaped(question)))
        let answer = await withCheckedContinuation { (continuation: CheckedContinuation<String?, Never>) in
            Thread.detachNewThread { continuation.resume(returning: asking.value.0.ask(asking.value.1)) }
        }
        return answer.map { ["y", "yes"].contains($0.trimmed.lowercased()) }
    }

    // MARK: - Commands

    private func run(command name: String, _ argument: String) async {
        switch name {
        case "help": await help(argument)
        case "schema": await schema(argument)
        case "models": await models()
        case "plan": await plan(argument)
        case "timing":
            guard ["", "on", "off"].contains(argument) else {
                return show(error: ErrorReport(":timing: expected on, off or nothing, got \(argument)", kind: "usage"))
            }
            showsTiming = argument.isEmpty ? !showsTiming : argument == "on"
            show("timing is \(showsTiming ? "on" : "off")\n")
        case "last": await last()
        case "chart": await chart(argument)
        case "save": await save(argument)
        case "read": await read(file: argument)
        case "import": await importRows(argument)
        case "edit": await edit(argument)
        case "watch": await watch(argument)
        case "reload": await reload()
        case "preview": await beginPreview()
        case "live": await goLive()
        case "changes": await changes()
        case "apply": await apply()
        case "discard": await discard()
        case "quit": await quit()
        default:
            var report = ErrorReport("unknown command :\(name)", kind: "usage")
            let nearest = nearestName(to: name, among: ConsoleCommands.list.map(\.name))
            report.help =
                ["mode", "format", "output", "export"].contains(name)
                ? "use `:save FILE`; its extension chooses the format"
                : nearest.map { "did you mean `:\($0)`?" } ?? ":help lists them"
            show(error: report)
        }
    }

    private func help(_ topic: String) async {
        if let text = ConsoleHelp.text(topic, options.colors) { return show(wrapped: text) }
        // For a class, show its columns.
        if let models = try? await place.evaluator.models(), models.contains(where: { $0.name == topic || $0.table == topic }) {
            return await run(lua: topic)
        }
        // For other topics, search the reference: `:help db:fetch_all`.
        do {
            let text = try HelpTopic.text(of: topic, commands: ConsoleHelp.topics + ConsoleCommands.list.map(\.name))
            show(wrapped: String(decoding: text, as: UTF8.self))
        } catch {
            show(failure: error)
        }
    }

    private func schema(_ table: String) async {
        let evaluator = place.evaluator
        if table.isEmpty {
            let values = await evaluate(named: nil, "", { try await evaluator.tables() })
            if let values { show(values) }
            return
        }
        guard let statements = await evaluate(named: nil, "", { try await evaluator.definition(of: table) }) else { return }
        if statements.isEmpty {
            let names = HostNames(host: place.host).tables.map(\.name)
            var report = ErrorReport("unknown table \(table)", kind: "usage")
            report.help = nearestName(to: table, among: names).map { "did you mean `\($0)`?" }
            return show(error: report)
        }
        for statement in statements { show(highlighted(SchemaStatements.ended(statement.replacing("\t", with: "    "))) + "\n") }
    }

    private func highlighted(_ sql: String) -> String {
        guard options.colors.isOn else { return DisplayText.escaped(sql, keepingLineBreaks: true) }
        return zip(sql, Highlighter.styles(of: sql)).map { character, style in
            character == "\n"
                ? "\n"
                : (style?.apply(to: DisplayText.escaped(String(character)), if: true) ?? DisplayText.escaped(String(character)))
        }.joined()
    }

    private func models() async {
        let evaluator = place.evaluator
        guard let values = await evaluate(named: nil, "", { try await evaluator.modelTable() }) else { return }
        show(values)
    }

    private func plan(_ text: String) async {
        guard !text.isEmpty else {
            return show("expected a statement or a request after :plan, such as :plan SELECT * FROM Customer\n")
        }
        let evaluator = place.evaluator
        let isSQL = ConsoleInput(text).isSQL
        let plan = await evaluate(named: "console:plan", text) { try await evaluator.plan(of: text, isSQL: isSQL) }
        if let plan { show(DisplayText.escaped(plan, keepingLineBreaks: true) + "\n") }
    }

    private func last() async {
        let evaluator = place.evaluator
        guard let values = await evaluate(named: nil, "", { try await evaluator.last(.all) }) else { return }
        if values.isEmpty { return show(options.colors.dim("no value has been shown yet\n")) }
        let text = ConsoleRenderer(colors: options.colors).text(values)
        if !options.isTerminal || !Pager.show(text) { show(text) }
    }

    private func reload() async {
        let evaluator = place.evaluator
        guard let names = await evaluate(named: nil, "", { try await evaluator.reload() }) else { return }
        show(names.isEmpty ? "no modules have been required\n" : "reloaded: \(names.joined(separator: ", "))\n")
    }

    private func quit() async {
        if isInTransaction, options.isTerminal {
            guard await confirms("A transaction is open. Roll it back and quit? [y/N] ") ?? true else { return }
        }
        if hasChanges, options.isTerminal {
            guard await confirms("The preview has changes that are not applied. Discard them? [y/N] ") ?? true else { return }
        }
        status = status ?? ExitStatus.success
    }

    // MARK: - Previews

    private func beginPreview() async {
        guard isOutsideTransaction("preview") else { return }
        guard place.preview == nil else { return show("already in a preview; use :changes to show its changes\n") }
        guard options.database != nil else { return show("the database is in memory, and already private\n") }
        do {
            let copy = try await ConsolePlace.open(options, preview: true, editor)
            live = place
            place = copy
            await takeBaseline()
            show(
                wrapped:
                    "working on a private copy of \(DisplayText.escaped(options.database ?? "")), with variables of its own. :changes, :apply, :discard, :live\n"
            )
        } catch {
            show(failure: error)
        }
    }

    private func goLive() async {
        guard isOutsideTransaction("live") else { return }
        guard place.preview != nil else { return show("already working on the database itself\n") }
        guard !hasChanges else {
            return show(wrapped: "the preview has changes; use :apply to apply them, or :discard to drop them\n")
        }
        guard options.mayWorkLive else { return show("the context is preview: the console works on copies only\n") }
        do {
            place = if let live { live } else { try await ConsolePlace.open(options, preview: false, editor) }
        } catch {
            return show(failure: error)
        }
        live = nil
        show("working on \(DisplayText.escaped(options.database ?? "")) itself\n")
    }

    private func takeBaseline() async {
        baseline = try? await place.evaluator.changeCount()
        hasChanges = false
    }

    /// Updates `hasChanges` by comparing the change count of the preview with its baseline.
    private func noticeChanges() async {
        guard place.preview != nil, status == nil else { return }
        hasChanges = (try? await place.evaluator.changeCount()) != baseline
    }

    private func look() async -> (report: PreviewReport, plan: PreviewPlan?)? {
        guard let preview = place.preview else {
            show(wrapped: "not in a preview: changes go to the database itself; use :preview to work on a copy\n")
            return nil
        }
        return await evaluate(named: nil, "") { try await preview.look() }
    }

    private func changes() async {
        guard isOutsideTransaction("changes") else { return }
        guard let (report, _) = await look() else { return }
        let formatter = PreviewFormatter(
            database: options.database, incompleteSubject: nil, wantsPlan: false, colors: options.colors, width: width)
        show(String(decoding: formatter.format(report), as: UTF8.self))
    }

    private func apply() async {
        guard isOutsideTransaction("apply") else { return }
        guard let preview = place.preview, let path = options.database else { _ = await look(); return }
        guard let (report, plan) = await look() else { return }
        guard report.hasChanges else { return show("no changes\n") }
        guard let plan else {
            var failure = ErrorReport(
                "these changes cannot be applied: \(report.obstacles.joined(separator: "; "))", kind: "usage")
            failure.help = "use :discard and :live, and run the same statements in the database itself; the history has them"
            return show(error: failure)
        }
        let summary = report.tables.map { "\($0.name) \(PreviewFormatter.counts(of: $0))" }.joined(separator: ", ")
        if options.isTerminal {
            guard await confirms("Apply to \(path): \(summary)? [y/N] ") == true else {
                return show(options.colors.dim("not applied\n"))
            }
        }
        do {
            try await plan.apply(to: path)
            try await preview.restart()
            await takeBaseline()
            show("applied to \(DisplayText.escaped(path)): \(DisplayText.escaped(summary))\n")
        } catch let error as PlanError {
            var failure = ErrorReport(error)
            failure.help = "nothing was applied; use :discard to make a new copy of the database"
            show(error: failure)
        } catch {
            show(error: ErrorReport(opening: path, error: error))
        }
    }

    private func discard() async {
        guard let preview = place.preview else { _ = await look(); return }
        if isInTransaction { isInTransaction = (try? await place.evaluator.rollBack()) == nil }
        guard await evaluate(named: nil, "", { try await preview.restart() }) != nil else { return }
        await takeBaseline()
        show(wrapped: "the changes were dropped; working on a new copy of \(DisplayText.escaped(options.database ?? ""))\n")
    }
}

extension ErrorReport {
    /// Removes the location and the stack trace if they refer only to the console input.
    fileprivate mutating func removePlace(named name: String?) {
        guard name == nil || file == name || file == nil else { return }
        (file, line, sourceLine) = (nil, nil, nil)
        trace.removeAll { $0.file == name }
        if trace.count <= 1 { trace = [] }
    }
}

/// A value passed to another thread. Sending it is safe, because only that thread uses the value until it finishes.
struct UncheckedValue<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
