public import PeriluneLua

/// Why changes cannot be recorded, read or applied.
public struct ChangesetError: Error, CustomStringConvertible, Sendable {
    /// A code that identifies the failure, for programs.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String { case malformed, unrecordable, tooLarge = "too_large", schema, conflict, foreignKey = "foreign_key", resolution }
        private let value: Value

        /// The bytes are not a changeset.
        public static let malformed = Code(value: .malformed)
        /// A table was changed that cannot be recorded, because its rows have no key, for example.
        public static let unrecordable = Code(value: .unrecordable)
        /// The recording would take more memory than it may.
        public static let tooLarge = Code(value: .tooLarge)
        /// A table of the changeset is missing, or has other columns or another key.
        public static let schema = Code(value: .schema)
        /// A row conflicts with a change.
        public static let conflict = Code(value: .conflict)
        /// A row would refer to one that does not exist.
        public static let foreignKey = Code(value: .foreignKey)
        /// The conflict cannot be resolved as was asked for.
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

    /// Identifies the failure, for programs.
    public let code: Code
    /// Describes the failure, for people.
    public let message: String
    /// The table that it is about, if it is about one.
    public let table: String?
    /// The conflict, if there was one.
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
            fields["operation"] = .string(conflict.change.kind.verb)
        }
        return fields
    }
}
