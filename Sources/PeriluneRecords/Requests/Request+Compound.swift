/// Set operations, nested requests and common table expressions.
extension Request {
    // MARK: - Set operations

    /// Combines the rows of this request and another one. Conditions, orders and limits that are added later apply to the combined rows.
    package func compound(_ operation: CompoundOperator, _ other: Request) throws -> Request {
        try checkIsPlain("union, intersect, except")
        try other.checkIsPlain("union, intersect, except")
        guard output.count == other.output.count else {
            throw RequestError.argument(
                "the rows of both requests need the same number of columns: \(output.count) and \(other.output.count)")
        }
        if case .compound(let compound) = source.body, isBare {
            let longer = Compound(first: compound.first, others: compound.others + [(operation, other)])
            return Request(source: RequestSource(table, body: .compound(longer), schema: source.schema))
        }
        let isSame = isWhole && other.isWhole && table === other.table
        let result = isSame ? table : try resultTable(named: table.name)
        let compound = Compound(first: self, others: [(operation, other)])
        return Request(source: RequestSource(result, body: .compound(compound), schema: isSame ? source.schema : nil))
    }

    /// Returns a request that reads this request's rows as a subquery. Conditions that are added later apply after its limit, groups and so
    /// on.
    package func nested() throws -> Request {
        try checkIsPlain("a sub-request")
        let result = isWhole ? table : try resultTable(named: table.name)
        return Request(source: RequestSource(result, body: .request(self), schema: isWhole ? source.schema : nil))
    }

    /// Whether the request returns all rows of its source unchanged.
    var isBare: Bool { filter == nil && orders.isEmpty && limit == nil && offset == 0 && parts.isNone }

    /// Returns a table description with the columns of the result.
    func resultTable(named name: String) throws -> TableSchema {
        var names = Set<String>()
        let columns = try output.enumerated().map { index, column in
            guard let name = column.name else {
                throw RequestError.argument("column \(index + 1) of the request needs a name: expression:as(\"name\")")
            }
            guard names.insert(name.foldedName).inserted else {
                throw RequestError.argument("the request has two columns `\(name)`; rename one with column:as(\"name\")")
            }
            return TableSchema.Column(
                name: name, type: column.type, isNotNull: false, defaultSQL: nil, primaryKeyPosition: nil, generation: nil,
                isHidden: false, collation: nil)
        }
        return TableSchema(databaseName: "", name: name, kind: .request, columns: columns)
    }

    // MARK: - Common table expressions

    /// Returns the request with a common table expression that its parts may read.
    package func with(_ commonTable: CommonTable) throws -> Request {
        guard commonTable.definition != nil else {
            throw RequestError.argument("the common table `\(commonTable.table.name)` is not defined yet")
        }
        for other in parts.values.commonTables where other.table.name.foldedName == commonTable.table.name.foldedName {
            if other === commonTable { return self }
            throw RequestError.argument(
                "two common tables are named `\(commonTable.table.name)`; names must differ in more than case")
        }
        return with { $0.commonTables.append(commonTable) }
    }
}

/// A common table expression: a named request or SQL text that other requests can read.
///
/// A recursive one is declared with its columns, and then defined by a request that reads it:
///
///     let tree = try CommonTable("tree", columns: ["id", "level"])
///     let defined = try tree.defined(as: roots.compound(.unionAll, children(of: tree.request)))
package final class CommonTable: Sendable {
    /// The name and columns of the common table expression.
    package let table: TableSchema
    let definition: Definition?

    enum Definition: Sendable {
        case request(Request)
        case fragment(SQLFragment)
    }

    private init(_ table: TableSchema, _ definition: Definition?) {
        self.table = table
        self.definition = definition
    }

    /// Declares a common table expression by its columns, without a definition.
    package convenience init(_ name: String, columns: [String]) throws {
        try Expression.checkName(name, of: "a common table")
        guard !columns.isEmpty else { throw RequestError.argument("a common table needs the names of its columns") }
        var seen = Set<String>()
        let columns = try columns.map { column in
            try Expression.checkName(column, of: "a column")
            guard seen.insert(column.foldedName).inserted else {
                throw RequestError.argument("the common table `\(name)` has two columns `\(column)`")
            }
            return TableSchema.Column(
                name: column, type: .none, isNotNull: false, defaultSQL: nil, primaryKeyPosition: nil, generation: nil,
                isHidden: false, collation: nil)
        }
        self.init(TableSchema(databaseName: "", name: name, kind: .request, columns: columns), nil)
    }

    /// Creates a common table expression from a request.
    package convenience init(_ name: String, as request: Request) throws {
        self.init(try CommonTable(name, like: request).table, .request(request))
    }

    /// Declares a common table expression with the columns of a request, without a definition.
    package convenience init(_ name: String, like request: Request) throws {
        try Expression.checkName(name, of: "a common table")
        try request.checkIsPlain("a common table")
        self.init(try request.resultTable(named: name), nil)
    }

    /// Returns the declaration of the common table expression that a request reads.
    package static func declared(by request: Request) -> CommonTable { CommonTable(request.table, nil) }

    package func defined(as request: Request) throws -> CommonTable {
        try request.checkColumnCount(table.columns.count, for: "the common table `\(table.name)`")
        return CommonTable(table, .request(request))
    }

    package func defined(asSQL text: [UInt8], _ arguments: SQLFragment.Arguments = .none) throws -> CommonTable {
        CommonTable(table, .fragment(try SQLFragment(text, arguments)))
    }

    /// A request for all rows. Before the definition exists, the request can be used to write it.
    package var request: Request {
        let request = Request(source: RequestSource(table, body: .commonTable, schema: nil))
        return definition == nil ? request : request.with { $0.commonTables.append(self) }
    }
}
