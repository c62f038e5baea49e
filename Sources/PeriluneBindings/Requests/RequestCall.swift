internal import PeriluneLua
internal import PeriluneRecords

/// The arguments of a native call that builds expressions or requests. The caller is the library, so invalid arguments are a bug in
/// Perilune. They still raise an error instead of crashing.
struct RequestCall {
    let arguments: LuaArguments
    let binding: RequestBinding

    var state: LuaState {
        get throws(LuaError) { try arguments.state }
    }

    func value(_ position: Int) -> LuaValue { arguments[position] }

    func expression(_ position: Int) throws -> Expression {
        try binding.expressions.value(of: value(position))
    }

    func optionalExpression(_ position: Int) throws -> Expression? {
        let value = value(position)
        return value.isNil ? nil : try binding.expressions.value(of: value)
    }

    func string(_ position: Int) throws -> String {
        guard case .string(let bytes) = value(position) else { throw mismatch(position, "a string") }
        guard let text = bytes.string else {
            throw BindingError("argument", "a name must be valid UTF-8")
        }
        return text
    }

    func bytes(_ position: Int) throws -> [UInt8] {
        guard case .string(let bytes) = value(position) else { throw mismatch(position, "a string") }
        return bytes.bytes
    }

    func optionalString(_ position: Int) throws -> String? {
        if case .string = value(position) { try string(position) } else { nil }
    }

    func boolean(_ position: Int) -> Bool { value(position).isTruthy }

    func integer(_ position: Int) throws -> Int64 { try Int64.fromLua(value(position)) }

    func list(_ position: Int) throws -> [LuaValue] {
        guard case .table(let table) = value(position) else { throw mismatch(position, "a list") }
        return try table.array()
    }

    func expressions(_ position: Int) throws -> [Expression] {
        try list(position).map { try binding.expressions.value(of: $0) }
    }

    func strings(_ position: Int) throws -> [String] {
        try list(position).map { try String.fromLua($0) }
    }

    func derivable(_ position: Int) throws -> Derivable {
        try binding.derivables.value(of: value(position))
    }

    func request(_ position: Int) throws -> Request {
        guard case .request(let request) = try derivable(position) else { throw mismatch(position, "a request") }
        return request
    }

    func association(_ position: Int) throws -> Association {
        guard case .association(let association) = try derivable(position) else { throw mismatch(position, "an association") }
        return association
    }

    /// Returns the database in an argument.
    func database(_ position: Int) throws -> DatabaseHandle {
        try DatabaseHandle(arguments, position, for: "the request")
    }

    /// Returns the schema of a table in a database.
    ///
    /// - Parameter names: The position of the optional field names of a record class.
    func table(_ name: String, of position: Int, names: Int) throws -> TableSchema {
        try database(position).table(name).named(by: optionalString(names).map(FieldNames.init))
    }

    private func mismatch(_ position: Int, _ expected: String) -> BindingError {
        BindingError("argument", "expected \(expected), got \(value(position).shortDescription)")
    }

    /// Returns the SQLite value for an argument.
    func plainValue(_ position: Int) throws -> Value {
        switch value(position) {
        case .nil: return .null
        case .boolean(let value): return .boolean(value)
        case .integer(let value): return .integer(value)
        case .number(let value): return .real(value)
        case .string(let value): return .text(value.bytes)
        default:
            if value(position).isNull { return .null }
            if let bytes = value(position).blobBytes { return .blob(bytes) }
            throw mismatch(position, "a value that SQLite can store")
        }
    }
}

/// A request, or an association that is derived by deriving its request.
enum Derivable {
    case request(Request)
    case association(Association)

    /// The request, or the request of the association.
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
