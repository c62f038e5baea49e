/// The names in SQL text: words, which may be keywords, and names in quotes.
package struct SQLNames {
    /// All names, folded as SQLite compares them.
    package private(set) var all: Set<String> = []
    /// Names in double quotes, with their original case.
    package private(set) var inDoubleQuotes: Set<String> = []
    /// Names without quotes, or in other quotes; folded.
    package private(set) var inOtherForm: Set<String> = []

    /// - Parameter sql: Only its first 100,000 bytes are read.
    package init(in sql: String) {
        Array(sql.utf8.prefix(100_000)).withUnsafeBufferPointer { text in
            let scanner = SQLScanner(text)
            for token in scanner where token.kind == .word || token.kind == .name {
                guard let name = scanner.name(token) else { continue }
                all.insert(name.foldedName)
                if text[token.range.lowerBound] == UInt8(ascii: "\"") {
                    inDoubleQuotes.insert(name)
                } else {
                    inOtherForm.insert(name.foldedName)
                }
            }
        }
    }

    package func contains(_ name: String) -> Bool { all.contains(name.foldedName) }

    /// Returns whether a name is in double quotes, which some SQL uses by mistake for text.
    package func containsInDoubleQuotes(_ name: String) -> Bool { inDoubleQuotes.contains(name) }
}
