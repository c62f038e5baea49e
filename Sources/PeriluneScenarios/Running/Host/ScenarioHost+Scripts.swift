internal import Foundation
internal import Perilune
internal import PeriluneBindings
internal import PeriluneLua

/// The function `run_script`, which runs a script in its own state on the database of the scenario.
extension ScenarioHost {
    func installScripts() throws {
        // run_script(path, arguments) runs the main chunk of the script, and the callbacks scheduled for the current time.
        try function("run_script", RunScript(host: self))
    }

    private struct RunScript: LuaAsyncOperation {
        unowned let host: ScenarioHost

        func callAsFunction(_ arguments: [LuaValue]) async throws -> [LuaValue] {
            guard case .string(let path)? = arguments.first else { return [] }
            while true {
                let run = try ScriptRun(host, path.description, arguments.count > 1 ? arguments[1] : .nil)
                host.scripts.append(run)
                try await perform(run)
                if run.error == nil { try await host.waitUntilQuiet() }
                guard run.watch?.hasEnded == true else { return [.table(try run.finish())] }
                await host.remove(run)
                host.stage.clock.advance(by: host.attempt.scenario.crash?.downtime ?? 0)
            }
        }

        /// Runs a script while the scenario waits for it.
        nonisolated(nonsending) private func perform(_ run: ScriptRun) async throws {
            run.loop.beginRun()
            defer { run.loop.endRun() }
            let wait = host.state.loop.beginParking()
            defer { wait.end() }
            try await run.run()
        }
    }

    /// Returns the path of a script, relative to the current folder or to the project folder.
    func find(_ path: String) throws -> String {
        guard !path.hasPrefix("/"), !FileManager.default.fileExists(atPath: path) else { return path }
        let candidate = ScenarioLocation.path(path, in: attempt.source.file.place.project)
        return FileManager.default.fileExists(atPath: candidate) ? candidate : path
    }

    /// Returns the end of a message about a script that does not exist: where paths begin, and the path that was probably meant.
    ///
    /// - Parameter function: The function that was called with the path.
    func hint(for path: String, of function: String) -> String {
        guard !path.hasPrefix("/") else { return "" }
        let candidates = [path + ".lua", "scripts/" + path, "scripts/" + path + ".lua"]
        let existing = candidates.first { FileManager.default.fileExists(atPath: (try? find($0)) ?? $0) }
        return "; paths begin in the project folder" + (existing.map { ": \(function)(\"\($0)\")" } ?? "")
    }
}

extension ScenarioHost {
    /// Removes a script that has ended at a crash point.
    nonisolated(nonsending) fileprivate func remove(_ run: ScriptRun) async {
        await loops.remove(run.loop)
        run.abandon()
        scripts.removeAll { $0 === run }
    }
}

/// A script run by a scenario. Its timers and observations live as long as the scenario.
final class ScriptRun {
    private unowned let host: ScenarioHost
    private let path: String
    private let source: [UInt8]
    private let given: LuaValue
    /// The state of the scenario.
    private let outer: LuaState
    let state: LuaState
    let loop: ScriptLoop
    private let output = ScenarioOutput()
    private var value = LuaValue.nil
    private let changes: Result<RowChangeRecorder, any Error>
    private let statements: StatementTrace.Collection
    private let firstCall: Int
    private(set) var error: LuaError?
    /// The watch that ends the script at crash points; `nil` if the scenario does not rerun scripts after crashes.
    private(set) var watch: CrashWatch?
    /// Whether the script has finished. Errors of its callbacks then belong to the scenario.
    private var isFinished = false

    init(_ host: ScenarioHost, _ path: String, _ given: LuaValue) throws {
        outer = host.state.state
        self.host = host
        self.path = try host.find(path)
        self.given = given
        do {
            source = try ScriptHost.read(self.path)
        } catch {
            throw BindingError("io", "t.run: \(error)\(host.hint(for: path, of: "t.run"))")
        }
        (state, loop, _) = try Self.makeState(host, path: self.path, output)
        host.watchFailures(in: loop)
        if host.attempt.scenario.crash?.rerunsScripts == true { watch = try host.makeWatch(of: state, loop) }
        firstCall = host.effects.calls.count
        statements = host.stage.trace.collect()
        changes = host.stage.recordChanges()
        host.loops.add(loop)
        host.states.add(state)
    }

    /// Runs the main chunk, and stores the error that it raises.
    nonisolated(nonsending) func run() async throws {
        let arguments = try LuaTransfer(from: outer, to: state, isStrict: true).copy(arguments())
        do {
            try setArguments(arguments)
            let results = try await state.load(LuaString(source), named: path).callAsync(arguments)
            value = try LuaTransfer(from: state, to: outer).copy(results.first ?? .nil)
        } catch let error as LuaError {
            if self.error == nil, watch?.hasEnded != true { end(error) }
        }
    }

