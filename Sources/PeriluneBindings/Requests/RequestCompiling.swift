internal import CPeriluneRows
internal import PeriluneLua
internal import PeriluneRecords

/// The native functions that compile requests. A compiled request is a Lua table with these fields: `sql`; `slots`, the source of
/// each parameter (the number of a request value, 0 for the constant at the same position in `constants`, the name of a parameter
/// as text, or "keys" for the keys of prefetched rows); `root`, the meaning of the columns; `booleans`, the boolean columns;
/// `key_columns`; `prefetches`.
extension RequestBinding {
    func defineCompiling(in table: LuaTable) throws {
        // (request, database, form, expression)
        try defineValue("compile", in: table) { call in
            let request = try call.derivable(1).request
            let form = try Self.form(call.string(3), call)
            let compiler = try call.compiler(2)
            return .table(try PlanTable(call, compiler).make(request.compiled(by: compiler, as: form)))
        }
        // (request, database, columns, values, policy, returning (nil, true, or expressions), names)
        try defineValue("compile_update", in: table) { call in
            let request = try call.derivable(1).request
            let values = try call.expressions(4)
            let assignments = try call.strings(3).enumerated().map { index, name in
                guard let position = request.table.column(named: name) else {
                    throw RequestError.unknownColumn(name, in: request.table)
                }
                return Assignment(position, values[index])
            }
            let policy = try call.optionalString(5).flatMap { ConflictPolicy(rawValue: $0) }
            let compiler = try call.compiler(2)
            let compiled = try request.compiledUpdate(
                assignments, onConflict: policy, returning: call.returning(6), by: compiler)
            return .table(try PlanTable(call, compiler).make(compiled))
        }
        // (request, database, returning, names)
        try defineValue("compile_delete", in: table) { call in
            let compiler = try call.compiler(2)
            let compiled = try call.derivable(1).request.compiledDelete(returning: call.returning(3), by: compiler)
            return .table(try PlanTable(call, compiler).make(compiled))
        }
        // (request for the table, database, columns, request for the rows to insert, policy, conflict target or nil, columns to
        // update, values, condition, returning, names)
        try defineValue("compile_insert", in: table) { call in
            let request = try call.derivable(1).request
            func position(_ name: String) throws -> Int {
                guard let position = request.table.column(named: name) else {
                    throw RequestError.unknownColumn(name, in: request.table)
                }
                return position
            }
            let values = try call.expressions(8)
            let assignments = try call.strings(7).enumerated().map { Assignment(try position($1), values[$0]) }
            let upsert = try call.optionalStrings(6).map {
                Upsert(target: try $0.map(position), assignments: assignments, condition: try call.optionalExpression(9))
            }
            let compiler = try call.compiler(2)
            let rows = try call.request(4)
            let columns =
                try call.optionalStrings(3)
                ?? rows.outputNames.enumerated().map { index, name in
                    guard let name else {
                        throw BindingError(
                            "argument", "insert_from: column \(index + 1) of the request needs a name: expression:as(\"name\")")
                    }
                    return name
                }
            let compiled = try request.compiledInsert(
                columns.map(position), from: rows, onConflict: call.optionalString(5).flatMap(ConflictPolicy.init),
                upsert: upsert, returning: call.returning(10), by: compiler)
            return .table(try PlanTable(call, compiler).make(compiled))
        }
        // (request or association, database)
        try defineValue("check_meaning", in: table) { call in
            if case .request(let request) = try call.derivable(1) { try request.checkMeaning(by: call.compiler(2)) }
            return .nil
        }
        // Returns SQL with inlined values, for table definitions.
        try defineValue("inline", in: table) { call in
            let compiler = RequestCompiler(schema: DatabaseSchema(generation: 0), plans: PlanCache(capacity: 1))
            return .string(LuaString(try compiler.inlineSQL(call.expression(1))))
        }
    }

    private static func form(_ name: String, _ call: RequestCall) throws -> RequestForm {
        switch name {
        case "rows": .rows
        case "first": .first
        case "count": .count
        case "exists": .exists
        default: .aggregate(name.uppercased(), try call.expression(4), isDistinct: false)
        }
    }
}

extension RequestCall {
    /// Returns a request compiler for the current schema of the database in an argument.
    func compiler(_ position: Int) throws -> RequestCompiler {
        let handle = try database(position)
        return RequestCompiler(
            schema: handle.schema, plans: handle.database.requestPlans,
            findTable: { try? handle.table($0) })
    }

    func returning(_ position: Int) throws -> Returning {
        switch value(position) {
        case .table: .columns(try RequestBinding.columns(self, position, names: position + 1))
        case .boolean(true): .allColumns
        default: .nothing
        }
    }
}

/// A builder of Lua tables for compiled requests.
private struct PlanTable {
    let call: RequestCall
    let state: LuaState
    let compiler: RequestCompiler

    init(_ call: RequestCall, _ compiler: RequestCompiler) throws {
        self.call = call
        self.compiler = compiler
        state = try call.state
    }

