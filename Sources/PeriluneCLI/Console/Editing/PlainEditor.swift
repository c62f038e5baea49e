internal import Synchronization

/// Reads lines where there is no terminal: without a prompt, and without editing.
final class PlainEditor: LineEditor {
    /// The lines that were read, and the one in which the last statement begins.
    private let position = Mutex((count: 0, start: 0))

    var line: Int? { position.withLock { $0.start } }

    func read(_ prompt: LinePrompt, _ assistant: any LineAssistant) -> LineInput {
        var text = ""
        while let line = readLine(strippingNewline: true) {
            note(isFirst: text.isEmpty)
            text += (text.isEmpty ? "" : "\n") + line
            if text.allSatisfy(\.isWhitespace) {
                text = ""
            } else if line.allSatisfy(\.isWhitespace) || assistant.isComplete(text) {
                return .text(text)
            }
        }
        return text.isEmpty ? .end : .text(text)
    }

    private func note(isFirst: Bool) {
        position.withLock { position in
            position.count += 1
            if isFirst { position.start = position.count }
        }
    }

    func ask(_ question: String) -> String? { nil }

    func show(_ text: String) {
        try? StandardStreams.write(Array(text.utf8))
        try? StandardStreams.flush()
    }

    func remember(_ text: String) {}
}
