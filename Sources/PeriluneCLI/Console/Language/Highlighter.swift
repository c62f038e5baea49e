internal import PeriluneRecords
internal import PeriluneScenarios

/// Syntax highlighting of console input.
enum Highlighter {
    /// Returns the style of each character.
    static func styles(of text: String) -> [TerminalStyle?] {
        switch ConsoleInput(text) {
        case .nothing: Array(repeating: nil, count: text.count)
        case .command: Array(repeating: .yellow, count: text.count)
        case .sql: sqlStyles(of: text)
        case .lua: luaStyles(of: text)
        }
    }

    // MARK: - SQL

    private static func sqlStyles(of text: String) -> [TerminalStyle?] {
        let bytes = Array(text.utf8)
        var byteStyles = [TerminalStyle?](repeating: nil, count: bytes.count)
        bytes.withUnsafeBufferPointer { buffer in
            for token in SQLScanner(buffer) {
                let style = style(of: token, String(decoding: buffer[token.range], as: UTF8.self))
                for index in token.range { byteStyles[index] = style }
            }
        }
        // The first byte of a character determines its style.
        var position = 0
        return text.map { character in
            defer { position += character.utf8.count }
            return byteStyles[position]
        }
    }

    private static func style(of token: SQLToken, _ text: String) -> TerminalStyle? {
        switch token.kind {
        case .comment: .dim
        case .string, .blob: .green
        case .number, .parameter: .cyan
        case .word: SQLWords.all.contains(text.uppercased()) ? .bold : nil
        case .flaw: .red
        default: nil
        }
    }

    // MARK: - Lua

    static let luaKeywords: Set<String> = [
        "and", "break", "do", "else", "elseif", "end", "for", "function", "goto", "if", "in", "local", "not", "or", "repeat",
        "return",
        "then", "until", "while",
    ]
    private static let constants: Set<String> = ["nil", "true", "false"]

    private static func luaStyles(of text: String) -> [TerminalStyle?] {
        let characters = Array(text)
        var styles = [TerminalStyle?](repeating: nil, count: characters.count)
        for token in LuaTokens(characters) {
            let style: TerminalStyle? =
                switch token.kind {
                case .comment: .dim
                case .string: .green
                case .number: .cyan
                case .name(let name): luaKeywords.contains(name) ? .bold : constants.contains(name) ? .cyan : nil
                case .sign: nil
                }
            for index in token.range { styles[index] = style }
        }
        return styles
    }
}

/// The keywords of SQLite.
enum SQLWords {
    static let all: Set<String> = Set(
        """
        ABORT ACTION ADD AFTER ALL ALTER ALWAYS ANALYZE AND AS ASC ATTACH AUTOINCREMENT BEFORE BEGIN BETWEEN BY CASCADE CASE CAST CHECK
        COLLATE COLUMN COMMIT CONFLICT CONSTRAINT CREATE CROSS CURRENT CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP DATABASE DEFAULT
        DEFERRABLE DEFERRED DELETE DESC DETACH DISTINCT DO DROP EACH ELSE END ESCAPE EXCEPT EXCLUDE EXCLUSIVE EXISTS EXPLAIN FAIL FILTER
        FIRST FOLLOWING FOR FOREIGN FROM FULL GENERATED GLOB GROUP GROUPS HAVING IF IGNORE IMMEDIATE IN INDEX INDEXED INITIALLY INNER
        INSERT INSTEAD INTERSECT INTO IS ISNULL JOIN KEY LAST LEFT LIKE LIMIT MATCH MATERIALIZED NATURAL NO NOT NOTHING NOTNULL NULL NULLS
        OF OFFSET ON OR ORDER OTHERS OUTER OVER PARTITION PLAN PRAGMA PRECEDING PRIMARY QUERY RAISE RANGE RECURSIVE REFERENCES REGEXP
        REINDEX RELEASE RENAME REPLACE RESTRICT RETURNING RIGHT ROLLBACK ROW ROWS SAVEPOINT SELECT SET TABLE TEMP TEMPORARY THEN TIES TO
        TRANSACTION TRIGGER UNBOUNDED UNION UNIQUE UPDATE USING VACUUM VALUES VIEW VIRTUAL WHEN WHERE WINDOW WITH WITHOUT
        """.split(whereSeparator: \.isWhitespace).map(String.init))
}
