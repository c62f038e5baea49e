/// An excerpt of SQL text for an error report.
package struct SQLExcerpt: Equatable {
    /// The displayed lines: the line with the error, or the first lines if the error's position is unknown.
    package let lines: [String]
    /// The number of the line with the error, from 1; `nil` if the text has only one line or the position is unknown.
    package let lineNumber: Int?
    /// The column of the caret, from 0; `nil` if the position is unknown.
    package let caretColumn: Int?

    /// - Parameters:
    ///   - offset: The byte offset at which SQLite found the error; `nil` if unknown.
    ///   - maximalWidth: The maximum width of a line. Longer lines are shortened around the caret.
    package init(_ sql: String, offset: Int?, maximalWidth: Int = 110) {
        let bytes = Array(sql.utf8)
        let texts = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        if let offset, (0...bytes.count).contains(offset) {
            let index = texts.lastIndex { $0.startIndex <= offset } ?? 0
            let line = TextLine(bytes: Array(texts[index]))
            let (text, column) = line.shortened(to: maximalWidth, around: offset - texts[index].startIndex)
            lines = [text]
            caretColumn = column
            lineNumber = texts.count { !TextLine(bytes: Array($0)).isBlank } > 1 ? index + 1 : nil
        } else {
            lines = Self.firstLines(texts.map { TextLine(bytes: Array($0)) }, maximalWidth)
            caretColumn = nil
            lineNumber = nil
        }
    }

    private static func firstLines(_ lines: [TextLine], _ maximalWidth: Int) -> [String] {
        let limit = 6
        let shown = lines.filter { !$0.isBlank }
        let indentation = shown.map(\.indentation).min() ?? 0
        let texts = shown.prefix(limit).map { $0.withoutIndentation(indentation).shortened(to: maximalWidth) }
        return shown.count > limit ? texts + ["..."] : Array(texts)
    }
}

/// A line of source text, which is displayed with spaces instead of tabs, and with escaped control characters.
package struct TextLine {
    /// The bytes of the line, without trailing spaces.
    private let bytes: [UInt8]

    package init(bytes: [UInt8]) {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
        self.bytes = Array(bytes[..<(bytes.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? 0)])
    }

    package init(_ text: String) {
        self.init(bytes: Array(text.utf8))
    }

    package var isBlank: Bool { bytes.isEmpty }

    /// The number of leading spaces and tabs.
    package var indentation: Int { bytes.prefix { $0 == 0x20 || $0 == 0x09 }.count }

    package func withoutIndentation(_ count: Int) -> TextLine {
        TextLine(bytes: Array(bytes.dropFirst(count)))
    }

    /// Returns the line, shortened at the end if necessary.
    package func shortened(to maximalWidth: Int) -> String {
        DisplayText.cut(Self.shown(bytes), to: maximalWidth, ellipsis: "...")
    }

    /// Returns the line without indentation, shortened at both ends if necessary, and the display column of the byte at `offset`.
    package func shortened(to maximalWidth: Int, around offset: Int) -> (text: String, column: Int) {
        let start = min(indentation, offset)
        let split = characterStart(min(offset, bytes.count))
        var before = Self.shown(bytes[start..<max(start, split)])
        let after = Self.shown(bytes[max(start, split)...])
        if DisplayText.width(before + after) > maximalWidth, DisplayText.width(before) > maximalWidth / 2 {
            while DisplayText.width(before) > maximalWidth / 2 { before.removeFirst() }
            before = "..." + before
        }
        return (DisplayText.cut(before + after, to: maximalWidth, ellipsis: "..."), DisplayText.width(before))
    }

    private func characterStart(_ offset: Int) -> Int {
        var offset = offset
        while offset > 0, offset < bytes.count, bytes[offset] & 0xC0 == 0x80 { offset -= 1 }
        return offset
    }

    private static func shown(_ bytes: some Sequence<UInt8>) -> String {
        let spaces = [UInt8](repeating: 0x20, count: 4)
        return DisplayText.escaped(bytes.flatMap { $0 == 0x09 ? spaces : [$0] })
    }
}
