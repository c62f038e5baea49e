/// The classification of a statement before SQLite compiles it: some PRAGMAs take effect during compilation.
///
/// Only words at fixed places count, so the contents of strings, names and comments have no influence.
package struct SQLScreening: Equatable, Sendable {
    package enum Kind: Sendable {
        case other
        /// SELECT, VALUES or EXPLAIN. SQLite makes the final decision on whether the statement only reads.
        case read
        /// INSERT or REPLACE.
        case insert
        /// UPDATE or DELETE.
        case change
        /// BEGIN, COMMIT, END, ROLLBACK, SAVEPOINT or RELEASE.
        case control
        /// ATTACH, DETACH, VACUUM INTO, or a PRAGMA that is not known to affect only the database.
        case files
        /// A PRAGMA that no script may set.
        case forbidden
        /// PRAGMA temp_store, which could place temporary tables in memory, outside of all limits.
        case memory
        /// PRAGMA case_sensitive_like, which installs SQLite's own LIKE, and no limit can interrupt that.
        case functions
        /// PRAGMA foreign_keys = OFF, which SQLite ignores in a transaction.
        case unenforced
        /// Nothing but blanks, comments and semicolons.
        case empty
    }

    package var kind = Kind.empty
    /// The first word in upper case, and the name of a PRAGMA, for messages.
    package var words = ""
    /// The PRAGMA; `nil` for other statements.
    package var pragma: Pragma?
    /// Whether the statement is a CREATE TEMP: the readers of a pool would not see the result.
    package var isTemporary = false
    /// Whether the statement's result depends on the connection.
    package var dependsOnConnection = false
    /// Whether the statement uses `last_insert_rowid()`.
    package var readsRowID = false
    /// Whether the statement reads `pragma_database_list`, which reveals paths like the PRAGMA.
    package var tellsFiles = false
    /// Whether the statement opens a file: ATTACH of anything but `':memory:'`, or VACUUM INTO.
    package var opensFile = false

    /// Examines the first statement of a text and ignores the rest.
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
            opensFile = Self.vacuumsIntoFile(&scanner)
            return opensFile ? .files : .other
        default: break
        }
        return Self.verbs[word] ?? .other
    }

    /// Returns the kind of an EXPLAIN: the explained statement does not run, but it is compiled.
    private mutating func explained(_ scanner: inout SQLScanner) -> Kind {
        var word = scanner.nextInStatement()
        if scanner.isWord(word, "query") {
            _ = scanner.nextInStatement()
            word = scanner.nextInStatement()
        }
        let kind = kind(of: word, &scanner)
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
        // Any operator counts, because `=` can also be written `==`.
        let isAssigned = sign?.kind == .sign
        let pragma = Pragma(name: name.map { scanner.word($0).foldedName } ?? "", hasValue: isAssigned)
        self.pragma = pragma
        if isAssigned, pragma.facts.contains(.forbidden) { return .forbidden }
        if isAssigned, pragma.name == "temp_store" { return .memory }
        if isAssigned, pragma.name == "case_sensitive_like" { return .functions }
        if isAssigned, pragma.name == "foreign_keys", Self.isOff(&scanner) { return .unenforced }
        return pragma.facts.contains(.harmless) ? .other : .files
    }

    /// Returns whether the value of a PRAGMA is false. Quotes or another sign may precede the value.
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

    /// Returns the kind of the statement after the common tables. It starts with the first word after a closing parenthesis
    /// that is not the AS of a common table.
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
    /// Returns whether a statement begins or ends a transaction, sets or queries an option, or reads the schema: work that
    /// programs do only to support other statements. GRDB creates and drops the table `grdb_issue_102` to give a new pool its
    /// `-wal` file.
    ///
    /// - Parameter sql: Ends with a NUL byte.
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
    /// Returns whether a text consists of blanks, comments and semicolons.
    package static func isBlank(_ sql: UnsafeBufferPointer<UInt8>) -> Bool {
        var scanner = SQLScanner(sql)
        return scanner.firstOfStatement() == nil
    }

    /// Returns the number of bytes of blanks and comments at the start of a text.
    package static func blankLength(_ sql: UnsafeBufferPointer<UInt8>) -> Int {
        var scanner = SQLScanner(sql)
        return scanner.nextSolid()?.range.lowerBound ?? sql.count
    }

    /// Returns whether a text has statements that insert, update or delete, and no statement that cannot be in a transaction
    /// with them.
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

    /// Returns the first token of the statement, after any semicolons.
    mutating func firstOfStatement() -> SQLToken? {
        while let token = nextSolid() {
            if !isSign(token, ";") { return token }
        }
        return nil
    }

    /// Returns the next token before the semicolon. Inside a trigger, semicolons do not end the statement.
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

    /// Skips the rest of a statement with its semicolon. The statements of a trigger belong to it, as in `sqlite3_complete`.
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
