internal import GRDBSQLite
internal import PeriluneRecords

/// Checks of SQL text that work without the user's database.
enum SQLSyntax {
    /// Returns whether Enter ends a statement: after a semicolon, or if the statement is complete and unlikely to continue.
    ///
    /// - Parameter needsSemicolon: Whether the statement must end with a semicolon or an empty line.
    static func isComplete(_ text: String, needsSemicolon: Bool) -> Bool {
        if sqlite3_complete(text) != 0 { return true }
        // An empty line ends any typed input. In a file, it does not end a string or a trigger.
        if text.hasSuffix("\n") {
            return !needsSemicolon || sqlite3_complete(text + ";") != 0 && message(of: text) != "incomplete input"
        }
        guard !needsSemicolon, let last = statements(in: text).last else { return false }
        let tokens = SolidTokens(last)
        if tokens.isWord(0, "create"), tokens.list.contains(where: { $0.isWord("trigger") }) { return false }
        if changesAllRows(last) != nil { return false }
        switch message(of: last) {
        case "incomplete input": return false
        // The FROM of a SELECT may be on the next line.
        case let message? where message.hasPrefix("no such column"): return tokens.list.contains { $0.isWord("from") }
        default: return tokens.isClosed
        }
    }

    /// Returns whether a statement inserts, updates or deletes rows.
    static func changesRows(_ sql: String) -> Bool {
        Array(sql.utf8).withUnsafeBufferPointer { SQLScreening.changesRows($0) }
    }

    /// Returns whether SQL text only reads rows.
    static func onlyReads(_ text: String) -> Bool {
        let first = SolidTokens(text, limit: 1).first?.text.lowercased() ?? ""
        return ["select", "values", "with", "explain", "pragma"].contains(first) && !changesRows(text)
    }

    /// Returns whether a text is a single INSERT, UPDATE, DELETE or REPLACE without parameters or RETURNING.
    static func isPlainChange(_ text: String) -> Bool {
        guard let first = text.utf8.first(where: { $0 != 0x20 && $0 != 0x0A && $0 != 0x09 }), "IUDRiudr".utf8.contains(first)
        else { return false }
        let tokens = SolidTokens(text).list
        guard let verb = tokens.first, ["insert", "update", "delete", "replace"].contains(verb.text.lowercased()),
            tokens.last?.text == ";"
        else { return false }
        return !tokens.dropLast().contains { $0.text == ";" || $0.kind == .parameter || $0.isWord("returning") }
    }

    /// Returns the error message of preparing a statement in an empty database; `nil` if it can be prepared.
    private static func message(of sql: String) -> String? {
        var connection: OpaquePointer?
        guard sqlite3_open_v2(":memory:", &connection, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else { return nil }
        defer { sqlite3_close(connection) }
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) != SQLITE_OK else { return nil }
        return String(cString: sqlite3_errmsg(connection))
    }

    /// Returns the statements of a text, without the semicolons between them. Trigger bodies are not split.
    static func statements(in text: String) -> [String] {
        let bytes = Array(text.utf8)
        var list: [String] = []
        var start = 0
        for token in SolidTokens(text).list where token.kind == .sign && token.text == ";" {
            let piece = String(decoding: bytes[start..<token.range.upperBound], as: UTF8.self)
            guard sqlite3_complete(piece) != 0 else { continue }
            list.append(String(decoding: bytes[start..<token.range.lowerBound], as: UTF8.self))
            start = token.range.upperBound
        }
        list.append(String(decoding: bytes[start...], as: UTF8.self))
        return list.filter { SolidTokens($0, limit: 1).first != nil }.map(\.trimmed)
    }

    /// The object that a DROP or ALTER TABLE ... DROP removes.
    enum Dropping: Equatable {
        /// A table, view, index or trigger.
        case object(kind: String, name: String)
        case column(String, table: String)
    }

    /// Returns the dropped object; `nil` if the statement is neither a DROP nor an ALTER TABLE ... DROP.
    static func dropping(_ sql: String) -> Dropping? {
        let tokens = SolidTokens(sql).list
        guard tokens.count > 2, ["table", "view", "index", "trigger"].contains(tokens[1].text.lowercased()) else { return nil }
        var rest = tokens[2...].drop { $0.isWord("if") || $0.isWord("exists") }
        // Skips the name of a schema before a dot.
        if rest.count > 2, rest[rest.startIndex + 1].text == "." { rest = rest.dropFirst(2) }
        guard let name = rest.first?.name else { return nil }
        if tokens[0].isWord("drop") { return .object(kind: tokens[1].text.lowercased(), name: name) }
        rest = rest.dropFirst()
        guard tokens[0].isWord("alter"), rest.first?.isWord("drop") == true else { return nil }
        return rest.dropFirst().drop { $0.isWord("column") }.first.map { .column($0.name, table: name) }
    }

    /// Returns the table whose rows an UPDATE or DELETE without WHERE and LIMIT changes; `nil` for any other statement.
    static func changesAllRows(_ sql: String) -> (verb: String, table: String)? {
        let tokens = SolidTokens(sql)
        var depth = 0
        var verb: Int?
        for (index, token) in tokens.list.enumerated() {
            if token.text == "(" { depth += 1 }
            if token.text == ")" { depth -= 1 }
            guard depth == 0 else { continue }
            if verb == nil, token.isWord("update") || token.isWord("delete") { verb = index }
            if index == 0, verb == nil, !token.isWord("with") { return nil }
            if verb == nil, token.isWord("select") || token.isWord("insert") || token.isWord("replace") { return nil }
            if token.isWord("where") || token.isWord("limit") { return nil }
        }
        guard let verb else { return nil }
        let rest = tokens.list[(verb + 1)...].drop { $0.isWord("from") || $0.isWord("or") }
        // Skips the conflict policy in UPDATE OR IGNORE table.
        let policies = ["rollback", "abort", "fail", "ignore", "replace"]
        let name =
            tokens.list[verb + 1 < tokens.list.count ? verb + 1 : verb].isWord("or")
            ? rest.drop { policies.contains($0.text.lowercased()) } : rest
        guard let table = name.first else { return nil }
        return (tokens.list[verb].text.lowercased(), table.name)
    }
}

extension SolidTokens {
    func isWord(_ index: Int, _ word: String) -> Bool {
        index < list.count && list[index].isWord(word)
    }
}

extension SolidTokens.Token {
    /// The name that the token denotes, without quotes.
    var name: String { kind == .word ? text : String(text.dropFirst().dropLast()) }

    /// Returns whether the token is a keyword.
    ///
    /// - Parameter word: The keyword in lowercase.
    func isWord(_ word: String) -> Bool { kind == .word && text.lowercased() == word }
}
