internal import PeriluneRecords

/// The kind of values in a column during an import.
enum ColumnKind: String, Sendable {
    case integer, real, text
    /// Any value, for a column without affinity.
    case blob
    /// 0 and 1, also written as "true" and "false".
    case boolean
    /// Dates in the formats that records read, as text or numbers.
    case date, datetime
    /// Numbers if possible, otherwise text.
    case numeric

    /// Creates the kind for a declared column type.
    init(declared type: String) {
        let declared = DeclaredType(type)
        switch (declared.content, declared.affinity) {
        case (.boolean, _): self = .boolean
        case (.day, _): self = .date
        case (.date, _): self = .datetime
        case (_, .integer): self = .integer
        case (_, .real): self = .real
        case (_, .text): self = .text
        default: self = .numeric
        }
    }

    /// Converts the text of a field; returns `nil` if it does not fit this kind. An unquoted empty field is NULL.
    func value(_ bytes: [UInt8], isQuoted: Bool) -> Cell? {
        if bytes.isEmpty, !isQuoted || self != .text && self != .numeric { return .null }
        switch self {
        case .text: return .text(bytes)
        case .integer: return NumberText.converted(bytes).flatMap(Self.integer)
        case .real: return NumberText.converted(bytes)
        case .numeric, .blob: return NumberText.number(bytes) ?? .text(bytes)
        case .date, .datetime: return NumberText.number(bytes) ?? DateText.stored(bytes).map(Cell.text)
        case .boolean:
            switch String(decoding: bytes, as: UTF8.self).lowercased() {
            case "1", "true", "t", "yes": return .integer(1)
            case "0", "false", "f", "no": return .integer(0)
            default: return nil
            }
        }
    }

    /// Converts a JSON value; returns `nil` if it does not fit this kind. Strings are converted like quoted text, but an empty string does
    /// not fit numbers, dates and booleans.
    func value(_ cell: Cell) -> Cell? {
        switch (self, cell) {
        case (_, .null), (_, .blob), (.blob, _): cell
        case (.text, .boolean(let isTrue)): .text(Array("\(isTrue)".utf8))
        // SQLite would convert the number with only 15 digits.
        case (.text, .real(let number)) where number.isFinite: .text(Array(FloatLiteral.decimal(number).utf8))
        case (.text, _), (.numeric, _), (.real, .integer), (.real, .real), (.integer, .integer): cell
        case (.date, .integer), (.date, .real), (.datetime, .integer), (.datetime, .real): cell
        case (.integer, .boolean), (.real, .boolean), (.boolean, .boolean), (.boolean, .integer(0)), (.boolean, .integer(1)): cell
        // In INTEGER columns, SQLite stores whole real numbers as integers.
        case (.integer, .real(let number)): Int64(exactly: number).map(Cell.integer)
        case (_, .text(let bytes)): bytes.isEmpty ? nil : value(bytes, isQuoted: true)
        case (.date, .boolean), (.datetime, .boolean), (.boolean, _): nil
        }
    }

    /// Returns the integer that a column with INTEGER affinity stores for a number; `nil` if it would store a real number.
    private static func integer(_ number: Cell) -> Cell? {
        guard case .real(let value) = number else { return number }
        return abs(value) < 0x1p53 ? Int64(exactly: value).map(Cell.integer) : nil
    }

    /// A description of valid values for error messages.
    var expectation: String {
        switch self {
        case .integer: "an integer"
        case .real: "a number"
        case .boolean: "true or false"
        case .date, .datetime: "a date such as 2015-07-22 or 2015-07-22 14:30:00"
        case .text, .numeric, .blob: "text"
        }
    }

    /// Describes the values that would be valid in place of the given text.
    func expectation(for bytes: [UInt8]) -> String {
        switch self {
        case .integer where NumberText.isLongInteger(bytes), .real where NumberText.isLongInteger(bytes):
            return "an integer of 64 bits"
        case .date, .datetime:
            do {
                _ = try DateTime(parsing: bytes)
            } catch let error as DateError where error.code == .partOutOfRange {
                // The text has the right format, so the error names the valid range: "expected a day from 1 to 28 in month 2, got 30".
                let end = error.message.range(of: ", got ")?.lowerBound ?? error.message.endIndex
                return String(error.message[..<end].trimmingPrefix("expected "))
            } catch {}
            return expectation
        default: return expectation
        }
    }
}

/// The forms of the values in a column, which determine its kind.
struct ValueForms: OptionSet, Equatable, Sendable {
    let rawValue: UInt16

    static let integer = ValueForms(rawValue: 1)
    /// Digits after a plus sign: numbers if mixed with other numbers, otherwise text such as phone numbers.
    static let signedInteger = ValueForms(rawValue: 2)
    static let real = ValueForms(rawValue: 4)
    static let date = ValueForms(rawValue: 8)
    static let datetime = ValueForms(rawValue: 16)
    static let boolean = ValueForms(rawValue: 32)
    static let text = ValueForms(rawValue: 64)
    static let blob = ValueForms(rawValue: 128)
    /// Text with the digits and signs of a date that does not exist, such as 2026-13-01.
    static let impossibleDate = ValueForms(rawValue: 256)
    /// The only text in a column of dates, booleans or JSON numbers, which is probably a mistake.
    static let oddText = ValueForms(rawValue: 512)

