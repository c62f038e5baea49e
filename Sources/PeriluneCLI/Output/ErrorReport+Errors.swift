internal import GRDB
internal import PeriluneLua

extension ErrorReport {
    /// Describes what a script failed with.
    init(_ error: LuaError) {
        self.init(error.message, kind: error.kind ?? error.code.description)
        if let limit = error.code.isLimit ? error.code : nil { kind = limit.description }
        file = error.file
        line = error.line
        code = error.integer("extended_code")
        sql = error.text("sql")
        // Lua counts from 1.
        sqlOffset = error.integer("offset").map { $0 - 1 }
        help = error.text("help")
        suggestions = error.text("suggestion").map { [$0] } ?? []
        trace = error.traceback.map(Traceback.frames) ?? []
        if error.code == .runtime, error.fields["message"] == nil, !error.fields.isEmpty {
            message += ": " + error.fieldList
        }
        takeInnerPosition()
        if help == nil, let name = ScriptNames.suggestion(for: message) {
            help = "did you mean `\(name)`?"
            suggestions = [name]
        }
    }

    /// Lua puts the caller's position before a message that passes through `coroutine.wrap` and has one: the message's own
    /// is where the error is.
    private mutating func takeInnerPosition() {
        guard let file, message.hasPrefix(file + ":") else { return }
        let rest = message.dropFirst(file.count + 1)
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        guard let inner = Int(digits), rest.dropFirst(digits.count).hasPrefix(": ") else { return }
        line = inner
        message = String(rest.dropFirst(digits.count + 2))
    }

    /// Describes an error of SQLite.
    init(_ error: DatabaseError) {
        let code = error.extendedResultCode
        self.init(error.message ?? "\(code)", kind: Self.kind(of: error.resultCode))
        self.code = Int(code.rawValue)
        sql = error.sql
    }

    /// Describes why a database could not be opened.
    init(opening path: String?, error: any Error) {
        if let error = error as? LuaError {
            // There is not even memory for the library.
            self.init(error)
            return
        }
        guard let error = error as? DatabaseError else {
            self.init("\(error)", kind: "host")
            return
        }
        self.init(error)
        sql = nil
        message = "cannot open the database \(path ?? ":memory:"): \(message)"
    }

    private static func kind(of code: ResultCode) -> String {
        switch code {
        case .SQLITE_BUSY: "busy"
        case .SQLITE_LOCKED: "locked"
        case .SQLITE_READONLY: "readonly"
        case .SQLITE_INTERRUPT: "interrupt"
        case .SQLITE_IOERR: "ioerr"
        case .SQLITE_CORRUPT: "corrupt"
        case .SQLITE_FULL: "full"
        case .SQLITE_CANTOPEN: "cantopen"
        case .SQLITE_CONSTRAINT: "constraint"
        case .SQLITE_NOTADB: "notadb"
        default: "sql"
        }
    }

    /// Adds the line of source text that the error is blamed on, and puts whole names in place of shortened ones.
    mutating func addSource(from texts: SourceTexts) {
        file = file.map(texts.fullName)
        for index in trace.indices { trace[index].file = texts.fullName(trace[index].file) }
        if let file, let line { sourceLine = texts.line(line, of: file) }
    }

    /// Adds what the schema says about a name that does not exist.
    mutating func addSuggestion(from schema: SchemaNames) {
        guard let suggestion = Suggestion(message: message, sql: sql, schema: schema) else { return }
        help = suggestion.help
        suggestions = suggestion.names
    }

    /// Reminds of the option without which the database is an empty one.
    mutating func addHelpForEmptyDatabase(_ path: String?, _ schema: SchemaNames) {
        guard help == nil, path == nil, schema.tables.isEmpty, message.hasPrefix("no such table: ") else { return }
        help = "the database is a private one in memory, and empty; --database PATH opens a file"
    }
}

extension LuaError {
    fileprivate func text(_ field: String) -> String? {
        if case .string(let value) = fields[field] { value.description } else { nil }
    }

    fileprivate func integer(_ field: String) -> Int? {
        if case .integer(let value) = fields[field] { Int(value) } else { nil }
    }

    /// The fields of a raised table, as Lua would write them.
    fileprivate var fieldList: String {
        let limit = 8
        let shown = fields.sorted { $0.key < $1.key }.prefix(limit).map { "\($0.key) = \($0.value.literal)" }
        return "{ " + shown.joined(separator: ", ") + (fields.count > limit ? ", ..." : "") + " }"
    }
}

extension LuaScalar {
    fileprivate var literal: String {
        switch self {
        case .boolean(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .string(let value): "\"\(value)\""
        }
    }
}
