public import PeriluneLua

/// Options of single runs, such as limits, which override the host's configuration.
///
/// The options apply to the runs that a task starts within ``ScriptHost/withOptions(_:operation:)``, and to the timers and tasks that these
/// runs start.
public struct RunOptions: Sendable {
    /// The tag of the runs in ``ScriptRunEvent``, for example the name of a tenant; `nil` to use the configuration's tag.
    public var tag: String?
    /// The limits of each run. The configuration's limits apply where these are `nil`. The configuration must set at least one limit, for
    /// example `isCancellable`. `memoryInBytes` must be `nil`, because the runs of a host share its memory.
    public var limits: LuaLimits?
    /// The destination of printed lines; `nil` to use the configuration's `output`. This option requires that the configuration's `output`
    /// is not standard output; if scripts run in another process, it must not be `none` either.
    public var output: ScriptOutput?
    /// Additional metadata of log messages, such as the identifier of a request.
    public var logMetadata: [String: String]

    /// Creates options, which by default override nothing.
    public init(
        tag: String? = nil, limits: LuaLimits? = nil, output: ScriptOutput? = nil, logMetadata: [String: String] = [:]
    ) {
        self.tag = tag
        self.limits = limits
        self.output = output
        self.logMetadata = logMetadata
    }

    @TaskLocal static var ofTask: RunOptions?

    /// The options of the current run, available to registered functions and to closures of ``ScriptOutput``.
    public static var current: RunOptions? { ofTask }

    /// Returns these options, with missing values from the options of the enclosing scope.
    func merged(over outer: RunOptions?) -> RunOptions {
        guard let outer else { return self }
        return RunOptions(
            tag: tag ?? outer.tag, limits: limits ?? outer.limits, output: output ?? outer.output,
            logMetadata: outer.logMetadata.merging(logMetadata) { $1 })
    }
}
