internal import CPeriluneRows
internal import PeriluneLua
internal import PeriluneRecords

/// The arguments of a call from the Lua part that builds expressions and requests. The library calls, not a script: what does
/// not fit is a mistake of ours, but still an error and no trap.
struct RequestCall {
    let core: LuaCore
    let binding: RequestBinding

    func value(_ position: CInt) -> LuaValue {
        position <= lua_gettop(core.L) ? core.value(at: position) : .nil
    }

    func expression(_ position: CInt) throws -> Expression {
        try binding.expressions.value(of: value(position))
    }

    func optionalExpression(_ position: CInt) throws -> Expression? {
        let value = value(position)
        return value.isNil ? nil : try binding.expressions.value(of: value)
    }

    func string(_ position: CInt) throws -> String {
        guard case .string(let bytes) = value(position) else { throw mismatch(position, "a string") }
        guard let text = bytes.string else {
            throw BindingError("argument", "a name must be valid UTF-8")
        }
        return text
    }

    func bytes(_ position: CInt) throws -> [UInt8] {
        guard case .string(let bytes) = value(position) else { throw mismatch(position, "a string") }
        return bytes.bytes
    }

    func optionalString(_ position: CInt) throws -> String? {
        if case .string = value(position) { try string(position) } else { nil }
    }

    func boolean(_ position: CInt) -> Bool { value(position).isTruthy }

    func integer(_ position: CInt) throws -> Int64 { try Int64.fromLua(value(position)) }

    func list(_ position: CInt) throws -> [LuaValue] {
        guard case .table(let table) = value(position) else { throw mismatch(position, "a list") }
        return try table.array()
    }

    func expressions(_ position: CInt) throws -> [Expression] {
        try list(position).map { try binding.expressions.value(of: $0) }
    }

    func strings(_ position: CInt) throws -> [String] {
        try list(position).map { try String.fromLua($0) }
    }

    func derivable(_ position: CInt) throws -> Derivable {
        try binding.derivables.value(of: value(position))
    }

    func request(_ position: CInt) throws -> Request {
        guard case .request(let request) = try derivable(position) else { throw mismatch(position, "a request") }
        return request
    }

    func association(_ position: CInt) throws -> Association {
        guard case .association(let association) = try derivable(position) else { throw mismatch(position, "an association") }
        return association
    }

    /// The database at a position.
    func database(_ position: CInt) throws -> (ScriptDatabase, OpaquePointer) {
        try ScriptDatabase.require(core, at: position, for: "the request")
    }

    /// The table of that name in a database.
    func table(_ name: String, of position: CInt) throws -> TableSchema {
        let (database, pointer) = try database(position)
        return try SchemaBinding.table(name, of: database, pointer, in: core)
    }

    private func mismatch(_ position: CInt, _ expected: String) -> BindingError {
        BindingError("argument", "expected \(expected), got \(value(position).shortDescription)")
    }

    /// What SQLite would be given for a value.
    func plainValue(_ position: CInt) throws -> Value {
        switch value(position) {
        case .nil: return .null
        case .boolean(let value): return .boolean(value)
        case .integer(let value): return .integer(value)
        case .number(let value): return .real(value)
        case .string(let value): return .text(value.bytes)
        default:
            if pdb_is_null(core.L, position) { return .null }
            var length = 0
            if let bytes = pdb_blob_bytes(core.L, position, &length) {
                return .blob(UnsafeRawBufferPointer(start: bytes, count: length).map { $0 })
            }
            throw mismatch(position, "a value that SQLite can store")
        }
    }
}

/// What methods derive: a request, or an association, whose rows are derived like those of a request.
enum Derivable {
    case request(Request)
    case association(Association)

    /// The rows that are meant.
    var request: Request {
        switch self {
        case .request(let request): request
        case .association(let association): association.request
        }
    }

    func map(_ change: (Request) throws -> Request) throws -> Derivable {
        switch self {
        case .request(let request): .request(try change(request))
        case .association(let association): .association(try association.map(change))
        }
    }
}
