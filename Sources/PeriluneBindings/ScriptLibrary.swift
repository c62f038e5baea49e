internal import CPeriluneRecords
internal import CPeriluneRows
internal import PeriluneLua
internal import PeriluneRecords

/// The table `perilune` and the methods that are written in Lua.
final class ScriptLibrary {
    /// The table that scripts see as `perilune`.
    let perilune: LuaTable
    private let state: LuaState
    private let dates: DateBinding
    private let modules: [LibraryModules]
    /// What the Lua part of the library gets from here.
    let internals: LuaTable

    /// Puts the library together. The row path must be open.
    ///
    /// - Parameter modules: Lua modules beside those of every state.
    init(
        in state: LuaState, environment: ScriptEnvironment, modules: [LibraryModules], migrations: MigrationBinding,
        loop: ScriptLoop
    ) throws {
        self.state = state
        self.modules = [.perilune] + modules
        perilune = try state.makeTable()
        internals = try state.makeTable()
        dates = try DateBinding(in: state, now: environment.now)
        try defineValues()
        try defineInternals()
        try migrations.install(in: internals)
        try LoopBinding(loop: loop).install(in: internals, of: state)
        try ObservationBinding(loop: loop, in: state).install(in: internals, of: state)
        try loadModules()
        try perilune.setFunction("now") { [dates] _ in [try dates.make(environment.now())] }
        try EnvironmentBinding(environment: environment, state: state).install(in: perilune)
        try state.globals.set("perilune", .table(perilune))
    }

    private func defineValues() throws {
        let core = state.core
        pdb_push_null(core.L)
        try perilune.set("null", core.takeValues(1)[0])
        lua_pushcclosure(core.L, { pdb_make_blob($0) }, 0)
        try perilune.set("blob", core.takeValues(1)[0])
        try perilune.set("date", .table(dates.makeDateTable(in: state)))
        try perilune.set("date_components", .table(dates.makeComponentsTable(in: state)))
    }

    // MARK: - What the Lua part gets

    private func defineInternals() throws {
        let core = state.core
        try internals.set("null", perilune.get("null"))
        for (name, push) in [
            ("database", pdb_push_database_methods), ("statement", pdb_push_statement_methods),
            ("row", pdb_push_row_methods),
        ] {
            push(core.L)
            try internals.set(.string(LuaString(name)), core.takeValues(1)[0])
        }
        try defineErrors()
        try defineConversions()
        try defineRowAccess()
        try SchemaBinding.install(in: internals, of: state)
        prec_push_record_functions(core.L)
        try internals.set("records", core.takeValues(1)[0])
        try RequestBinding.install(in: internals, of: state)
    }

    private func defineErrors() throws {
        try internals.setFunction("describe") { arguments in
            [.string(LuaString(arguments[1].shortDescription))]
        }
        try internals.setFunction("raise_unknown") { arguments in
            let what: String = try arguments.get(1)
            guard case .string(let name) = arguments[2] else {
                throw BindingError("argument", "expected the name of a \(what), got \(arguments[2].shortDescription)")
            }
            let names = try arguments.get(3, as: [String].self)
            throw BindingError.unknown(what, name.description, among: names)
        }
        try internals.setFunction("raise_unknown_column") { arguments in
            guard case .string(let name) = arguments[1] else {
                throw BindingError("argument", "expected the name of a column, got \(arguments[1].shortDescription)")
            }
            throw RequestError.unknownColumn(
                name.description, inTable: try arguments.get(2), among: try arguments.get(3, as: [String].self))
        }
    }

    private func defineConversions() throws {
        let core = state.core
        core.plainMeaning = { [unowned core] value in Self.plainMeaning(of: value, in: core) }
        try internals.setFunction("read_date") { [dates] arguments in
            DateBinding.attempt { try dates.make(dates.readDate(arguments[1])) }
        }
        try internals.setFunction("read_date_components") { [dates] arguments in
            DateBinding.attempt { try dates.make(dates.readComponents(arguments[1])) }
        }
        try internals.setFunction("julian_date") { [dates] arguments in
            [try dates.make(DateTime(julianDay: arguments.get(1)))]
        }
        try internals.set("is_blob", .function(core.makeFunction("is_blob", raw: { core, _ in
            lua_pushboolean(core.L, pdb_is_blob(core.L, 1) ? 1 : 0)
            return 1
        })))
    }

    /// `perilune.null` stands for `nil`, and a blob for its bytes.
    private static func plainMeaning(of value: LuaValue, in core: LuaCore) -> LuaValue? {
        guard lua_checkstack(core.L, 1) != 0 else { return nil }
        core.push(value)
        defer { plua_pop(core.L, 1) }
        if pdb_is_null(core.L, -1) { return .nil }
        var count = 0
        guard let bytes = pdb_blob_bytes(core.L, lua_gettop(core.L), &count) else { return nil }
        return .string(LuaString(UnsafeRawBufferPointer(start: bytes, count: count)))
    }

    /// What only C can do: the columns and the metatable of a row, the plain value of a converted one, errors with fields.
    private func defineRowAccess() throws {
        let core = state.core
        for (name, function) in [
            ("row_columns", pdb_row_columns), ("row_metatable", pdb_row_metatable), ("make_row", pdb_make_row),
            ("plain", pdb_plain_value), ("define", pdb_define), ("raise", plua_raise_error),
            ("add_error_fields", plua_add_error_fields), ("guarded", pdb_call_guarded),
            ("position", plua_position),
            ("add_observer", pdb_add_observer), ("is_calling_observer", pdb_is_calling_observer),
            ("fingerprint", pdb_fingerprint), ("take_letter", pdb_take_notification),
        ] as [(String, @convention(c) (OpaquePointer?) -> CInt)] {
            lua_pushcclosure(core.L, function, 0)
            try internals.set(.string(LuaString(name)), core.takeValues(1)[0])
        }
    }

    // MARK: - The Lua part

    private func loadModules() throws {
        try internals.set("perilune", .table(perilune))
        try internals.setFunction("compile") { [modules] arguments in
            [.function(try Self.compile(arguments.get(1), of: modules, in: arguments.state))]
        }
        try DatabaseVerbs.install(in: internals.get("database"), of: state)
        _ = try Self.compile("perilune", of: modules, in: state).call([.table(internals)])
    }

    /// Replaces the functions of Lua's libraries that change files or run programs by ones that refuse.
    func holdBackEffects() throws {
        _ = try Self.compile("perilune.runtime.preview", of: modules, in: state).call([.table(internals)])
    }

    /// The chunk of a module, which is called with the table of internals.
    private static func compile(_ name: String, of modules: [LibraryModules], in state: LuaState) throws -> LuaFunction {
        guard let function = try LibraryChunks.function(of: name, in: modules, state: state) else {
            throw BindingError("argument", "there is no module `\(name)` in the library")
        }
        return function
    }
}

extension BindingError {
    /// The error for a name that does not exist, with the nearest that does.
    static func unknown(_ what: String, _ name: String, among names: [String]) -> BindingError {
        var message = "no \(what) `\(name)`"
        var fields: [String: LuaScalar] = ["name": .string(LuaString(name))]
        if let nearest = nearestName(to: name, among: names) {
            message += "; did you mean `\(nearest)`?"
            fields["suggestion"] = .string(LuaString(nearest))
        } else {
            message += "."
        }
        if !names.isEmpty {
            message += " There are: \(names.prefix(12).joined(separator: ", "))" + (names.count > 12 ? ", ..." : "")
        }
        return BindingError("unknown_\(what)", message, fields: fields)
    }
}
