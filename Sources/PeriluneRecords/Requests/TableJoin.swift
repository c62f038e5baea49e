/// A join with a table or a request on an explicit condition.
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

    /// Whether the join can return rows that have no row of the request's own table.
    fileprivate var addsRows: Bool { self == .right || self == .full }
}

extension Request {
    /// Joins another request: returns each row combined with each row of the other request that satisfies the condition.
    ///
    /// - Parameter other: Whole rows of a table, a view or a common table expression. Its own conditions apply before the
    ///   join.
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

    /// The source to join: the request's own source if the request returns all of its rows, otherwise the request as a
    /// subquery.
    private var joinedSource: RequestSource {
        let isAll = filter == nil && orders.isEmpty && limit == nil && offset == 0
        if isAll, parts.hasOnlyCommonTables { return source }
        return RequestSource(table, alias: source.alias, body: .request(self), schema: source.schema)
    }

    /// Throws an error if the request returns records, but some result rows would have no row of its table.
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
