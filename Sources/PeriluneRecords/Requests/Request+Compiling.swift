/// The kind of result for which a request is compiled.
package enum RequestForm: Sendable {
    case rows
    /// At most one row.
    case first
    /// The number of rows, as one integer.
    case count
    /// Whether the request has rows, as one boolean.
    case exists
    /// An SQL aggregate (`SUM`, `MIN`, ...) of an expression over all rows, as one value.
    case aggregate(String, Expression, isDistinct: Bool)
}

extension Request {
    /// Compiles the request, or returns the cached result.
    package func compiled(by compiler: RequestCompiler, as form: RequestForm = .rows) throws -> CompiledRequest {
        if let known = memo.find(form, compiler.schema) { return known }
        let compiled =
            switch form {
            case .rows: try compiler.compileRows(self, isFirst: false)
            case .first: try compiler.compileRows(self, isFirst: true)
            case .count: try compileCount(compiler)
            case .exists:
                try compiler.compileSingle(isBoolean: true) { walk in
                    walk.tokens.add(.select)
                    try walk.exists(self, false, Precedence.any)
                }
            case .aggregate(let name, let expression, let isDistinct):
                try compileAggregate(name, expression, isDistinct, compiler)
            }
        memo.keep(compiled, as: form)
        return compiled
    }

    /// Throws an error if a column is ambiguous between several sources. The request may be unfinished, so missing sources are not
    /// reported.
    package func checkMeaning(by compiler: RequestCompiler) throws {
        guard
            !parts.values.joins.isEmpty || !parts.values.tableJoins.isEmpty
                || expressions.contains(where: { $0.traits.contains(.request) })
        else { return }
        var walk = CompilerWalk(compiler)
        do {
            try walk.select(self)
        } catch let error as RequestError where error.kind != "ambiguous" && error.fields["place"] != "join" {}
    }

    // MARK: - Counting

    private func compileCount(_ compiler: RequestCompiler) throws -> CompiledRequest {
        let request = withoutIncluded
        guard countNeedsRows else {
            return try compiler.compileSingle { try $0.select(request, .countRows, isOrdered: false) }
        }
        return try compiler.compileSingle { walk in
            walk.tokens.add(.select)
            walk.tokens.add(.countRows)
            walk.tokens.add(.from)
            walk.tokens.add(.open)
            try walk.select(request, isOrdered: hasLimit)
            walk.tokens.add(.close)
        }
    }

    var hasLimit: Bool { limit != nil || offset > 0 }

    /// Whether counting requires a subquery that selects the rows.
    private var countNeedsRows: Bool {
        let parts = parts.values
        return hasLimit || parts.isDistinct || !parts.groups.isEmpty || parts.having != nil || selectsAggregates
    }

    /// Whether the request selects SQL aggregates. Without groups, they apply to all rows.
    var selectsAggregates: Bool {
        (selectedColumns + joinedAnnotations).contains { $0.expression.traits.contains(.aggregate) }
    }

    /// The request without included associations, except that required ones still restrict its rows.
    var withoutIncluded: Request {
        let values = parts.values
        if values.prefetches.isEmpty, !values.joins.contains(where: { $0.role == .included }) { return self }
        return with { parts in
            parts.prefetches = []
            parts.joins = parts.joins.map { join in
                join.role == .included
                    ? Join(association: join.association, isRequired: join.isRequired, role: .joined) : join
            }
        }
    }

    // MARK: - Aggregates

    private func compileAggregate(
        _ name: String, _ expression: Expression, _ isDistinct: Bool, _ compiler: RequestCompiler
    ) throws -> CompiledRequest {
        if !expression.traits.isDisjoint(with: [.aggregate, .row, .window]) {
            throw RequestError.argument("\(name.lowercased()): expected a column or an expression of single rows")
        }
        if !parts.values.groups.isEmpty || parts.values.having != nil {
            throw RequestError.argument("\(name.lowercased()): the request has groups; select the aggregate for each of them")
        }
        if parts.values.isDistinct {
            throw RequestError.argument(
                "\(name.lowercased()): the request is distinct; ask for the distinct values of the expression")
        }
        let request = withoutIncluded
        let isBoolean = expression.isBoolean && ["min", "max"].contains(name.foldedName)
        guard hasLimit else {
            return try compiler.compileSingle(isBoolean: isBoolean) {
                try $0.select(request, .aggregate(name, expression, isDistinct: isDistinct), isOrdered: false)
            }
        }
        return try compiler.compileSingle(isBoolean: isBoolean) { walk in
            walk.tokens.add(.select)
            walk.tokens.add(.function, name.utf8)
            if isDistinct { walk.tokens.add(.distinctArgument) }
            walk.tokens.add(.name, "value".utf8)
            walk.tokens.add(.close)
            walk.tokens.add(.from)
            walk.tokens.add(.open)
            try walk.select(request, .value(expression))
            walk.tokens.add(.close)
        }
    }
}

// MARK: - Standalone expressions

extension RequestCompiler {
    /// Returns an expression as SQL text with literal values and unqualified columns, for definitions of tables, indexes and views.
    package func inlineSQL(_ expression: Expression) throws -> String {
        var walk = CompilerWalk(self)
        walk.isInline = true
        try walk.expression(expression)
        let text = SQLWriter.write(walk, literals: walk.values)
        guard text.slots.isEmpty else { throw RequestError.argument("stored SQL cannot have parameters") }
        return text.sql
    }

    /// Compiles an expression to SQL text with parameters and qualified columns, for the assignments and conditions of an upsert.
    package func sql(of expression: Expression, in request: Request) throws -> CompiledRequest {
        try compileSingle { walk in
            walk.enterScope()
            walk.setOwn(try walk.place(request.source, isTarget: true))
            try walk.expression(expression)
            walk.leaveScope()
        }
    }
}
