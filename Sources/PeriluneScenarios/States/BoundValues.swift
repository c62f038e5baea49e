internal import PeriluneRecords

/// Finds the values that were bound to a statement in its text with them in place of the parameters.
enum BoundValues {
    /// The values as SQL literals, in the order of the text.
    static func values(in expanded: String, of sql: String) -> [String] {
        Array(sql.utf8).withUnsafeBufferPointer { template in
            Array(expanded.utf8).withUnsafeBufferPointer { text in
                var values: [String] = []
                var position = 0
                // But for the values both texts are the same. They are not divided alike: `-?` may have become `--1`.
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

    /// `NULL`, a number, `'text'`, `x'00'`, or a comment that replaces another value.
    private static func lengthOfLiteral(_ text: UnsafeBufferPointer<UInt8>) -> Int {
        var scanner = SQLScanner(text)
        // A negative number is a sign and a number.
        if scanner.next()?.kind == .sign { _ = scanner.next() }
        return scanner.position
    }
}
