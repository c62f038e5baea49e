/// An error when a date is read, computed or written.
public struct DateError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of the error, for programs.
    public var code: Code

    /// A description of the expected and the actual value, for people.
    public var message: String

    /// The invalid or missing part: `"year"`, `"month"`, `"day"`, `"hour"`, `"minute"`, `"second"`, `"microsecond"` or
    /// `"zone"`; `nil` if the error does not concern a single part.
    public var part: String?

    public var description: String { message }

    /// The kinds of errors.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Name: String {
            case syntax, now, missingDate, partOutOfRange, outOfRange, notFinite, pattern
        }

        private let name: Name

        /// A text that is not in a date format.
        public static let syntax = Code(name: .syntax)
        /// The text `now`, which SQLite's functions read as the current time, and which is therefore not a stored date.
        public static let now = Code(name: .now)
        /// A time of day, or date parts without a year, although a date is required.
        public static let missingDate = Code(name: .missingDate)
        /// A value that does not exist, such as month 13 or February 30.
        public static let partOutOfRange = Code(name: .partOutOfRange)
        /// An instant before ``DateTime/earliest`` or after ``DateTime/latest``.
        public static let outOfRange = Code(name: .outOfRange)
        /// A number that is infinite or not a number.
        public static let notFinite = Code(name: .notFinite)
        /// A pattern with an unknown substitution.
        public static let pattern = Code(name: .pattern)

        public var description: String { name.rawValue }
    }
}

extension DateError {
    static func syntax(expected: String, text: UnsafeBufferPointer<UInt8>) -> DateError {
        DateError(code: .syntax, message: "expected \(expected), got \(quoted(text))")
    }

    static func now() -> DateError {
        DateError(code: .now, message: "expected a stored date, got \"now\"")
    }

    static func missingDate(_ came: String) -> DateError {
        DateError(code: .missingDate, message: "expected a date, got \(came)", part: "year")
    }

    static func part(_ name: String, _ value: Int, expected range: ClosedRange<Int>, note: String = "") -> DateError {
        DateError(
            code: .partOutOfRange,
            message: "expected \(name == "hour" ? "an" : "a") \(name) from \(range.lowerBound) to "
                + "\(range.upperBound)\(note), got \(value)",
            part: name)
    }

    static func outOfRange(_ came: String) -> DateError {
        DateError(
            code: .outOfRange,
            message: "expected an instant from \(DateTime.earliest) to \(DateTime.latest), got \(came)")
    }

    static func notFinite(_ number: Double) -> DateError {
        DateError(code: .notFinite, message: "expected a finite number, got \(number)")
    }

    /// Returns the error with the text that contains the invalid part added to its message.
    func found(in text: UnsafeBufferPointer<UInt8>) -> DateError {
        var copy = self
        copy.message += " in \(Self.quoted(text))"
        return copy
    }

    /// Returns the start of a text in quotes, with nonprintable bytes escaped.
    private static func quoted(_ text: UnsafeBufferPointer<UInt8>) -> String {
        let limitInBytes = 40
        var result = "\""
        for byte in text.prefix(limitInBytes) {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): result += "\\" + String(UnicodeScalar(byte))
            case 0x20...0x7E: result.unicodeScalars.append(UnicodeScalar(byte))
            default: result += "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return result + (text.count > limitInBytes ? "…\"" : "\"")
    }
}
