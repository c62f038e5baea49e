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
        let formerOptions = isolatedOptions
        isolatedOptions = RunOptions.current
        defer { isolatedOptions = formerOptions }
        guard let label, runReporter.isOn else { return try await perform(isInside: isInside, operation) }
        let watch = RunWatch(label.kind, label.name, tag: runTag, of: state, runReporter)
        isolatedFigures = nil
        do {
            let result = try await measured(by: watch.meter) { host in try await host.perform(isInside: isInside, operation) }
            watch.end(nil, figures: worker == nil ? nil : isolatedFigures ?? RunFigures())
            return result
        } catch {
            watch.end(error, figures: worker == nil ? nil : isolatedFigures ?? RunFigures())
            throw error
        }
    }

    private func perform<Result: Sendable>(
        isInside: Bool, _ operation: @Sendable (isolated ScriptHost) async throws -> Result
    ) async throws -> Result {
        // Functions in this process have no separate limits; the limits are for the script.
        try await LuaRun.$ownLimits.withValue(worker == nil ? LuaRun.ownLimits : nil) {
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
        if case .none = output, worker != nil {
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

// MARK: - Runs in another process

/// A run that another process has started by itself, for a timer or a task.
struct IsolatedRun {
    let begin: ScriptRunEvent
    let start = ContinuousClock.now
}

extension ScriptHost {
    /// Further simultaneous runs are not reported, because they may come from an attacker.
    private static let isolatedRunLimit = 1 << 14

    /// Reports the begin or the end of a run in another process: its number there, its kind and name, and at the end its error and figures.
    func takeRunEvent(_ values: [WireValue]) {
        guard let number = values.first?.integerValue, values.count >= 3 else { return }
        if let run = isolatedRuns[number], values.count == 5 {
            isolatedRuns[number] = nil
            let error = values[3] == .nil ? nil : LuaError(values[3])
            runReporter.send(run.begin.ended(error, after: .now - run.start, RunFigures(values[4])))
        } else if values.count == 3, let kind = values[1].text.flatMap({ ScriptRunEvent.Kind(rawValue: $0) }),
            isolatedRuns.count < Self.isolatedRunLimit
        {
            let begin = ScriptRunEvent(id: RunReporter.makeID(), kind: kind, name: values[2].text, tag: runTag, end: nil)
            isolatedRuns[number] = IsolatedRun(begin: begin)
            runReporter.send(begin)
        }
    }

    /// Reports the end of runs in another process that has ended.
    func endIsolatedRuns(_ error: LuaError) {
        for run in isolatedRuns.values.sorted(by: { $0.begin.id < $1.begin.id }) {
            runReporter.send(run.begin.ended(error, after: .now - run.start, RunFigures()))
        }
        isolatedRuns = [:]
    }
}

extension ScriptRunEvent {
    /// The event as ``ScriptHost/takeRunEvent(_:)`` takes it.
    var values: [WireValue] {
        var values: [WireValue] = [.integer(Int64(id)), .text(kind.rawValue), name.map { .text($0) } ?? .nil]
        if let end {
            let error = end.error.map { $0 as? LuaError ?? LuaError(.host, "\($0)") }
            values += [error.map { WireValue($0) } ?? .nil, end.figures.value]
        }
        return values
    }
}
