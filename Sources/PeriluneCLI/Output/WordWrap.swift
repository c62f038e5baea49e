internal import Perilune

/// Line breaking between words. Color escape sequences have no width.
enum WordWrap {
    /// Returns the text broken to the width of a terminal; only single words may be wider.
    ///
    /// - Parameter width: The width; `nil` to return the text unchanged.
    static func wrapped(_ text: String, to width: Int?) -> String {
        guard let width, width > 20 else { return text }
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { wrap($0, width) }.joined(separator: "\n")
    }

    private static func wrap(_ line: Substring, _ width: Int) -> String {
        guard visibleWidth(line) > width else { return String(line) }
        let indentation = String(repeating: " ", count: hangingIndentation(of: line, width))
        var lines = [""], used = 0, isAtStart = true
        for piece in pieces(of: line) {
            let pieceWidth = visibleWidth(piece)
            if piece.first == " " {
                // Blanks between words are dropped at a line break but kept at the start of a line.
                if used + pieceWidth <= width || isAtStart { lines[lines.count - 1] += piece }
                used += pieceWidth
                continue
            }
            if used + pieceWidth > width, !isAtStart {
                while lines[lines.count - 1].hasSuffix(" ") { lines[lines.count - 1].removeLast() }
                lines.append(indentation)
                used = indentation.count
            }
            lines[lines.count - 1] += piece
            used += pieceWidth
            isAtStart = false
        }
        return lines.joined(separator: "\n")
    }

    /// Splits a line into alternating runs of blanks and words.
    private static func pieces(of line: Substring) -> [Substring] {
        var pieces: [Substring] = [], start = line.startIndex
        while start < line.endIndex {
            let isBlank = line[start] == " "
            let end = line[start...].firstIndex { ($0 == " ") != isBlank } ?? line.endIndex
            pieces.append(line[start..<end])
            start = end
        }
        return pieces
    }

    /// Returns the indentation of continuation lines: the column of the text after a label, or slightly more than the indentation of the
    /// line.
    private static func hangingIndentation(of line: Substring, _ width: Int) -> Int {
        let plain = withoutEscapes(line)
        let leading = plain.prefix { $0 == " " }.count
        if plain.hasPrefix("error: ") { return 2 }
        var index = plain.dropFirst(leading).startIndex, column = leading
        // A label ends with two blanks or is a keyword of an error report.
        while index < plain.endIndex, column < width / 2 {
            let next = plain.index(after: index)
            if plain[index] == " ", next < plain.endIndex, plain[next] == " " {
                let text = plain[index...].firstIndex { $0 != " " } ?? plain.endIndex
                let result = plain.distance(from: plain.startIndex, to: text)
                return result <= width / 2 ? result : leading + 2
            }
            index = next
            column += 1
        }
        return leading > 0 ? leading + 2 : 0
    }

    private static func visibleWidth(_ text: Substring) -> Int { DisplayText.width(withoutEscapes(text)) }

    private static func withoutEscapes(_ text: Substring) -> String {
        guard text.utf8.contains(0x1B) else { return String(text) }
        return String(text).replacing(/\u{1B}\[[0-9;]*m/, with: "")
    }
}

extension String {
    /// The text with the lines of each paragraph joined, so that the terminal can wrap them. Indented lines stay separate.
    var paragraphs: String {
        var lines: [String] = []
        for line in split(separator: "\n", omittingEmptySubsequences: false) {
            let isText = !line.isEmpty && !line.hasPrefix(" ")
            if isText, let last = lines.last, !last.isEmpty, !last.hasPrefix(" "), !last.hasSuffix(":") {
                lines[lines.count - 1] += " " + line
            } else {
                lines.append(String(line))
            }
        }
        return lines.joined(separator: "\n")
    }
}
