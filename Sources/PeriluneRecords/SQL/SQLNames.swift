/// The names in SQL text: words, which may be keywords, and quoted names.
package struct SQLNames {
    /// All names, folded to the case-insensitive form that SQLite compares.
    package private(set) var all: Set<String> = []
    /// The names in double quotes, with their original case.
    package private(set) var inDoubleQuotes: Set<String> = []
    /// The names without quotes, or in other quotes, case-folded.
    package private(set) var inOtherForm: Set<String> = []

    /// - Parameter sql: The SQL text, of which only the first 100,000 bytes are read.
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

    /// Returns whether a name appears in double quotes, which some SQL uses by mistake for strings.
    package func containsInDoubleQuotes(_ name: String) -> Bool { inDoubleQuotes.contains(name) }
}
