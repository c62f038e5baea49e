/// The effect of a statement on savepoints.
package enum SavepointCommand: Equatable, Sendable {
    case begin(String), release(String), rollBack(to: String)

    /// Parses a statement that SQLite has already compiled.
    ///
    /// - Returns: `nil` for statements that do not affect savepoints.
    package init?(_ sql: UnsafeBufferPointer<UInt8>) {
        var scanner = SQLScanner(sql), hasTo = false
        guard let verb = scanner.firstOfStatement() else { return nil }
        var last: SQLToken?
        while let token = scanner.nextInStatement() {
            // The name is the last token, even in ROLLBACK TRANSACTION TO SAVEPOINT.
            hasTo = hasTo || scanner.isWord(last, "to")
            last = token
        }
        guard let name = last.flatMap(scanner.name) else { return nil }
        if scanner.isWord(verb, "savepoint") {
            self = .begin(name)
        } else if scanner.isWord(verb, "release") {
            self = .release(name)
        } else if scanner.isWord(verb, "rollback"), hasTo {
            self = .rollBack(to: name)
        } else {
            return nil
        }
    }
}
