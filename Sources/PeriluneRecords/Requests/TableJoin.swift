/// A table, or the rows of a request, joined on an arbitrary condition.
struct TableJoin: Sendable {
    let kind: TableJoinKind
    let source: RequestSource
    /// The condition; `nil` for a cross join.
    let condition: Expression?

    init(_ kind: TableJoinKind, _ source: RequestSource, _ condition: Expression?) {
        self.kind = kind
        self.source = source
        self.condition = condition
    }
}

package enum TableJoinKind: String, Sendable {
    case inner, left, right, full, cross

    var word: Tokens.Word {
        switch self {
        case .inner: .join
        case .left: .leftJoin
        case .right: .rightJoin
        case .full: .fullJoin
        case .cross: .joinLast
        }
    }

    /// Whether the join can return rows without a row of the request itself.
    fileprivate var addsRows: Bool { self == .right || self == .full }
}

extension Request {
    /// Returns each row combined with each row of another request for which the condition holds.
    ///
    /// - Parameter other: Whole rows of a table, a view or a common table. Its own conditions apply before the join.
    package func joined(_ kind: TableJoinKind, to other: Request, on condition: Expression?) throws -> Request {
        try other.checkIsPlain("join")
        guard other.isWhole else {
            throw RequestError.argument(
                "join: expected a request of whole rows; use perilune.common_table(name, request) for one that selects columns")
        }
        if source.alias == nil, other.source.alias == nil, table.isSameTable(as: other.table) {
            throw RequestError(
                "ambiguous", "`\(table.name)` is joined to itself; give one of them an alias, Class:aliased(\"other\")",
                fields: ["table": table.name])
        }
        try condition?.checkCondition("the condition of a join")
        if let condition, !condition.traits.isDisjoint(with: [.aggregate, .window]) {
            throw RequestError.argument("the condition of a join cannot contain aggregates or window functions")
        }
        let source = other.joinedSource
        return with { parts in
            parts.tableJoins.append(TableJoin(kind, source, condition))
            for table in other.parts.values.commonTables where !parts.commonTables.contains(where: { $0 === table }) {
                parts.commonTables.append(table)
            }
        }
    }

    /// The source of the request if the request contains all rows, otherwise the request as a source.
    private var joinedSource: RequestSource {
        let isAll = filter == nil && orders.isEmpty && limit == nil && offset == 0
        if isAll, parts.hasOnlyCommonTables { return source }
        return RequestSource(table, alias: source.alias, body: .request(self), schema: source.schema)
    }

    /// Throws if whole rows are required but some result rows have no row of the request's own table.
    func checkHasOwnRows() throws {
        let parts = parts.values
        guard parts.selection == nil, let join = parts.tableJoins.first(where: { $0.kind.addsRows }) else { return }
        throw RequestError.argument(
            "a \(join.kind.rawValue) join returns rows without a record of `\(table.name)`; select the columns instead")
    }
}

extension RequestParts {
    fileprivate var hasOnlyCommonTables: Bool {
        values.selection == nil && values.annotations.isEmpty && !values.isDistinct && values.groups.isEmpty
            && values.having == nil
            && values.joins.isEmpty && values.tableJoins.isEmpty && values.prefetches.isEmpty && values.reach == nil
    }
}
