internal import PeriluneRecords

/// Extraction of the values bound to a statement, from its SQL text and the expanded text in which SQLite has replaced the parameters.
enum BoundValues {
    /// Returns the bound values as SQL literals, in the order of the parameters in the text.
    static func values(in expanded: String, of sql: String) -> [String] {
        Array(sql.utf8).withUnsafeBufferPointer { template in
            Array(expanded.utf8).withUnsafeBufferPointer { text in
                var values: [String] = []
                var position = 0
                // Apart from the values, both texts are equal. Their tokens may differ: `-?` may have become `--1`.
                for token in SQLScanner(template) where position < text.count {
                    guard token.kind == .parameter else {
                        position += token.range.count
                        continue
                    }
                    let value = position..<position + lengthOfLiteral(UnsafeBufferPointer(rebasing: text[position...]))
                    values.append(String(decoding: text[value], as: UTF8.self))
                    position = value.upperBound
                }
                return values
            }
        }
    }

    /// Returns the length of a literal: `NULL`, a number, `'text'`, `x'00'`, or a comment in place of another value.
    private static func lengthOfLiteral(_ text: UnsafeBufferPointer<UInt8>) -> Int {
        var scanner = SQLScanner(text)
        // A negative number consists of a sign and a number.
        if scanner.next()?.kind == .sign { _ = scanner.next() }
        return scanner.position
    }
}
