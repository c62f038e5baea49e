internal import PeriluneBindings
internal import PeriluneDependencies
internal import PeriluneIsolation
internal import PeriluneLua

/// The messages from the host to the script process.
enum HostMessage: UInt8 {
    /// The first message, with the ``WorkerSetup``.
    case hello = 1
    /// Requests with a number. The answer is ``WorkerMessage/result`` or ``WorkerMessage/failure`` with the same number.
    case run, runCommand, call, defines, wait, endCallbacks, isIdle, takeFailure
    /// The answer to a question of the worker, with the number of the question.
    case answer
    /// Cancels the request with a number, or all active requests with the number 0.
    case cancel
    case limitTime
    case signal
    /// Sets the clock to a time in microseconds since 1970.
    case setClock
    /// The begin and end of runs are reported from now on.
    case reportRuns
    /// A request: a text to compile, and its name. Its result is the error of a text that does not compile.
    case compile
    /// A request: the text of a file of automations, its name, whether triggers start them, and the interval of checks. Its result is
    /// the number of automations.
    case loadAutomations
    /// Requests: automations wait for events from now on, or end.
    case waitForEvents, endAutomations
    /// A request: a ``LibraryInterface``, the name of a function, and its arguments.
    case callLibrary
    /// A request: the name of a function to observe, and whether equal values are left out. Its result is the number of the observation
    /// in the following requests.
    case observe
    case awaitObservation, takeObservation, controlObservation, endObservation
    /// Another connection has committed a transaction: the tables that it has changed; none for unknown tables.
    case noteCommit
}

/// The messages from the script process to the host.
enum WorkerMessage: UInt8 {
    /// The answer to ``HostMessage/hello``: the active isolation layers with `ready`, or an error with `unready`.
    case ready = 64
    case unready
    case result
    case failure
    /// Questions with a number. The answer is ``HostMessage/answer``. The first value is the number of the request that asks, or
    /// 0 outside of requests. For all questions except `callFunction`, a thread waits for the answer, which arrives on the
    /// connection for answers.
    case callFunction, callAtOnce, findModule, now, uuid, random
    /// A question: whether the owner of a row exists, by its name; the process cannot see other processes.
    case isOwnerAlive
    /// Abandons a question with a number: its answer is not needed any more.
    case abandon
    case print
    case log
    case callbackFailure
    /// The names of the signals that scripts observe.
    case signals
    /// A traced statement: its SQL and its duration.
    case statement
    /// The new time of the clock in microseconds since 1970, set while scripts wait.
    case clock
    /// The figures of a request's run, before its result: the number of the request, and ``RunFigures``.
    case measured
    /// The begin or end of a run without a request, see ``ScriptRunEvent``.
    case runEvent
    /// A transaction was committed: the tables that it has changed.
    case committed
}

/// The settings of the script process, sent in the first message.
struct WorkerSetup {
    /// The path of the database; `nil` for a private database in memory.
    var database: String?
    var connection = ConnectionSettings()
    /// The maximum size of the database, in bytes.
    var diskQuota: Int?
    /// The events that the host traces; `nil` without a trace.
    var trace: SQLTrace.Events?
    var tracesValues = false
    var libraries = LuaLibraries.sandboxed
    var isDeterministic = false
    var limits = LuaLimits.none
    var outputLimitInBytes: Int?
    /// Whether the host wants to know the tables that scripts change.
    var reportsCommits = false
    /// Whether the script process sends the scripts' output to the host.
    var prints = true
    var context = DependencyContainer.Context.live
    /// Whether the script process requests the current time from the host.
    var asksForDate = false
    /// The time of a manually set clock; `nil` for other clocks.
    var clock: Int64?
    /// Whether the host provides Lua modules for `require`.
    var hasModules = false
    var asksForUUID = false
    var asksForRandom = false
    /// Whether ``ScriptHost/waitUntilIdle()`` throws the errors of callbacks.
    var failsForCallbacks = false
    var signals: [String] = []
    var logLevel = "info"

