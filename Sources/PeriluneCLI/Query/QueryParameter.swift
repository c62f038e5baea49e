import ArgumentParser

/// A value for an SQL parameter from the option `-p`.
struct QueryParameter: Equatable {
    /// The name without its prefix character.
    let name: String
    let value: Cell

    /// Parses `name=value` or `name:type=value` as a command-line option.
    init(_ text: String) throws {
        guard RawArguments.contain(text) else {
            throw ValidationError(
                "the value is not UTF-8; pass its bytes with name:blob=HEX, and write CAST(:name AS TEXT) in the statement")
        }
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
            throw ValidationError("expected name=value; the first ? of the statement has the name 1, as in -p 1=VALUE")
        }
        let value = String(text[text.index(after: equals)...])
        var name = text[..<equals]
        if let sign = name.first, ":@$?".contains(sign) { name = name.dropFirst() }
        if let colon = name.lastIndex(of: ":") {
            let type = String(name[name.index(after: colon)...])
            self.value = try Self.read(value, as: type)
            name = name[..<colon]
        } else {
            self.value = Self.guess(value)
        }
        guard !name.isEmpty else { throw ValidationError("expected name=value") }
        self.name = String(name)
    }

    private static func guess(_ text: String) -> Cell {
        switch text {
        case "null": return .null
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        default: break
        }
        // Only text that equals the written form of its number becomes a number: 007, +49 and integers of more than 64 bits stay text.
        if let integer = Int64(text), String(integer) == text { return .integer(integer) }
        if text.contains(where: { ".eE".contains($0) }), let real = real(text) { return .real(real) }
        return .text(Array(text.utf8))
    }

    private static func read(_ text: String, as type: String) throws -> Cell {
        let value: Cell? =
            switch type {
            case "text": .text(Array(text.utf8))
            case "integer": Int64(text).map(Cell.integer)
            case "real": real(text).map(Cell.real)
            case "boolean": ["true": true, "1": true, "false": false, "0": false][text].map(Cell.boolean)
            case "blob": bytes(ofHexadecimal: text).map(Cell.blob)
            default: throw ValidationError("\(type) is not a type; expected text, integer, real, boolean or blob")
            }
        guard let value else { throw ValidationError("expected a value of type \(type)") }
        return value
    }

    /// Parses a finite decimal number. Swift alone would also accept `inf`, `nan` and hexadecimal numbers.
    private static func real(_ text: String) -> Double? {
        guard text.utf8.allSatisfy({ "0123456789.eE+-".utf8.contains($0) }), let value = Double(text) else {
            return nil
        }
        return value.isFinite ? value : nil
    }

    private static func bytes(ofHexadecimal text: String) -> [UInt8]? {
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == text.count, digits.count % 2 == 0 else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
