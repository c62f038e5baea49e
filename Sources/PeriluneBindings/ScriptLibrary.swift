internal import CPeriluneRecords
internal import CPeriluneRows
internal import Foundation
internal import PeriluneLua
internal import PeriluneRecords

/// The builder of the global table `perilune` and of the native functions for the library's Lua modules.
final class ScriptLibrary {
    let perilune: LuaTable
    /// The loader of the Lua modules, which provides the Swift and C functions to them. The files in `lib/perilune/native` document
    /// these functions.
    let loader: LibraryLoader
    private let state: LuaState
    private let dates: DateBinding
    private let now: () throws -> DateTime

    /// Creates the library and loads its modules. The row path must already be installed in the state.
    ///
    /// - Parameter modules: Additional Lua modules besides the standard modules.
    init(
        in state: LuaState, environment: ScriptEnvironment, modules: [LibraryModules], migrations: MigrationBinding,
        loop: ScriptLoop
    ) throws {
        self.state = state
        now = environment.now
        perilune = try state.makeTable()
        loader = try LibraryLoader(in: state, modules: modules)
        dates = try DateBinding(in: state)
        try defineValues()
        try defineNatives()
        migrations.install(in: loader)
        LoopBinding(loop: loop).install(in: loader)
        ObservationBinding.install(in: loader, loop: loop)
        RequestBinding.install(in: loader)
        try perilune.setFunction("now") { [dates] arguments in
            try arguments.refuseSurplus(after: 0, of: "perilune.now")
            return [try dates.make(environment.now())]
        }
        try EnvironmentBinding(environment: environment, state: state).install(in: perilune)
        try loader.open(in: state, perilune: perilune)
        try state.globals.set("perilune", .table(perilune))
        // `require("perilune")` returns the global table, too. The closure does not retain the state, because the state owns the
        // resolver.
        try state.addModuleResolver { [unowned state] name in name == "perilune" ? .value(try state.globals.get("perilune")) : nil
        }
    }

    private func defineValues() throws {
        try perilune.setValue("null", c: pdb_push_null)
        try perilune.setFunction("blob", c: pdb_make_blob)
        try perilune.set("date", .table(dates.makeDateTable(in: state)))
        try perilune.set("date_components", .table(dates.makeComponentsTable(in: state)))
    }

    // MARK: - Functions for the Lua modules

    /// Creates a table that modules load as `perilune.native.NAME`.
    private func makeNative(_ name: String) throws -> LuaTable {
        let table = try state.makeTable()
        try loader.provide("perilune.native." + name, .table(table))
        return table
    }

    private func defineNatives() throws {
        try defineErrors(in: makeNative("errors"))
        try defineConversions(in: makeNative("values"))
        let rows = try makeNative("rows")
        try rows.setValue("methods", c: pdb_push_row_methods)
        try set(
            [
                "blobs": pdb_row_blobs, "columns": pdb_row_columns, "metatable": pdb_row_metatable, "make": pdb_make_row,
                "set_missing": pdb_set_missing_column, "set_missing_list_field": pdb_set_missing_list_field,
            ], in: rows)
        let databases = try makeNative("databases")
        try databases.setValue("methods", c: pdb_push_database_methods)
        try databases.setValue("statement_methods", c: pdb_push_statement_methods)
        try set(
            [
                "define": pdb_define, "guarded": pdb_call_guarded, "unenforced": pdb_call_unenforced,
                "set_write_options": pdb_set_write_options,
            ], in: databases)
        let blobs = try makeNative("blobs")
        try blobs.setValue("methods", c: pdb_push_open_blob_methods)
        try set(["open": pdb_open_blob_in_access], in: blobs)
        let methods: LuaTable = try databases.get("methods")
        try DatabaseVerbs.install(in: methods)
        try DatabaseSnapshots.install(in: methods, natives: databases)
        try DatabaseCopies.install(in: methods, copies: makeNative("copies"))
        try defineTransactionDate(in: methods)
        let observers = try makeNative("observers")
        try observers.setValue("methods", c: pdb_push_observer_methods)
        try set(
            [
                "add": pdb_add_observer, "is_calling": pdb_is_calling_observer, "fingerprint": pdb_fingerprint,
                "set_failure": pdb_set_callback_failure, "take_notification": pdb_take_notification,
            ], in: observers)
        try set(["point": pdb_lua_crash_point, "label": pdb_lua_crash_label], in: makeNative("crashes"))
        try SchemaBinding.install(in: makeNative("schema"))
        try defineSQL(in: makeNative("sql"))
        try loader.provide("perilune.native.records", state.makeValue(c: prec_push_record_functions))
    }

    /// Defines `db:transaction_date`, which returns the time at which a script first requested it in the current transaction.
    private func defineTransactionDate(in methods: LuaTable) throws {
        try methods.setFunction("transaction_date") { [dates, now] arguments in
            let handle = try DatabaseHandle(arguments, 1, for: "db:transaction_date")
            guard let transaction = handle.transaction else { return [try dates.make(now())] }
            if !transaction.pointee.has_date {
                transaction.pointee.date = try now().microsecondsSince1970
                transaction.pointee.has_date = true
            }
            return [try dates.make(DateTime(microsecondsSince1970: transaction.pointee.date))]
        }
    }

    private func set(_ functions: [String: LuaCFunction], in table: LuaTable) throws {
        for (name, function) in functions {
            try table.setFunction(name, c: function)
        }
    }

