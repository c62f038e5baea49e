internal import Foundation
internal import Perilune
internal import PeriluneScenarios

/// An editing session for one statement: applies keys and computes the layout to show. It is independent of the terminal.
struct EditSession {
    /// The result of a key press.
    enum Outcome: Equatable {
        case goesOn
        case ends(LineInput)
        /// Ctrl-L was pressed.
        case clearsScreen
    }

    private(set) var buffer = EditBuffer()
    private let prompt: LinePrompt
    private let assistant: any LineAssistant
    private let history: [String]
    /// The index of the recalled history entry; `history.count` means the text that the user typed.
    private var place: Int
    private var typed = EditBuffer()
    private var search: HistorySearch?
    private var menu: CompletionMenu?
    private var undone: [EditBuffer] = []
    private var killed: String
    private var isKilling = false

    /// - Parameter killed: Text removed in an earlier session, which Ctrl-Y inserts.
    init(_ prompt: LinePrompt, _ assistant: any LineAssistant, history: [String], killed: String = "") {
        self.prompt = prompt
        self.assistant = assistant
        self.history = history
        self.killed = killed
        place = history.count
    }

    /// The text that was last removed, which Ctrl-Y inserts.
    var killedText: String { killed }

    // MARK: - Keys

    mutating func press(_ key: Key) -> Outcome {
        if search != nil, let outcome = pressWhileSearching(key) { return outcome }
        if key == .tab || key == .backTab { return complete(isBackward: key == .backTab) }
        if menu != nil, key == .escape {
            closeMenu(restoring: true)
            return .goesOn
        }
        closeMenu(restoring: false)
        let wasKilling = isKilling
        isKilling = false
        let former = buffer
        let outcome = change(by: key, isKillingOn: wasKilling)
        if buffer.characters != former.characters, key != .control("_") {
            undone.append(former)
            if undone.count > 500 { undone.removeFirst() }
        }
        return outcome
    }

    private mutating func change(by key: Key, isKillingOn: Bool) -> Outcome {
        switch key {
        case .text(let text), .paste(let text): buffer.insert(text)
        case .enter: return enter()
        case .newLine: buffer.insert("\n" + assistant.indentation(after: buffer.textBeforeCursor))
        case .backspace, .control("h"): buffer.deleteBackward()
        case .delete: buffer.deleteForward()
        case .left, .control("b"): buffer.move(by: -1)
        case .right, .control("f"): buffer.move(by: 1)
        case .wordLeft, .alt("b"): buffer.moveWordLeft()
        case .wordRight, .alt("f"): buffer.moveWordRight()
        case .home, .control("a"): buffer.moveToLineStart()
        case .end, .control("e"): buffer.moveToLineEnd()
        case .alt("<"), .pageUp: buffer.moveToStart()
        case .alt(">"), .pageDown: buffer.moveToEnd()
        case .up: if !buffer.moveLine(by: -1) { recall(place - 1) }
        case .down: if !buffer.moveLine(by: 1) { recall(place + 1) }
        case .control("p"): recall(place - 1)
        case .control("n"): recall(place + 1)
        case .control("r"): search = HistorySearch(history, from: buffer)
        case .control("k"): kill(isKillingOn) { $0.killToLineEnd() }
        case .control("u"): kill(isKillingOn, isBefore: true) { $0.killToLineStart() }
        case .control("w"): kill(isKillingOn, isBefore: true) { $0.killBlankWordBackward() }
        case .alt("\u{7F}"): kill(isKillingOn, isBefore: true) { $0.killWordBackward() }
        case .alt("d"): kill(isKillingOn) { $0.killWordForward() }
        case .control("y"): buffer.insert(killed)
        case .control("t"): buffer.transpose()
        case .control("_"): if let former = undone.popLast() { buffer = former }
        case .control("l"): return .clearsScreen
        case .control("c"): return .ends(.interrupted)
        case .control("d"):
            if buffer.isEmpty { return .ends(.end) }
            buffer.deleteForward()
        default: break
        }
        return .goesOn
    }

    /// Ends the session if the statement is complete, wherever the cursor is; otherwise starts a new line.
    private mutating func enter() -> Outcome {
        if assistant.isComplete(buffer.text) { return .ends(.text(buffer.text)) }
        buffer.insert("\n" + assistant.indentation(after: buffer.textBeforeCursor))
        return .goesOn
    }

    /// Removes text and keeps it for Ctrl-Y, which inserts the text of consecutive removals at once.
    private mutating func kill(_ isKillingOn: Bool, isBefore: Bool = false, _ remove: (inout EditBuffer) -> String) {
        let text = remove(&buffer)
        killed = isKillingOn ? (isBefore ? text + killed : killed + text) : text
        isKilling = true
    }

    // MARK: - History

    private mutating func recall(_ wanted: Int) {
        guard (0...history.count).contains(wanted) else { return }
        if place == history.count { typed = buffer }
        place = wanted
        buffer = wanted == history.count ? typed : EditBuffer(history[wanted])
    }

    /// Handles a key during a history search. Returns `nil` if the key ends the search and must then have its usual effect.
    private mutating func pressWhileSearching(_ key: Key) -> Outcome? {
        guard var current = search else { return nil }
        switch key {
        case .text(let text): current.append(text)
        case .backspace: current.removeLast()
        case .control("r"): current.findNext(isOlder: true)
        case .control("s"): current.findNext(isOlder: false)
        case .control("g"), .control("c"):
            buffer = current.original
            search = nil
            return .goesOn
        default:
            if let found = current.found { buffer = EditBuffer(found) }
            search = nil
            return key == .escape || key == .tab ? .goesOn : nil
        }
        search = current
        return .goesOn
    }

    // MARK: - Completion

