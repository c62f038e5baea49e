/// What a request reads: a table, a view, a common table expression, or the rows of other requests. May have an alias.
package final class RequestSource: Sendable {
    /// What it looks like. For rows of other requests: their common table, or one that only the request has.
    package let table: TableSchema
    package let alias: String?
    let body: Body
    /// For rows that belong to a row which is not in the statement: the association, and whether that row is of the same table.
    let reached: (identity: AssociationIdentity, fromItself: Bool)?
    /// The schema that the table was found in, if it is in the database.
    let schema: DatabaseSchema?
    /// Ready-made, since they are what most expressions are made of.
    private let columns: [Expression]
    private let rowIDColumn: Expression

    enum Body: Sendable {
        case table
        case commonTable
        /// SQL that selects the columns of the table, in their order.
        case fragment(SQLFragment)
        case compound(Compound)
        case request(Request)
    }

    init(
        _ table: TableSchema, alias: String? = nil, body: Body = .table,
        reached: (identity: AssociationIdentity, fromItself: Bool)? = nil, schema: DatabaseSchema?
    ) {
        self.table = table
        self.reached = reached
        self.alias = alias
        self.body = body
        self.schema = schema
        columns = table.columns.indices.map { .column($0, of: table, alias: alias) }
        rowIDColumn = .column(TableSchema.rowID, of: table, alias: alias)
    }

    /// Whether it has columns beside those of its table: `*` would bring them.
    var hidesColumns: Bool {
        if case .request(let request) = body { request.output.count > table.visibleColumns.count } else { false }
    }

    func aliased(_ alias: String) -> RequestSource { RequestSource(table, alias: alias, body: body, reached: reached, schema: schema) }

    func reading(_ fragment: SQLFragment) -> RequestSource {
        RequestSource(table, alias: alias, body: .fragment(fragment), reached: reached, schema: schema)
    }

    func reached(by identity: AssociationIdentity, fromItself: Bool) -> RequestSource {
        RequestSource(table, alias: alias, body: body, reached: (identity, fromItself), schema: schema)
    }

    /// The column at a position of the table.
    package func column(_ position: Int) -> Expression {
        position == TableSchema.rowID ? rowIDColumn : columns[position]
    }

    /// The column of a name, in any case.
    package func column(named name: String) throws -> Expression {
        guard let position = table.column(named: name) else { throw RequestError.unknownColumn(name, in: table) }
        return column(position)
    }
}

/// Requests whose rows are put together by UNION and the like.
struct Compound: Sendable {
    let first: Request
    let others: [(operation: CompoundOperator, request: Request)]
}

package enum CompoundOperator: UInt8, Sendable {
    case union = 1, unionAll, intersect, except
}
