/// JSON, written in the order of its fields.
enum JSONText {
    enum Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
        case string(String)
        case integer(Int)
        case number(Double)
        case boolean(Bool)
        case list([Value])
        case object([(String, Value?)])

        init(stringLiteral value: String) { self = .string(value) }
        init(integerLiteral value: Int) { self = .integer(value) }
        init(booleanLiteral value: Bool) { self = .boolean(value) }

        static func strings(_ texts: [String]) -> Value { .list(texts.map { .string($0) }) }
    }

    /// A value in one line; fields without a value are left out.
    static func text(_ value: Value) -> String {
        switch value {
        case .string(let text): quoted(text)
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .boolean(let value): "\(value)"
        case .list(let values): "[" + values.map(text).joined(separator: ",") + "]"
        case .object(let fields):
            "{" + fields.compactMap { name, value in value.map { "\(quoted(name)):\(text($0))" } }.joined(separator: ",") + "}"
        }
    }

    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
