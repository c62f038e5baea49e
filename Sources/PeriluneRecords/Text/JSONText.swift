/// A writer of JSON on a single line. Fields keep the given order, which Foundation's encoders do not preserve, and bytes from
/// SQLite are copied without conversion to strings.
package enum JSONText: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    case string(String)
    case integer(Int)
    case number(Double)
    case boolean(Bool)
    case list([JSONText])
    /// An object. Fields whose value is `nil` are left out.
    case object([(String, JSONText?)])

    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .boolean(value) }

    package static func strings(_ texts: [String]) -> JSONText { .list(texts.map { .string($0) }) }

    /// The value as JSON text.
    package var text: String {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func append(to bytes: inout [UInt8]) {
        switch self {
        case .string(let text): Self.append(text, to: &bytes)
        case .integer(let number): bytes += "\(number)".utf8
        case .number(let number): Self.append(number, to: &bytes)
        case .boolean(let value): bytes += "\(value)".utf8
        case .list(let values): Self.append("[", values, "]", to: &bytes) { $0.append(to: &$1) }
        case .object(let fields):
            let given = fields.compactMap { name, value in value.map { (name, $0) } }
            Self.append("{", given, "}", to: &bytes) { field, bytes in
                Self.append(field.0, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                field.1.append(to: &bytes)
            }
        }
    }

    /// Appends elements between brackets, separated by commas.
    package static func append<Element>(
        _ opening: StaticString, _ elements: some Sequence<Element>, _ closing: StaticString, to bytes: inout [UInt8],
        _ append: (Element, inout [UInt8]) -> Void
    ) {
        bytes += "\(opening)".utf8
        var isFirst = true
        for element in elements {
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
            append(element, &bytes)
        }
        bytes += "\(closing)".utf8
    }

    /// Appends a number. Infinity becomes `9e999` or `-9e999`, as in SQLite's JSON; NaN becomes `null`.
    package static func append(_ number: Double, to bytes: inout [UInt8]) {
        if number.isNaN {
            bytes += "null".utf8
        } else if number.isInfinite {
            bytes += (number < 0 ? "-9e999" : "9e999").utf8
        } else {
            bytes += number.description.utf8
        }
    }

    /// Appends a string in quotes, with escapes.
    package static func append(_ text: String, to bytes: inout [UInt8]) {
        append(text: text.utf8, to: &bytes)
    }

    /// Appends a string of UTF-8 bytes in quotes, with escapes.
    package static func append(text: some Sequence<UInt8>, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case UInt8(ascii: "\n"): bytes += "\\n".utf8
            case UInt8(ascii: "\r"): bytes += "\\r".utf8
            case UInt8(ascii: "\t"): bytes += "\\t".utf8
            case 0..<0x20, 0x7F: bytes += ("\\u00" + (byte < 16 ? "0" : "") + String(byte, radix: 16)).utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