    private mutating func complete(isBackward: Bool) -> Outcome {
        if var open = menu {
            open.select(isBackward: isBackward)
            buffer = open.original
            buffer.replace(from: buffer.cursor - open.completions.length, with: open.selection)
            menu = open
            return .goesOn
        }
        let before = buffer.textBeforeCursor
        // At the start of a line, Tab indents.
        if before.isEmpty || before.hasSuffix("\n") || before.hasSuffix("\n  ") {
            if !isBackward { buffer.insert("  ") }
            return .goesOn
        }
        let completions = assistant.completions(of: before, in: buffer.text)
        guard !completions.candidates.isEmpty else { return .goesOn }
        let former = buffer
        let prefix = completions.commonPrefix
        if prefix.count >= completions.length { buffer.replace(from: buffer.cursor - completions.length, with: prefix) }
        if buffer != former { undone.append(former) }
        if completions.candidates.count > 1 {
            var open = completions
            open.length = max(prefix.count, completions.length)
            menu = CompletionMenu(completions: open, original: buffer)
        }
        return .goesOn
    }

    private mutating func closeMenu(restoring: Bool) {
        if restoring, let menu { buffer = menu.original }
        menu = nil
    }

    // MARK: - Showing

    /// Returns the prompt and the text as terminal rows, with the cursor position.
    ///
    /// - Parameter isFinal: Whether editing has ended: the menu is hidden and the cursor is at the end.
    func layout(columns: Int, usesStyles: Bool, isFinal: Bool = false) -> TextLayout {
        var layout = TextLayout(columns: columns, usesStyles: usesStyles)
        if let search, !isFinal {
            layout.add(StyledText(search.label, .dim))
            add(EditBuffer(search.found ?? search.original.text), to: &layout, cursor: search.cursor)
            return layout
        }
        layout.add(prompt.first)
        add(buffer, to: &layout, cursor: isFinal ? buffer.characters.count : buffer.cursor)
        if let menu, !isFinal { menu.add(to: &layout, columns: columns) }
        return layout
    }

    private func add(_ buffer: EditBuffer, to layout: inout TextLayout, cursor: Int) {
        var text = StyledText("")
        text.characters = buffer.characters
        let styles = assistant.styles(of: buffer.text)
        text.styles = styles.count == text.characters.count ? styles : Array(repeating: nil, count: text.characters.count)
        layout.add(text, cursor: cursor, continuation: prompt.others)
    }
}

/// A search in the history, starting at the newest entry.
struct HistorySearch {
    let original: EditBuffer
    private let history: [String]
    private var wanted = ""
    /// The index of the matching history entry; `nil` if no entry matches.
    private var place: Int?

    init(_ history: [String], from original: EditBuffer) {
        self.history = history
        self.original = original
    }

    var found: String? { place.map { history[$0] } }

    var label: String {
        let failed = place == nil && !wanted.isEmpty ? "no " : ""
        return "(\(failed)search) \(wanted): "
    }

    /// The position of the match in the entry that was found.
    var cursor: Int {
        guard let found, let range = found.range(of: wanted, options: .caseInsensitive) else { return original.cursor }
        return found.distance(from: found.startIndex, to: range.lowerBound)
    }

    mutating func append(_ text: String) {
        wanted += text
        find(from: place ?? history.count - 1, isOlder: true)
    }

    mutating func removeLast() {
        if !wanted.isEmpty { wanted.removeLast() }
        find(from: history.count - 1, isOlder: true)
    }

    /// Moves to the next different entry that contains the text.
    mutating func findNext(isOlder: Bool) {
        guard let place else { return }
        let former = self
        find(from: isOlder ? place - 1 : place + 1, isOlder: isOlder)
        if self.place == nil { self = former }
    }

    private mutating func find(from start: Int, isOlder: Bool) {
        let shown = place.map { history[$0] }
        let indices = isOlder ? Array(history.indices.reversed().drop { $0 > start }) : Array(history.indices.drop { $0 < start })
        place =
            wanted.isEmpty
            ? nil
            : indices.first { index in
                history[index].localizedCaseInsensitiveContains(wanted) && (index == start || history[index] != shown)
            }
    }
}

/// A menu of completions below the text.
struct CompletionMenu {
    let completions: Completions
    /// The text before a candidate was inserted.
    let original: EditBuffer
    private var index: Int?
    private static let mostRows = 6

    init(completions: Completions, original: EditBuffer) {
        self.completions = completions
        self.original = original
    }

    var selection: String { index.map { completions.candidates[$0] } ?? "" }

    mutating func select(isBackward: Bool) {
        let count = completions.candidates.count
        index = isBackward ? ((index ?? 0) + count - 1) % count : index.map { ($0 + 1) % count } ?? 0
    }

    /// Adds the candidates in columns. If they need too many rows, adds only the rows around the selection.
    func add(to layout: inout TextLayout, columns: Int) {
        let width = (completions.candidates.map { DisplayText.width($0) }.max() ?? 0) + 2
        let perRow = max(1, (columns - 1) / width)
        let rowCount = (completions.candidates.count + perRow - 1) / perRow
        let selectedRow = (index ?? 0) / perRow
        let first = max(0, min(selectedRow - Self.mostRows / 2, rowCount - Self.mostRows))
        for row in first..<min(first + Self.mostRows, rowCount) {
            var line = StyledText("")
            for place in (row * perRow)..<min((row + 1) * perRow, completions.candidates.count) {
                let name = completions.candidates[place]
                let padding = String(repeating: " ", count: width - DisplayText.width(name))
                let entry: StyledText = StyledText(name, place == index ? .cyan : .dim) + StyledText(padding)
                line = line + entry
            }
            layout.addLine(line)
        }
        if rowCount > Self.mostRows { layout.addLine(StyledText("\(completions.candidates.count) names", .dim)) }
    }
}
