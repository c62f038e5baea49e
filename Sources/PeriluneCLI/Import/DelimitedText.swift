/// Text with one row per line and a separator between fields: CSV, TSV and similar formats.
///
/// - SeeAlso: RFC 4180. LF or CR alone are also line ends. Blanks around fields belong to the fields.
struct DelimitedText {
    /// A field as a range of the text.
    struct Field {
        /// The byte range of the field without its quotes.
        let range: Range<Int>
        let isQuoted: Bool
        /// Whether the field contains doubled quotes.
        let hasQuotes: Bool
    }

    let bytes: [UInt8]
    let separator: UInt8
    /// The quote character; `nil` if fields are not quoted.
    let quote: UInt8?
    /// Whether an empty line is a row with one empty field, which files with a single column need; otherwise, empty lines are skipped.
    var hasEmptyRows = false
    private(set) var position = 0
    /// The line at which ``next(into:)`` started to read, from 1.
    private(set) var line = 0
    private var nextLine = 1
    /// Whether the text ends inside quotes.
    private(set) var isUnclosed = false
    /// The line in which text follows the closing quote of a multiline field. That quote is probably part of the text.
    private(set) var spoiledLine: Int?

    /// - Parameter skippedLines: The number of lines before the first row.
    init(_ bytes: [UInt8], separator: UInt8, quote: UInt8? = UInt8(ascii: "\""), skippedLines: Int = 0) {
        self.bytes = bytes
        self.separator = separator
        self.quote = quote
        bytes.withUnsafeBufferPointer { text in
            for _ in 0..<skippedLines where position < text.count {
                while position < text.count, text[position] != 0x0A, text[position] != 0x0D { position += 1 }
                if position < text.count { skipLineEnd(text) }
            }
        }
    }

    /// The number of lines in the last row.
    var lineCount: Int { nextLine - line }

    /// Reads the fields of the next row, and returns whether there was a row.
    mutating func next(into fields: inout [Field]) -> Bool {
        fields.removeAll(keepingCapacity: true)
        return bytes.withUnsafeBufferPointer { text in
            while !hasEmptyRows, position < text.count, text[position] == 0x0A || text[position] == 0x0D { skipLineEnd(text) }
            guard position < text.count else { return false }
            line = nextLine
            spoiledLine = nil
            while true {
                fields.append(takeField(text))
                guard position < text.count, text[position] == separator else { break }
                position += 1
            }
            if position < text.count { skipLineEnd(text) }
            return true
        }
    }

    private mutating func skipLineEnd(_ text: UnsafeBufferPointer<UInt8>) {
        if text[position] == 0x0D, position + 1 < text.count, text[position + 1] == 0x0A { position += 1 }
        position += 1
        nextLine += 1
    }

    private mutating func takeField(_ text: UnsafeBufferPointer<UInt8>) -> Field {
        guard let quote, position < text.count, text[position] == quote else {
            let start = position
            while position < text.count, text[position] != separator, text[position] != 0x0A, text[position] != 0x0D {
                position += 1
            }
            return Field(range: start..<position, isQuoted: false, hasQuotes: false)
        }
        position += 1
        let start = position
        var hasQuotes = false, hasLines = false
        while position < text.count {
            if text[position] == quote {
                guard position + 1 < text.count, text[position + 1] == quote else { break }
                hasQuotes = true
                position += 1
            } else if text[position] == 0x0A {
                nextLine += 1
                hasLines = true
            } else if text[position] == 0x0D {
                hasLines = true
            }
            position += 1
        }
        isUnclosed = position >= text.count
        let end = position
        position = min(position + 1, text.count)
        // Text between the closing quote and the separator is part of the field, as in other CSV readers.
        let rest = position
        while position < text.count, text[position] != separator, text[position] != 0x0A, text[position] != 0x0D { position += 1 }
        if hasLines, position > rest { spoiledLine = nextLine }
        return Field(range: start..<(position > rest ? position : end), isQuoted: true, hasQuotes: hasQuotes)
    }

    /// Returns the bytes of a field, in which doubled quotes become single ones.
    func value(_ field: Field) -> [UInt8] {
        guard field.hasQuotes, let quote else { return Array(bytes[field.range]) }
        var value: [UInt8] = []
        var index = field.range.lowerBound
        while index < field.range.upperBound {
            value.append(bytes[index])
            index += bytes[index] == quote && index + 1 < field.range.upperBound && bytes[index + 1] == quote ? 2 : 1
        }
        return value
    }

    func text(_ field: Field) -> String { String(decoding: value(field), as: UTF8.self) }

    // MARK: - Detection

    /// Returns the separator that divides the first rows most evenly, by default a comma.
    static func separator(of bytes: [UInt8], quote: UInt8?, skippedLines: Int) -> UInt8 {
        let start = DelimitedText(bytes, separator: 0, skippedLines: skippedLines).position
        let sample = Array(bytes[start...].prefix(64 << 10))
        let candidates: [UInt8] = [UInt8(ascii: ","), 0x09, UInt8(ascii: ";"), UInt8(ascii: "|")]
        func score(_ separator: UInt8) -> Int {
            var text = DelimitedText(sample, separator: separator, quote: quote)
            var fields: [Field] = [], counts: [Int] = []
            while counts.count < 30, text.next(into: &fields) { counts.append(fields.count) }
            // A character that at most half of the rows contain is part of names or values.
            guard let first = counts.first, first > 1, counts.count(where: { $0 > 1 }) * 2 > counts.count else { return 0 }
            let equal = counts.count { $0 == first }
            // An equal number of fields in all rows outweighs a large number of fields.
            return equal * 1000 / counts.count * 100 + min(first, 99)
        }
        return candidates.max { score($0) < score($1) && score($1) > 0 } ?? candidates[0]
    }
}
