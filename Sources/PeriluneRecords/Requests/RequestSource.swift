/// The source of a request's rows, with an optional alias: a table, a view, a common table expression, SQL text, or other
/// requests.
package final class RequestSource: Sendable {
    /// The columns of the source. For the rows of other requests, this is their common table, or a description created for this
    /// request.
    package let table: TableSchema
    package let alias: String?
    let body: Body
    /// For rows associated with a known row outside of the statement: the association, and whether that row is from the same
    /// table.
    let reached: (identity: AssociationIdentity, fromItself: Bool)?
    /// The schema that describes the table; `nil` if the table is not in the database.
    let schema: DatabaseSchema?
    /// The expressions of all columns, created in advance because most other expressions contain them.
    private let columns: [Expression]
    private let rowIDColumn: Expression

    enum Body: Sendable {
        case table
        case commonTable
        /// SQL text that selects the columns of the table in order.
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

    /// Whether `*` would return more columns than the table describes.
    var hidesColumns: Bool {
        if case .request(let request) = body { request.output.count > table.visibleColumns.count } else { false }
    }

    func aliased(_ alias: String) -> RequestSource {
        RequestSource(table, alias: alias, body: body, reached: reached, schema: schema)
    }

    func reading(_ fragment: SQLFragment) -> RequestSource {
        RequestSource(table, alias: alias, body: .fragment(fragment), reached: reached, schema: schema)
    }

    func reached(by identity: AssociationIdentity, fromItself: Bool) -> RequestSource {
        RequestSource(table, alias: alias, body: body, reached: (identity, fromItself), schema: schema)
    }

    /// Returns the column at the given position in the table.
    package func column(_ position: Int) -> Expression {
        position == TableSchema.rowID ? rowIDColumn : columns[position]
    }

    /// Returns the column with the given name, ignoring case.
    package func column(named name: String) throws -> Expression {
        guard let position = table.column(named: name) else { throw RequestError.unknownColumn(name, in: table) }
        return column(position)
    }
}

/// Requests combined by a set operation such as UNION.
struct Compound: Sendable {
    let first: Request
    let others: [(operation: CompoundOperator, request: Request)]
}

package enum CompoundOperator: UInt8, Sendable {
    case union = 1, unionAll, intersect, except
}
