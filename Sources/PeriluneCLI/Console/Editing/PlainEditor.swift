@preconcurrency internal import Glibc
internal import PeriluneScenarios
internal import Synchronization

/// A line editor without a terminal, which reads from files, pipes and standard input, without prompts or editing.
final class PlainEditor: LineEditor {
    /// A statement and its first line.
    struct Statement: Sendable {
        let text: String
        let line: Int
    }

    private struct State {
        /// The number of lines read.
        var count = 0
        /// The first line of the last statement.
        var start = 0
        /// A statement that was read ahead.
        var next: Statement?
        /// A line that was read but belongs to the next statement.
        var nextLine: String?
    }

    private let state = Mutex(State())
    private let nextLine: @Sendable () -> String?
    /// Returns whether a line can be read without waiting.
    let isReady: @Sendable () -> Bool

    /// Creates a reader of standard input.
    init() {
        nextLine = { readLine(strippingNewline: true) }
        isReady = { Self.hasInput }
    }

    /// Creates a reader of the lines of a text.
    init(_ text: String) {
        let lines = Mutex(text.split(separator: "\n", omittingEmptySubsequences: false)[...])
        nextLine = { lines.withLock { $0.popFirst().map { String($0.hasSuffix("\r") ? $0.dropLast() : $0) } } }
        isReady = { true }
    }

    var line: Int? { state.withLock { $0.start } }

    func read(_ prompt: LinePrompt, _ assistant: any LineAssistant) -> LineInput {
        let next = state.withLock { state in
            defer { state.next = nil }
            return state.next
        }
        guard let statement = next ?? readStatement(assistant) else { return .end }
        state.withLock { $0.start = statement.line }
        return .text(statement.text)
    }

    /// Reads more statements that meet a condition, without waiting for input.
    func readAhead(_ assistant: any LineAssistant, atMost limit: Int, while isWanted: (String) -> Bool) -> [Statement] {
        var statements: [Statement] = []
        while statements.count < limit, isReady(), let statement = readStatement(assistant) {
            guard isWanted(statement.text) else {
                state.withLock { $0.next = statement }
                break
            }
            statements.append(statement)
        }
        return statements
    }

    private func readStatement(_ assistant: any LineAssistant) -> Statement? {
        var text = "", start = 0
        while let (line, number) = takeLine() {
            if !text.isEmpty, assistant.isSeparate(line, after: text) {
                putBack(line)
                return Statement(text: text, line: start)
            }
            if text.isEmpty { start = number }
            text += (text.isEmpty ? "" : "\n") + line
            if text.allSatisfy(\.isWhitespace) {
                text = ""
            } else if assistant.isComplete(text) {
                return Statement(text: text, line: start)
            }
        }
        return text.isEmpty ? nil : Statement(text: text, line: start)
    }

    /// Returns the next line and its number.
    private func takeLine() -> (line: String, number: Int)? {
        let former = state.withLock { state in
            defer { state.nextLine = nil }
            return state.nextLine
        }
        guard let line = former ?? nextLine() else { return nil }
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        return (line, number)
    }

    private func putBack(_ line: String) {
        state.withLock { state in
            state.nextLine = line
            state.count -= 1
        }
    }

    private static var hasInput: Bool {
        if stdin.pointee._IO_read_ptr != stdin.pointee._IO_read_end { return true }
        var request = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        return poll(&request, 1, 0) == 1 && request.revents & Int16(POLLIN) != 0
    }

    func ask(_ question: String) -> String? { nil }

    func show(_ text: String) {
        try? StandardStreams.write(Array(text.utf8))
        try? StandardStreams.flush()
    }

    func remember(_ text: String) {}
}
