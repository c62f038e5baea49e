/// Selected columns, added columns and groups.
extension Request {
    // MARK: - Columns

    /// Returns the request with only the given columns. Its rows are then plain rows instead of records.
    package func select(_ columns: [SelectedColumn]) throws -> Request {
        guard !columns.isEmpty else { throw RequestError.argument("a selection cannot be empty") }
        try checkSelected(columns)
        return try withColumns(columns, beside: parts.values.annotations.filter { !$0.belongsToRecord }).checkingWindowsOfGroups()
    }

    /// Returns the request with all columns and the rowid. Its rows are records that use the rowid as their key.
    package func withRowID(named name: String) throws -> Request {
        try annotated(with: [SelectedColumn(source.column(TableSchema.rowID), name: name, belongsToRecord: true)])
    }

    /// Returns the request with all columns of its table, and without added columns.
    package func selectAll() -> Request { withColumns(nil, beside: []) }

    /// Replaces the columns. An order that refers to a replaced column by its result name is kept with that column's expression.
    private func withColumns(_ selection: [SelectedColumn]?, beside annotations: [SelectedColumn]) -> Request {
        let stay = Set(annotations.compactMap { $0.name?.foldedName })
        let orders = orders.map { order in
            guard case .resultColumn(let name) = order.expression.kind, !stay.contains(name.foldedName) else { return order }
            return order.map { annotation(named: name) ?? $0 }
        }
        let parts = parts.changed { parts in
            parts.selection = selection
            parts.annotations = annotations
        }
        return Request(source: source, filter: filter, orders: orders, limit: limit, offset: offset, parts: parts)
    }

    /// Returns the request with the given columns in addition to the existing ones.
    package func annotated(with columns: [SelectedColumn]) throws -> Request {
        try checkSelected(columns)
        var names = Set(outputNames.compactMap { $0?.foldedName })
        for column in columns {
            guard let name = column.name else {
                throw RequestError.argument("an added column needs a name; use expression:as(\"name\")")
            }
            guard names.insert(name.foldedName).inserted else {
                throw RequestError.argument("the column `\(name)` already exists; give the added one another name")
            }
        }
        return try with { $0.annotations += columns }.checkingWindowsOfGroups()
    }

    private func checkSelected(_ columns: [SelectedColumn]) throws {
        for column in columns where column.expression.traits.contains(.row) {
            throw RequestError.argument("list the columns to select one by one")
        }
        for column in columns where !column.expression.traits.isDisjoint(with: [.excluded, .resultColumn]) {
            throw RequestError.argument("a result column cannot be selected")
        }
    }

    /// Returns the expression of the selected or added column with the given name.
    package func annotation(named name: String) -> Expression? {
        let folded = name.foldedName
        return (parts.values.annotations + (parts.values.selection ?? [])).first { $0.name?.foldedName == folded }?.expression
    }

    /// Returns whether the result has a column with the given name.
    package func hasResultColumn(_ name: String) -> Bool {
        let folded = name.foldedName
        return outputNames.contains { $0?.foldedName == folded }
    }

    /// Returns the expression that `order("name")` means: a selected expression with that name, as in SQL; otherwise a column of the table;
    /// otherwise an added column.
    package func orderColumn(_ name: String) throws -> Expression {
        if parts.values.selection?.contains(where: {
            $0.name?.foldedName == name.foldedName && $0.expression.columnName?.foldedName != name.foldedName
        }) == true {
            return Expression(.resultColumn(name), .resultColumn)
        }
        if let position = table.column(named: name) { return source.column(position) }
        if hasResultColumn(name) { return Expression(.resultColumn(name), .resultColumn) }
        let names = table.columns.map(\.name) + outputNames.compactMap { $0 }.filter { table.column(named: $0) == nil }
        var error = RequestError.unknown("column", name, in: "`\(table.name)`", among: names)
        error.fields["table"] = table.name
        throw error
    }

    /// Returns the request without duplicate rows.
    package func distinct() -> Request { with { $0.isDistinct = true } }

    // MARK: - Groups

