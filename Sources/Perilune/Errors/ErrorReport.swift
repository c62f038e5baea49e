internal import PeriluneRecords

/// A report with the details that help to fix an error, as printed by `perilune run`.
///
/// ```swift
/// do {
///     try await host.run(source: "db:fetch_all('SELECT nme FROM sale')", named: "report.lua")
/// } catch let error as LuaError {
///     log(error.report.text)
/// }
/// ```
public struct ErrorReport: Sendable, Equatable {
    /// A function call in the traceback.
    public struct Frame: Sendable, Equatable {
        /// The name of the function.
        public var name: String
        /// The file of the script.
        public var file: String
        /// The line in the file, from 1.
        public var line: Int

        package init(name: String, file: String, line: Int) {
            (self.name, self.file, self.line) = (name, file, line)
        }
    }

    /// The message for people, without its position.
    public package(set) var message: String
    /// The kind of the error, for programs, such as `sql`, `syntax` or `timeout`.
    public package(set) var kind: String
    /// SQLite's extended result code.
    public package(set) var code: Int?
    /// The file of the script in which the error was raised.
    public package(set) var file: String?
    /// The line in ``file``, from 1.
    public package(set) var line: Int?
    /// The text of the source line.
    public package(set) var sourceLine: String?
    /// The SQL of the failed statement, without the bound values.
    public package(set) var sql: String?
    /// The offset in ``sql`` at which SQLite found the error, in bytes from 0.
    public package(set) var sqlOffset: Int?
    /// The bound values as text. Empty unless requested, because the values may be secret.
    package var arguments: [String] = []
    /// A suggestion for fixing the error, if known.
    public package(set) var help: String?
    /// The existing names that are similar to an unknown name.
    public package(set) var suggestions: [String] = []
    /// The traceback: the active calls, innermost first.
    public package(set) var trace: [Frame] = []

    package init(_ message: String, kind: String, help: String? = nil) {
        self.message = Self.shown(message)
        self.kind = kind
        self.help = help
    }

    /// Returns the displayed part of a text from a script, which may be very long.
    package static func shown(_ text: String) -> String {
        let longest = 8192
        guard text.utf8.count > longest else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: longest)
        while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return text[..<end] + "... (\(text.utf8.count) bytes)"
    }
}

// MARK: - For people

extension ErrorReport {
    /// The report as lines of text: the message, its position with the source line, the SQL with a caret at the error, the help text, and
    /// the traceback. Every line ends with a line feed. Characters that could harm a terminal are escaped.
    public var text: String { text { $1 } }

    /// A part of the report that can be colored.
    package enum Part {
        case error, place, caret, help, trace
    }

    /// Returns the report as lines of text, whose parts are colored by a closure.
    ///
    /// - Parameter width: The width of the terminal, in columns; by default, a wide terminal.
    package func text(width: Int? = nil, _ color: (Part, String) -> String) -> String {
        let room = max(20, min(Self.maximalWidth, (width ?? .max) - 10))
        var lines = [color(.error, "error:") + " " + Self.indented(message)]
        if let place { lines.append("  at " + color(.place, place)) }
        if let sourceLine, let line { lines.append("  \(line) | " + TextLine(sourceLine).shortened(to: room)) }
        lines += sqlLines(room, color)
        if !arguments.isEmpty { lines.append(Self.labelled("args", arguments.joined(separator: ", "))) }
        if let help { lines.append(Self.labelled("help", color(.help, Self.indented(help, by: 8)))) }
        if isTraceWorthShowing { lines.append(Self.labelled("trace", color(.trace, traceText))) }
        return lines.joined(separator: "\n") + "\n"
    }

    private var place: String? {
        file.map { file in DisplayText.escaped(file) + (line.map { ":\($0)" } ?? "") }
    }

    private func sqlLines(_ width: Int, _ color: (Part, String) -> String) -> [String] {
        guard let sql else { return [] }
        let excerpt = SQLExcerpt(sql, offset: sqlOffset, maximalWidth: width)
        let label = excerpt.lineNumber.map { "SQL:\($0)" } ?? "SQL"
        var lines = excerpt.lines.enumerated().map { index, line in Self.labelled(index == 0 ? label : "", line) }
        if let column = excerpt.caretColumn {
            // The margin depends on the label, which contains the line number.
            let margin = max(8, label.utf8.count + 3)
            lines.append(String(repeating: " ", count: margin + column) + color(.caret, "^"))
        }
        return lines
    }

    /// Whether the trace contains more information than the position of the error.
    private var isTraceWorthShowing: Bool {
        trace.count > 1 || (trace.first.map { $0.line != line || $0.file != file } ?? false)
    }

    private var traceText: String {
        let limit = 10
        let shown = trace.prefix(limit).map { "\($0.name) (\($0.file):\($0.line))" }
        let more = trace.count > limit ? ["... \(trace.count - limit) more"] : []
        return DisplayText.escaped((shown + more).joined(separator: " < "))
    }

    private static let maximalWidth = 110

    private static func labelled(_ label: String, _ text: String) -> String {
        "  " + label + String(repeating: " ", count: max(1, 6 - label.utf8.count)) + text
    }

    /// Indents the lines of a message after the first. Lua itself indents some lines with tabs, such as the file paths that `require` has
    /// tried.
    private static func indented(_ text: String, by columns: Int = 2) -> String {
        DisplayText.escaped(text.replacing("\n\t", with: "\n  "), keepingLineBreaks: true)
            .split(separator: "\n", omittingEmptySubsequences: false)
            .joined(separator: "\n" + String(repeating: " ", count: columns))
    }
}

// MARK: - For programs

extension ErrorReport {
    /// The report as one line of JSON that ends with a line feed. Fields without a value are omitted.
    public var json: String {
        let frames = trace.map { frame in
            JSONText.object([("name", .string(frame.name)), ("file", .string(frame.file)), ("line", .integer(frame.line))])
        }
        func list(_ texts: [String]) -> JSONText? { texts.isEmpty ? nil : .strings(texts) }
        func text(_ text: String?) -> JSONText? { text.map { .string($0) } }
        let object = JSONText.object([
            ("kind", text(kind)), ("code", code.map { .integer($0) }), ("message", text(message)), ("file", text(file)),
            ("line", line.map { .integer($0) }),
            ("source_line", text(sourceLine)), ("sql", text(sql)), ("sql_offset", sqlOffset.map { .integer($0) }),
            ("args", list(arguments)), ("help", text(help)), ("suggestions", list(suggestions)),
            ("trace", frames.isEmpty ? nil : .list(frames)),
        ])
        return object.text + "\n"
    }
}
