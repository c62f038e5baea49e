/// Reads lines where there is no terminal: without a prompt, and without editing.
final class PlainEditor: LineEditor {
    func read(_ prompt: LinePrompt, _ assistant: any LineAssistant) -> LineInput {
        var text = ""
        while let line = readLine(strippingNewline: true) {
            text += (text.isEmpty ? "" : "\n") + line
            if text.allSatisfy(\.isWhitespace) {
                text = ""
            } else if line.allSatisfy(\.isWhitespace) || assistant.isComplete(text) {
                return .text(text)
            }
        }
        return text.isEmpty ? .end : .text(text)
    }

    func ask(_ question: String) -> String? { nil }

    func show(_ text: String) {
        try? StandardStreams.write(Array(text.utf8))
        try? StandardStreams.flush()
    }

    func remember(_ text: String) {}
}
