internal import Perilune

/// The source of a Lua script: a file, standard input or code on the command line.
enum ScriptSource: Equatable, Sendable {
    case file(String)
    case standardInput
    /// Code from an option `-e`, numbered from 1.
    case code(String, number: Int)

    /// Whether the source is code from an option `-e`.
    var isCode: Bool { if case .code = self { true } else { false } }

    /// The path of a file; `nil` for other sources.
    var path: String? { if case .file(let path) = self { path } else { nil } }

    /// The name of the source in errors.
    var name: String {
        switch self {
        case .file(let path): path
        case .standardInput: "stdin"
        case .code(_, 1): "(command line)"
        case .code(_, let number): "(command line \(number))"
        }
    }
}

/// A request to run Lua scripts, with the options of the command.
struct ScriptRequest: Sendable {
    /// The sources to run, one after the other in one Lua state.
    var sources: [ScriptSource]
    /// The arguments of the scripts as bytes, which may be invalid UTF-8.
    var arguments: [[UInt8]] = []
    /// The database; `nil` for a private one in memory.
    var database: String?
    /// Whether scripts have the global `db`.
    var definesGlobalDatabase = true
    /// Whether to create a missing database and print a note; otherwise, a missing database is an error.
    var makesDatabase = true
    var isReadonly = false
    var isSandboxed = false
    /// Whether the keys of Lua tables are visited in a fixed order, even in the live context.
    var isDeterministic = false
    /// The paths of SQLite extensions.
    var extensions: [String] = []
    /// Whether a supervising process has started this one for the request.
    var isSupervised = false
    var timeout: Duration?
    var memoryInBytes: Int?
    /// The output limit of scripts, in bytes.
    var outputInBytes: Int?
    /// The limit for writes to files, in bytes.
    var diskInBytes: Int?
    /// The sources of the limits that are neither options nor missing: a line of the settings file, or a default of --sandbox.
    var limitSources: [Setting: Settings.Source] = [:]
    var trace = TraceRequest()
    /// The options of a preview; `nil` to run on the database itself, or on a copy without a report.
    var preview: PreviewRequest?
    /// Whether to run on a private copy of the database, which is then discarded.
    var usesCopy = false
    /// A task to run with the host instead of the sources.
    var task: (@Sendable (ScriptHost) async throws -> Void)?
    /// The exit status of a task that a signal stops while it runs automations, which then end gracefully. If `nil`, signals interrupt the
    /// task like a script.
    var gracefulStopStatus: Int32?
    /// The choice whether to color standard output.
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
