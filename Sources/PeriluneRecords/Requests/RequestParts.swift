internal import Synchronization

/// The parts that few requests use. Derived requests share them until they change.
final class RequestParts: Sendable {
    let values: Values

    struct Values: Sendable {
        /// The selected columns; `nil` means all columns.
        var selection: [SelectedColumn]?
        /// The columns in addition to the selection.
        var annotations: [SelectedColumn] = []
        var isDistinct = false
        var groups: [Expression] = []
        var having: Expression?
        var joins: [Join] = []
        /// The joins with an explicit condition.
        var tableJoins: [TableJoin] = []
        var prefetches: [Prefetch] = []
        var commonTables: [CommonTable] = []
        /// The association, if the request fetches the rows associated with certain parent rows.
        var reach: Reach?

        /// Whether the rows come from a single table without repetition.
        var isOfOneTable: Bool { joins.isEmpty && tableJoins.isEmpty && reach == nil }

        mutating func mapExpressions(_ change: (Expression) -> Expression) {
            selection = selection?.map { $0.map(change) }
            annotations = annotations.map { $0.map(change) }
            groups = groups.map(change)
            having = having.map(change)
            tableJoins = tableJoins.map { TableJoin($0.kind, $0.source, $0.condition.map(change)) }
        }
    }

    static let none = RequestParts(Values())

    private init(_ values: Values) { self.values = values }

    func changed(_ change: (inout Values) throws -> Void) rethrows -> RequestParts {
        var copy = values
        try change(&copy)
        return RequestParts(copy)
    }

    var isNone: Bool { self === Self.none }
}

/// A result column: an expression and its name.
package struct SelectedColumn: Sendable {
    let expression: Expression
    /// The name; `nil` if the expression has no name.
    let name: String?
    /// Whether the column belongs to whole records only, and is dropped when a request selects columns.
    let belongsToRecord: Bool

    /// - Parameter name: The name; by default the column's own name.
    package init(_ expression: Expression, name: String? = nil, belongsToRecord: Bool = false) throws {
        if let name { try Expression.checkName(name, of: "a result column") }
        self.expression = expression
        self.name = name ?? expression.columnName ?? expression.defaultName
        self.belongsToRecord = belongsToRecord
    }

    private init(_ expression: Expression, _ name: String?, _ belongsToRecord: Bool) {
        self.expression = expression
        self.name = name
        self.belongsToRecord = belongsToRecord
    }

    func renamed(_ name: String) -> SelectedColumn { SelectedColumn(expression, name, belongsToRecord) }

    func map(_ change: (Expression) -> Expression) -> SelectedColumn {
        SelectedColumn(change(expression), name, belongsToRecord)
    }
}

/// The most recently compiled forms of a request.
final class RequestMemo: Sendable {
    private let kept = Mutex(Kept())

    private struct Kept {
        var rows: CompiledRequest?
        var first: CompiledRequest?
    }

    func find(_ form: RequestForm, _ schema: DatabaseSchema) -> CompiledRequest? {
        let found = kept.withLock { kept -> CompiledRequest? in
            switch form {
            case .rows: kept.rows
            case .first: kept.first
            default: nil as CompiledRequest?
            }
        }
        return found?.schema === schema ? found : nil
    }

    func keep(_ compiled: CompiledRequest, as form: RequestForm) {
        kept.withLock { kept in
            switch form {
            case .rows: kept.rows = compiled
            case .first: kept.first = compiled
            default: break
            }
        }
    }
}
