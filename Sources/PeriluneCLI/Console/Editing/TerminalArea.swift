/// Draws rows of text where the cursor is, again and again in the same place.
struct TerminalArea {
    /// The row of the cursor in what is drawn, from 0; 0 where nothing is.
    private var cursorRow = 0
    private(set) var isDrawn = false

    /// What to send to draw a layout in place of the one before.
    ///
    /// - Parameter height: The rows of the terminal: of a layout that has more, those around the cursor are drawn.
    mutating func draw(_ layout: TextLayout, height: Int) -> String {
        let limit = max(height, 1)
        let first = max(0, min(layout.cursorRow - limit / 2, layout.rows.count - limit))
        let rows = layout.rows[first..<min(first + limit, layout.rows.count)]
        let cursor = layout.cursorRow - first
        var text = "\u{1B}[?25l" + moveToStart()
        text += rows.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J"
        let below = rows.count - 1 - cursor
        if below > 0 { text += "\u{1B}[\(below)A" }
        text += "\r"
        if layout.cursorColumn > 0 { text += "\u{1B}[\(layout.cursorColumn)C" }
        cursorRow = cursor
        isDrawn = true
        return text + "\u{1B}[?25h"
    }

    /// What to send to remove what is drawn, and to have the cursor where it began.
    mutating func erase() -> String {
        guard isDrawn else { return "" }
        let text = moveToStart() + "\u{1B}[J"
        forget()
        return text
    }

    /// What is drawn stays: the next is drawn from where the cursor is then.
    mutating func forget() {
        cursorRow = 0
        isDrawn = false
    }

    private func moveToStart() -> String {
        (cursorRow > 0 ? "\u{1B}[\(cursorRow)A" : "") + "\r"
    }
}
