/// Writing of IN and EXISTS for lists, keys and subrequests.
extension CompilerWalk {
    mutating func membership(_ expression: Expression, _ least: UInt8) throws {
        switch expression.kind {
        case .inValues(let part, let list, let isNegated): try inValues(part, list, isNegated, least)
        case .inExpressions(let part, let members, let isNegated):
            try membership(of: part, isNegated, least) { walk in
                try walk.list(members) { walk, member in try walk.expression(member) }
            }
        case .inRequest(let part, let request, let isNegated):
            let leavesOutNulls = (isNegated || isInsideNot) && request.mayGiveNull
            try membership(of: part, isNegated, least) { walk in
                if leavesOutNulls { try walk.selectNotNull(request) } else { try walk.select(request) }
            }
        case .keys(let keys): try self.keys(keys, least)
        default: preconditionFailure("an expression that nothing writes")
        }
    }

    private mutating func membership(
        of part: Expression, _ isNegated: Bool, _ least: UInt8, _ body: (inout CompilerWalk) throws -> Void
    ) throws {
        if least > Precedence.equality { tokens.add(.open) }
        try expression(part, Precedence.bits)
        tokens.add(isNegated ? .notIn : .in)
        tokens.add(.open)
        try body(&self)
        tokens.add(.close)
        if least > Precedence.equality { tokens.add(.close) }
    }

    private mutating func inValues(_ part: Expression, _ list: ValueList, _ isNegated: Bool, _ least: UInt8) throws {
        guard let json = list.json else {
            return try membership(of: part, isNegated, least) { walk in
                walk.list(list.singles) { walk, value in walk.value(value) }
            }
        }
        // The SQL is (x IN (json) OR x IN (singles)), or its negation (x NOT IN (json) AND x NOT IN (singles)).
        let isSplit = !list.singles.isEmpty
        if isSplit { tokens.add(.open) }
        try membership(of: part, isNegated, isSplit ? Precedence.any : least) { walk in
            walk.tokens.add(.jsonList)
            walk.value(.text(json))
            walk.tokens.add(.close)
        }
        guard isSplit else { return }
        tokens.add(isNegated ? .and : .or)
        try membership(of: part, isNegated, Precedence.any) { walk in
            walk.list(list.singles) { walk, value in walk.value(value) }
        }
        tokens.add(.close)
    }

    /// Writes a one-column subquery without its NULLs, because `NOT IN` is never true for a list that contains NULL.
    private mutating func selectNotNull(_ request: Request) throws {
        if request.canFilterColumn, let column = request.selectedColumns.first {
            return try select(request.filter(column.expression.unary(.isNotNull)))
        }
        tokens.add(.with)
        tokens.add(.text, "\"perilune_list\"(\"value\") AS (".utf8)
        try select(request)
        tokens.add(.text, ") SELECT \"value\" FROM \"perilune_list\" WHERE \"value\" IS NOT NULL".utf8)
    }

    // MARK: - Keys

    private mutating func keys(_ keys: KeyList, _ least: UInt8) throws {
        if least > Precedence.equality { tokens.add(.open) }
        if keys.columns.count > 1 { tokens.add(.open) }
        try list(keys.columns) { walk, column in try walk.expression(column, Precedence.bits) }
        if keys.columns.count > 1 { tokens.add(.close) }
        tokens.add(.in)
        tokens.add(.open)
        members(of: keys)
        tokens.add(.close)
        if least > Precedence.equality { tokens.add(.close) }
    }

    private mutating func members(of keys: KeyList) {
        if let json = keys.json { return jsonKeys(keys.columns.count) { $0.value(.text(json)) } }
        if keys.columns.count == 1 { return list(keys.rows) { walk, row in walk.value(row[0]) } }
        tokens.add(.values)
        list(keys.rows) { walk, row in
            walk.tokens.add(.open)
            walk.list(row) { walk, value in walk.value(value) }
            walk.tokens.add(.close)
        }
    }

    /// Writes a SELECT of the elements of a JSON array, or of the columns of its nested arrays.
    mutating func jsonKeys(_ count: Int, _ array: (inout CompilerWalk) -> Void) {
        if count == 1 {
            tokens.add(.jsonList)
        } else {
            tokens.add(.select)
            list(0..<count) { walk, index in
                walk.tokens.add(.jsonExtract)
                walk.tokens.add(.element)
                walk.tokens.add(number: index)
                walk.tokens.add(.close)
            }
            tokens.add(.fromJSON)
        }
        array(&self)
        tokens.add(.close)
    }

    // MARK: - Subrequests

    mutating func subrequest(_ request: Request) throws {
        tokens.add(.open)
        try select(request)
        tokens.add(.close)
    }

    mutating func exists(_ request: Request, _ isNegated: Bool, _ least: UInt8) throws {
        let isParenthesized = isNegated && least > Precedence.not
        if isParenthesized { tokens.add(.open) }
        tokens.add(isNegated ? .notExists : .exists)
        tokens.add(.open)
        if request.existenceNeedsRows {
            try selectAnyRow(of: request.withoutIncluded)
        } else {
            try select(request, .one, isOrdered: false)
        }
        tokens.add(.close)
        if isParenthesized { tokens.add(.close) }
    }

    /// Writes a subquery around the request, because SQLite ignores DISTINCT directly inside EXISTS, even with an OFFSET.
    private mutating func selectAnyRow(of request: Request) throws {
        tokens.add(.selectStarFrom)
        tokens.add(.open)
        try select(request, isOrdered: false)
        tokens.add(.close)
    }
}

extension Request {
    /// Whether the selected columns affect whether the result has rows: aggregates return a row even for no input, and an offset skips
    /// distinct rows.
    fileprivate var existenceNeedsRows: Bool {
        let parts = parts.values
        return parts.groups.isEmpty && selectsAggregates || parts.isDistinct && offset > 0
    }

    /// Whether the request selects a single column that may be NULL.
    fileprivate var mayGiveNull: Bool {
        let columns = selectedColumns
        guard columns.count == 1 else { return false }
        guard case .table = source.body, let position = columns[0].expression.columnPosition?.position,
            columns[0].expression.isColumn(position, of: source)
        else { return true }
        return position >= 0 && table.mayBeNull(position)
    }

    /// Whether a condition on the selected column can be added to WHERE without changing which rows limits and groups see.
    fileprivate var canFilterColumn: Bool {
        guard case .table = source.body, let column = selectedColumns.first else { return false }
        return !hasLimit && parts.values.groups.isEmpty && parts.values.having == nil
            && column.expression.traits.isDisjoint(with: [.aggregate, .window])
    }
}
