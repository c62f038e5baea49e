/// The classification of a statement before SQLite compiles it, because some PRAGMAs take effect during compilation.
///
/// The kind depends only on keywords and names at fixed positions, so the contents of strings, other names and comments cannot
/// change it.
package struct SQLScreening: Equatable, Sendable {
    package enum Kind: Sendable {
        case other
        /// SELECT, VALUES or EXPLAIN. SQLite itself decides whether the statement only reads.
        case read
        /// INSERT or REPLACE.
        case insert
        /// UPDATE or DELETE.
        case change
        /// BEGIN, COMMIT, END, ROLLBACK, SAVEPOINT or RELEASE.
        case control
        /// ATTACH, DETACH, VACUUM INTO, or a PRAGMA that may have effects outside of the database.
        case files
        /// A PRAGMA that no script may set.
        case forbidden
        /// PRAGMA temp_store, which could move temporary tables into memory that no limit covers.
        case memory
        /// PRAGMA case_sensitive_like, which replaces LIKE with SQLite's own function, which no limit can interrupt.
        case functions
        /// PRAGMA foreign_keys = OFF, which SQLite ignores in a transaction.
        case unenforced
        /// Only whitespace, comments and semicolons.
        case empty
    }

    package var kind = Kind.empty
    /// The first word in upper case, and the name of a PRAGMA, for error messages.
    package var words = ""
    /// The PRAGMA; `nil` for other statements.
    package var pragma: Pragma?
    /// Whether the statement is CREATE TEMP, whose result the reader connections of a pool would not see.
    package var isTemporary = false
    /// Whether the statement may depend on the state of the connection, such as its temporary tables or last inserted rowid.
    package var dependsOnConnection = false
    /// Whether the statement contains the name `last_insert_rowid`.
    package var readsRowID = false
    /// Whether the statement reads `pragma_database_list`, which reveals file paths like PRAGMA database_list.
    package var tellsFiles = false
    /// Whether the statement opens a file: ATTACH of anything except `':memory:'`, or VACUUM INTO.
    package var opensFile = false
    /// Whether the statement is VACUUM INTO, which writes a file even if the database is read-only.
    package var writesFile = false

    /// Classifies the first statement of a text, ignoring any others.
    package init(_ sql: UnsafeBufferPointer<UInt8>) {
        var scanner = SQLScanner(sql)
        guard let first = scanner.firstOfStatement() else { return }
        words = scanner.word(first).uppercased()
        lookForWords(first, scanner)
        if scanner.isWord(first, "explain") {
            kind = explained(&scanner)
        } else {
            kind = kind(of: first, &scanner)
        }
    }

    package init(text: String) {
        var text = text
        self = text.withUTF8 { SQLScreening($0) }
    }

    private init() {}

    private static let verbs: [String: Kind] = [
        "select": .read, "values": .read, "insert": .insert, "replace": .insert, "update": .change, "delete": .change,
        "begin": .control, "commit": .control, "end": .control, "rollback": .control, "savepoint": .control, "release": .control,
        "attach": .files, "detach": .files,
    ]

    private mutating func kind(of first: SQLToken?, _ scanner: inout SQLScanner) -> Kind {
        guard let first, first.kind == .word else { return .other }
        let word = scanner.word(first).foldedName
        switch word {
        case "create": isTemporary = scanner.isWord(scanner.nextInStatement(), "temp", "temporary")
        case "attach": opensFile = Self.attachesFile(&scanner)
        case "with": return Self.kindAfterCommonTables(&scanner)
        case "pragma": return pragma(&scanner)
        case "vacuum":
            writesFile = Self.vacuumsIntoFile(&scanner)
            opensFile = writesFile
            return opensFile ? .files : .other
        default: break
        }
        return Self.verbs[word] ?? .other
    }

    /// Returns the kind of an EXPLAIN. The explained statement does not run, but compiling it may already have an effect.
    private mutating func explained(_ scanner: inout SQLScanner) -> Kind {
        var word = scanner.nextInStatement()
        if scanner.isWord(word, "query") {
            _ = scanner.nextInStatement()
            word = scanner.nextInStatement()
        }
        let kind = kind(of: word, &scanner)
        writesFile = false
        return [.forbidden, .files, .memory, .functions].contains(kind) ? kind : .read
    }

    private mutating func lookForWords(_ first: SQLToken, _ scanner: SQLScanner) {
        var scanner = scanner, token: SQLToken? = first
        while let current = token {
            if scanner.isName(current, in: Self.connectionNames) {
                dependsOnConnection = true
                readsRowID = readsRowID || scanner.isName(current, in: ["last_insert_rowid"])
                tellsFiles = tellsFiles || scanner.isName(current, in: ["pragma_database_list"])
            }
            token = scanner.nextInStatement()
        }
    }

    private static let connectionNames = [
        "last_insert_rowid", "changes", "total_changes", "temp", "sqlite_temp_master", "sqlite_temp_schema", "pragma",
        "pragma_database_list",
    ]
}

