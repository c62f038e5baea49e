public import PeriluneLua

/// An error that prevents changes from being recorded, read or applied.
public struct ChangesetError: Error, CustomStringConvertible, Sendable {
    /// A code that identifies the failure, for programs.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case malformed, unrecordable, tooLarge = "too_large", schema, conflict, foreignKey = "foreign_key", resolution
        }
        private let value: Value

        /// The bytes are not a changeset.
        public static let malformed = Code(value: .malformed)
        /// A changed table cannot be recorded, for example because its rows have no key.
        public static let unrecordable = Code(value: .unrecordable)
        /// The recording exceeded its memory limit.
        public static let tooLarge = Code(value: .tooLarge)
        /// A table of the changeset does not exist, or has different columns or a different key.
        public static let schema = Code(value: .schema)
        /// A row conflicts with a change.
        public static let conflict = Code(value: .conflict)
        /// A foreign key would refer to a row that does not exist.
        public static let foreignKey = Code(value: .foreignKey)
        /// The resolution is not allowed for this kind of conflict.
        public static let resolution = Code(value: .resolution)

        fileprivate var kind: String {
            switch value {
            case .malformed: "malformed_changeset"
            case .unrecordable: "unrecordable"
            case .tooLarge: "recording_too_large"
            case .schema: "changeset_schema"
            case .conflict: "conflict"
            case .foreignKey: "constraint_foreign_key"
            case .resolution: "argument"
            }
        }

        public var description: String { value.rawValue }
    }

    /// The code of the error, for programs.
    public let code: Code
    /// A description of the error, for people.
    public let message: String
    /// The name of the affected table; `nil` if the error does not concern one table.
    public let table: String?
    /// The conflict; `nil` for errors with other codes.
    public let conflict: ChangesetConflict?

    public var description: String { message }

    init(_ code: Code, _ message: String, table: String? = nil, conflict: ChangesetConflict? = nil) {
        (self.code, self.message, self.conflict) = (code, message, conflict)
        self.table = table ?? conflict?.change.table
    }
}

extension ChangesetError: LuaErrorDescribing {
    public var luaKind: String { code.kind }
    public var luaMessage: String { message }
    public var luaFields: [String: ScriptValue] {
        var fields: [String: ScriptValue] = [:]
        if let table { fields["table"] = .string(table) }
        if let conflict {
            fields["conflict"] = .string(conflict.kind.rawValue)
            fields["operation"] = .string(conflict.change.operation.rawValue)
        }
        return fields
    }
}
