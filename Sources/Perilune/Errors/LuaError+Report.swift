internal import GRDB
public import PeriluneLua
package import PeriluneRecords

/// Conversion of Lua errors to reports for people.
extension LuaError {
    /// A report with all details that help to fix the error, such as the source line, the position in the SQL and a suggested name.
    ///
    /// For errors thrown by ``ScriptHost``, the report includes the source line and suggestions from the names in the database. For other
    /// errors, the report contains only the details of the error itself.
    public var report: ErrorReport { ErrorReport(self) }
}

extension ScriptHost {
    /// Adds details that only the host knows to an error, such as the source line and suggestions from the names in the database.
    package func explained(_ error: LuaError) -> LuaError {
        if let hints = error.hints {
            // The other process has added its hints, but does not know the program's modules.
            guard !backend.usesHostState, hints.help == nil, let found = helpFromCheck(error) else { return error }
            var error = error
            error.hints = LuaErrorHints(
                file: hints.file, sourceLine: hints.sourceLine, help: found.help, suggestions: found.suggestions)
            return error
        }
        var report = ErrorReport(error, source: sourceTexts)
        if report.help == nil, report.kind == "runtime", isSandboxed, ScriptNames.isTakenAway(report.message) {
            report.help = "sandboxed scripts do not have it"
        }
        if report.help == nil, report.sql != nil, !error.code.isLimit, Suggestion.concerns(report.message),
            let names = databaseNames()
        {
            report.addSuggestion(from: names)
        }
        if report.help == nil, let found = helpFromCheck(error) { (report.help, report.suggestions) = found }
        var error = error
        error.hints = LuaErrorHints(
            file: report.file, sourceLine: report.sourceLine, help: report.help, suggestions: report.suggestions)
        return error
    }
}

extension ErrorReport {
    /// Creates a report of an error.
    ///
    /// - Parameter texts: The source texts that may contain the line of the error.
    package init(_ error: LuaError, source texts: SourceTexts? = nil) {
        self.init(error.message, kind: error.kind?.rawValue ?? error.code.description)
        if let limit = error.code.isLimit ? error.code : nil { kind = limit.description }
        file = error.file
        line = error.line
        code = error.integer("extended_code")
        sql = error.text("sql")
        // Converts the offset, which starts at 1 in Lua.
        sqlOffset = error.integer("offset").map { $0 - 1 }
        help = error.text("help").map(Self.shown)
        suggestions = error.text("suggestion").map { [$0] } ?? []
        trace = error.traceback.map(Traceback.frames) ?? []
        if error.code == .runtime, error.fields["message"] == nil, !error.fields.isEmpty {
            message = Self.shown(message + ": " + error.fieldList)
        }
        takeInnerPosition()
        if let hints = error.hints { take(hints) }
        if let texts { addSource(from: texts) }
        if help == nil, let name = ScriptNames.suggestion(for: message, in: sourceLine) {
            help = "did you mean `\(name)`?"
            suggestions = [name]
        }
        help = help ?? ScriptNames.help(for: message)
        if help == nil, let name = texts?.moduleName(nearestInMessage: message) {
            help = "did you mean `\(name)`?"
            suggestions = [name]
        }
    }

    /// Replaces the position of the error by the position at the start of its message. If an error passes through `coroutine.wrap`, Lua
    /// prepends the caller's position to the message, which already has a position.
    private mutating func takeInnerPosition() {
        guard let file, message.hasPrefix(file + ":") else { return }
        let rest = message.dropFirst(file.count + 1)
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        guard let inner = Int(digits), rest.dropFirst(digits.count).hasPrefix(": ") else { return }
        line = inner
        message = String(rest.dropFirst(digits.count + 2))
    }

    private mutating func take(_ hints: LuaErrorHints) {
        (file, sourceLine) = (hints.file ?? file, hints.sourceLine)
        guard help == nil else { return }
        (help, suggestions) = (hints.help, hints.suggestions)
    }

    /// Adds the source line of the error, and replaces file names that Lua has shortened by their full names.
    package mutating func addSource(from texts: SourceTexts) {
        file = file.map(texts.fullName)
        for index in trace.indices { trace[index].file = texts.fullName(trace[index].file) }
        if let file, let line, let text = texts.line(line, of: file) { sourceLine = text }
    }

    /// Adds a suggestion from the schema if the message is about an unknown name.
    package mutating func addSuggestion(from schema: SchemaNames) {
        guard let suggestion = Suggestion(message: message, sql: sql, schema: schema) else { return }
        help = suggestion.help
        suggestions = suggestion.names
    }
}

extension LuaError {
    fileprivate func text(_ field: String) -> String? {
        if case .string(let value) = fields[field] { value.description } else { nil }
    }

    fileprivate func integer(_ field: String) -> Int? {
        if case .integer(let value) = fields[field] { Int(value) } else { nil }
    }

    /// The fields of a table that was raised as an error, in Lua syntax.
    fileprivate var fieldList: String {
        let limit = 8
        let shown = fields.sorted { $0.key < $1.key }.prefix(limit).map { "\($0.key) = \($0.value)" }
        return "{ " + shown.joined(separator: ", ") + (fields.count > limit ? ", ..." : "") + " }"
    }
}
