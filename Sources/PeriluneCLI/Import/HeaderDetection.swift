/// The decision whether the first row of a file is a header.
///
/// The first row is a header unless it looks like the rows below it. Names may be empty, repeated, or numbers such as years. Each column is
/// evidence for a header, evidence against one, or neither.
struct HeaderDetection {
    /// The number of rows to compare with the first.
    static let sampleSize = 1000

    private enum Evidence { case header, row, none }

    /// The kind of a value, which is compared between the first row and the rows below it. Digits with a leading zero, such as 007, are
    /// codes.
    private enum Kind { case number, code, boolean, date, text }

    /// Lowercase markers for missing values, which are ignored.
    private static let missing: Set<String> = [
        "", "na", "n/a", "#n/a", "null", "nan", "none", "nil", "-", "--", ".", "?", "\\n",
    ]

    private let first: [[UInt8]]
    private let rows: [[[UInt8]]]

    /// - Parameter rows: The rows after the first, up to ``sampleSize``.
    init(first: [[UInt8]], rows: [[[UInt8]]]) {
        (self.first, self.rows) = (first, rows)
    }

    var isHeader: Bool {
        let evidence = first.indices.map(evidence)
        let against = evidence.count { $0 == .row }, inFavor = evidence.count { $0 == .header }
        return against == 0 || inFavor >= against || hasUnnamedIndex || isNumbered
    }

    /// Returns whether a text is a common marker for a missing value.
    static func isMissing(_ value: [UInt8]) -> Bool {
        value.count < 6 && missing.contains(String(decoding: value, as: UTF8.self).trimmed.lowercased())
    }

    private static func form(_ value: [UInt8]) -> ValueForms { isMissing(value) ? [] : ValueForms(value) }

    /// Returns the kind of a value; `nil` if it is missing.
    private static func kind(_ value: [UInt8]) -> Kind? {
        switch form(value) {
        case []: nil
        case .text: value.allSatisfy { $0 &- 0x30 < 10 } ? .code : .text
        case .boolean: .boolean
        case .date, .datetime, .impossibleDate: .date
        default: .number
        }
    }

    private func evidence(_ column: Int) -> Evidence {
        guard let name = Self.kind(first[column]) else { return .none }
        let values = rows.filter { $0.count > column }.map { $0[column] }, kinds = values.compactMap(Self.kind)
        let texts = kinds.count { $0 == .text }, count = kinds.count
        if name == .text { return count > 0 && texts == 0 ? .header : .none }
        if count == 0 { return rows.isEmpty ? .row : .none }
        if texts * 2 > count { return .none }
        // A kind that no value below has indicates a name, such as a number above dates. A number above codes does not, because codes may
        // look like numbers.
        if !kinds.contains(name), name != .number || !kinds.contains(.code) { return .header }
        let years = values.count(where: Self.isYear)
        return Self.isYear(first[column]) && years * 2 < count ? .header : .row
    }

    private static func isYear(_ value: [UInt8]) -> Bool {
        guard value.count == 4, let year = NumberText.integer(value) else { return false }
        return (1500..<2200).contains(year)
    }

    /// Whether the first row numbers the columns from 0 or 1, and some values below it are not integers. Exports of tables without column
    /// names look like this.
    private var isNumbered: Bool {
        let numbers = first.compactMap(NumberText.integer)
        guard numbers.count == first.count, numbers.count > 1, let start = numbers.first, (0...1).contains(start) else {
            return false
        }
        guard zip(numbers, numbers.dropFirst()).allSatisfy({ $0 + 1 == $1 }) else { return false }
        return rows.contains { row in row.contains { !Self.form($0).isSubset(of: .integer) } }
    }

    /// Whether only the first column has an empty name, and each row has a value in it. R and pandas write row names like this.
    private var hasUnnamedIndex: Bool {
        guard first.count > 1, first[0].isEmpty, !rows.isEmpty, Set(first).count == first.count else { return false }
        return rows.allSatisfy { $0.first?.isEmpty == false }
    }
}