    /// Handles the error of a callback that the script left running. Returns `false` if the error belongs to the scenario, because the
    /// script has finished.
    func takeError(_ error: LuaError) -> Bool {
        guard !isFinished else {
            guard error.code == .exit else { return false }
            loop.endAll()
            return isQuiet(error)
        }
        if self.error == nil { end(error) }
        state.cancellation.cancelRuns()
        return true
    }

    /// Ends the script with its first error, like `perilune run`.
    private func end(_ error: LuaError) {
        loop.endAll()
        self.error = isQuiet(error) ? nil : described(error)
    }

    /// Closes the state of a script that will run again, and discards its recordings.
    func abandon() {
        host.stage.trace.end(statements)
        if case .success(let recorder) = changes { host.stage.end(recorder) }
        close()
    }

    /// Closes the state at the end of the scenario.
    func close() {
        host.didRun(state)
        state.close()
    }

    /// Creates a state for a script on the database of the scenario.
    static func makeState(_ host: ScenarioHost, path: String, _ output: ScenarioOutput) throws -> (
        LuaState, ScriptLoop, LibraryLoader
    ) {
        var limits = host.limits
        // This limit is slightly later than the limit of the scenario, which must take effect first.
        limits.time = host.remainingTime + .milliseconds(100)
        let effects = OutsideEffects.all.subtracting(granted(by: host.attempt.scenario.grants))
        let (state, loader, loop) = try host.stage.makeState(limits: limits, withholding: effects) {
            [stage = host.stage.output] bytes in
            output.write(bytes)
            stage.write(bytes)
        }
        if host.attempt.coverage != nil { state.coverLines() }
        if host.attempt.options.comparesRounds { state.traceLines(upTo: ScenarioTrace.mostLines) }
        try host.state.modules.install(in: state)
        let folder = ScenarioLocation.folder(of: path)
        try FileModules.install(in: state, folder: folder.isEmpty ? "." : folder)
        return (state, loop, loader)
    }

    /// Returns the external effects that a scenario's option `grants` allows.
    private static func granted(by names: [String]) -> OutsideEffects {
        names.reduce(into: []) { effects, name in
            switch name {
            case "files": effects.formUnion([.files, .databases])
            case "programs": effects.formUnion(.programs)
            case "native": effects.formUnion(.native)
            case "effects": effects.formUnion(.all)
            default: break
            }
        }
    }

    /// Returns the arguments of the script. The elements of a list are separate arguments, like on the command line; any other value is one
    /// argument.
    private func arguments() throws -> [LuaValue] {
        guard case .table(let table) = given else { return given.isNil ? [] : [given] }
        let list = try table.array()
        let isList = try !list.isEmpty && list.count == table.pairs().count
        return isList ? list : [given]
    }

    private func setArguments(_ arguments: [LuaValue]) throws {
        let table = try state.makeTable()
        for (index, argument) in ([.string(LuaString(path))] + arguments).enumerated() {
            try table.rawSet(.integer(Int64(index)), argument)
        }
        try state.globals.set("arg", .table(table))
    }

    /// Returns whether the error is `os.exit(0)`, which is not a failure.
    private func isQuiet(_ error: LuaError) -> Bool {
        guard error.code == .exit, case .integer(0) = error.fields["status"] else { return false }
        return true
    }

    /// Adds the position to the fields of an error, because the raised value itself stays in the state of the script.
    private func described(_ error: LuaError) -> LuaError {
        var error = error
        error.fields["file"] = error.fields["file"] ?? error.file.map { .string($0) }
        error.fields["line"] = error.fields["line"] ?? error.line.map { .integer(Int64($0)) }
        error.fields["traceback"] = error.traceback.map { .string($0) }
        error.fields["kind"] = error.fields["kind"] ?? .string(error.code.description)
        return error
    }

    /// Ends the recordings, and returns the table that the scenario receives as the result.
    func finish() throws -> LuaTable {
        isFinished = true
        host.stage.trace.end(statements)
        let changes = host.stage.finish(changes)
        let result = try outer.makeTable()
        try result.rawSet("value", value)
        try result.rawSet("output", .string(LuaString(output.text)))
        if let error { try result.rawSet("error", outer.errorValue(of: error)) }
        switch changes {
        case .success(let changes): try result.rawSet("changes", changes.table(in: outer))
        case .failure(let error): try result.rawSet("changes_error", .string(LuaString("\(error)")))
        }
        try result.rawSet("effects", host.list(host.effects.calls[firstCall...], in: outer))
        try result.rawSet("queries", host.list(statements.statements, in: outer))
        return result
    }
}
