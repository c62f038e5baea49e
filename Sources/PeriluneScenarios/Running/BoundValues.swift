/// Finds the values that were bound to a statement in its text with them in place of the parameters.
enum BoundValues {
    /// The values as SQL writes them, in the order in which they stand in the text.
    static func values(in expanded: String, of sql: String) -> [String] {
        var template = Cursor(Array(sql.utf8))
        var text = Cursor(Array(expanded.utf8))
        var values: [String] = []
        while let byte = template.next {
            if let length = template.lengthOfParameter() {
                let value = text.take(text.lengthOfLiteral())
                values.append(String(decoding: value, as: UTF8.self))
                template.skip(length)
            } else {
                let length = byte == text.next ? template.lengthOfToken() : 1
                template.skip(length)
                text.skip(length)
            }
        }
        return values
    }

    /// Goes through a text of SQL token by token.
    private struct Cursor {
        private let bytes: [UInt8]
        private var position = 0

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
        }

        var next: UInt8? { position < bytes.count ? bytes[position] : nil }

        mutating func skip(_ length: Int) { position = min(position + length, bytes.count) }

        mutating func take(_ length: Int) -> ArraySlice<UInt8> {
            defer { skip(length) }
            return bytes[position..<min(position + length, bytes.count)]
        }

        private func byte(_ offset: Int) -> UInt8? {
            position + offset < bytes.count ? bytes[position + offset] : nil
        }

        private func isNameByte(_ byte: UInt8?) -> Bool {
            guard let byte else { return false }
            return (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F
                || byte == 0x24 || byte >= 0x80
        }

        private func nameLength(from start: Int) -> Int {
            var end = start
            while isNameByte(byte(end)) { end += 1 }
            return end - start
        }

        /// `?`, `?1`, `:name`, `@name`, `$name`.
        func lengthOfParameter() -> Int? {
            switch next {
            case UInt8(ascii: "?"): return 1 + nameLength(from: 1)
            case UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "$"), UInt8(ascii: "#"):
                let length = nameLength(from: 1)
                return length > 0 ? 1 + length : nil
            default: return nil
            }
        }

        /// A name, a string, a quoted name, a comment, or one byte: what may hold the signs of parameters is skipped as a whole.
        func lengthOfToken() -> Int {
            switch (next, byte(1)) {
            case (UInt8(ascii: "'"), _), (UInt8(ascii: "\""), _), (UInt8(ascii: "`"), _): return lengthOfQuoted(next!)
            case (UInt8(ascii: "["), _): return length { byte($0 - 1) == UInt8(ascii: "]") }
            case (UInt8(ascii: "-"), UInt8(ascii: "-")): return length { byte($0 - 1) == UInt8(ascii: "\n") }
            case (UInt8(ascii: "/"), UInt8(ascii: "*")):
                return length { $0 > 3 && byte($0 - 2) == UInt8(ascii: "*") && byte($0 - 1) == UInt8(ascii: "/") }
            default: return max(1, nameLength(from: 0))
            }
        }

        /// `NULL`, a number, `'text'`, `x'00'`, or a comment that stands for something else.
        func lengthOfLiteral() -> Int {
            if next == UInt8(ascii: "'") { return lengthOfQuoted(next!) }
            if next == UInt8(ascii: "x"), byte(1) == UInt8(ascii: "'") {
                return length { $0 > 2 && byte($0 - 1) == UInt8(ascii: "'") }
            }
            var end = 0
            while let next = byte(end) {
                let isExponent = end > 0 && byte(end - 1).map { $0 | 0x20 == UInt8(ascii: "e") } == true
                let isSign = (next == UInt8(ascii: "-") || next == UInt8(ascii: "+")) && (end == 0 || isExponent)
                guard isNameByte(next) || next == UInt8(ascii: ".") || isSign else { break }
                end += 1
            }
            return end
        }

        private func lengthOfQuoted(_ quote: UInt8) -> Int {
            var end = 1
            while let byte = byte(end) {
                end += 1
                guard byte == quote else { continue }
                guard self.byte(end) == quote else { break }
                end += 1
            }
            return end
        }

        private func length(to isEnd: (Int) -> Bool) -> Int {
            var end = 1
            while byte(end - 1) != nil {
                end += 1
                if isEnd(end) { break }
            }
            return min(end, bytes.count - position)
        }
    }
}
