internal import Glibc

/// The arguments of the process as bytes: as texts they lose what is not UTF-8.
enum RawArguments {
    /// The arguments of the process, its name first.
    static var all: [[UInt8]] {
        (0..<Int(CommandLine.argc)).map { index in
            CommandLine.unsafeArgv[index].map { Array(UnsafeBufferPointer(start: $0, count: strlen($0))).map { UInt8(bitPattern: $0) } } ?? []
        }
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
