public import PeriluneLua

/// Settings of single runs, which replace the settings of the host's configuration.
///
/// They apply to the runs that a task begins within ``ScriptHost/withOptions(_:operation:)``, and to the timers and tasks that these runs
/// start.
public struct RunOptions: Sendable {
    /// The tag of the runs in ``ScriptRunEvent``, for example a tenant; `nil` for the tag of the configuration.
    public var tag: String?
    /// Limits of each run. Limits that are `nil` are taken from the configuration. The host must have some limit: `isCancellable`, for
    /// example. `memoryInBytes` must be `nil`, because runs of a host share its memory.
    public var limits: LuaLimits?
    /// The destination of printed lines; `nil`: the configuration's. The configuration's `output` must not be standard output, and must not
    /// be `none` for scripts in another process.
    public var output: ScriptOutput?
    /// Additional fields of messages to `perilune.log`, such as the identifier of a request.
    public var logMetadata: [String: String]

    /// Makes options that replace nothing by default.
    public init(
        tag: String? = nil, limits: LuaLimits? = nil, output: ScriptOutput? = nil, logMetadata: [String: String] = [:]
    ) {
        self.tag = tag
        self.limits = limits
        self.output = output
        self.logMetadata = logMetadata
    }

    @TaskLocal static var ofTask: RunOptions?

    /// The options of the run that calls the current function: a function of a module, or the closure of a ``ScriptOutput``.
    public static var current: RunOptions? { ofTask }

    /// Returns these options, completed by the options of the enclosing scope.
    func merged(over outer: RunOptions?) -> RunOptions {
        guard let outer else { return self }
        return RunOptions(
            tag: tag ?? outer.tag, limits: limits ?? outer.limits, output: output ?? outer.output,
            logMetadata: outer.logMetadata.merging(logMetadata) { $1 })
    }
}