    package func group(_ expressions: [Expression]) throws -> Request {
        guard !expressions.isEmpty else { throw RequestError.argument("expected at least one column to group by") }
        for expression in expressions {
            if expression.isValue { throw RequestError.argument("cannot group by a value; use a column or an expression") }
            if expression.traits.contains(.row) { throw RequestError.argument("list the columns to group by one by one") }
            if expression.traits.contains(.aggregate) { throw RequestError.argument("rows cannot be grouped by an aggregate") }
            if expression.traits.contains(.window) { throw RequestError.argument("rows cannot be grouped by a window function") }
        }
        return try with { $0.groups = expressions }.checkingWindowsOfGroups()
    }

    /// Returns the request with only the groups that satisfy a condition. Without groups, a condition without SQL aggregates, such as one
    /// on association aggregates, acts like `filter`.
    package func having(_ condition: Expression) throws -> Request {
        try condition.checkCondition("having")
        if condition.traits.contains(.window) { return try filterByWindow(condition) }
        if parts.values.groups.isEmpty, !condition.traits.contains(.aggregate) { return try filter(condition) }
        let having = try parts.values.having.map { try $0.and(condition) } ?? condition
        return with { $0.having = having }
    }

    // MARK: - The result

    /// The column names of result rows, without included associations.
    package var outputNames: [String?] { output.map(\.name) }

    /// The columns of result rows, without included associations.
    var output: [(name: String?, type: DeclaredType)] {
        let base: [(String?, DeclaredType)] =
            parts.values.selection?.map { ($0.name, $0.expression.declaredType) }
            ?? table.visibleColumns.map { (table.columns[$0].name, table.columns[$0].type) }
        return base + (parts.values.annotations + joinedAnnotations).map { ($0.name, $0.expression.declaredType) }
    }

    /// Whether the result consists of all columns of the table, and no others.
    var isWhole: Bool {
        parts.values.selection == nil && parts.values.annotations.isEmpty && joinedAnnotations.isEmpty
    }

    func checkColumnCount(_ count: Int, for place: String) throws {
        let given = output.count
        guard given == count else {
            throw RequestError.argument(
                "\(place): expected a request of \(count) column\(count == 1 ? "" : "s"), got one of \(given); "
                    + "use select(...)")
        }
        try checkIsPlain(place)
    }

    /// Throws an error if the request includes associated rows, which a subrequest cannot return.
    func checkIsPlain(_ place: String) throws {
        if !parts.values.prefetches.isEmpty || parts.values.joins.contains(where: \.hasInclusion) {
            throw RequestError.argument(
                "\(place): a request that includes associations cannot be part of another; use joining_...")
        }
    }

    // MARK: - Depth

    /// The expressions that count toward the height and parser stack when the request is nested in another one.
    var expressions: [Expression] {
        let parts = parts.values
        var list = orders.map(\.expression) + parts.groups
        list += ((parts.selection ?? []) + parts.annotations).map(\.expression)
        if let filter { list.append(filter) }
        if let having = parts.having { list.append(having) }
        list += parts.tableJoins.compactMap(\.condition)
        return list
    }

    private var inner: [Request] {
        var list = parts.values.joins.map(\.association.request)
        for source in [source] + parts.values.tableJoins.map(\.source) {
            switch source.body {
            case .compound(let compound): list += [compound.first] + compound.others.map(\.request)
            case .request(let request): list.append(request)
            case .table, .commonTable, .fragment: break
            }
        }
        return list
    }

    var height: Int {
        max(expressions.map(\.height).max() ?? 0, (inner.map(\.height).max() ?? 0) + 1) + 1
    }

    var nesting: Int {
        max(expressions.map(\.nesting).max() ?? 0, (inner.map { $0.nesting + 8 }.max() ?? 0))
    }
}

extension Expression {
    /// The declared type of a column or condition; none for other expressions.
    var declaredType: DeclaredType {
        if let (table, position) = columnPosition { return table.type(ofColumn: position) }
        return traits.contains(.boolean) ? .condition : .none
    }

    /// The name of a result column if the request does not specify one.
    var defaultName: String? {
        if case .aggregate(let aggregate) = unbound.kind { aggregate.defaultName } else { nil }
    }
}
