/// Why a plan cannot be read, written or applied.
public struct PlanError: Error, CustomStringConvertible, Sendable {
    /// A code that identifies the failure, for programs.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String { case file, format, schema, conflict, foreignKey = "foreign_key", context }
        private let value: Value

        /// The plan's file cannot be read or written.
        public static let file = Code(value: .file)
        /// The file is not a plan file, or one of a later version.
        public static let format = Code(value: .format)
        /// The schema of the database differs from the plan's.
        public static let schema = Code(value: .schema)
        /// A row has changed.
        public static let conflict = Code(value: .conflict)
        /// A foreign key would point nowhere.
        public static let foreignKey = Code(value: .foreignKey)
        /// The database may be a live one, and the context is not `live`.
        public static let context = Code(value: .context)

        public var description: String { value.rawValue }
    }

    /// Identifies the failure, for programs.
    public let code: Code
    /// Describes the failure, for people.
    public let message: String
    /// The row in whose way something is, for conflicts.
    public var conflict: PlanConflict?

    public var description: String { message }

    init(_ code: Code, _ message: String, conflict: PlanConflict? = nil) {
        self.code = code
        self.message = message
        self.conflict = conflict
    }
}

/// The row that kept a plan from being applied.
public struct PlanConflict: Sendable, Equatable {
    /// The name of the table.
    public let table: String
    /// The plan's change of the row.
    public let kind: RowChange.Kind
    /// The names of the columns that differ.
    public let columns: [String]
    /// The values of the columns of the key.
    public let key: [StoredValue]
    /// The values that the plan expected, one for each column; `nil` for columns that it does not specify.
    public let expected: [StoredValue?]
    /// The values found; `nil` if the row does not exist or is not known.
    public let found: [StoredValue]?
    /// Whether only columns differ that the plan does not change.
    public var isInUnchangedColumns = false
    /// `the row of book with id = 1`.
    let row: String

    /// - Parameter kind: What the plan would do, if it is not the kind of the change.
    init(
        _ change: Changeset.Change, in schema: SchemaSnapshot, kind: RowChange.Kind? = nil, expected: [StoredValue?],
        found: [StoredValue]?
    ) {
        let columns = schema.table(change.table)?.columns.map(\.name) ?? []
        let key = zip(change.keyColumns, change.key).map { column, value in
            "\(Self.name(of: column, in: columns)) = \(value.shortText)"
        }
        table = change.table
        self.kind = kind ?? change.kind
        row = "the row of \(change.table) with \(key.joined(separator: ", "))"
        self.columns = columns
        self.key = change.key
        self.expected = expected
        self.found = found
    }

    /// `: pages is 5, not 322`; nothing if the row is not known.
    var differences: String {
        let found = found ?? []
        let differing = found.indices.filter {
            expected.indices.contains($0) && expected[$0] != nil && expected[$0] != found[$0]
        }
        let texts = differing.map { column in
            "\(Self.name(of: column, in: columns)) is \(found[column].shortText), not \(expected[column]!.shortText)"
        }
        return texts.isEmpty ? "" : ": " + texts.joined(separator: ", ")
    }

    private static func name(of column: Int, in columns: [String]) -> String {
        columns.indices.contains(column) ? columns[column] : "column \(column + 1)"
    }
}
