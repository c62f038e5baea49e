internal import PeriluneBindings
internal import PeriluneDependencies
internal import PeriluneIsolation
internal import PeriluneLua

/// The messages from the host to the script process.
enum HostMessage: UInt8 {
    /// The first message, which contains the ``WorkerSetup``.
    case hello = 1
    /// Numbered requests. The process answers with ``WorkerMessage/result`` or ``WorkerMessage/failure`` and the same number.
    case run, runCommand, call, defines, wait, endCallbacks, isIdle, takeFailure
    /// The answer to a question from the process, with the question's number.
    case answer
    /// Cancels the request with this number, or all active requests if the number is 0.
    case cancel
    case limitTime
    case signal
    /// Sets the clock. The value is a time in microseconds since 1970.
    case setClock
    /// Asks the process to report the start and end of its runs.
    case reportRuns
    /// A request to compile a source text without running it. The values are the text and its name. The result is the error if the text
    /// does not compile.
    case compile
    /// A request to load an automation file. The values are its text, its name, whether triggers are active, and the polling interval. The
    /// result is the number of automations.
    case loadAutomations
    /// Requests to keep the event loop alive for events, and to end the automations.
    case waitForEvents, endAutomations
    /// A request to call a library function. The values are a ``LibraryInterface``, the name of the function, and its arguments.
    case callLibrary
    /// A request to observe a function. The values are its name, and whether equal values are omitted. The result is the number of the
    /// observation, which the requests `awaitObservation` to `endObservation` use.
    case observe
    case awaitObservation, takeObservation, controlObservation, endObservation
    /// A notification that another connection has committed a transaction. The values are the changed tables; none if they are unknown.
    case noteCommit
    /// Releases the blocked thread that has called a function, because the function waits. The answer follows on the main channel.
    case answerLater
}

/// The messages from the script process to the host.
enum WorkerMessage: UInt8 {
    /// The answers to ``HostMessage/hello``: `ready` with the active isolation layers, or `unready` with an error.
    case ready = 64
    case unready
    case result
    case failure
    /// Numbered questions, which the host answers with ``HostMessage/answer``. The first value is the number of the request that asks, or 0
    /// outside of requests. A blocked thread waits for the answer, which is sent on the separate channel for answers. For `callFunction`,
    /// the host may send ``HostMessage/answerLater`` first, and the answer on the main channel.
    case callFunction, callAtOnce, findModule, now, uuid, random
    /// A question whether the owner of a row is alive. The value is the owner's name. The process asks the host, because it cannot see
    /// other processes.
    case isOwnerAlive
    /// Abandons the question with this number, whose answer is no longer needed.
    case abandon
    case print
    case log
    case callbackFailure
    /// A notification with the names of the signals that scripts observe.
    case signals
    /// A traced statement. The values are its SQL and its duration.
    case statement
    /// A change of the manual clock in the process. The value is the time in microseconds since 1970.
    case clock
    /// The figures of a request's run, sent before its result. The values are the number of the request, and ``RunFigures``.
    case measured
    /// The start or end of a run without a request, see ``ScriptRunEvent``.
    case runEvent
    /// A notification that scripts have committed a transaction. The values are the changed tables.
    case committed
}

/// The settings of the script process, which the host sends in the first message.
struct WorkerSetup {
    /// The path of the database; `nil` for a private in-memory database.
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
    /// Whether the process reports commits, with the changed tables, to the host.
    var reportsCommits = false
    /// Whether the process sends printed lines to the host.
    var prints = true
    var context = DependencyContainer.Context.live
    /// Whether the process requests the current time from the host.
    var asksForDate = false
    /// The time of a manually set clock, in microseconds since 1970; `nil` for other clocks.
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
    /// Encodes the limits of a run that replace the host's limits.
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

    /// Encodes a duration as its seconds and attoseconds.
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
