internal import Foundation
@preconcurrency internal import Glibc

/// The size of the output terminal.
struct TerminalSize {
    let columns: Int
    let rows: Int

    /// The width of the terminal for standard output; `nil` if standard output is not a terminal.
    static var outputColumns: Int? { StandardStreams.isOutputTerminal ? current.columns : nil }

    static var current: TerminalSize {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return TerminalSize(columns: 80, rows: 24)
        }
        return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }
}

/// The program that shows long text in pages: `PAGER`, or `less` by default.
enum Pager {
    /// Shows text in the pager if it does not fit the terminal. Returns `false` without showing it if it fits or no pager is found.
    static func show(_ text: String) -> Bool {
        let size = TerminalSize.current
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let fits = lines.count <= size.rows && lines.allSatisfy { $0.count <= size.columns }
        let former = signal(SIGPIPE, SIG_IGN)
        defer { signal(SIGPIPE, former) }
        // Long lines are scrolled horizontally instead of wrapped.
        guard !fits, let process = PagerProcess(options: "FRSX") else { return false }
        try? StandardStreams.write(Array(text.utf8))
        process.end()
        return true
    }

    /// Runs a closure whose output goes through the pager if standard output is a terminal.
    ///
    /// The pager exits immediately if the text fits the screen. Quitting the pager ends the command, as with `| less`.
    static func paging<Result>(if isWanted: Bool, _ body: () throws -> Result) rethrows -> Result {
        let process = isWanted && StandardStreams.isOutputTerminal ? PagerProcess(options: "FRX") : nil
        // The pager must end before an error is written.
        defer { process?.end() }
        return try body()
    }
}

/// A running pager that receives standard output.
private final class PagerProcess {
    private let id: pid_t
    private let output: CInt

    /// - Parameter options: The options for `less` if the variable `LESS` is not set.
    init?(options: String) {
        let environment = ProcessInfo.processInfo.environment
        guard environment["TERM"] != "dumb", let command = Self.command(environment) else { return nil }
        let variables = environment.merging(["LESS": environment["LESS"] ?? options]) { $1 }
        var ends: [CInt] = [0, 0]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        try? StandardStreams.flush()
        let output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
        guard output >= 0, let id = ShellProcess.spawn(command, variables, input: ends[0]) else {
            for end in ends { close(end) }
            if output >= 0 { close(output) }
            return nil
        }
        (self.id, self.output) = (id, output)
        dup2(ends[1], STDOUT_FILENO)
        for end in ends { close(end) }
    }

    /// Returns the pager command; `nil` if the variable is empty or names a missing program.
    private static func command(_ environment: [String: String]) -> String? {
        let command = (environment["PAGER"] ?? "less").trimmingCharacters(in: .whitespaces)
        guard let program = command.split(separator: " ").first else { return nil }
        // Commands that are not plain program names are left to the shell.
        guard program.allSatisfy({ $0.isLetter || $0.isNumber || "-_.+".contains($0) }) else { return command }
        let folders = (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        return folders.contains { access("\($0)/\(program)", X_OK) == 0 } ? command : nil
    }

    /// Restores standard output and waits until the user quits the pager.
    func end() {
        try? StandardStreams.flush()
        dup2(output, STDOUT_FILENO)
        close(output)
        ShellProcess.wait(id)
    }
}
