internal import PeriluneBindings
internal import PeriluneIsolation
internal import PeriluneLua

/// The begin and end of runs.
extension ScriptHost {
    /// A run started by the program, as reported in events.
    struct RunLabel {
        let kind: ScriptRunEvent.Kind
        let name: String

        static func script(_ name: String) -> RunLabel { RunLabel(kind: .script, name: name) }
        static func call(_ name: String) -> RunLabel { RunLabel(kind: .call, name: name) }
    }

    /// The begin and end of each run of the host, from now on. A reader that is too slow loses the oldest events.
    ///
    /// The sequence ends when the host is closed or released. For all hosts of a pool see ``ScriptPool/runEvents``.
    public nonisolated var runEvents: AsyncStream<ScriptRunEvent> { runReporter.events() }

    /// Runs an operation, and reports it as a run.
    ///
    /// - Parameter isInside: Whether a script of the host is waiting for it.
    func perform<Result: Sendable>(
        _ label: RunLabel?, isInside: Bool, _ operation: @Sendable (isolated ScriptHost) async throws -> Result
    ) async throws -> Result {
        try checkOptions()
        let previousOptions = backend.exchangeOptions(RunOptions.current)
        defer { _ = backend.exchangeOptions(previousOptions) }
        guard let label, runReporter.isOn else { return try await perform(isInside: isInside, operation) }
        let watch = RunWatch(label.kind, label.name, tag: runTag, of: state, runReporter)
        do {
            let result = try await measured(by: watch.meter) { host in try await host.perform(isInside: isInside, operation) }
            watch.end(nil, figures: backend.lastFigures)
            return result
        } catch {
            watch.end(error, figures: backend.lastFigures)
            throw error
        }
    }

    private func perform<Result: Sendable>(
        isInside: Bool, _ operation: @Sendable (isolated ScriptHost) async throws -> Result
    ) async throws -> Result {
        // Functions of this process have no limits of their own: those are for the script.
        try await LuaRun.$ownLimits.withValue(backend.usesHostState ? LuaRun.ownLimits : nil) {
            try await LoopCarrier.$current.withValue(carriesTaskLocalValues ? LoopCarrier() : nil) {
                isInside ? try await operation(self) : try await perform(operation)
            }
        }
    }

    /// Runs an operation whose use is counted.
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
        if case .none = output, !backend.usesHostState {
            throw LuaError(
                .usage, "the output of single runs can be redirected only in an isolated host whose `output` is not `none`")
        }
    }
}

extension ScriptPool {
    /// The begin and end of each run of the pool's hosts, from now on. A reader that is too slow loses the oldest events.
    ///
    /// The sequence ends when the pool is closed or released.
    public nonisolated var runEvents: AsyncStream<ScriptRunEvent> { runReporter.events() }
}

extension ScriptRunEvent {
    /// The event as ``WorkerBackend/takeRunEvent(_:in:)`` takes it.
    var values: [WireValue] {
        var values: [WireValue] = [.integer(Int64(id)), .text(kind.rawValue), name.map { .text($0) } ?? .nil]
        if let end {
            let error = end.error.map { $0 as? LuaError ?? LuaError(.host, "\($0)") }
            values += [error.map { WireValue($0) } ?? .nil, end.figures.value]
        }
        return values
    }
}
