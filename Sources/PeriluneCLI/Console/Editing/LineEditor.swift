internal import PeriluneScenarios

/// A reader of console statements, which may have several lines.
protocol LineEditor: AnyObject, Sendable {
    /// Reads a statement, and blocks the thread until it is complete.
    func read(_ prompt: LinePrompt, _ assistant: any LineAssistant) -> LineInput

    /// Asks a question and reads a one-line answer.
    func ask(_ question: String) -> String?

    /// Shows text that ends with a line feed, above the statement that is being typed. Can be called from any thread.
    func show(_ text: String)

    /// Adds a statement to the history.
    func remember(_ text: String)

    /// The first line of the last statement, from 1; `nil` for interactive input.
    var line: Int? { get }
}

extension LineEditor {
    var line: Int? { nil }
}

/// The result of reading a statement.
enum LineInput: Equatable {
    case text(String)
    /// Ctrl-C, which discards the typed text.
    case interrupted
    /// Ctrl-D or the end of the file.
    case end
}

/// The prompts of a statement.
struct LinePrompt {
    var first: StyledText
    /// The prompt of each line except the first.
    var others: StyledText

    init(_ text: String, _ style: TerminalStyle? = nil) {
        first = StyledText(text, style) + StyledText("> ")
        others = StyledText(String(repeating: " ", count: max(0, text.count - 2)) + "...> ", .dim)
    }

    init(question: String) {
        first = StyledText(question, .bold)
        others = StyledText("")
    }
}

/// Language support for typed text: completeness, highlighting, completion and indentation. Called on the reading thread.
protocol LineAssistant {
    /// Returns whether the text is a complete statement, which Enter finishes.
    func isComplete(_ text: String) -> Bool

    /// Returns whether a line begins a new statement because it cannot continue the incomplete text before it.
    func isSeparate(_ line: String, after text: String) -> Bool

    /// Returns the style of each character.
    func styles(of text: String) -> [TerminalStyle?]

    /// Returns the completions of the name at the cursor.
    func completions(of textBeforeCursor: String, in text: String) -> Completions

    /// Returns the indentation of the next line.
    func indentation(after text: String) -> String
}

/// The assistant for one-line answers to questions, without highlighting or completion.
struct AnswerAssistant: LineAssistant {
    func isComplete(_ text: String) -> Bool { true }
    func isSeparate(_ line: String, after text: String) -> Bool { false }
    func styles(of text: String) -> [TerminalStyle?] { Array(repeating: nil, count: text.count) }
    func completions(of textBeforeCursor: String, in text: String) -> Completions { Completions() }
    func indentation(after text: String) -> String { "" }
}

/// Completion candidates that replace the end of the input.
struct Completions: Equatable {
    /// The number of characters to replace.
    var length = 0
    var candidates: [String] = []

    /// The longest common prefix of the candidates.
    var commonPrefix: String {
        guard let first = candidates.first else { return "" }
        return candidates.dropFirst().reduce(first) { prefix, candidate in
            String(zip(prefix, candidate).prefix { $0.lowercased() == $1.lowercased() }.map(\.0))
        }
    }
}