    private func defineSQL(in sql: LuaTable) throws {
        try set(["fold": pdb_fold], in: sql)
        try sql.setFunction("tokens") { arguments in
            [.table(try Self.makeTokens(of: arguments.get(1), in: arguments.state))]
        }
        try sql.setFunction("placeholders") { arguments in
            let sql: LuaString = try arguments.get(1)
            do {
                let places = try SQLFragmentText(sql.bytes).placeholders.flatMap { [$0.lowerBound + 1, $0.upperBound] }
                let list = try arguments.state.makeTable(arrayCount: places.count)
                for (index, place) in places.enumerated() { try list.set(.integer(Int64(index + 1)), .integer(Int64(place))) }
                return [.table(list)]
            } catch let flaw as SQLFragmentText.Flaw {
                return [.nil, .string(LuaString(flaw.text))]
            }
        }
    }

    private static func makeTokens(of text: LuaString, in state: LuaState) throws -> LuaTable {
        let list = try state.makeTable()
        try text.bytes.withUnsafeBufferPointer { bytes in
            let scanner = SQLScanner(bytes)
            for (index, token) in scanner.enumerated() {
                let fields = try state.makeTable(fieldCount: 3)
                try fields.rawSet("kind", .string(LuaString(token.kind.rawValue)))
                try fields.rawSet(
                    "text", .string(LuaString(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[token.range]))))
                let isName = token.kind == .word || token.kind == .name
                if isName, let name = scanner.name(token) { try fields.rawSet("name", .string(LuaString(name))) }
                try list.rawSet(.integer(Int64(index + 1)), .table(fields))
            }
        }
        return list
    }

    private func defineErrors(in errors: LuaTable) throws {
        try set(
            [
                "raise": plua_raise_error, "describe": plua_describe_argument, "add_fields": plua_add_error_fields,
                "position": plua_position,
            ], in: errors)
        try errors.setFunction("raise_unknown") { arguments in
            let what: String = try arguments.get(1)
            guard case .string(let name) = arguments[2] else {
                throw BindingError("argument", "expected the name of a \(what), got \(arguments[2].shortDescription)")
            }
            let names = try arguments.get(3, as: [String].self)
            throw BindingError.unknown(what, name.description, among: names)
        }
        try errors.setFunction("raise_unknown_column") { arguments in
            guard case .string(let name) = arguments[1] else {
                throw BindingError("argument", "expected the name of a column, got \(arguments[1].shortDescription)")
            }
            throw RequestError.unknownColumn(
                name.description, inTable: try arguments.get(2), among: try arguments.get(3, as: [String].self))
        }
    }

    private func defineConversions(in values: LuaTable) throws {
        state.libraryValues = LibraryValues(read: Self.plainValue) { state throws(LuaError) in try state.makeNull() }
        try values.set("null", perilune.get("null"))
        try set(
            [
                "plain": pdb_plain_value, "are_same_stored": pdb_are_same_stored, "write_list": pdb_write_values,
                "read_list": pdb_read_values,
            ], in: values)
        try values.setFunction("read_date") { [dates] arguments in
            DateBinding.attempt { try dates.make(dates.readStoredDate(arguments[1])) }
        }
        try values.setFunction("read_date_components") { [dates] arguments in
            DateBinding.attempt { try dates.make(dates.readComponents(arguments[1])) }
        }
        try values.setFunction("julian_date") { [dates] arguments in
            [try dates.make(DateTime(julianDay: arguments.get(1)))]
        }
        try values.setFunction("float_text") { arguments in
            [.string(LuaString(FloatLiteral.decimal(try arguments.get(1))))]
        }
        try values.set("longest_duration", .number(DurationText.longest / .seconds(1)))
        try values.setFunction("duration") { arguments in
            [DurationText.read(try arguments.get(1, as: String.self)).map { .number($0 / .seconds(1)) } ?? .nil]
        }
        try values.setFunction("float_literal") { arguments in
            [.string(LuaString(FloatLiteral.text(try arguments.get(1))))]
        }
        try values.setFunction("is_blob") { arguments in
            [.boolean(try arguments.state.withUnsafeStack([arguments[1]]) { L, index in pdb_is_blob(L, index) })]
        }
    }

    /// Returns the plain value of `perilune.null`, a blob or a date, or `nil` for other values.
    private static func plainValue(of value: LuaValue) -> ScriptValue? {
        if value.isNull { return .null }
        if let bytes = value.blobBytes { return .bytes(Data(bytes)) }
        return (try? Date.fromLua(value)).map { .date($0) }
    }

    /// Replaces every Lua library function that has one of these effects with a function that raises an error.
    func withhold(_ effects: OutsideEffects, in state: LuaState) throws {
        let names = try state.makeTable()
        for (name, effect) in [("files", OutsideEffects.files), ("programs", .programs), ("native", .native)] {
            try names.set(.string(LuaString(name)), .boolean(effects.contains(effect)))
        }
        try loader.provide("perilune.native.withheld", .table(names))
        guard !effects.isDisjoint(with: [.files, .programs, .native]) else { return }
        _ = try loader.require("perilune.runtime.preview")
    }
}

extension BindingError {
    /// Returns the error for an unknown name. Its message suggests the most similar known name.
    package static func unknown(_ what: String, _ name: String, among names: [String]) -> BindingError {
        var message = "no \(what) `\(name)`"
        var fields: [String: ScriptValue] = ["name": .string(name)]
        if let nearest = nearestName(to: name, among: names) {
            message += "; did you mean `\(nearest)`?"
            fields["suggestion"] = .string(nearest)
        } else {
            message += "."
        }
        if !names.isEmpty {
            message += " Available: \(listedNames(near: name, among: names))"
        }
        return BindingError("unknown_\(what.replacing(" ", with: "_"))", message, fields: fields)
    }
}