// MARK: - PRAGMA, ATTACH and WITH

extension SQLScreening {
    /// Classifies `PRAGMA [schema.]name [= value | (value)]`.
    private mutating func pragma(_ scanner: inout SQLScanner) -> Kind {
        var name = scanner.nextInStatement(), sign = scanner.nextInStatement()
        if scanner.isSign(sign, ".") {
            name = scanner.nextInStatement()
            sign = scanner.nextInStatement()
        }
        if let name { words = "PRAGMA " + scanner.word(name) }
        // Accepts any operator, because `=` can also be written as `==`.
        let isAssigned = sign?.kind == .sign
        let pragma = Pragma(name: name.map { scanner.word($0).foldedName } ?? "", hasValue: isAssigned)
        self.pragma = pragma
        if isAssigned, pragma.facts.contains(.forbidden) { return .forbidden }
        if isAssigned, pragma.name == "temp_store" { return .memory }
        if isAssigned, pragma.name == "case_sensitive_like" { return .functions }
        if isAssigned, pragma.name == "foreign_keys", Self.isOff(&scanner) { return .unenforced }
        return pragma.facts.contains(.harmless) ? .other : .files
    }

    /// Returns whether the value of a PRAGMA is false. It may be quoted, or follow several operators.
    private static func isOff(_ scanner: inout SQLScanner) -> Bool {
        var value = scanner.nextInStatement()
        while value?.kind == .sign { value = scanner.nextInStatement() }
        guard let value else { return false }
        let text = scanner.word(value).foldedName.filter { !"'\"`[]".contains($0) }
        return ["off", "no", "false"].contains(text) || Int(text) == 0
    }

    private static func vacuumsIntoFile(_ scanner: inout SQLScanner) -> Bool {
        while let token = scanner.nextInStatement() {
            if scanner.isWord(token, "into") { return true }
        }
        return false
    }

    /// Returns whether `ATTACH [DATABASE] expression AS name` opens a file.
    private static func attachesFile(_ scanner: inout SQLScanner) -> Bool {
        var name = scanner.nextInStatement()
        if scanner.isWord(name, "database") { name = scanner.nextInStatement() }
        let isMemory = name?.kind == .string && scanner.isName(name, in: [":memory:"])
        return !isMemory || !scanner.isWord(scanner.nextInStatement(), "as")
    }

    /// Returns the kind of the statement after WITH. The statement starts at the first word after a closing parenthesis that is
    /// not the AS of a common table expression.
    private static func kindAfterCommonTables(_ scanner: inout SQLScanner) -> Kind {
        var depth = 0, isAfterParentheses = false
        while let token = scanner.nextInStatement() {
            if scanner.isSign(token, "(") { depth += 1 }
            if scanner.isSign(token, ")") { depth -= 1 }
            if depth == 0, isAfterParentheses, token.kind == .word, !scanner.isWord(token, "as") {
                return verbs[scanner.word(token).foldedName] ?? .other
            }
            isAfterParentheses = scanner.isSign(token, ")") && depth == 0
        }
        return .other
    }
}

