internal import Foundation
internal import GRDB
internal import PeriluneBindings
internal import PeriluneIsolation
internal import PeriluneLua

/// An error of a host function in the script process. Lua code receives the fields of the original Swift error, which remains in the host
/// and is identified by a number.
struct HostFunctionError: LuaErrorDescribing {
    let luaKind: String
    let luaMessage: String
    let luaFields: [String: ScriptValue]
    let number: Int64
}

/// Conversion of errors, with all their fields, to the wire format between processes.
extension WireValue {
    init(_ error: LuaError) {
        self = .fields([
            ("code", .text(error.code.description)),
            ("message", .text(Self.shortened(error.message))),
            ("file", error.file.map { .text(Self.shortened($0)) }),
            ("line", error.line.map { .integer(Int64($0)) }),
            ("traceback", error.traceback.map { .text(Self.shortened($0)) }),
            ("fields", .table(error.fields.map { Pair(.text($0), WireValue($1)) })),
            ("hints", error.hints.map { WireValue($0) }),
            ("host", (error.underlying as? HostFunctionError).map { .integer($0.number) }),
            ("database", (error.underlying as? DatabaseError).map { WireValue($0) }),
            ("cancellation", error.underlying is CancellationError ? .boolean(true) : nil),
        ])
    }

    /// Shortens text to fit into a frame, because scripts can raise text of any length.
    private static func shortened(_ text: String) -> String {
        let limit = 1 << 20
        guard text.utf8.count > limit else { return text }
        return String(decoding: text.utf8.prefix(limit), as: UTF8.self) + "..."
    }

    /// Encodes a field of an error.
    private init(_ field: ScriptValue) {
        switch field {
        case .nil: self = .nil
        case .null: self = .null
        case .boolean(let value): self = .boolean(value)
        case .integer(let value): self = .integer(value)
        case .number(let value): self = .number(value)
        case .string(let value): self = .string(Array(value.utf8.prefix(1 << 20)))
        case .bytes(let value): self = .blob(Array(value.prefix(1 << 20)))
        case .date(let value): self = Int64(exactly: (value.timeIntervalSince1970 * 1e6).rounded()).map { .date($0) } ?? .nil
        case .list(let values): self = .list(values.map { WireValue($0) })
        case .fields(let fields): self = .table(fields.map { Pair(.text($0), WireValue($1)) })
        case .other(let type): self = .opaque(type)
        }
    }

    private init(_ hints: LuaErrorHints) {
        self = .fields([
            ("file", hints.file.map { .text($0) }), ("line", hints.sourceLine.map { .text($0) }),
            ("help", hints.help.map { .text($0) }),
            ("suggestions", .list(hints.suggestions.map { .text($0) })),
        ])
    }

    private init(_ error: DatabaseError) {
        self = .fields([
            ("code", .integer(Int64(error.extendedResultCode.rawValue))), ("message", error.message.map { .text($0) }),
            ("sql", error.sql.map { .text($0) }),
        ])
    }

    private var field: ScriptValue {
        switch self {
        case .nil: .nil
        case .null: .null
        case .boolean(let value): .boolean(value)
        case .integer(let value): .integer(value)
        case .number(let value): .number(value)
        case .string(let bytes): String(validating: bytes, as: UTF8.self).map { .string($0) } ?? .bytes(Data(bytes))
        case .blob(let bytes): .bytes(Data(bytes))
        case .date(let microseconds): .date(Date(timeIntervalSince1970: Double(microseconds) / 1e6))
        case .list(let values): .list(values.map(\.field))
        case .table: .fields(errorFields)
        case .opaque(let type): .other(type)
        }
    }

    /// The decoded fields of an error; empty if the value is not a table.
    var errorFields: [String: ScriptValue] {
        guard case .table(let pairs) = self else { return [:] }
        var fields: [String: ScriptValue] = [:]
        for pair in pairs { if let name = pair.key.text { fields[name] = pair.value.field } }
        return fields
    }
}

extension LuaError {
    /// Decodes an error. Missing or invalid parts have default values.
    ///
    /// - Parameter hostError: A closure that returns the host's original Swift error for a number from the script process.
    init(_ value: WireValue, hostError: (Int64) -> (any Error)? = { _ in nil }) {
        self.init(
            value["code"]?.text.flatMap { Code(description: $0) } ?? .runtime,
            value["message"]?.text ?? "an error without a message")
        file = value["file"]?.text
        line = value["line"]?.integerValue.flatMap { Int(exactly: $0) }
        traceback = value["traceback"]?.text
        fields = value["fields"]?.errorFields ?? [:]
        if let hints = value["hints"] {
            self.hints = LuaErrorHints(
                file: hints["file"]?.text, sourceLine: hints["line"]?.text, help: hints["help"]?.text,
                suggestions: hints["suggestions"]?.elements?.compactMap(\.text) ?? [])
        }
        if let number = value["host"]?.integerValue {
            underlying = hostError(number)
        } else if let database = value["database"] {
            underlying = DatabaseError(
                resultCode: ResultCode(rawValue: CInt(truncatingIfNeeded: database["code"]?.integerValue ?? 1)),
                message: database["message"]?.text,
                sql: database["sql"]?.text)
        } else if value["cancellation"]?.booleanValue == true {
            underlying = CancellationError()
        }
    }
}
