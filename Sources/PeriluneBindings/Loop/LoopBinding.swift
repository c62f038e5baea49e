internal import PeriluneLua
internal import PeriluneRecords

/// The native functions of the Lua loop modules: `perilune.native.loop`.
struct LoopBinding {
    let loop: ScriptLoop

    func install(in loader: LibraryLoader) {
        loader.provide(native: "loop", makeFunctions)
        loader.provide(native: "owners", OwnerBinding.makeFunctions)
        loader.provide(native: "zones", ZoneBinding.makeFunctions)
        loader.provide(native: "bells") { [loop] state in try BellBinding.makeFunctions(in: state, loop: loop) }
    }

    private func makeFunctions(in state: LuaState) throws -> LuaTable {
        let table = try state.makeTable(fieldCount: 16)
        try defineSources(in: table)
        try defineWaits(in: table, of: state)
        // (error, scope, what) reports an error that does not end a run, with a description of the failure; returns whether the script or
        // the program has a handler for it.
        try table.setFunction("report") { [loop] arguments in
            let state = try arguments.state
            let isHeard = try loop.report(
                arguments[1], Self.error(raising: arguments[1], in: state), of: arguments.get(3), in: arguments.get(2))
            return [.boolean(isHeard)]
        }
        try table.setFunction("on_error") { [loop] arguments in
            loop.errorHandlers[loop.currentScope] = arguments[1].isNil ? nil : try arguments.get(1, as: LuaFunction.self)
            return []
        }
        // () returns the current scope, to which new sources belong; raises if it has ended.
        try table.setFunction("scope") { [loop] _ in
            try loop.requireLive(loop.currentScope)
            return [.integer(Int64(loop.currentScope))]
        }
        // (scope or nil) sets the scope for later calls of the same run; returns the previous scope.
        try table.setFunction("enter_scope") { [loop] arguments in
            let former = loop.enteredScope
            loop.enteredScope = arguments[1].isNil ? nil : try arguments.get(1)
            return [former.map { .integer(Int64($0)) } ?? .nil]
        }
        try table.setFunction("end_scope") { [loop] arguments in
            loop.endScope(try arguments.get(1))
            return []
        }
        return table
    }

    private func defineSources(in table: LuaTable) throws {
        // (seconds, period or nil, function, whether the script waits for the source, whether to call the function at once) returns
        // the number of the source. The last argument is needed for a manual clock, which may never advance again.
        try table.setFunction("start_timer") { [loop] arguments in
            let seconds: Double = try arguments.get(1)
            let period = arguments[2].isNil ? nil : try arguments.get(2, as: Double.self)
            let function: LuaFunction = try arguments.get(3)
            let keepsAlive = if case .boolean(false) = arguments[4] { false } else { true }
            let source = try loop.addSource("timer", keepsAlive: keepsAlive, isOnce: period == nil, .calling(function))
            if case .boolean(true) = arguments[5] {
                source.signal()
            } else {
                let timers = loop.timers
                let timer = timers.add(after: seconds, every: period, source.signaller)
                source.onEnd = { timers.remove(timer) }
            }
            return [.integer(Int64(source.id))]
        }
        // (function, error handler or nil, whether to keep a journal, scope or nil, name of an automation or nil) calls the
        // function once, as soon as possible; returns the number of the source, and a function that returns the executed SQL, the
        // number of statements, the printed output, and the traceback of an error.
        try table.setFunction("start") { [loop] arguments in
            let function: LuaFunction = try arguments.get(1)
            let scope = arguments[4].isNil ? loop.currentScope : try arguments.get(4, as: Int.self)
            let run = try LuaRun(of: arguments.state, isCountingOn: scope == 0)
            let source = try loop.addSource("task", isOnce: true, scope: scope, .calling(function, as: run))
            source.run = run
            if !arguments[5].isNil { source.name = try arguments.get(5, as: String.self) }
            if !arguments[2].isNil { source.onError = try arguments.get(2, as: LuaFunction.self) }
            source.signal()
            guard case .boolean(true) = arguments[3] else { return [.integer(Int64(source.id))] }
            let journal = StatementJournal(of: run, in: loop)
            source.journal = journal
            journal.source = source.id
            let read = try arguments.state.makeFunction("statements") { arguments in
                [
                    .table(try Self.table(of: journal.statements, in: arguments.state)), .integer(Int64(journal.count)),
                    .string(LuaString(journal.output)), journal.traceback.map { .string(LuaString($0)) } ?? .nil,
                ]
            }
            return [.integer(Int64(source.id)), .function(read)]
        }
        // () returns the number of the running source if it has a journal, otherwise nil.
        try table.setFunction("current") { [loop] _ in [loop.journal.map { .integer(Int64($0.source)) } ?? .nil] }
        // (text) adds printed output to the journal of the current run, if it has one.
        try table.setFunction("note_output") { [loop] arguments in
            guard let journal = loop.journal else { return [] }
            let text: LuaString = try arguments.get(1)
            journal.addOutput(text.bytes)
            return []
        }
        // (name, function) calls the function after each system signal with this name; returns the number of the source.
        try table.setFunction("on_signal") { [loop] arguments in
            let name: String = try arguments.get(1)
            let function: LuaFunction = try arguments.get(2)
            try Self.check(name, loop.signals.names)
            let source = try loop.addSource("signal", keepsAlive: false, .calling(function, [.string(LuaString(name))]))
            loop.signals.add(source, for: name)
            return [.integer(Int64(source.id))]
        }
        try table.setFunction("is_live") { [loop] arguments in
            [.boolean(try loop.source(arguments.get(1)) != nil)]
        }
        // (numbers) returns the kind of a source that keeps the script alive or receives signals and is not in the list, or nil.
        try table.setFunction("other_source") { [loop] arguments in
            let known = Set(try [Int].fromLua(arguments[1]))
            let others = loop.sources.values.filter { ($0.keepsAlive || $0.kind == "signal") && !known.contains($0.id) }
            return [others.min { $0.id < $1.id }.map { .string(LuaString($0.kind)) } ?? .nil]
        }
        // (number, whether to interrupt a running call) ends a source; returns whether the source existed, and whether its first
        // call has begun.
        try table.setFunction("stop") { [loop] arguments in
            guard let source = try loop.source(arguments.get(1)) else { return [.boolean(false), .boolean(false)] }
            loop.end(source)
            if case .boolean(true) = arguments[2], let run = source.run { run.interrupt() }
            return [.boolean(true), .boolean(source.hasBegun)]
        }
        try table.setFunction("now") { [loop] _ in [.number(loop.timers.clock.now)] }
    }

