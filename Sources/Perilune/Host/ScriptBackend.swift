internal import PeriluneIsolation
internal import PeriluneLua

/// The backend that runs the scripts of a host, in the host's Lua state or in another process. In both cases, the host's Lua state encodes
/// the arguments and holds the results.
protocol ScriptBackend: AnyObject {
    /// Whether scripts run in the host's Lua state, which gives Swift direct access to their functions, records and observations.
    var usesHostState: Bool { get }
    /// The control that cancels runs and delivers signals from any thread.
    var control: any ScriptControl { get }

    // Runs

    func run(
        _ source: [UInt8], named name: String, _ makeArguments: (LuaState) throws -> [LuaValue], in host: isolated ScriptHost
    ) async throws -> [LuaValue]

    /// Runs source text like the stand-alone interpreter.
    func runCommand(_ source: [UInt8], named name: String, _ arguments: [[UInt8]], in host: isolated ScriptHost) async throws

    func call(
        _ function: String, _ makeArguments: (LuaState) throws -> [LuaValue], in host: isolated ScriptHost
    ) async throws -> [LuaValue]

    /// Returns whether scripts have defined a function.
    func defines(_ function: String, in host: isolated ScriptHost) async throws -> Bool

    /// Compiles source text without running it.
    func compile(_ source: [UInt8], named name: String, in host: isolated ScriptHost) async throws

    /// Sets the options of the current run, clears the figures of the last run, and returns the previous options.
    func exchangeOptions(_ options: RunOptions?) -> RunOptions?

    /// The figures of the last run; `nil` if the caller's meter has measured the run.
    var lastFigures: RunFigures? { get }

    func limitTime(to time: Duration, in host: isolated ScriptHost)

    // Automations, jobs and observations

    /// Runs a file that defines automations, which replace the previous automations. Returns the number of automations.
    func loadAutomations(
        _ source: [UInt8], named path: String, isLive: Bool, poll: Duration?, in host: isolated ScriptHost
    ) async throws -> Int

    /// Keeps the event loop alive, so that `waitUntilIdle` does not return until the automations end.
    func waitForEvents(in host: isolated ScriptHost) async throws

    /// Waits for the active runs of the automations, then ends the automations.
    func endAutomations(in host: isolated ScriptHost) async throws

    /// Calls a function of the Lua library with arguments that can be sent to another process, and returns its first result.
    func callLibrary(
        _ module: LibraryInterface, _ function: String, _ makeArguments: (LuaState) throws -> [LuaValue],
        in host: isolated ScriptHost
    ) async throws -> LuaValue

    /// Starts an observation of a script function's result.
    func observe(
        _ function: String, removesDuplicates: Bool, in host: isolated ScriptHost
    ) async throws -> any ObservedFunction

    /// The path of the scripts' database, if it is open in another process.
    var databasePath: String? { get }

    // Callbacks

    func waitUntilIdle(in host: isolated ScriptHost) async throws
    func isIdle(in host: isolated ScriptHost) async -> Bool
    /// Ends the scripts' timers, observations and tasks.
    func endCallbacks(in host: isolated ScriptHost) async
    /// Removes and returns the first unhandled error of a callback.
    func takeCallbackFailure(in host: isolated ScriptHost) async -> (any Error)?

    /// Releases all resources. The backend must not be used afterwards.
    func close(in host: isolated ScriptHost)
}

/// A module of the library whose functions Swift calls.
enum LibraryInterface: String {
    case automations = "perilune.events.automation"
    case jobs = "perilune.events.job_bridge"
}

/// A script function that Swift code observes. The observation ends when the last reference is released.
protocol ObservedFunction: AnyObject, Sendable {
    var name: String { get }

    /// Waits until a transaction may have changed the value.
    func waitForChange() async throws

    /// Returns the new value; `nil` if the value has not changed.
    func take(in host: isolated ScriptHost) async throws -> [LuaValue]?

    /// Calls a method of the observation in Lua, which pauses or resumes the observation, or changes its function. Returns the method's
    /// result.
    ///
    /// - Parameter function: The name of the new function, for the method `change`.
    func control(_ method: String, _ function: String?, in host: isolated ScriptHost) async throws -> Bool
}

/// Thread-safe control of a host's scripts.
protocol ScriptControl: Sendable {
    /// Starts to forward callbacks, output and other messages of the scripts to the host.
    func attach(to host: ScriptHost)
    /// Ends the active run, and any wait for the host to become idle.
    func cancel()
    /// Ends the active run. If scripts run in another process, this also ends pending waits, because that process treats a wait
    /// as a request, like a run.
    func cancelRuns()
    /// Ends the active run, or else the next run or wait.
    func cancelRunOrNext()
    /// Forwards a system signal to the scripts. Returns whether a script observes the signal.
    func deliver(signal name: String) -> Bool
    /// The active isolation layers of the scripts' process.
    var layers: Set<IsolationLayer> { get }
    /// Whether the process of the scripts has ended, which makes further runs impossible.
    var hasEnded: Bool { get }
    /// The ID of the scripts' process; `nil` if scripts run in this process.
    var processID: Int32? { get }
}
