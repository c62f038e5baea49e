internal import PeriluneRecords

/// What the values of a column are, as far as importing knows.
enum ColumnKind: String, Sendable {
    case integer, real, text
    /// Whatever it is, as SQLite keeps it in a column without affinity.
    case blob
    /// 0 and 1, also as "true" and "false".
    case boolean
    /// Dates in the forms that records read, as text or as numbers.
    case date
    /// Numbers where they are some, else text.
    case numeric

    /// The kind of a column by its declared type.
    init(declared type: String) {
        let declared = DeclaredType(type)
        if declared.content == .boolean {
            self = .boolean
        } else if declared.content == .date {
            self = .date
        } else {
            switch declared.affinity {
            case .integer: self = .integer
            case .real: self = .real
            case .text: self = .text
            default: self = .numeric
            }
        }
    }

    /// The value of a text; `nil` if it is not of this kind. Empty text without quotes is NULL.
    func value(_ bytes: [UInt8], isQuoted: Bool) -> Cell? {
        if bytes.isEmpty, !isQuoted || self != .text && self != .numeric { return .null }
        switch self {
        case .text: return .text(bytes)
        case .integer: return NumberText.integer(bytes).map(Cell.integer)
        case .real: return NumberText.number(bytes)
        case .numeric, .blob: return NumberText.number(bytes) ?? .text(bytes)
        case .date: return NumberText.number(bytes) ?? ((try? DateTime(parsing: bytes)) == nil ? nil : .text(bytes))
        case .boolean:
            switch String(decoding: bytes, as: UTF8.self).lowercased() {
            case "1", "true", "t", "yes": return .integer(1)
            case "0", "false", "f", "no": return .integer(0)
            default: return nil
            }
        }
    }

    /// The value of a cell of JSON; `nil` if it is not of this kind. Texts are what they would be in quotes, but for empty ones.
    func value(_ cell: Cell) -> Cell? {
        switch (self, cell) {
        case (_, .null), (_, .blob), (.blob, _): cell
        case (.text, .boolean(let isTrue)): .text(Array("\(isTrue)".utf8))
        case (.text, _), (.numeric, _), (.real, .integer), (.real, .real), (.integer, .integer), (.date, .integer), (.date, .real): cell
        case (.integer, .boolean), (.real, .boolean), (.boolean, .boolean), (.boolean, .integer(0)), (.boolean, .integer(1)): cell
        // As SQLite keeps it.
        case (.integer, .real(let number)): Int64(exactly: number).map(Cell.integer)
        case (_, .text(let bytes)): bytes.isEmpty ? nil : value(bytes, isQuoted: true)
        case (.date, .boolean), (.boolean, _): nil
        }
    }

    /// What a message expects.
    var expectation: String {
        switch self {
        case .integer: "an integer"
        case .real: "a number"
        case .boolean: "true or false"
        case .date: "a date such as 2015-07-22 or 2015-07-22 14:30:00"
        case .text, .numeric, .blob: "text"
        }
    }

    /// The narrowest kind that has the values of both; `nil` stands for no value so far.
    static func joined(_ kind: ColumnKind?, with cell: Cell) -> ColumnKind? {
        switch cell {
        case .null: kind
        case .integer: joined(kind, with: .integer)
        case .real: joined(kind, with: .real)
        case .boolean: joined(kind, with: .boolean)
        case .text: joined(kind, with: .text)
        case .blob: .blob
        }
    }

    static func joined(_ kind: ColumnKind?, with other: ColumnKind) -> ColumnKind {
        guard let kind, kind != other else { return other }
        if kind == .blob || other == .blob { return .blob }
        return Set([kind, other]) == [.integer, .real] ? .real : .text
    }

    /// The narrowest kind that has the values of both; `nil` stands for no value so far.
    static func joined(_ kind: ColumnKind?, with bytes: [UInt8]) -> ColumnKind? {
        if bytes.isEmpty { return kind }
        switch kind {
        case .text?: return .text
        case .real?: return NumberText.isNumber(bytes) ? .real : .text
        default:
            if NumberText.integer(bytes) != nil { return .integer }
            return NumberText.real(bytes) != nil ? .real : .text
        }
    }
}

/// Numbers in text that are written back the same, but for zeros at the end: 007 and +49 are text.
enum NumberText {
    static func isNumber(_ bytes: [UInt8]) -> Bool { number(bytes) != nil }

    static func number(_ bytes: [UInt8]) -> Cell? { integer(bytes).map(Cell.integer) ?? real(bytes).map(Cell.real) }

    static func integer(_ bytes: [UInt8]) -> Int64? {
        guard let first = bytes.first, bytes.count < 21 else { return nil }
        let digits = first == UInt8(ascii: "-") ? bytes.dropFirst() : bytes[...]
        guard let leading = digits.first, leading != UInt8(ascii: "0") || bytes.count == 1 else { return nil }
        var value: Int64 = 0
        for byte in digits {
            let digit = byte &- 0x30
            guard digit < 10 else { return nil }
            let (product, overflows) = value.multipliedReportingOverflow(by: 10)
            let (difference, alsoOverflows) = product.subtractingReportingOverflow(Int64(digit))
            guard !overflows, !alsoOverflows else { return nil }
            value = difference
        }
        // Negative numbers reach further.
        if first == UInt8(ascii: "-") { return value }
        return value == .min ? nil : -value
    }

    /// Whether it is an integer that SQLite would keep as the nearest number that a REAL can be.
    static func isLongInteger(_ bytes: [UInt8]) -> Bool {
        let digits = bytes.first == UInt8(ascii: "-") ? bytes.dropFirst() : bytes[...]
        return digits.count > 18 && digits.allSatisfy { $0 &- 0x30 < 10 } && integer(bytes) == nil
    }

    static func real(_ bytes: [UInt8]) -> Double? {
        guard let first = bytes.first, bytes.count < 40 else { return nil }
        let digits = first == UInt8(ascii: "-") ? bytes.dropFirst() : bytes[...]
        guard let leading = digits.first, leading &- 0x30 < 10, bytes.contains(where: { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") })
        else { return nil }
        // 0.5, but not 00.5.
        if leading == UInt8(ascii: "0"), let second = digits.dropFirst().first, second &- 0x30 < 10 { return nil }
        guard bytes.allSatisfy({ $0 &- 0x30 < 10 || ".eE+-".utf8.contains($0) }) else { return nil }
        guard let value = Double(String(decoding: bytes, as: UTF8.self)), value.isFinite else { return nil }
        return value
    }
}
