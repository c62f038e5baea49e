internal import Perilune
internal import PeriluneScenarios

/// Text with a style for each character.
struct StyledText {
    var characters: [Character]
    /// The styles, one for each character.
    var styles: [TerminalStyle?]

    init(_ text: String, _ style: TerminalStyle? = nil) {
        characters = Array(text)
        styles = Array(repeating: style, count: characters.count)
    }

    static func + (left: StyledText, right: StyledText) -> StyledText {
        var text = left
        text.characters += right.characters
        text.styles += right.styles
        return text
    }
}

/// Text arranged in the columns of a terminal, with the cursor position.
struct TextLayout {
    /// The rows as text with escape sequences for styles.
    private(set) var rows: [String] = [""]
    private(set) var cursorRow = 0
    private(set) var cursorColumn = 0

    private let columns: Int
    private let usesStyles: Bool
    private var column = 0
    private var style: TerminalStyle?

    /// - Parameter columns: The width of the terminal.
    init(columns: Int, usesStyles: Bool) {
        self.columns = max(columns, 2)
        self.usesStyles = usesStyles
    }

    /// Adds text and continues in the next row when a row is full.
    ///
    /// - Parameters:
    ///   - cursor: The number of characters before the cursor, if it is in this text.
    ///   - continuation: The prefix of each line except the first.
    mutating func add(_ text: StyledText, cursor: Int? = nil, continuation: StyledText? = nil) {
        for (index, character) in text.characters.enumerated() {
            if index == cursor { markCursor() }
            if character == "\n" {
                breakRow()
                if let continuation { add(continuation) }
            } else {
                put(character, text.styles[index])
            }
        }
        if cursor == text.characters.count { markCursor() }
        setStyle(nil)
    }

    /// Starts a new row with a line that is cut to the width of the terminal.
    mutating func addLine(_ text: StyledText) {
        breakRow()
        for (character, style) in zip(text.characters, text.styles) {
            guard column + Self.width(character) < columns else { break }
            put(character, style)
        }
        setStyle(nil)
    }

    private mutating func markCursor() {
        // A cursor after the last column belongs to the next row.
        if column >= columns { breakRow() }
        (cursorRow, cursorColumn) = (rows.count - 1, column)
    }

    private mutating func breakRow() {
        setStyle(nil)
        rows.append("")
        column = 0
    }

    private mutating func put(_ character: Character, _ style: TerminalStyle?) {
        let shown = character == "\t" ? "    " : DisplayText.escaped(String(character))
        let width = DisplayText.width(shown)
        if column + width > columns { breakRow() }
        setStyle(style)
        rows[rows.count - 1] += shown
        column += width
    }

    private static func width(_ character: Character) -> Int {
        DisplayText.width(DisplayText.escaped(String(character)))
    }

    private mutating func setStyle(_ wanted: TerminalStyle?) {
        guard usesStyles, wanted != style else { return }
        if style != nil { rows[rows.count - 1] += "\u{1B}[0m" }
        if let wanted { rows[rows.count - 1] += "\u{1B}[\(wanted.rawValue)m" }
        style = wanted
    }
}
