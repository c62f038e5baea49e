internal import Foundation
internal import Perilune
internal import PeriluneRecords

/// Console commands that need a terminal.
extension ConsoleSession {
    /// Opens a statement in an editor, by default the last one, and runs it if it was changed.
    func edit(_ text: String) async {
        guard options.isTerminal else { return show(error: ErrorReport(":edit: expected a terminal", kind: "usage")) }
        let statement = text.isEmpty ? lastStatement : text
        let file = FileManager.default.temporaryDirectory.appending(
            path: "perilune-\(UUID().uuidString).\(ConsoleInput(statement).isSQL ? "sql" : "lua")"
        ).path
        defer { try? FileManager.default.removeItem(atPath: file) }
        let environment = ProcessInfo.processInfo.environment
        let program = [environment["VISUAL"], environment["EDITOR"]].compactMap { $0 }.first { !$0.isEmpty } ?? "vi"
        do {
            try OutputFile.write(Array(statement.utf8) + [0x0A], to: file)
            guard let id = ShellProcess.spawn("\(program) '\(file.replacing("'", with: "'\\''"))'", environment),
                ShellProcess.wait(id) == 0
            else {
                return show(
                    error: ErrorReport(
                        ":edit: \(program) has failed; nothing was executed", kind: "io",
                        help: "set EDITOR to the command of an editor"))
            }
            let edited = String(decoding: try ScriptHost.read(file), as: UTF8.self).trimmed
            guard !edited.isEmpty, edited != statement.trimmed else { return note("not changed, and not executed") }
            note(DisplayText.escaped(edited, keepingLineBreaks: true))
            await take(edited)
        } catch {
            show(failure: error)
        }
    }

    /// Shows the rows of a statement or request repeatedly until Ctrl-C.
    func watch(_ argument: String) async {
        guard options.isTerminal else { return show(error: ErrorReport(":watch: expected a terminal", kind: "usage")) }
        var pause = Duration.seconds(2), statement = argument
        if let time = argument.prefixMatch(of: /[0-9][0-9.]*[a-z]*\s+/), let duration = DurationText.read(String(time.0).trimmed),
            duration > .zero
        {
            (pause, statement) = (duration, String(argument[time.range.upperBound...]))
        }
        let isSQL = ConsoleInput(statement).isSQL, (text, interval) = (statement, pause)
        guard !text.isEmpty, !isSQL || SQLSyntax.onlyReads(text) else {
            return show(
                error: ErrorReport(
                    ":watch: expected a SELECT or a request, such as :watch 5s SELECT count(*) FROM job", kind: "usage"))
        }
        while true {
            let evaluator = place.evaluator
            let values = await evaluate(named: "console:watch", text) {
                isSQL ? try await evaluator.run(sql: text) : try await evaluator.run(lua: text, named: "console:watch")
            }
            guard let values else { return }
            show("\u{1B}[H\u{1B}[2J")
            note("every \(TimeText.text(interval)), until Ctrl-C: \(DisplayText.escaped(text))")
            show(values)
            guard await evaluate(named: nil, "", { try await Task.sleep(for: interval) }) != nil else { return }
        }
    }
}
