internal import Glibc

/// The process arguments as bytes. Converting them to strings would replace invalid UTF-8.
enum RawArguments {
    /// The process arguments, starting with the program name.
    static var all: [[UInt8]] {
        (0..<Int(CommandLine.argc)).map { index in
            CommandLine.unsafeArgv[index].map {
                Array(UnsafeBufferPointer(start: $0, count: strlen($0))).map { UInt8(bitPattern: $0) }
            } ?? []
        }
    }

    /// Returns whether any argument ends with exactly the bytes of a text. If none does, invalid UTF-8 was replaced when the text was
    /// decoded.
    static func contain(_ text: String, among arguments: [[UInt8]] = all) -> Bool {
        guard text.unicodeScalars.contains("\u{FFFD}") else { return true }
        let bytes = Array(text.utf8)
        return arguments.contains { $0.suffix(bytes.count).elementsEqual(bytes) }
    }

    /// Returns the bytes of the last process arguments, which are given as strings in the same order.
    static func bytes(ofLast arguments: [String]) -> [[UInt8]] {
        let raw = all
        guard raw.count > arguments.count else { return arguments.map { Array($0.utf8) } }
        // An argument that differs was reordered, and is not at the end of the command line.
        return zip(arguments, raw.suffix(arguments.count)).map { text, bytes in
            String(decoding: bytes, as: UTF8.self) == text ? bytes : Array(text.utf8)
        }
    }
}
