/// An error that prevents a plan from being read, written or applied.
public struct PlanError: Error, CustomStringConvertible, Sendable {
    /// A code that identifies the failure, for programs.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String { case file, format, schema, conflict, foreignKey = "foreign_key", context }
        private let value: Value

        /// The plan file or the database file cannot be used.
        public static let file = Code(value: .file)
        /// The file is not a plan file, is damaged, or has an unsupported format version.
        public static let format = Code(value: .format)
        /// The schema of the database differs from the schema in the plan.
        public static let schema = Code(value: .schema)
        /// A row has changed, is missing, or violates a constraint.
        public static let conflict = Code(value: .conflict)
        /// A foreign key would refer to a row that does not exist.
        public static let foreignKey = Code(value: .foreignKey)
        /// A test or a preview tried to write to a database that may be live.
        public static let context = Code(value: .context)

        public var description: String { value.rawValue }
    }

    /// The code of the error, for programs.
    public let code: Code
    /// A description of the error, for people.
    public let message: String
    /// The conflicting row; `nil` if the error is not a row conflict.
    public var conflict: PlanConflict?

    public var description: String { message }

    init(_ code: Code, _ message: String, conflict: PlanConflict? = nil) {
        self.code = code
        self.message = message
        self.conflict = conflict
    }

    /// Returns this conflict with the explanation that the database already contains the changes.
    func forRepetition(of changeset: ChangesetStream) -> PlanError {
        let explanation =
            changeset.isInverted ? "the plan has been undone already, or was never applied" : "the plan has been applied already"
        return PlanError(code, "\(message); \(explanation)", conflict: conflict)
    }
}

/// A row that prevented a plan from being applied.
public struct PlanConflict: Sendable, Equatable {
    /// The name of the table.
    public let table: String
    /// The kind of change that the plan makes to the row.
    public let kind: RowChange.Kind
    /// The names of the table's columns.
    public let columns: [String]
    /// The values of the key columns.
    public let key: [StoredValue]
    /// The values that the plan expects, one for each column; `nil` for columns that the plan does not specify.
    public let expected: [StoredValue?]
    /// The values in the database; `nil` if the row does not exist or its values are unknown.
    public let found: [StoredValue]?
    /// Whether the only differences are in columns that the plan does not change.
    public var isInUnchangedColumns = false
    /// A description of the row for messages, for example `the row of book with id = 1`.
    let row: String

    /// - Parameter kind: The kind of change that the plan makes to the row; by default, the kind of `change`.
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

    /// A description of the differences for messages, for example `: pages is 5, not 322`. Empty if the values in the database are unknown.
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
