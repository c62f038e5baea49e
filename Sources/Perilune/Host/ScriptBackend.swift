internal import PeriluneIsolation
internal import PeriluneLua

/// The place in which the scripts of a host run: the state of the host, or another process. In both cases the host's state encodes the
/// arguments and holds the results.
protocol ScriptBackend: AnyObject {
    /// Whether scripts run in the state of the host, so that Swift can use their functions, records and observations.
    var usesHostState: Bool { get }
    /// Cancels runs and passes signals on, from any thread.
    var control: any ScriptControl { get }

    // Runs

    func run(
        _ source: [UInt8], named name: String, _ makeArguments: (LuaState) throws -> [LuaValue], in host: isolated ScriptHost
    ) async throws -> [LuaValue]

    /// Runs source text as the stand-alone interpreter does.
    func runCommand(_ source: [UInt8], named name: String, _ arguments: [[UInt8]], in host: isolated ScriptHost) async throws

    func call(
        _ function: String, _ makeArguments: (LuaState) throws -> [LuaValue], in host: isolated ScriptHost
    ) async throws -> [LuaValue]

    /// Whether scripts have defined a function.
    func defines(_ function: String, in host: isolated ScriptHost) async throws -> Bool

    /// Compiles source text without running it.
    func compile(_ source: [UInt8], named name: String, in host: isolated ScriptHost) async throws

    /// Sets the options of the current run, and forgets the figures of the last one. Returns the previous options.
    func exchangeOptions(_ options: RunOptions?) -> RunOptions?

    /// The figures of the last run; `nil` if the meter of the caller has counted them.
    var lastFigures: RunFigures? { get }

    func limitTime(to time: Duration, in host: isolated ScriptHost)

    // Automations, jobs and observations

    /// Runs a file that defines automations, which replace the previous ones. Returns their number.
    func loadAutomations(
        _ source: [UInt8], named path: String, isLive: Bool, poll: Duration?, in host: isolated ScriptHost
    ) async throws -> Int

    /// Keeps waits for callbacks waiting until the automations end.
    func waitForEvents(in host: isolated ScriptHost) async throws

    /// Ends the automations, after their active runs.
    func endAutomations(in host: isolated ScriptHost) async throws

    /// Calls a function of the library with values that can go to another process, and returns its first result.
    func callLibrary(
        _ module: LibraryInterface, _ function: String, _ makeArguments: (LuaState) throws -> [LuaValue],
        in host: isolated ScriptHost
    ) async throws -> LuaValue

    /// Begins to observe the result of a script's function.
    func observe(
        _ function: String, removesDuplicates: Bool, in host: isolated ScriptHost
    ) async throws -> any ObservedFunction

    /// The path of the scripts' database, if it is open in another process.
    var databasePath: String? { get }

    // Callbacks

    func waitUntilIdle(in host: isolated ScriptHost) async throws
    func isIdle(in host: isolated ScriptHost) async -> Bool
    /// Ends timers, observations and tasks.
    func endCallbacks(in host: isolated ScriptHost) async
    /// Removes and returns the first unhandled error of a called function.
    func takeCallbackFailure(in host: isolated ScriptHost) async -> (any Error)?

    /// Ends everything; no call follows.
    func close(in host: isolated ScriptHost)
}

/// A module of the library whose functions Swift calls.
enum LibraryInterface: String {
    case automations = "perilune.events.automation"
    case jobs = "perilune.events.job_bridge"
}

/// A script function that is observed on behalf of Swift, until the last reference is released.
protocol ObservedFunction: AnyObject, Sendable {
    var name: String { get }

    /// Waits until there may be a new value.
    func waitForChange() async throws

    /// Returns a new value; `nil` if nothing has changed.
    func take(in host: isolated ScriptHost) async throws -> [LuaValue]?

    /// Pauses or resumes the observation, or changes its function. Returns the answer of the method of that name in Lua.
    ///
    /// - Parameter function: The name of the next function, for `change`.
    func control(_ method: String, _ function: String?, in host: isolated ScriptHost) async throws -> Bool
}

/// Control of the scripts of a host from any thread.
protocol ScriptControl: Sendable {
    /// Begins to pass on callbacks, output and other messages of the scripts to the host.
    func attach(to host: ScriptHost)
    /// Ends the active run, and any wait for the host to become idle.
    func cancel()
    /// Ends the active run. In another process, waits are requests like runs, and end too.
    func cancelRuns()
    /// Ends the active run, or else the next run or wait.
    func cancelRunOrNext()
    /// Passes on a system signal. Returns whether a script observes it.
    func deliver(signal name: String) -> Bool
    /// The layers of isolation around the scripts.
    var layers: Set<IsolationLayer> { get }
    /// Whether nothing can run any more.
    var hasEnded: Bool { get }
    /// The number of the process, if it is another one.
    var processID: Int32? { get }
}
