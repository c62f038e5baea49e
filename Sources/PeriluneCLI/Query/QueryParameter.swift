import ArgumentParser

/// A value for a parameter of a statement, as `-p` gives it.
struct QueryParameter: Equatable {
    /// The name, without the sign before it.
    let name: String
    let value: Cell

    /// Reads `name=value` or `name:type=value`, as an option of the command line.
    init(_ text: String) throws {
        try self.init(text, bytes: RawArguments.bytes(ofValueAfterEqualsIn: text))
    }

    /// Reads `name=value` or `name:type=value`.
    ///
    /// - Parameter bytes: Those of the value, if the text does not say them: they are not UTF-8.
    init(_ text: String, bytes: [UInt8]?) throws {
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
            throw ValidationError("expected name=value")
        }
        let value = String(text[text.index(after: equals)...])
        var name = text[..<equals]
        if let sign = name.first, ":@$?".contains(sign) { name = name.dropFirst() }
        if let colon = name.lastIndex(of: ":") {
            let type = String(name[name.index(after: colon)...])
            self.value = type == "text" ? .text(bytes ?? Array(value.utf8)) : try Self.read(value, as: type)
            name = name[..<colon]
        } else {
            self.value = bytes.map { .text($0) } ?? Self.guess(value)
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
        // Only what is written back the same: 007 and +49 are text, like numbers of more than 64 bits.
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

    /// A finite decimal number: Swift reads `inf`, `nan` and hexadecimal numbers, too.
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
