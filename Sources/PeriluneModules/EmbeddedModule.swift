internal import Synchronization

/// A Lua module inside the binary: its text, and the bytecode that the build has made from it.
package struct EmbeddedModule: Sendable {
    /// The name that `require` takes: `perilune.records.writing`.
    let name: StaticString
    /// The text. It lasts as long as the program.
    package let source: StaticString
    /// The bytecode with each byte written as the character of that number; empty for modules that are only read as text.
    private let encodedBytecode: StaticString

    package init(_ name: StaticString, source: StaticString, bytecode: StaticString) {
        (self.name, self.source, encodedBytecode) = (name, source, bytecode)
    }

    /// The decoded bytecode by the address of its text, for the states after the first.
    private static let decoded = Mutex<[UInt: [UInt8]]>([:])

    /// The bytecode, with lines and names of variables; `nil` if the module has none.
    package var bytecode: [UInt8]? {
        guard encodedBytecode.utf8CodeUnitCount > 0 else { return nil }
        let address = UInt(bitPattern: encodedBytecode.utf8Start)
        return Self.decoded.withLock { decoded in
            if let known = decoded[address] { return known }
            let bytes = decodedBytecode
            decoded[address] = bytes
            return bytes
        }
    }

    private var decodedBytecode: [UInt8] {
        encodedBytecode.withUTF8Buffer { encoded in
            [UInt8](unsafeUninitializedCapacity: encoded.count) { bytes, count in
                var position = 0
                while position < encoded.count {
                    let unit = encoded[position]
                    // Characters from 0x80 to 0xFF take two bytes in UTF-8.
                    if unit < 0x80 {
                        bytes[count] = unit
                        position += 1
                    } else {
                        bytes[count] = unit << 6 | encoded[position + 1] & 0x3F
                        position += 2
                    }
                    count += 1
                }
            }
        }
    }
}
