internal import Foundation
internal import GRDB
internal import Perilune
internal import PeriluneScenarios

/// Console commands that read and write files and draw charts.
extension ConsoleSession {
    /// Saves the rows of the last value, or of the SQL statement after the name, to a file whose extension determines the format.
    func save(_ text: String) async {
        var path = text
        if let (file, sql) = Self.fileAndStatement(text) {
            guard await evaluate(sql, as: "console:save") else { return }
            path = file
        }
        guard !path.isEmpty else {
            return show(error: ErrorReport(":save: expected the name of a file, such as result.csv", kind: "usage"))
        }
        guard let format = ResultFormat(fileName: path) else {
            return show(
                error: ErrorReport(
                    ":save: expected a name that ends in .csv, .tsv, .json, .jsonl, .md, .html, .sql or .txt, got \(path)",
                    kind: "usage"))
        }
        guard let rows = await lastRows(":save") else { return }
        let bytes = format.format(columns: rows.columns, rows: rows.head)
        await reportingFailures {
            try OutputFile.write(bytes, to: path)
            note("\(Self.count(rows.head.count)) written to \(DisplayText.escaped(path))" + (rows.note.map { " · \($0)" } ?? ""))
        }
    }

    /// Returns the name of a file and the SQL statement after it; `nil` for other text, such as a name with spaces.
    private static func fileAndStatement(_ text: String) -> (file: String, sql: String)? {
        guard let end = text.firstIndex(where: \.isWhitespace) else { return nil }
        let file = String(text[..<end]), sql = String(text[end...]).trimmed
        return ResultFormat(fileName: file) != nil && ConsoleInput(sql).isSQL ? (file, sql) : nil
    }

    /// Evaluates an SQL statement or a Lua expression, whose value becomes the last one. Returns whether it succeeded.
    private func evaluate(_ text: String, as name: String) async -> Bool {
        let evaluator = place.evaluator
        let isSQL = ConsoleInput(text).isSQL
        let values = await evaluate(named: name, text) {
            isSQL ? try await evaluator.run(sql: text) : try await evaluator.run(lua: text, named: name)
        }
        return values != nil
    }

    /// Draws a chart of the last value, or of the rows of an SQL statement or a Lua expression.
    func chart(_ text: String) async {
        if !text.isEmpty {
            guard await evaluate(text, as: "console:chart") else { return }
        }
        guard let rows = await lastRows(":chart") else { return }
        await reportingFailures {
            let data = try ChartData(columns: rows.columns, rows: rows.head)
            guard !data.labels.isEmpty else { return note("no rows") }
            let chart = TerminalChart(data: data, width: width ?? 80, colors: options.colors)
            show(data.isContinuous ? chart.lines() : chart.bars())
        }
    }

    /// Runs the statements of a file until one fails.
    func read(file path: String) async {
        guard !path.isEmpty else { return show(error: ErrorReport(":read: expected the name of a file", kind: "usage")) }
        let text: String
        do {
            text = String(decoding: try ScriptHost.read(path), as: UTF8.self)
        } catch {
            return show(error: ErrorReport("\(error)", kind: "io"))
        }
        if path.lowercased().hasSuffix(".lua") { return await run(lua: text, named: path) }
        let former = source
        defer { source = former }
        let lines = PlainEditor(text), assistant = ConsoleAssistant(needsSemicolon: true)
        while !inputHasFailed, case .text(let statement) = lines.read(LinePrompt(""), assistant) {
            source = (path, lines.line ?? 1)
            await runInput(statement)
        }
    }

    /// Imports the rows of a file into a table, by default one named after the file.
    func importRows(_ argument: String) async {
        let words = argument.split(whereSeparator: \.isWhitespace).map(String.init)
        guard let path = words.first, words.count <= 2 else {
            return show(error: ErrorReport(":import: expected FILE or FILE TABLE", kind: "usage"))
        }
        guard isOutsideTransaction("import") else { return }
        guard let queue = await place.host.database as? DatabaseQueue, !place.isReadonly else {
            return show(error: ErrorReport(":import: the database was opened with --readonly", kind: "readonly"))
        }
        let table = words.count == 2 ? words[1] : URL(filePath: path).deletingPathExtension().lastPathComponent
        let evaluator = place.evaluator
        let outcome = await evaluate(named: nil, "") {
            let source = try ImportSource(path, ImportSettings())
            var importer = Importer(table: table)
            importer.makesTable = true
            let outcome = try importer.run([source], in: queue)
            try await evaluator.forgetSchema()
            return outcome
        }
        guard let outcome else { return }
        guard outcome.badCount == 0 else {
            let flaws = outcome.badRows.prefix(10).map(\.description).joined(separator: "\n")
            let count = outcome.badCount == 1 ? "1 row is invalid" : "\(outcome.badCount) rows are invalid"
            return show(error: ErrorReport("nothing was imported: \(count)\n\(flaws)", kind: "format"))
        }
        note("\(Self.count(outcome.rows)) into \(DisplayText.escaped(table))" + (outcome.madeTable ? ", which was created" : ""))
    }

    /// Returns the rows of the last value. If it has none, shows an error and returns `nil`.
    private func lastRows(_ command: String) async -> ConsoleRows? {
        let evaluator = place.evaluator
        guard let values = await evaluate(named: nil, "", { try await evaluator.last(.all) }) else { return nil }
        for case .rows(let rows) in values { return rows }
        show(error: ErrorReport("\(command): the last value has no rows", kind: "usage", help: "run a SELECT or a request first"))
        return nil
    }

    private func reportingFailures(_ body: () throws -> Void) async {
        do {
            try body()
        } catch {
            show(failure: error)
        }
    }

    private static func count(_ rows: Int) -> String { rows == 1 ? "1 row" : "\(ConsoleRenderer.grouped(rows)) rows" }
}
