internal import PeriluneScenarios

/// Reads what is typed, a statement of one or more lines at a time.
protocol LineEditor: AnyObject, Sendable {
    /// Reads a statement. Blocks the thread.
    func read(_ prompt: LinePrompt, _ assistant: any LineAssistant) -> LineInput

    /// Reads the answer to a question, one line.
    func ask(_ question: String) -> String?

    /// Writes text that ends with a line feed, also while a statement is typed: then above it. From any thread.
    func show(_ text: String)

    /// Keeps a statement for the next time.
    func remember(_ text: String)

    /// The line in which the statement that was last read begins, from 1; `nil` where people see what they have typed.
    var line: Int? { get }
}

extension LineEditor {
    var line: Int? { nil }
}

/// What came of reading.
enum LineInput: Equatable {
    case text(String)
    /// Ctrl-C: what was typed is dropped.
    case interrupted
    /// Ctrl-D, or the end of the file.
    case end
}

/// What stands before the lines.
struct LinePrompt {
    var first: StyledText
    /// Before each line but the first.
    var others: StyledText

    init(_ text: String, _ style: TerminalStyle? = nil) {
        first = StyledText(text, style) + StyledText("> ")
        others = StyledText(String(repeating: " ", count: max(0, text.count - 2)) + "...> ", .dim)
    }
}

/// Knows the language of what is typed. Called on the thread that reads.
protocol LineAssistant {
    /// Whether the text is a whole statement, so that Enter ends it.
    func isComplete(_ text: String) -> Bool

    /// The style of each character.
    func styles(of text: String) -> [TerminalStyle?]

    /// What the name that ends at the cursor may go on with.
    func completions(of textBeforeCursor: String, in text: String) -> Completions

    /// The indentation of the line after these.
    func indentation(after text: String) -> String
}

/// What may stand in place of the end of a text.
struct Completions: Equatable {
    /// The number of characters that are replaced.
    var length = 0
    var candidates: [String] = []

    /// What all candidates begin with.
    var commonPrefix: String {
        guard let first = candidates.first else { return "" }
        return candidates.dropFirst().reduce(first) { prefix, candidate in
            String(zip(prefix, candidate).prefix { $0.lowercased() == $1.lowercased() }.map(\.0))
        }
    }
}