    /// Returns the error that raising a value in Lua produces.
    private static func error(raising value: LuaValue, in state: LuaState) -> LuaError {
        do throws(LuaError) {
            try state.loadLibrary("error(..., 0)", named: "report").call([value])
            return LuaError(.runtime, "")
        } catch {
            return error
        }
    }

    private func defineWaits(in table: LuaTable, of state: LuaState) throws {
        try table.set("sleep", .function(state.makeAsyncFunction("perilune.sleep", Sleep(loop: loop))))
        try table.setFunction("make_place") { [loop] _ in [.integer(Int64(loop.parking.makePlace().number))] }
        try table.set("abandon", .function(state.makeAsyncFunction("abandon", Abandon())))
        try table.set("wait", .function(state.makeAsyncFunction("wait", Wait(loop: loop))))
        try table.setFunction("release") { [loop] arguments in
            loop.parking.release(LoopParking.Place(number: try arguments.get(1)))
            return []
        }
    }

    private struct Sleep: LuaAsyncOperation {
        let loop: ScriptLoop

        func callAsFunction(_ arguments: [LuaValue]) async throws -> [LuaValue] {
            guard case .number(let seconds)? = arguments.first else { return [] }
            try await loop.sleep(seconds: seconds)
            return []
        }
    }

    private struct Abandon: LuaAsyncOperation {
        func callAsFunction(_ arguments: [LuaValue]) async throws -> [LuaValue] { throw LuaAbandonment() }
    }

    private struct Wait: LuaAsyncOperation {
        let loop: ScriptLoop

        func callAsFunction(_ arguments: [LuaValue]) async throws -> [LuaValue] {
            guard case .integer(let number)? = arguments.first else { return [] }
            try await loop.wait(at: LoopParking.Place(number: Int(number)))
            return []
        }
    }

    private static func table(of texts: [String], in state: LuaState) throws -> LuaTable {
        let table = try state.makeTable(arrayCount: texts.count)
        for (index, text) in texts.enumerated() {
            try table.rawSet(.integer(Int64(index + 1)), .string(LuaString(text)))
        }
        return table
    }

    private static func check(_ name: String, _ names: [String]) throws {
        if names.isEmpty {
            throw BindingError("forbidden", "perilune.on_signal: the host does not deliver signals")
        }
        if !names.contains(name) { throw BindingError.unknown("signal", name, among: names) }
    }
}
