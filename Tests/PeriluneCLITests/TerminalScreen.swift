/// The screen of a terminal that understands the ECMA-48 sequences that `perilune` sends. All other sequences are recorded.
struct TerminalScreen {
    private let columns: Int
    private let rows: Int
    /// The lines that have scrolled out of the window.
    private var above: [[Character]] = []
    private var grid: [[Character]]
    private(set) var row = 0
    private(set) var column = 0
    /// The unknown sequences that were received; tests expect none.
    private(set) var unknown: [String] = []

    /// The second cell of a wide character.
    private static let taken: Character = "\u{0}"

    init(columns: Int, rows: Int = 24) {
        self.columns = columns
        self.rows = rows
        grid = Array(repeating: Array(repeating: " ", count: columns), count: rows)
    }

    /// All lines so far, without trailing spaces and trailing empty lines.
    var lines: [String] {
        var lines = (above + grid).map { cells in
            var text = String(cells.filter { $0 != Self.taken })
            while text.last == " " { text.removeLast() }
            return text
        }
        while lines.last == "" { lines.removeLast() }
        return lines
    }

    /// The text of the cursor's line that precedes the cursor.
    var lineBeforeCursor: String { String(grid[row][..<column].filter { $0 != Self.taken }) }

    mutating func feed(_ text: String) {
        var rest = Array(text)[...]
        while let first = rest.first {
            rest.removeFirst()
            switch first {
            case "\u{1B}": escape(&rest)
            case "\r\n": feedLine(); column = 0
            case "\r": column = 0
            case "\n": feedLine()
            case "\u{8}": column = max(0, column - 1)
            case "\u{7}": break
            default: put(first)
            }
        }
    }

    private mutating func put(_ character: Character) {
        let width = Self.width(character)
        if column + width > columns {
            feedLine()
            column = 0
        }
        grid[row][column] = character
        if width == 2 { grid[row][column + 1] = Self.taken }
        column += width
    }

    /// The widths of the characters that the tests type. This table does not use the program's own, whose mistakes it must find.
    private static func width(_ character: Character) -> Int {
        let value = character.unicodeScalars.first!.value
        return (0x1100...0x115F).contains(value) || (0x2E80...0xFFDC).contains(value) && value != 0xFFFD
            || (0x1F300...0x1FAFF).contains(value) ? 2 : 1
    }

    private mutating func feedLine() {
        if row + 1 < rows {
            row += 1
        } else {
            above.append(grid.removeFirst())
            grid.append(Array(repeating: " ", count: columns))
        }
    }

    private mutating func escape(_ rest: inout ArraySlice<Character>) {
        guard rest.first == "[" else {
            unknown.append("ESC \(rest.first.map(String.init) ?? "")")
            return
        }
        rest.removeFirst()
        var parameters = ""
        while let next = rest.first, !next.isLetter {
            parameters.append(next)
            rest.removeFirst()
        }
        guard let final = rest.popFirst() else { return }
        let count = max(Int(parameters) ?? 1, 1)
        switch final {
        case "A": row = max(0, row - count)
        case "B": row = min(rows - 1, row + count)
        case "C": column = min(columns - 1, column + count)
        case "D": column = max(0, column - count)
        case "H": (row, column) = (0, 0)
        case "K" where parameters.isEmpty: eraseLine(from: column)
        case "J" where parameters.isEmpty:
            eraseLine(from: column)
            for index in (row + 1)..<max(rows, row + 1) { grid[index] = Array(repeating: " ", count: columns) }
        case "J" where parameters == "2":
            grid = Array(repeating: Array(repeating: " ", count: columns), count: rows)
        case "m": break
        case "h" where ["?25", "?2004"].contains(parameters), "l" where ["?25", "?2004"].contains(parameters): break
        default: unknown.append("ESC [\(parameters)\(final)")
        }
    }

    private mutating func eraseLine(from start: Int) {
        for index in min(start, columns)..<columns { grid[row][index] = " " }
    }
}
