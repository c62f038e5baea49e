internal import Synchronization

/// A Lua module embedded in the binary: its source text, and the bytecode that the build compiled from it.
package struct EmbeddedModule: Sendable {
    /// The name to pass to `require`, such as `perilune.records.writing`.
    let name: StaticString
    /// The source text, in static memory.
    package let source: StaticString
    /// The bytecode, with each byte written as the character with that code point; empty for modules that are used only as
    /// text.
    private let encodedBytecode: StaticString

    package init(_ name: StaticString, source: StaticString, bytecode: StaticString) {
        (self.name, self.source, encodedBytecode) = (name, source, bytecode)
    }

    /// The decoded bytecode by the address of its encoded text, kept for further Lua states.
    private static let decoded = Mutex<[UInt: [UInt8]]>([:])

    /// The bytecode, including debug information; `nil` if the module has none.
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
                    // In UTF-8, the characters 0x80 to 0xFF occupy two bytes.
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
