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
    /// What to run, one after the other in one state.
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
    /// Whether keys of tables are visited in a fixed order in the live context, too.
    var isDeterministic = false
    /// The paths of SQLite extensions.
    var extensions: [String] = []
    /// Whether this process was started for it by another one.
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
    /// A task to run with the host instead of the sources.
    var task: (@Sendable (ScriptHost) async throws -> Void)?
    /// The exit status of a task that is interrupted while it runs automations, which end in their own way then; `nil`: it is like a
    /// script that is interrupted.
    var gracefulStopStatus: Int32?
    /// When standard output is colored.
    var color = ColorChoice.auto

    /// The folder of the script, in which `require` looks for modules: the folder of its file, else the current one.
    var moduleFolder: String {
        for case .file(let path) in sources {
            guard let slash = path.lastIndex(of: "/") else { return "." }
            return slash == path.startIndex ? "/" : String(path[..<slash])
        }
        return "."
    }
}
