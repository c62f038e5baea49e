/// An area of the terminal whose rows are redrawn in place.
struct TerminalArea {
    /// The cursor row within the area, from 0; 0 if nothing is drawn.
    private var cursorRow = 0
    private(set) var isDrawn = false

    /// Returns the output that replaces the previous layout with a new one.
    ///
    /// - Parameter height: The number of terminal rows. If the layout has more, only the rows around the cursor are drawn.
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

    /// Returns the output that removes the area and moves the cursor to its start.
    mutating func erase() -> String {
        guard isDrawn else { return "" }
        let text = moveToStart() + "\u{1B}[J"
        forget()
        return text
    }

    /// Forgets the drawn rows without erasing them. The next layout starts at the current cursor position.
    mutating func forget() {
        cursorRow = 0
        isDrawn = false
    }

    private func moveToStart() -> String {
        (cursorRow > 0 ? "\u{1B}[\(cursorRow)A" : "") + "\r"
    }
}
