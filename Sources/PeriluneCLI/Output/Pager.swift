internal import Foundation
@preconcurrency internal import Glibc

/// The size of the terminal to which output goes.
struct TerminalSize {
    let columns: Int
    let rows: Int

    static var current: TerminalSize {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return TerminalSize(columns: 80, rows: 24)
        }
        return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }
}

/// The program that shows long text page by page: `PAGER`, by default `less`.
enum Pager {
    /// Shows a text that does not fit the terminal. Returns whether it has done so: `false` if it fits, or there is no pager.
    static func show(_ text: String) -> Bool {
        let size = TerminalSize.current
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let fits = lines.count <= size.rows && lines.allSatisfy { $0.count <= size.columns }
        let environment = ProcessInfo.processInfo.environment
        let command = environment["PAGER"] ?? "less"
        guard !fits, !command.isEmpty, environment["TERM"] != "dumb" else { return false }
        let process = Process(), pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command]
        var variables = environment
        // Colors as they are, long lines to the right and not below.
        variables["LESS"] = environment["LESS"] ?? "-RSF"
        process.environment = variables
        process.standardInput = pipe
        let former = signal(SIGPIPE, SIG_IGN)
        defer { signal(SIGPIPE, former) }
        guard (try? process.run()) != nil else { return false }
        try? pipe.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try? pipe.fileHandleForWriting.close()
        process.waitUntilExit()
        return process.terminationStatus != 127
    }
}
