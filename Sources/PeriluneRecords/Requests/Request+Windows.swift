/// Filtering by window functions. SQL has no clause for that, so a subquery computes the functions over the rows filtered so far.
extension Request {
    private static let holds = "perilune_holds"
    private static let kept = "perilune_window_"

    func filterByWindow(_ condition: Expression) throws -> Request {
        let parts = parts.values
        let isOfRows = parts.groups.isEmpty && parts.having == nil && !parts.isDistinct
        if isOfRows, (parts.annotations + (parts.selection ?? [])).contains(where: { Self.isOverWindow($0.expression) }) {
            return try filterWithValues(condition)
        }
        if case .table = source.body, parts.groups.isEmpty, parts.having == nil, parts.selection == nil || !parts.isDistinct,
            let key = try? tellingColumns()
        {
            return try filterByKeys(of: condition, key)
        }
        return try filterNested(condition)
    }

    private static func isOverWindow(_ expression: Expression) -> Bool {
        expression.traits.contains(.window)
            || expression.contains { part in
                if case .resultColumn(let name) = part.kind { name.hasPrefix(kept) } else { false }
            }
    }

    /// Filters by columns that a subquery computes. If the request also selects window functions, the same subquery computes them, so that
    /// they have the values that the condition tested.
    private func filterWithValues(_ condition: Expression) throws -> Request {
        let parts = parts.values
        if !parts.tableJoins.isEmpty || !parts.joins.isEmpty || parts.reach != nil { throw refusalOfJoinedWindow() }
        var values: [SelectedColumn] = []
        func keep(_ column: SelectedColumn) -> SelectedColumn {
            guard Self.isOverWindow(column.expression) else { return column }
            let name = "\(Self.kept)\(values.count)"
            values.append(column.renamed(name))
            return column.map { Expression(.resultColumn(name), $0.isBoolean ? .boolean : []) }
        }
        let outer = self.parts.changed { parts in
            parts.annotations = parts.annotations.map(keep)
            parts.selection = parts.selection?.map(keep)
        }
        let rows = Request(source: source, filter: filter, parts: self.parts).with {
            $0.selection = nil
            $0.annotations = []
        }
        let inner = try rows.annotated(with: values + [SelectedColumn(condition, name: Self.holds)])
        return Request(
            source: RequestSource(table, alias: source.alias, body: .request(inner), schema: source.schema),
            filter: Expression(.resultColumn(Self.holds), .boolean), orders: orders, limit: limit, offset: offset, parts: outer)
    }

    /// Returns the error for a condition on joined rows that select a window function. A filter alone before the join would change the rows
    /// of the selected window, so the message moves both.
    private func refusalOfJoinedWindow() -> RequestError {
        let columns = parts.values.annotations + (parts.values.selection ?? [])
        let name = columns.first { Self.isOverWindow($0.expression) }?.name ?? "x"
        return RequestError.argument(
            "filter: a condition with a window function cannot be added to joined or associated rows that select one; for a window over all "
                + "rows of `\(table.name)`, select it and filter before the join: annotated_with((...):as(\"\(name)\")):filter(...); "
                + "for a window over the joined rows, filter a common table of them: rows = perilune.common_table(\"rows\", request), "
                + "rows:filter(rows.c.\(name):is_not_null())")
    }

    /// Returns the rows whose keys are in the result of a subquery that tests the condition.
    private func filterByKeys(of condition: Expression, _ key: [Expression]) throws -> Request {
        let parts = parts.values
        let multiplies = parts.joins.contains { join in join.association.isPlural }
        if multiplies || !parts.tableJoins.isEmpty {
            throw RequestError.argument(
                "filter: a condition with a window function cannot be added after a join that repeats rows of `\(table.name)`; "
                    + "filter before the join for a window over all rows of `\(table.name)`; for a window over the joined rows, select it "
                    + "with annotated_with(window:as(\"x\")), and filter a common table of them: "
                    + "rows = perilune.common_table(\"rows\", request), rows:filter(rows.c.x:le(1))")
        }
        let rows = Request(source: source, filter: filter, parts: self.parts).withoutColumns.with { $0.annotations = [] }
        var columns = try key.enumerated().map { try SelectedColumn($1, name: "perilune_key_\($0)") }
        columns.append(try SelectedColumn(condition, name: Self.holds))
        let values = try rows.select(columns)
        let table = try values.resultTable(named: table.name)
        let found = Request(source: RequestSource(table, body: .request(values), schema: nil))
        let kept = try found.filter(found.column(Self.holds)).select(key.indices.map { SelectedColumn(found.source.column($0)) })
        let own = key.count == 1 ? key[0] : try Expression.row(key)
        return Request(
            source: source, filter: try own.isIn(kept), orders: orders, limit: limit, offset: offset, parts: self.parts)
    }

    /// Filters the rows in a subquery. Required for groups and for rows without a key.
    private func filterNested(_ condition: Expression) throws -> Request {
        if hasLimit { throw RequestError.argument("filter: a condition with a window function must come before the limit") }
        if !parts.values.prefetches.isEmpty || parts.values.joins.contains(where: \.hasInclusion) {
            throw RequestError.argument(
                "filter: a condition with a window function over groups, or over rows without a key, must come before including_..."
            )
        }
        if !orders.isEmpty, !isWhole {
            throw RequestError.argument(
                "filter: a condition with a window function over groups must come before the order, which then names selected columns: "
                    + "filter(...):order(perilune.column(\"name\"))")
        }
        let inner = try Request(source: source, filter: filter, parts: parts).annotated(
            with: [SelectedColumn(condition, name: Self.holds)])
        let table = isWhole ? table : try resultTable(named: table.name)
        let source = RequestSource(
            table, alias: isWhole ? source.alias : nil, body: .request(inner), schema: isWhole ? source.schema : nil)
        return Request(source: source, filter: Expression(.resultColumn(Self.holds), .boolean), orders: orders)
    }
}