// MARK: - Bookkeeping

extension SQLScreening {
    /// Returns whether a statement is housekeeping rather than work for the program: it begins or ends a transaction, sets or
    /// queries an option, or reads the schema. GRDB creates and drops the table `grdb_issue_102` to make a new pool create its
    /// `-wal` file.
    ///
    /// - Parameter sql: A text that is terminated by NUL.
    package static func isBookkeeping(_ sql: UnsafePointer<CChar>) -> Bool {
        var scanner = SQLScanner(cString: sql)
        guard let first = scanner.firstOfStatement() else { return true }
        if scanner.isWord(first, "begin", "commit", "end", "rollback", "savepoint", "release", "pragma", "explain") {
            return true
        }
        while let token = scanner.nextInStatement() {
            if scanner.isName(token, in: ["sqlite_master", "sqlite_schema", "grdb_migrations", "grdb_issue_102"]) { return true }
            if scanner.isName(token, withPrefix: "pragma_") || scanner.isName(token, withPrefix: "sqlite_temp_") { return true }
        }
        return false
    }
}

// MARK: - Texts with several statements

extension SQLScreening {
    /// Returns whether a text contains only whitespace, comments and semicolons.
    package static func isBlank(_ sql: UnsafeBufferPointer<UInt8>) -> Bool {
        var scanner = SQLScanner(sql)
        return scanner.firstOfStatement() == nil
    }

    /// Returns the number of bytes of whitespace and comments at the start of a text.
    package static func blankLength(_ sql: UnsafeBufferPointer<UInt8>) -> Int {
        var scanner = SQLScanner(sql)
        return scanner.nextSolid()?.range.lowerBound ?? sql.count
    }

    /// Returns whether a text contains statements that insert, update or delete, and none that cannot run in the same
    /// transaction.
    package static func changesRows(_ sql: UnsafeBufferPointer<UInt8>) -> Bool {
        var scanner = SQLScanner(sql), hasChange = false
        while let first = scanner.firstOfStatement() {
            if scanner.isWord(first, "pragma", "vacuum", "attach", "detach") { return false }
            var screening = SQLScreening()
            var inner = scanner
            switch screening.kind(of: first, &inner) {
            case .control: return false
            case .insert, .change: hasChange = true
            default: break
            }
            scanner.skipStatement(after: first)
        }
        return hasChange
    }
}

extension SQLScanner {
    func word(_ token: SQLToken) -> String { name(token) ?? String(decoding: text[token.range], as: UTF8.self) }

    /// Returns the first token of the next statement, skipping semicolons.
    mutating func firstOfStatement() -> SQLToken? {
        while let token = nextSolid() {
            if !isSign(token, ";") { return token }
        }
        return nil
    }

    /// Returns the next token of the statement, or `nil` at a semicolon. It does not recognize triggers, whose statements end
    /// with semicolons.
    mutating func nextInStatement() -> SQLToken? {
        var ahead = self
        guard let token = ahead.nextSolid(), !isSign(token, ";") else { return nil }
        self = ahead
        return token
    }

    private mutating func beginsTrigger(_ first: SQLToken) -> Bool {
        var token: SQLToken? = first
        if isWord(token, "explain") { token = nextInStatement() }
        if isWord(token, "query") {
            _ = nextInStatement()  // PLAN
            token = nextInStatement()
        }
        guard isWord(token, "create") else { return false }
        token = nextInStatement()
        if isWord(token, "temp", "temporary") { token = nextInStatement() }
        return isWord(token, "trigger")
    }

    /// Skips the rest of a statement, including its semicolon. The statements of a trigger are part of it, as in
    /// `sqlite3_complete`.
    mutating func skipStatement(after first: SQLToken) {
        var isTrigger = beginsTrigger(first)
        var isAfterSemicolon = false
        while let token = nextSolid() {
            if isTrigger, isAfterSemicolon, isWord(token, "end") { isTrigger = false }
            isAfterSemicolon = isSign(token, ";")
            if isAfterSemicolon, !isTrigger { return }
        }
    }
}
