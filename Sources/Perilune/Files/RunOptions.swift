public import PeriluneLua

/// Settings of single runs, which replace the settings of the host's configuration.
///
/// ``ScriptHost/withOptions(_:operation:)`` applies them to the runs that a task begins, and to the timers and tasks that these start.
public struct RunOptions: Sendable {
    /// The tag of the runs in ``ScriptRunEvent``: a tenant, for example; `nil`: the configuration's.
    public var tag: String?
    /// Limits of each run. A limit that is `nil` is the configuration's. The host must have some limit: `isCancellable`, for example.
    /// `memoryInBytes` must be `nil`, because runs of a host share its memory.
    public var limits: LuaLimits?
    /// The destination of printed lines; `nil`: the configuration's. The configuration's `output` must be another than standard output,
    /// and for scripts in another process other than `none`.
    public var output: ScriptOutput?
    /// Fields that messages of `perilune.log` get in addition: the identifier of a request, for example.
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

    /// The options of the run that calls the current function: a function of a module, or the closure of ``ScriptOutput``.
    public static var current: RunOptions? { ofTask }

    /// These options, completed by the options of the enclosing scope.
    func merged(over outer: RunOptions?) -> RunOptions {
        guard let outer else { return self }
        return RunOptions(
            tag: tag ?? outer.tag, limits: limits ?? outer.limits, output: output ?? outer.output,
            logMetadata: outer.logMetadata.merging(logMetadata) { $1 })
    }
}
