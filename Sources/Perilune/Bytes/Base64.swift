/// Streaming Base64 encoding and decoding.
///
/// - SeeAlso: RFC 4648, section 4.
package enum Base64 {
    /// An encoder from bytes to Base64 text.
    package struct Encoder {
        /// Up to two bytes that do not yet fill a group of four letters.
        private var rest: [UInt8] = []

        package init() {}

        /// Encodes more bytes, and appends the letters.
        package mutating func encode(_ bytes: UnsafeRawBufferPointer, to text: inout [UInt8]) {
            var bytes = bytes
            while !rest.isEmpty, rest.count < 3, let first = bytes.first {
                rest.append(first)
                bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
            }
            if rest.count == 3 {
                rest.withUnsafeBytes { Self.encodeWhole($0, to: &text) }
                rest.removeAll(keepingCapacity: true)
            }
            let whole = bytes.count - bytes.count % 3
            Self.encodeWhole(UnsafeRawBufferPointer(rebasing: bytes[..<whole]), to: &text)
            rest.append(contentsOf: bytes[whole...])
        }

        /// Appends the last letters and the padding, after all bytes have been encoded.
        package mutating func finish(to text: inout [UInt8]) {
            guard !rest.isEmpty else { return }
            let missing = 3 - rest.count
            (rest + Array(repeating: 0, count: missing)).withUnsafeBytes { Self.encodeWhole($0, to: &text) }
            text.replaceSubrange((text.count - missing)..., with: Array(repeating: UInt8(ascii: "="), count: missing))
            rest = []
        }

        /// Encodes a multiple of three bytes.
        private static func encodeWhole(_ bytes: UnsafeRawBufferPointer, to text: inout [UInt8]) {
            let start = text.count
            text.append(contentsOf: repeatElement(0, count: bytes.count / 3 * 4))
            letters.withUnsafeBufferPointer { letters in
                text.withUnsafeMutableBufferPointer { text in
                    var place = start
                    for index in stride(from: 0, to: bytes.count, by: 3) {
                        let bits = Int(bytes[index]) << 16 | Int(bytes[index + 1]) << 8 | Int(bytes[index + 2])
                        text[place] = letters[bits >> 18]
                        text[place + 1] = letters[bits >> 12 & 63]
                        text[place + 2] = letters[bits >> 6 & 63]
                        text[place + 3] = letters[bits & 63]
                        place += 4
                    }
                }
            }
        }
    }

    /// A strict decoder of Base64 text, which accepts only the form that ``Encoder`` writes.
    package struct Decoder {
        private var bits: UInt32 = 0
        private var letterCount = 0
        private var padCount = 0

        package init() {}

        /// Decodes more letters, and appends the bytes.
        ///
        /// - Returns: `false` if a letter is invalid at its position.
        package mutating func decode(_ text: UnsafeRawBufferPointer, to bytes: inout [UInt8]) -> Bool {
            values.withUnsafeBufferPointer { values in
                let whole = letterCount == 0 && padCount == 0 ? Self.decodeWhole(text, values, to: &bytes) : 0
                for letter in text[whole...] {
                    let value = values[Int(letter)]
                    if value == Base64.pad {
                        padCount += 1
                        guard padCount <= 2, letterCount + padCount >= 3 else { return false }
                    } else if value > 63 || padCount > 0 {
                        return false
                    }
                    bits = bits << 6 | UInt32(value & 63)
                    letterCount += value == Base64.pad ? 0 : 1
                    if letterCount + padCount == 4 { takeGroup(to: &bytes) }
                }
                return true
            }
        }

        /// Whether the decoded text consists of complete groups of four letters.
        package var isComplete: Bool { letterCount == 0 }

        /// Decodes groups of four letters, up to the first group that contains another character.
        ///
        /// - Returns: The number of decoded letters.
        private static func decodeWhole(
            _ text: UnsafeRawBufferPointer, _ values: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]
        ) -> Int {
            let start = bytes.count
            bytes.append(contentsOf: repeatElement(0, count: text.count / 4 * 3))
            var (taken, place) = (0, start)
            bytes.withUnsafeMutableBufferPointer { bytes in
                while taken + 4 <= text.count {
                    let first = values[Int(text[taken])], second = values[Int(text[taken + 1])]
                    let third = values[Int(text[taken + 2])], fourth = values[Int(text[taken + 3])]
                    guard first | second | third | fourth < 64 else { break }
                    bytes[place] = first << 2 | second >> 4
                    bytes[place + 1] = second << 4 | third >> 2
                    bytes[place + 2] = third << 6 | fourth
                    (taken, place) = (taken + 4, place + 3)
                }
            }
            bytes.removeLast(bytes.count - place)
            return taken
        }

        private mutating func takeGroup(to bytes: inout [UInt8]) {
            bytes.append(UInt8(truncatingIfNeeded: bits >> 16))
            if padCount < 2 { bytes.append(UInt8(truncatingIfNeeded: bits >> 8)) }
            if padCount < 1 { bytes.append(UInt8(truncatingIfNeeded: bits)) }
            // `padCount` is not reset, so letters after the padding are rejected.
            letterCount = 0
        }
    }

    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let pad: UInt8 = 64
    private static let values: [UInt8] = (0...255).map { byte in
        letters.firstIndex(of: byte).map { UInt8($0) } ?? (byte == UInt8(ascii: "=") ? pad : 255)
    }
}
