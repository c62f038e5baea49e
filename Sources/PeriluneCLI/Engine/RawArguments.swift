internal import Glibc

/// The process arguments as bytes; as strings they would lose anything that is not UTF-8.
enum RawArguments {
    /// The process arguments, starting with the program name.
    static var all: [[UInt8]] {
        (0..<Int(CommandLine.argc)).map { index in
            CommandLine.unsafeArgv[index].map { Array(UnsafeBufferPointer(start: $0, count: strlen($0))).map { UInt8(bitPattern: $0) } } ?? []
        }
    }

    /// Returns the bytes after the first equals sign of an argument if they are not UTF-8.
    ///
    /// - Parameter text: The argument or its end.
    static func bytes(ofValueAfterEqualsIn text: String, among arguments: [[UInt8]] = all) -> [UInt8]? {
        guard text.unicodeScalars.contains("\u{FFFD}"), let equals = text.firstIndex(of: "=") else { return nil }
        let valueCount = text[text.index(after: equals)...].utf8.count
        for bytes in arguments {
            let decoded = String(decoding: bytes, as: UTF8.self)
            // The part before the value is text, with the same length in both forms.
            guard decoded.utf8.count != bytes.count || Array(decoded.utf8) != bytes, decoded.hasSuffix(text) else { continue }
            let start = decoded.utf8.count - valueCount
            guard start <= bytes.count else { continue }
            let value = Array(bytes[start...])
            if String(decoding: value, as: UTF8.self).utf8.count == valueCount { return value }
        }
        return nil
    }

    /// Returns the bytes of the last process arguments, which are given as strings, in order.
    static func bytes(ofLast arguments: [String]) -> [[UInt8]] {
        let raw = all
        guard raw.count > arguments.count else { return arguments.map { Array($0.utf8) } }
        // An argument that differs was reordered and is not at the end of the command line.
        return zip(arguments, raw.suffix(arguments.count)).map { text, bytes in
            String(decoding: bytes, as: UTF8.self) == text ? bytes : Array(text.utf8)
        }
    }
}