    init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Creates the form of a JSON value. Strings are dates or text, because JSON has its own numbers and booleans.
    init(_ cell: Cell) {
        switch cell {
        case .null: self = []
        case .integer: self = .integer
        case .real: self = .real
        case .boolean: self = .boolean
        case .text(let bytes): self = Self.date(bytes) ?? .text
        case .blob: self = .blob
        }
    }

    /// Creates the form of a CSV field.
    init(_ bytes: [UInt8]) {
        guard let first = bytes.first else { self = []; return }
        if let number = NumberText.form(bytes) {
            self = number
        } else if first &- 0x30 < 10, let date = Self.date(bytes) {
            self = date
        } else if bytes.count == 4 || bytes.count == 5,
            ["true", "false"].contains(String(decoding: bytes, as: UTF8.self).lowercased())
        {
            self = .boolean
        } else {
            self = .text
        }
    }

    /// Returns the form of a possible or impossible ISO 8601 date with an optional time; `nil` for other text.
    private static func date(_ bytes: [UInt8]) -> ValueForms? {
        guard bytes.count >= 10, bytes[4] == UInt8(ascii: "-") else { return nil }
        let pattern = Array("0000-00-00".utf8)
        guard zip(bytes, pattern).allSatisfy({ $1 == 0x30 ? $0 &- 0x30 < 10 : $0 == $1 }) else { return nil }
        guard bytes.count == 10 || bytes.count >= 16 && (bytes[10] == 0x20 || bytes[10] == UInt8(ascii: "T")) else { return nil }
        guard (try? DateTime(parsing: bytes)) != nil else { return .impossibleDate }
        return bytes.count == 10 ? .date : .datetime
    }

    var areNumbers: Bool { !isEmpty && isSubset(of: [.integer, .real]) }
    var areDates: Bool { !isEmpty && isSubset(of: [.date, .datetime]) }

    /// Returns the narrowest column kind that fits all values; `nil` for a column without values.
    ///
    /// - Parameter setsAside: Whether rows with impossible dates and odd texts are set aside, so that they do not turn a column into text.
    func kind(setsAside: Bool) -> ColumnKind? {
        let others = subtracting([.impossibleDate, .oddText])
        return setsAside && (others.areDates || !contains(.impossibleDate)) ? others.kind : kind
    }

    private var kind: ColumnKind? {
        if isEmpty { return nil }
        if contains(.blob) { return .blob }
        if self == .boolean { return .boolean }
        if isSubset(of: [.date, .datetime]) { return contains(.datetime) ? .datetime : .date }
        guard isSubset(of: [.integer, .signedInteger, .real]), self != .signedInteger else { return .text }
        return contains(.real) ? .real : .integer
    }
}

/// The form in which dates are stored.
enum DateText {
    /// Returns a date in a form that sorts with the dates that records write; `nil` if the text is not a date.
    ///
    /// A text with a `T` or a time zone becomes `YYYY-MM-DD HH:MM:SS.SSS` in UTC, with all digits of its fraction. Other texts are unchanged.
    static func stored(_ bytes: [UInt8]) -> [UInt8]? {
        guard let date = try? DateTime(parsing: bytes) else { return nil }
        if sorts(bytes) { return bytes }
        let point = bytes.firstIndex(of: UInt8(ascii: ".")) ?? bytes.endIndex
        var fraction = Array(bytes[point...].dropFirst().prefix { $0 &- 0x30 < 10 })
        while fraction.count > 3, fraction.last == 0x30 { fraction.removeLast() }
        let padding = [UInt8](repeating: 0x30, count: max(3 - fraction.count, 0))
        return Array("\(date.text(as: .ymdHMS)).".utf8) + fraction + padding
    }

    /// Returns whether a date has at most one space between its day and its time, and no time zone.
    private static func sorts(_ bytes: [UInt8]) -> Bool {
        // Years before 0 sort with no other.
        guard bytes.count > 10, bytes[4] == UInt8(ascii: "-") else { return true }
        return bytes[10] == 0x20 && bytes[11...].allSatisfy { $0 &- 0x30 < 10 || [0x2E, 0x3A].contains($0) }
    }
}

/// Recognition and conversion of numbers in text.
enum NumberText {
    // MARK: - In columns without a type

    /// Returns a number if its text form is the same as the given text, apart from trailing zeros. Thus 007 and +49 are not numbers.
    static func number(_ bytes: [UInt8]) -> Cell? { integer(bytes).map(Cell.integer) ?? real(bytes).map(Cell.real) }