    var value: WireValue {
        .fields([
            ("database", database.map { .text($0) }), ("connection", connection.value),
            ("quota", diskQuota.map { .integer(Int64($0)) }), ("trace", trace.map { .integer(Int64($0.rawValue)) }),
            ("trace_values", .boolean(tracesValues)), ("libraries", .integer(Int64(libraries.rawValue))),
            ("memory", limits.memoryInBytes.map { .integer(Int64($0)) }), ("time", limits.time.map { WireValue($0) }),
            ("instructions", limits.instructions.map { .integer(Int64($0)) }),
            ("disk", limits.diskInBytes.map { .integer(Int64($0)) }),
            ("cancellable", .boolean(limits.isCancellable)),
            ("output", outputLimitInBytes.map { .integer(Int64($0)) }), ("prints", .boolean(prints)),
            ("commits", .boolean(reportsCommits)), ("context", .text(context.rawValue)),
            ("date", .boolean(asksForDate)), ("clock", clock.map { .integer($0) }), ("modules", .boolean(hasModules)),
            ("uuid", .boolean(asksForUUID)), ("random", .boolean(asksForRandom)),
            ("fails", .boolean(failsForCallbacks)), ("deterministic", .boolean(isDeterministic)),
            ("signals", .list(signals.map { .text($0) })), ("log", .text(logLevel)),
        ])
    }

    init() {}

    init(_ value: WireValue) {
        func number(_ name: String) -> Int? {
            guard let value = value[name]?.integerValue else { return nil }
            return Int(exactly: value)
        }
        database = value["database"]?.text
        connection = value["connection"].map { ConnectionSettings($0) } ?? ConnectionSettings()
        diskQuota = number("quota")
        trace = number("trace").map { SQLTrace.Events(rawValue: $0) }
        tracesValues = value["trace_values"]?.booleanValue == true
        libraries = LuaLibraries(rawValue: UInt32(truncatingIfNeeded: number("libraries") ?? 0)).intersection(.sandboxed)
        limits = LuaLimits(
            memoryInBytes: number("memory"), time: value["time"]?.duration, instructions: number("instructions"),
            diskInBytes: number("disk"),
            isCancellable: value["cancellable"]?.booleanValue == true)
        outputLimitInBytes = number("output")
        prints = value["prints"]?.booleanValue != false
        reportsCommits = value["commits"]?.booleanValue == true
        context = value["context"]?.text.flatMap { DependencyContainer.Context(rawValue: $0) } ?? .live
        clock = value["clock"]?.integerValue
        hasModules = value["modules"]?.booleanValue == true
        isDeterministic = value["deterministic"]?.booleanValue == true
        asksForDate = value["date"]?.booleanValue == true
        asksForUUID = value["uuid"]?.booleanValue == true
        asksForRandom = value["random"]?.booleanValue == true
        failsForCallbacks = value["fails"]?.booleanValue == true
        signals = value["signals"]?.elements?.compactMap(\.text) ?? []
        logLevel = value["log"]?.text ?? "info"
    }
}

extension WireValue {
    /// The limits of a run that are not the host's.
    init(runLimits limits: LuaLimits) {
        self = .fields([
            ("time", limits.time.map { WireValue($0) }), ("instructions", limits.instructions.map { .integer(Int64($0)) }),
            ("disk", limits.diskInBytes.map { .integer(Int64($0)) }),
        ])
    }

    var runLimits: LuaLimits? {
        guard case .table = self else { return nil }
        func number(_ name: String) -> Int? { self[name]?.integerValue.map { Int(clamping: $0) } }
        return LuaLimits(time: self["time"]?.duration, instructions: number("instructions"), diskInBytes: number("disk"))
    }

    /// Creates a value with the seconds and attoseconds of a duration.
    init(_ duration: Duration) {
        self = .list([.integer(duration.components.seconds), .integer(duration.components.attoseconds)])
    }

    var duration: Duration? {
        guard let parts = elements, parts.count == 2, let seconds = parts[0].integerValue, let attoseconds = parts[1].integerValue
        else { return nil }
        return Duration(secondsComponent: seconds, attosecondsComponent: attoseconds)
    }
}

extension Frame {
    init(_ message: HostMessage, _ request: UInt32, _ values: [WireValue] = []) {
        self.init(kind: message.rawValue, request: request, values: values)
    }

    init(_ message: WorkerMessage, _ request: UInt32, _ values: [WireValue] = []) {
        self.init(kind: message.rawValue, request: request, values: values)
    }
}
