internal import Perilune

/// A piece of Lua to run.
enum ScriptSource: Equatable, Sendable {
    case file(String)
    case standardInput
    /// Text given with `-e`; the number counts from 1.
    case code(String, number: Int)

    /// Whether it was given with `-e`.
    var isCode: Bool { if case .code = self { true } else { false } }

    /// The path of a file.
    var path: String? { if case .file(let path) = self { path } else { nil } }

    /// The name in errors.
    var name: String {
        switch self {
        case .file(let path): path
        case .standardInput: "stdin"
        case .code(_, 1): "(command line)"
        case .code(_, let number): "(command line \(number))"
        }
    }
}

/// A request of the `run` command.
struct ScriptRequest: Sendable {
    /// The scripts and texts to run, one after the other in one state.
    var sources: [ScriptSource]
    /// The scripts' arguments, which need not be UTF-8.
    var arguments: [[UInt8]] = []
    /// `nil` means a private database in memory.
    var database: String?
    /// Whether scripts have the global `db`.
    var definesGlobalDatabase = true
    /// Whether a missing database is created, with a note; otherwise it is an error.
    var makesDatabase = true
    var isReadonly = false
    var isSandboxed = false
    /// Whether keys of tables are visited in a fixed order, even in the live context.
    var isDeterministic = false
    /// The paths of SQLite extensions.
    var extensions: [String] = []
    /// Whether another process has started this one for it.
    var isSupervised = false
    var timeout: Duration?
    var memoryInBytes: Int?
    /// The output limit of scripts, in bytes.
    var outputInBytes: Int?
    /// The limit for writes to files, in bytes.
    var diskInBytes: Int?
    var trace = TraceRequest()
    /// `nil` means that the script runs on the database itself, or on a copy without a report.
    var preview: PreviewRequest?
    /// Whether it runs on a private copy that is discarded.
    var usesCopy = false
    /// A task to run with the host instead of scripts.
    var task: (@Sendable (ScriptHost) async throws -> Void)?
    /// The exit status of a task that is interrupted while it runs automations, which then end gracefully; `nil` to interrupt the task like
    /// a script.
    var gracefulStopStatus: Int32?
    /// The rule that determines whether standard output is colored.
    var color = ColorChoice.auto

    /// The folder in which `require` searches: the folder of the script's file, otherwise the current one.
    var moduleFolder: String {
        for case .file(let path) in sources {
            guard let slash = path.lastIndex(of: "/") else { return "." }
            return slash == path.startIndex ? "/" : String(path[..<slash])
        }
        return "."
    }
}