    static func integer(_ bytes: [UInt8]) -> Int64? {
        guard let first = bytes.first, bytes.count < 21 else { return nil }
        let digits = first == UInt8(ascii: "-") ? bytes.dropFirst() : bytes[...]
        guard let leading = digits.first, leading != UInt8(ascii: "0") || bytes.count == 1 else { return nil }
        return parsed(digits, isNegative: first == UInt8(ascii: "-"))
    }

    /// Returns the integer of a string of digits; `nil` if it does not fit into 64 bits.
    private static func parsed(_ digits: ArraySlice<UInt8>, isNegative: Bool) -> Int64? {
        guard !digits.isEmpty else { return nil }
        var value: Int64 = 0
        for byte in digits {
            let digit = byte &- 0x30
            guard digit < 10 else { return nil }
            let (product, overflows) = value.multipliedReportingOverflow(by: 10)
            let (difference, alsoOverflows) = product.subtractingReportingOverflow(Int64(digit))
            guard !overflows, !alsoOverflows else { return nil }
            value = difference
        }
        // The range of negative numbers is larger by one.
        if isNegative { return value }
        return value == .min ? nil : -value
    }

    /// Returns whether the text is an integer of more than 64 bits, which SQLite would round to the nearest REAL.
    static func isLongInteger(_ bytes: [UInt8]) -> Bool {
        let digits = bytes.first == UInt8(ascii: "-") ? bytes.dropFirst() : bytes[...]
        return digits.count > 18 && digits.allSatisfy { $0 &- 0x30 < 10 } && integer(bytes) == nil
    }

    private static func real(_ bytes: [UInt8]) -> Double? {
        guard let text = NumberParts(bytes[...]), !text.hasPlus, !text.whole.isEmpty, !text.hasLeadingZero, text.isReal else {
            return nil
        }
        return text.double
    }

    // MARK: - In numeric columns

    /// Converts text to a number like SQLite does for numeric columns: surrounding blanks, a plus sign, leading zeros, and a leading or
    /// trailing decimal point are accepted.
    static func converted(_ bytes: [UInt8]) -> Cell? {
        guard let text = NumberParts(trimmed(bytes)) else { return nil }
        if !text.isReal, let integer = parsed(text.whole, isNegative: text.isNegative) { return .integer(integer) }
        return text.double.map(Cell.real)
    }

    /// Returns the form of a number for type detection; `nil` for text, including 007 and integers of more than 64 bits.
    static func form(_ bytes: [UInt8]) -> ValueForms? {
        guard let text = NumberParts(trimmed(bytes)), !text.hasLeadingZero else { return nil }
        if text.isReal { return text.double == nil ? nil : .real }
        guard parsed(text.whole, isNegative: text.isNegative) != nil else { return nil }
        return text.hasPlus ? .signedInteger : .integer
    }

    private static func trimmed(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte &- 0x09 < 5 }
        guard let first = bytes.first, let last = bytes.last, isBlank(first) || isBlank(last) else { return bytes[...] }
        let start = bytes.drop(while: isBlank)
        return start.prefix((start.lastIndex { !isBlank($0) } ?? start.startIndex - 1) + 1 - start.startIndex)
    }
}

/// The parts of a decimal number: sign, digits, decimal point and exponent.
private struct NumberParts {
    private let bytes: ArraySlice<UInt8>
    let isNegative: Bool
    let hasPlus: Bool
    /// The digits before the decimal point.
    let whole: ArraySlice<UInt8>
    /// Whether the number has a decimal point or an exponent.
    let isReal: Bool

    init?(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        guard let first = bytes.first, first < 0x3A else { return nil }
        isNegative = first == UInt8(ascii: "-")
        hasPlus = first == UInt8(ascii: "+")
        var rest = isNegative || hasPlus ? bytes.dropFirst() : bytes
        whole = rest.prefix { $0 &- 0x30 < 10 }
        rest = rest[whole.endIndex...]
        var hasDigits = !whole.isEmpty, isReal = false
        if rest.first == UInt8(ascii: ".") {
            let fraction = rest.dropFirst().prefix { $0 &- 0x30 < 10 }
            (hasDigits, isReal) = (hasDigits || !fraction.isEmpty, true)
            rest = rest[fraction.endIndex...]
        }
        if let sign = rest.first, sign | 0x20 == UInt8(ascii: "e") {
            rest = rest.dropFirst()
            if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { rest = rest.dropFirst() }
            guard !rest.isEmpty, rest.allSatisfy({ $0 &- 0x30 < 10 }) else { return nil }
            (rest, isReal) = ([], true)
        }
        guard hasDigits, rest.isEmpty else { return nil }
        self.isReal = isReal
    }

    /// Whether the number has leading zeros, such as 007 and 00.5, but not 0.5.
    var hasLeadingZero: Bool { whole.count > 1 && whole.first == 0x30 }

    /// The number; `nil` if it is out of range.
    var double: Double? { Double(String(decoding: bytes, as: UTF8.self)).flatMap { $0.isFinite ? $0 : nil } }
}
