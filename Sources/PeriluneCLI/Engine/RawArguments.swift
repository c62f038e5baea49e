internal import Glibc

/// The arguments of the process as bytes: as texts they lose what is not UTF-8.
enum RawArguments {
    /// The arguments of the process, its name first.
    static var all: [[UInt8]] {
        (0..<Int(CommandLine.argc)).map { index in
            CommandLine.unsafeArgv[index].map { Array(UnsafeBufferPointer(start: $0, count: strlen($0))).map { UInt8(bitPattern: $0) } } ?? []
        }
    }

    /// The bytes that an argument has after its first equals sign, if they are not UTF-8.
    ///
    /// - Parameter text: The argument, or its end.
    static func bytes(ofValueAfterEqualsIn text: String, among arguments: [[UInt8]] = all) -> [UInt8]? {
        guard text.unicodeScalars.contains("\u{FFFD}"), let equals = text.firstIndex(of: "=") else { return nil }
        let valueCount = text[text.index(after: equals)...].utf8.count
        for bytes in arguments {
            let decoded = String(decoding: bytes, as: UTF8.self)
            // What is before the value is text: it has as many bytes in both.
            guard decoded.utf8.count != bytes.count || Array(decoded.utf8) != bytes, decoded.hasSuffix(text) else { continue }
            let start = decoded.utf8.count - valueCount
            guard start <= bytes.count else { continue }
            let value = Array(bytes[start...])
            if String(decoding: value, as: UTF8.self).utf8.count == valueCount { return value }
        }
        return nil
    }

    /// The bytes of the last arguments of the process, in order, given as texts.
    static func bytes(ofLast arguments: [String]) -> [[UInt8]] {
        let raw = all
        guard raw.count > arguments.count else { return arguments.map { Array($0.utf8) } }
        // Where a text is another one it was not the last argument: the order of those before may have been changed.
        return zip(arguments, raw.suffix(arguments.count)).map { text, bytes in
            String(decoding: bytes, as: UTF8.self) == text ? bytes : Array(text.utf8)
        }
    }
}
