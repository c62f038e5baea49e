internal import Perilune

/// The exit statuses of the process.
enum ExitStatus {
    static let success: Int32 = 0
    /// The script or the query failed.
    static let failure: Int32 = 1
    /// Changes are pending, or a script would make some; used with `--check`.
    static let pending: Int32 = 2
    /// There was nothing to run.
    static let nothingMatched: Int32 = 4
    /// A limit was exceeded.
    static let limit: Int32 = 5
    /// The command line is invalid.
    static let usage: Int32 = 64
    /// The script does not parse, or the file is not a database.
    static let badData: Int32 = 65
    /// The scenario runner failed.
    static let runnerFault: Int32 = 70
    /// A file cannot be opened, read or written.
    static let inputOutput: Int32 = 74
    /// Another process holds a lock on the database.
    static let busy: Int32 = 75
    /// The settings file is invalid.
    static let settings: Int32 = 78
    /// Ctrl-C interrupted the command.
    static let interrupted: Int32 = 130

    /// Returns the exit status for an error of the given kind.
    static func status(forKind kind: String) -> Int32 {
        switch kind {
        case "usage": usage
        case "syntax", "notadb", "format": badData
        case "timeout", "memory", "budget", "output", "disk": limit
        case "cancelled", "interrupt": interrupted
        case "settings": settings
        case "io", "full", "cannot_open", "cannot_load": inputOutput
        case "already_running": busy
        case _ where kind.hasPrefix("busy") || kind.hasPrefix("locked"): busy
        case _ where kind.hasPrefix("corrupt"): badData
        case _ where kind.hasPrefix("ioerr"): inputOutput
        default: failure
        }
    }

    /// Returns the exit status for the argument of `os.exit`. A value out of range must not look like success.
    static func status(requested: Int64) -> Int32 {
        Int32(exactly: requested).flatMap { (0...255).contains($0) ? $0 : nil } ?? failure
    }
}

/// An error that ends a command with a report.
struct CommandFailure: Error {
    var report: ErrorReport
    let status: Int32

    init(_ report: ErrorReport, status: Int32? = nil) {
        self.report = report
        self.status = status ?? ExitStatus.status(forKind: report.kind)
    }

    /// Creates the failure of a script. Its errors of kind `usage` concern its own calls, not the command line.
    init(ofScript report: ErrorReport) {
        self.init(report, status: report.kind == "usage" ? ExitStatus.failure : nil)
    }
}