    func make(_ compiled: CompiledRequest) throws -> LuaTable {
        let table = try state.makeTable()
        try table.set("sql", .string(LuaString(compiled.plan.sql)))
        try addSlots(of: compiled, to: table)
        if let root = compiled.plan.root {
            let segments = try state.makeTable()
            var count = 0
            try add(root, to: segments, parent: 0, count: &count)
            try table.set("segments", .table(segments))
        }
        try table.set("booleans", list(compiled.plan.booleanColumns))
        try table.set("key_columns", list(compiled.plan.keyColumns))
        try table.set("numbers_keys", .boolean(compiled.plan.numbersKeys))
        let prefetches = try state.makeTable()
        for (index, prefetch) in compiled.prefetches.enumerated() {
            try prefetches.set(.integer(Int64(index + 1)), .table(make(prefetch)))
        }
        try table.set("prefetches", .table(prefetches))
        return table
    }

    private func addSlots(of compiled: CompiledRequest, to table: LuaTable) throws {
        let slots = try state.makeTable()
        let constants = try state.makeTable()
        for (index, slot) in compiled.plan.slots.enumerated() {
            let position = LuaValue.integer(Int64(index + 1))
            switch slot {
            case .parameter(let name):
                // A parameter with a numeric name is a value of the request.
                try slots.set(position, Int64(name).map { .integer($0) } ?? .string(LuaString(name)))
            case .keys:
                try slots.set(position, "keys")
            case .value(let number):
                try slots.set(position, 0)
                try constants.set(position, value(compiled.values[number]))
            }
        }
        try table.set("slots", .table(slots))
        try table.set("constants", .table(constants))
    }

    /// Appends the segments of a tree to a list, each parent before its children.
    private func add(_ segment: Plan.Segment, to list: LuaTable, parent: Int, count: inout Int) throws {
        count += 1
        let own = count
        let table = try state.makeTable()
        try table.set("field", .string(LuaString(segment.name)))
        try table.set("tag", .integer(Int64(segment.tag)))
        try table.set("first", .integer(Int64(segment.columns.lowerBound + 1)))
        let last = segment.extras.map { $0.column + 1 }.max() ?? 0
        try table.set("count", .integer(Int64(max(segment.columns.upperBound, last) - segment.columns.lowerBound)))
        try table.set("whole", .boolean(segment.isWhole))
        try table.set("optional", .boolean(segment.isOptional))
        if parent > 0 { try table.set("parent", .integer(Int64(parent))) }
        let names = try state.makeTable()
        for (index, name) in segment.names.enumerated() {
            try names.set(.integer(Int64(index + 1)), name.map { .string(LuaString($0)) } ?? false)
        }
        try table.set("names", .table(names))
        let extras = try state.makeTable()
        for extra in segment.extras { try extras.set(.integer(Int64(extra.column + 1)), .string(LuaString(extra.name))) }
        try table.set("extras", .table(extras))
        try list.set(.integer(Int64(own)), .table(table))
        for child in segment.children { try add(child, to: list, parent: own, count: &count) }
    }

    private func make(_ prefetch: CompiledPrefetch) throws -> LuaTable {
        let table = try state.makeTable()
        try table.set("name", .string(LuaString(prefetch.name)))
        try table.set("is_plural", .boolean(prefetch.isPlural))
        try table.set("tag", .integer(Int64(prefetch.tag)))
        try table.set("segment", .integer(Int64(prefetch.segmentIndex + 1)))
        try table.set("parent_columns", list(prefetch.parentKeyColumns))
        try table.set("plan", .table(make(prefetch.child)))
        try table.set("number_columns", list(prefetch.columns(compared: .asNumber)))
        try table.set("text_columns", list(prefetch.columns(compared: .textsOnly)))
        if let forms = prefetch.keyForms {
            try table.set("key_forms", forms.map(\.rawValue).toLua(in: state))
        }
        let (call, compiler) = (call, compiler)
        // (list of keys, each a list of values) returns the plan for keys that JSON cannot represent.
        try table.setFunction("plan_for_keys") { arguments in
            let keys = try arguments.get(1, as: [LuaTable].self).map { key in
                try key.array().map(Self.keyValue)
            }
            return [.table(try PlanTable(call, compiler).make(prefetch.request(forKeys: keys, by: compiler)))]
        }
        return table
    }

    private static func keyValue(_ value: LuaValue) throws -> Value {
        switch value {
        case .boolean(let value): .boolean(value)
        case .integer(let value): .integer(value)
        case .number(let value): .real(value)
        case .string(let value): .text(value.bytes)
        default:
            if let bytes = value.blobBytes {
                .blob(bytes)
            } else {
                throw BindingError("argument", "a key cannot be \(value.shortDescription)")
            }
        }
    }

    /// Returns a Lua list of the positions, converted to count from 1.
    private func list(_ positions: [Int]) throws -> LuaValue {
        let table = try state.makeTable()
        for (index, position) in positions.enumerated() {
            try table.set(.integer(Int64(index + 1)), .integer(Int64(position + 1)))
        }
        return .table(table)
    }

    private func value(_ value: Value) throws -> LuaValue {
        switch value {
        case .null: try state.makeNull()
        case .integer(let value): .integer(value)
        case .real(let value): .number(value)
        case .boolean(let value): .boolean(value)
        case .text(let bytes): .string(LuaString(bytes))
        case .blob(let bytes): try state.makeBlob(bytes)
        }
    }
}
