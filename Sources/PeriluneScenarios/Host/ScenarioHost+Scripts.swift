internal import Foundation
internal import Perilune
internal import PeriluneBindings
internal import PeriluneLua

/// `run_script`: a script in a state of its own on the database of the scenario.
extension ScenarioHost {
    func installScripts() throws {
        try function("run_script") { host, arguments in
            let isCaught = arguments[3].isTruthy
            let run = try ScriptRun(host, arguments.get(1), arguments[2], in: arguments.state)
            try run.run()
            if let error = run.error, !isCaught { throw error }
            return [.table(try run.result())]
        }
    }

    /// The path of a script as it is found from the current folder, or beside the folder of the scenarios.
    fileprivate func find(_ path: String) throws -> String {
        guard !path.hasPrefix("/"), !FileManager.default.fileExists(atPath: path) else { return path }
        let parent = (attempt.source.file.root as NSString).deletingLastPathComponent
        let candidate = parent.isEmpty ? path : parent + "/" + path
        return FileManager.default.fileExists(atPath: candidate) ? candidate : path
    }
}

/// A script that a scenario runs.
private final class ScriptRun {
    private let host: ScenarioHost
    private let path: String
    private let source: [UInt8]
    private let given: LuaValue
    /// That of the scenario.
    private let outer: LuaState
    private let output = ScenarioOutput()
    private var value = LuaValue.nil
    private var changes: Result<RecordedChanges, any Error>?
    private var statements: [StatementRecord] = []
    private let firstCall: Int
    private(set) var error: LuaError?

    init(_ host: ScenarioHost, _ path: String, _ given: LuaValue, in outer: LuaState) throws {
        try host.requireNoAccess(outer, "t.run")
        self.host = host
        self.path = try host.find(path)
        self.given = given
        self.outer = outer
        firstCall = host.effects.calls.count
        do {
            source = try ScriptHost.read(self.path)
        } catch {
            throw BindingError("io", "t.run: \(error)")
        }
    }

    /// Runs it. What it raises is kept.
    func run() throws {
        let state = try makeState()
        let coverage = host.attempt.coverage
        if coverage != nil { state.coverLines() }
        defer {
            coverage?.add(state)
            state.close()
        }
        host.states.add(state)
        defer { host.states.removeLast() }
        let arguments = try LuaTransfer(from: outer, to: state, isStrict: true).copy(arguments())
        statements = try host.stage.trace.collecting {
            changes = try host.recordingChanges {
                do {
                    try setArguments(arguments, in: state)
                    let results = try state.load(LuaString(source), named: path).call(arguments)
                    value = try LuaTransfer(from: state, to: outer).copy(results.first ?? .nil)
                } catch let error as LuaError {
                    self.error = isQuiet(error) ? nil : described(error)
                }
            }
        }
    }

    private func makeState() throws -> LuaState {
        var limits = host.limits
        limits.time = max(host.deadline - .now, .milliseconds(1))
        let grants = Set(host.attempt.scenario.grants)
        let mode: PreviewMode? = grants.isDisjoint(with: ["files", "programs", "effects"]) ? .holdingBackEffects : nil
        let (state, _) = try host.stage.makeState(limits: limits, previewMode: mode) { [output, stage = host.stage.output] bytes in
            output.write(bytes)
            stage.write(bytes)
        }
        try host.addStubbedModules(to: state)
        let folder = (path as NSString).deletingLastPathComponent
        try FileModules.install(in: state, folder: folder.isEmpty ? "." : folder)
        return state
    }

    /// A list is given as from the command line, one argument for each; anything else is one argument.
    private func arguments() throws -> [LuaValue] {
        guard case .table(let table) = given else { return given.isNil ? [] : [given] }
        let list = try table.array()
        let isList = try !list.isEmpty && list.count == table.pairs().count
        return isList ? list : [given]
    }

    private func setArguments(_ arguments: [LuaValue], in state: LuaState) throws {
        let table = try state.makeTable()
        for (index, argument) in ([.string(LuaString(path))] + arguments).enumerated() {
            try table.rawSet(.integer(Int64(index)), argument)
        }
        try state.globals.set("arg", .table(table))
    }

    /// `os.exit(0)` is no failure.
    private func isQuiet(_ error: LuaError) -> Bool {
        guard error.code == .exit, case .integer(0) = error.fields["status"] else { return false }
        return true
    }

    /// With fields that say where, since the value itself stays in the state of the script.
    private func described(_ error: LuaError) -> LuaError {
        var error = error
        error.fields["file"] = error.fields["file"] ?? error.file.map { .string(LuaString($0)) }
        error.fields["line"] = error.fields["line"] ?? error.line.map { .integer(Int64($0)) }
        error.fields["traceback"] = error.traceback.map { .string(LuaString($0)) }
        error.fields["kind"] = error.fields["kind"] ?? .string(LuaString(error.code.description))
        return error
    }

    /// What the scenario gets.
    func result() throws -> LuaTable {
        let result = try outer.makeTable()
        try result.rawSet("value", value)
        try result.rawSet("output", .string(LuaString(output.text)))
        if let error {
            outer.core.push(error)
            try result.rawSet("error", outer.core.takeValues(1)[0])
        }
        switch changes {
        case .success(let changes)?: try result.rawSet("changes", changes.table(in: outer))
        case .failure(let error)?: try result.rawSet("changes_error", .string(LuaString("\(error)")))
        case nil: break
        }
        try result.rawSet("effects", host.list(host.effects.calls[firstCall...], in: outer))
        try result.rawSet("queries", host.list(statements, in: outer))
        return result
    }
}
