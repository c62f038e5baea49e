/// Why a plan cannot be read, written or applied.
public struct PlanError: Error, CustomStringConvertible, Sendable {
    /// What programs decide by.
    public struct Code: Sendable, Equatable {
        private enum Value { case file, format, schema, conflict, foreignKey }
        private let value: Value

        /// The plan's file cannot be read or written.
        public static let file = Code(value: .file)
        /// The file is no plan, or of a version to come.
        public static let format = Code(value: .format)
        /// The schema of the database is not that of the plan.
        public static let schema = Code(value: .schema)
        /// A row is not as it was.
        public static let conflict = Code(value: .conflict)
        /// A foreign key would point nowhere.
        public static let foreignKey = Code(value: .foreignKey)
    }

    public let code: Code
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
    public let table: String
    /// What the plan would do to the row.
    public let kind: RowChange.Kind
    public let columns: [String]
    public let key: [PreviewValue]
    /// What the plan expected to find in each column; `nil` where it does not say.
    public let expected: [PreviewValue?]
    /// What is there; `nil` if there is no such row, or it is not known.
    public let found: [PreviewValue]?
}
