/// The effect of a statement on savepoints.
package enum SavepointCommand: Equatable, Sendable {
    case begin(String), release(String), rollBack(to: String)

    /// Reads the text of a statement that SQLite has compiled.
    ///
    /// - Returns: `nil` for statements that do not affect savepoints.
    package init?(_ sql: UnsafeBufferPointer<UInt8>) {
        var scanner = SQLScanner(sql), hasTo = false
        guard let verb = scanner.firstOfStatement() else { return nil }
        var last: SQLToken?
        while let token = scanner.nextInStatement() {
            // ROLLBACK TRANSACTION TO SAVEPOINT has the name at the end.
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
