internal import PeriluneBindings
internal import PeriluneIsolation
internal import PeriluneLua

/// Events and measurement of runs.
extension ScriptHost {
    /// The kind and name, for events, of a run that the program starts.
    struct RunLabel {
        let kind: ScriptRunEvent.Kind
        let name: String

        static func script(_ name: String) -> RunLabel { RunLabel(kind: .script, name: name) }
        static func call(_ name: String) -> RunLabel { RunLabel(kind: .call, name: name) }
    }

    /// A stream of events for the start and end of the host's future runs. A slow reader loses the oldest events.
    ///
    /// The stream ends when the host is closed or released. For all hosts of a pool, see ``ScriptPool/runEvents``.
    public nonisolated var runEvents: AsyncStream<ScriptRunEvent> { runReporter.events() }

    /// Runs an operation, and reports it as a run if it has a label.
    ///
    /// - Parameter isInside: Whether a script of the host is waiting for the operation.
    func performRun<Result: Sendable>(
        _ label: RunLabel?, isInside: Bool, _ operation: @Sendable (isolated ScriptHost) async throws -> Result
    ) async throws -> Result {
        try checkOptions()
        let previousOptions = backend.exchangeOptions(RunOptions.current)
        defer { _ = backend.exchangeOptions(previousOptions) }
        guard let label, runReporter.isOn else { return try await performRun(isInside: isInside, operation) }
        let watch = RunWatch(label.kind, label.name, tag: runTag, of: state, runReporter)
        do {
            let result = try await measured(by: watch.meter) { host in try await host.performRun(isInside: isInside, operation) }
            watch.end(nil, figures: backend.lastFigures)
            return result
        } catch {
            watch.end(error, figures: backend.lastFigures)
            throw error
        }
    }

    private func performRun<Result: Sendable>(
        isInside: Bool, _ operation: @Sendable (isolated ScriptHost) async throws -> Result
    ) async throws -> Result {
        // If scripts run in another process, the limits apply there and not to functions of this process.
        try await LuaRun.$ownLimits.withValue(backend.usesHostState ? LuaRun.ownLimits : nil) {
            try await LoopCarrier.$current.withValue(carriesTaskLocalValues ? LoopCarrier() : nil) {
                isInside ? try await operation(self) : try await performRun(operation)
            }
        }
    }

    /// Runs an operation, and adds its resource usage to a meter.
    func measured<Result: Sendable>(
        by meter: LuaMeter, _ operation: @Sendable (isolated ScriptHost) async throws -> Result
    ) async throws -> Result {
        try await LuaMeter.$current.withValue(meter) { try await operation(self) }
    }

    private func checkOptions() throws {
        guard RunOptions.current?.output != nil else { return }
        if case .standardOutput = output {
            throw LuaError(
                .usage, "the output of single runs can be redirected only in a host whose `output` is not standard output")
        }
        if case .discarded = output, !backend.usesHostState {
            throw LuaError(
                .usage, "the output of single runs can be redirected only in an isolated host whose `output` is not `discarded`")
        }
    }
}

extension ScriptPool {
    /// A stream of events for the start and end of future runs in all hosts of the pool. A slow reader loses the oldest events.
    ///
    /// The stream ends when the pool is closed or released.
    public nonisolated var runEvents: AsyncStream<ScriptRunEvent> { runReporter.events() }
}

extension ScriptRunEvent {
    /// The event in the wire format that ``WorkerBackend/takeRunEvent(_:in:)`` decodes.
    var values: [WireValue] {
        var values: [WireValue] = [.integer(Int64(id)), .text(kind.rawValue), name.map { .text($0) } ?? .nil]
        if let end {
            let error = end.error.map { $0 as? LuaError ?? LuaError(.host, "\($0)") }
            values += [error.map { WireValue($0) } ?? .nil, end.figures.value]
        }
        return values
    }
}
