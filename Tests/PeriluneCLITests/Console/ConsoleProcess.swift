import Testing

/// A console in a terminal. Tests wait for its prompt.
final class ConsoleProcess {
    let process: TerminalProcess
    let prompt: String
    private let columns: Int

    /// Starts the console and waits until it accepts input.
    init(
        _ arguments: [String] = ["library.sqlite"], prompt: String = "library.sqlite> ", in folder: TestFolder,
        columns: UInt16 = 80,
        color: String = "never", environment: [String: String] = [:]
    ) throws {
        self.prompt = prompt
        self.columns = Int(columns)
        process = try TerminalProcess(
            ["console", "--color", color] + arguments, in: folder, columns: columns, environment: environment)
        let start = process.screen { $0.lineBeforeCursor == prompt }
        try #require(start.lineBeforeCursor == prompt, "\(start.lines)")
    }

    /// A folder with a database of two tables.
    static func makeFolder(_ files: [String: String] = [:]) throws -> TestFolder {
        let folder = try TestFolder(files)
        let made = try folder.perilune(
            "run", "--database", "library.sqlite", "-e",
            """
            db:execute[[
              CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT);
              CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, author_id INTEGER REFERENCES author);
              INSERT INTO author VALUES (1, 'Herman Melville', 'US'), (2, 'Albert Camus', 'France');
              INSERT INTO book VALUES (1, 'Typee', 1), (2, 'Moby-Dick', 1), (3, 'La Peste', 2)]]
            """)
        try #require(made.status == 0, "\(made.errors)")
        return folder
    }

    /// Types a statement and Enter, waits for the prompt, and returns the lines that were shown.
    func run(_ text: String, prompt: String? = nil) -> [String] {
        let before = process.screen { _ in true }.lines.count
        process.press(text + "\r")
        let wanted = prompt ?? self.prompt
        let after = process.screen { $0.lines.count > before && $0.lineBeforeCursor == wanted }
        // The typed text may have occupied several rows.
        let typed = max(0, (self.prompt.count + text.count - 1) / columns)
        return Array(after.lines.dropFirst(before + typed).dropLast())
    }

    /// Types keys, and waits until the text before the cursor is `text`.
    func type(_ keys: String, until line: String) -> TerminalScreen {
        process.press(keys)
        return process.screen { $0.lineBeforeCursor == line }
    }

    /// Ends the console with Ctrl-D on an empty line. Returns the exit status.
    func end() -> Int32 {
        process.press("\u{4}")
        return process.wait()
    }
}
