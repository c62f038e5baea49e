internal import Foundation

/// Reads from a terminal, with editing.
final class TerminalEditor: LineEditor {
    /// What is going on, which other threads look at when they write.
    private struct State {
        var history: LineHistory
        var session: EditSession?
        var area = TerminalArea()
        var killed = ""
    }

    private let lock = NSLock()
    /// Guarded by the lock.
    private nonisolated(unsafe) var state: State
    /// Used by the thread that reads alone.
    private nonisolated(unsafe) var decoder = KeyDecoder()
    /// Keys that came together with the one that has ended a statement. Used by the thread that reads alone.
    private nonisolated(unsafe) var waiting: [Key] = []
    private let terminal: RawTerminal
    private let usesStyles: Bool

    /// - Parameter usesStyles: Whether colors are used.
    init(history: LineHistory, usesStyles: Bool) {
        state = State(history: history)
        terminal = RawTerminal()
        self.usesStyles = usesStyles
    }

    // MARK: - Reading

    func read(_ prompt: LinePrompt, _ assistant: any LineAssistant) -> LineInput {
        terminal.begin()
        lock.withLock {
            state.session = EditSession(prompt, assistant, history: state.history.entries, killed: state.killed)
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

    /// What keys lead to; `nil`: reading goes on. Keys after the end of a statement are for the next one.
    private func press(_ keys: [Key]) -> LineInput? {
        for (index, key) in keys.enumerated() {
            // Asking for completions may wait for a script that wants to print: not under the lock.
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
            // Who sees the next line may press Ctrl-C, which is a signal from here on.
            terminal.end()
            terminal.write("\u{1B}[?2004l\r\n")
            state.killed = state.session?.killedText ?? ""
            state.session = nil
            state.area.forget()
        }
        return input
    }

    /// What to send to begin a line, unless one begins where the cursor is: what scripts have written there is not to be overwritten. A
    /// line full of blanks goes over its end only from further on.
    private var startOfLine: String { String(repeating: " ", count: terminal.size.0) + "\r" }

    private func redraw(isFinal: Bool = false) {
        guard let session = state.session else { return }
        let (columns, rows) = terminal.size
        let layout = session.layout(columns: columns, usesStyles: usesStyles, isFinal: isFinal)
        terminal.write(state.area.draw(layout, height: rows))
    }

    // MARK: - Writing

    func ask(_ question: String) -> String? {
        terminal.write(question)
        return readLine()
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
