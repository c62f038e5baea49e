internal import Foundation

/// A line editor for terminals.
final class TerminalEditor: LineEditor {
    /// The editing state, which the reading thread shares with threads that print output.
    private struct State {
        var history: LineHistory
        var session: EditSession?
        var area = TerminalArea()
        var killed = ""
    }

    private let lock = NSLock()
    /// Guarded by `lock`.
    private nonisolated(unsafe) var state: State
    /// Used only by the thread that reads keys.
    private nonisolated(unsafe) var decoder = KeyDecoder()
    /// Keys received together with the one that finished a statement. Only used by the reading thread.
    private nonisolated(unsafe) var waiting: [Key] = []
    private let terminal: RawTerminal
    private let usesStyles: Bool

    /// - Parameter usesStyles: Whether to use colors.
    init(history: LineHistory, usesStyles: Bool) {
        state = State(history: history)
        terminal = RawTerminal()
        self.usesStyles = usesStyles
    }

    // MARK: - Reading

    func read(_ prompt: LinePrompt, _ assistant: any LineAssistant) -> LineInput {
        read(prompt, assistant, history: lock.withLock { state.history.entries })
    }

    private func read(_ prompt: LinePrompt, _ assistant: any LineAssistant, history: [String]) -> LineInput {
        terminal.begin()
        lock.withLock {
            state.session = EditSession(prompt, assistant, history: history, killed: state.killed)
            terminal.write("\u{1B}[?2004h" + startOfLine)
            redraw()
        }
        let keys = waiting
        waiting = []
        if let input = press(keys) { return input }
        while true {
            switch terminal.read(timeout: decoder.isAmbiguous ? 50 : -1) {
            case .bytes(let bytes):
                if let input = press(decoder.feed(bytes)) { return input }
            case .nothing:
                if let input = press(decoder.flush()) { return input }
            case .resized: lock.withLock { redraw() }
            case .end: return finish(.end)
            }
        }
    }

    /// Handles keys and returns the finished input, or `nil` to continue reading. Keys after the end of a statement are kept for the next
    /// one.
    private func press(_ keys: [Key]) -> LineInput? {
        for (index, key) in keys.enumerated() {
            // Completion may wait for a running script that wants to print, so it must not hold the lock.
            guard var session = lock.withLock({ state.session }) else { return nil }
            let outcome = session.press(key)
            lock.withLock { state.session = session }
            switch outcome {
            case .goesOn: break
            case .clearsScreen:
                lock.withLock {
                    terminal.write("\u{1B}[H\u{1B}[2J")
                    state.area.forget()
                }
            case .ends(let input):
                waiting = Array(keys[(index + 1)...])
                return finish(input)
            }
        }
        lock.withLock { redraw() }
        return nil
    }

    private func finish(_ input: LineInput) -> LineInput {
        lock.withLock {
            redraw(isFinal: true)
            // Leave raw mode first: as soon as the next line is visible, Ctrl-C must be a signal.
            terminal.end()
            terminal.write("\u{1B}[?2004l\r\n")
            state.killed = state.session?.killedText ?? ""
            state.session = nil
            state.area.forget()
        }
        return input
    }

    /// Output that moves the cursor to a new line unless it is already at the start of one, so that script output is not overwritten. A row
    /// of blanks wraps only if the cursor is not in the first column.
    private var startOfLine: String { String(repeating: " ", count: terminal.size.0) + "\r" }

    private func redraw(isFinal: Bool = false) {
        guard let session = state.session else { return }
        let (columns, rows) = terminal.size
        let layout = session.layout(columns: columns, usesStyles: usesStyles, isFinal: isFinal)
        terminal.write(state.area.draw(layout, height: rows))
    }

    // MARK: - Writing

    func ask(_ question: String) -> String? {
        // Keys pressed before the question was visible must not answer it.
        let keys = waiting
        waiting = []
        defer { waiting = keys + waiting }
        switch read(LinePrompt(question: question), AnswerAssistant(), history: []) {
        case .text(let answer): return answer
        case .interrupted: return ""
        case .end: return nil
        }
    }

    func show(_ text: String) {
        lock.withLock {
            terminal.write(state.area.erase())
            terminal.write(text)
            if state.session != nil, !text.hasSuffix("\n") { terminal.write(startOfLine) }
            redraw()
        }
    }

    func remember(_ text: String) {
        lock.withLock { state.history.add(text) }
    }
}
