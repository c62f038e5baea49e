/// Editable text of one or more lines, with a cursor.
struct EditBuffer: Equatable {
    /// The text as user-perceived characters.
    private(set) var characters: [Character]
    /// The number of characters before the cursor.
    private(set) var cursor: Int

    init(_ text: String = "") {
        characters = Array(Self.normalized(text))
        cursor = characters.count
    }

    var text: String { String(characters) }
    var textBeforeCursor: String { String(characters[..<cursor]) }
    var isEmpty: Bool { characters.isEmpty }

    /// Converts all line endings to line feeds, including the carriage returns in terminal pastes.
    private static func normalized(_ text: String) -> String {
        guard text.utf8.contains(0x0D) else { return text }
        return text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
    }

    // MARK: - Lines

    /// The range of the cursor's line, without the line feed.
    private var line: Range<Int> {
        let start = characters[..<cursor].lastIndex(of: "\n").map { $0 + 1 } ?? 0
        let end = characters[cursor...].firstIndex(of: "\n") ?? characters.count
        return start..<end
    }

    var isInFirstLine: Bool { line.lowerBound == 0 }
    var isInLastLine: Bool { line.upperBound == characters.count }

    /// The leading spaces of the cursor's line.
    var indentation: String { String(characters[line].prefix { $0 == " " }) }

    // MARK: - Moving

    mutating func move(by distance: Int) { cursor = min(max(0, cursor + distance), characters.count) }
    mutating func moveToLineStart() { cursor = line.lowerBound }
    mutating func moveToLineEnd() { cursor = line.upperBound }
    mutating func moveToStart() { cursor = 0 }
    mutating func moveToEnd() { cursor = characters.count }
    mutating func moveWordLeft() { cursor = wordStart }
    mutating func moveWordRight() { cursor = wordEnd }

    /// Moves the cursor to the previous or next line, and returns whether that line exists.
    mutating func moveLine(by distance: Int) -> Bool {
        let current = line, column = cursor - current.lowerBound
        if distance < 0 {
            guard current.lowerBound > 0 else { return false }
            cursor = current.lowerBound - 1
        } else {
            guard current.upperBound < characters.count else { return false }
            cursor = current.upperBound + 1
        }
        let other = line
        cursor = min(other.lowerBound + column, other.upperBound)
        return true
    }

    private var wordStart: Int {
        var index = cursor
        while index > 0, !characters[index - 1].isPartOfWord { index -= 1 }
        while index > 0, characters[index - 1].isPartOfWord { index -= 1 }
        return index
    }

    private var wordEnd: Int {
        var index = cursor
        while index < characters.count, !characters[index].isPartOfWord { index += 1 }
        while index < characters.count, characters[index].isPartOfWord { index += 1 }
        return index
    }

    // MARK: - Changing

    /// Inserts text at the cursor. A combining mark merges with the character before it.
    mutating func insert(_ text: String) {
        let before = String(characters[..<cursor]) + Self.normalized(text)
        let after = characters[cursor...]
        let inserted = Array(before)
        characters = inserted + after
        cursor = inserted.count
    }

    /// Replaces the characters from an index to the cursor.
    mutating func replace(from index: Int, with text: String) {
        characters.removeSubrange(index..<cursor)
        cursor = index
        insert(text)
    }

    /// Removes and returns the text between the cursor and an index.
    @discardableResult
    private mutating func remove(to index: Int) -> String {
        let range = min(cursor, index)..<max(cursor, index)
        let removed = String(characters[range])
        characters.removeSubrange(range)
        cursor = range.lowerBound
        return removed
    }

    mutating func deleteBackward() { remove(to: max(0, cursor - 1)) }
    mutating func deleteForward() { remove(to: min(characters.count, cursor + 1)) }
    mutating func killWordBackward() -> String { remove(to: wordStart) }
    mutating func killWordForward() -> String { remove(to: wordEnd) }
    mutating func killToLineStart() -> String { remove(to: line.lowerBound) }

    /// Removes the text from the cursor to the end of the line or, at the end, the line feed.
    mutating func killToLineEnd() -> String {
        let end = line.upperBound
        return remove(to: end == cursor ? min(end + 1, characters.count) : end)
    }

    /// Removes the blank-delimited word before the cursor.
    mutating func killBlankWordBackward() -> String {
        var index = cursor
        while index > 0, characters[index - 1].isWhitespace { index -= 1 }
        while index > 0, !characters[index - 1].isWhitespace { index -= 1 }
        return remove(to: index)
    }

    /// Swaps the characters around the cursor, or the two before it at the end of the line.
    mutating func transpose() {
        let line = line
        let index = cursor == line.upperBound ? cursor - 1 : cursor
        guard index - 1 >= line.lowerBound, index < line.upperBound else { return }
        characters.swapAt(index - 1, index)
        cursor = index + 1
    }
}

extension Character {
    fileprivate var isPartOfWord: Bool { isLetter || isNumber || self == "_" }
}
