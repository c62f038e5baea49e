/// Writing of SELECT statements.
extension CompilerWalk {
    /// The result columns of a SELECT.
    enum Output {
        case columns
        /// The constant 1, for statements that only test whether rows exist.
        case one
        case countRows
        /// An aggregate function over an expression.
        case aggregate(String, Expression, isDistinct: Bool)
        /// An expression with the column name `value`.
        case value(Expression)
        /// The columns that identify the table's rows.
        case key
        /// The columns that identify the table's rows, followed by expressions, all with generated names.
        case keyAndValues([Expression])
        /// The same as `keyAndValues`, followed by all columns of the rows.
        case keyValuesAndColumns([Expression])
        /// The columns that identify the rows of an association.
        case columnsOfChoice

        var isColumns: Bool { if case .columns = self { true } else { false } }
    }

    /// Writes a SELECT.
    ///
    /// - Parameters:
    ///   - isFirst: Whether to fetch at most one row.
    ///   - isOrdered: Whether to write ORDER BY.
    mutating func select(
        _ request: Request, _ output: Output = .columns, isFirst: Bool = false, isOrdered: Bool = true
    ) throws {
        if output.isColumns, !isFirst, case .compound(let compound) = request.source.body, request.isBare {
            return try self.compound(compound)
        }
        let parts = request.parts.values
        if output.isColumns, let reach = parts.reach, reach.carriesKey, request.limit != nil || request.offset > 0 {
            return try selectLimitedForEach(request)
        }
        enterScope()
        let declaredCount = declared.count
        if !request.parts.isNone { try commonTables(of: request) }
        let frame = try placeSources(of: request)
        tokens.add(.select)
        if parts.isDistinct, output.isColumns { tokens.add(.distinct) }
        try columns(of: request, output, frame)
        try from(request, frame)
        try restrict(request, frame)
        if isOrdered { try order(request, frame, isNamed: output.isColumns) }
        limit(request, isFirst: isFirst)
        leaveScope()
        declared.removeSubrange(declaredCount...)
    }

    /// The source numbers of one SELECT.
    struct Frame {
        let own: Int
        var joins: [JoinNode] = []
        /// The sources of tables that are joined with an explicit condition.
        var tableJoins: [Int] = []
        /// The sources along an association, starting at the origin. The last one is `own`.
        var reach: [Int] = []
        var reachJoins: [[JoinNode]] = []
    }

    private mutating func placeSources(of request: Request) throws -> Frame {
        let number = try place(request.source)
        var frame = Frame(own: number)
        setOwn(number)
        if request.parts.isNone { return frame }
        frame.joins = try placeJoins(request.parts.values.joins, of: number)
        frame.tableJoins = try request.parts.values.tableJoins.map { try place($0.source) }
        if let reach = request.parts.values.reach { try place(reach, number, &frame) }
        return frame
    }

    /// Places the sources between the associated rows and their parent rows.
    private mutating func place(_ reach: Reach, _ number: Int, _ frame: inout Frame) throws {
        let hops = reach.association.hops
        var parent: Int? = if case .outer = reach.anchor { outerOwn } else { nil }
        for (index, hop) in hops.enumerated() {
            let isLast = index == hops.count - 1
            let source = isLast ? number : try place(hop.request.source)
            note(source, reachedBy: hop, from: parent, parent == nil ? reach.association.origin : nil)
            if !isLast { frame.reachJoins.append(try placeJoins(hop.request.parts.values.joins, of: source)) }
            frame.reach.append(source)
            parent = source
        }
    }

    // MARK: - Columns

    private mutating func columns(of request: Request, _ output: Output, _ frame: Frame) throws {
        switch output {
        case .columns: try columns(of: request, frame)
        case .one: tokens.add(.one)
        case .countRows: tokens.add(.countRows)
        case .aggregate(let name, let expression, let isDistinct):
            tokens.add(.function, name.utf8)
            if isDistinct { tokens.add(.distinctArgument) }
            try self.expression(expression)
            tokens.add(.close)
        case .value(let expression):
            try self.expression(expression)
            tokens.add(.as)
            tokens.add(.name, "value".utf8)
        case .key:
            try list(request.tellingColumns()) { walk, column in try walk.expression(column) }
        case .keyAndValues(let values): try keyAndValues(of: request, values)
        case .keyValuesAndColumns(let values):
            try keyAndValues(of: request, values)
            tokens.add(.comma)
            try columns(of: request, frame)
        case .columnsOfChoice: columnsOfChoice(of: request.parts.values.reach!, frame)
        }
    }

    private mutating func keyAndValues(of request: Request, _ values: [Expression]) throws {
        for (index, column) in (try request.tellingColumns() + values).enumerated() {
            if index > 0 { tokens.add(.comma) }
            try expression(column)
            tokens.add(.as)
            tokens.add(.name, "made_\(index)".utf8)
        }
    }

    private mutating func columns(of request: Request, _ frame: Frame) throws {
        let before = namesColumns
        namesColumns = hasGroup(frame.joins) || frame.reachJoins.contains { hasGroup($0) }
        defer { namesColumns = before }
        let parts = request.parts.values
        let wantsLazyColumns = wantsLazyColumns
        self.wantsLazyColumns = false
        defer { self.wantsLazyColumns = wantsLazyColumns }
        let isSimple =
            request.parts.isNone
            || (parts.joins.isEmpty && parts.tableJoins.isEmpty && parts.prefetches.isEmpty && parts.reach == nil)
        if isSimple, parts.selection == nil {
            if request.source.hidesColumns || request.table.hasLazyColumns {
                list(wantsLazyColumns ? request.table.storedColumns : request.table.visibleColumns) { walk, position in
                    walk.column(position, of: frame.own)
                }
            } else {
                tokens.add(.star)
            }
            for column in parts.annotations {
                tokens.add(.comma)
                try selected(column)
            }
            if isDescribing, isOutermost { layout = try RowLayout(request, frame, in: self) }
            return
        }
        let layout = try RowLayout(request, frame, in: self, withLazyColumns: wantsLazyColumns)
        if isOutermost { self.layout = layout }
        try items(of: layout)
    }

    private var isOutermost: Bool { scopes.count == 1 && !isInside }

    mutating func items(of layout: RowLayout) throws {
        layout.note(in: &tokens)
        try list(layout.items) { walk, item in
            switch item {
            case .column(let position, let number):
                walk.column(position, of: number)
                if walk.namesColumns { walk.name(position, of: number) }
            case .collated(let position, let number, let collation):
                walk.column(position, of: number, collation)
                if walk.namesColumns { walk.name(position, of: number) }
            case .keyNumber: walk.tokens.add(.keyNumber)
            case .selected(let column, let number):
                let before = walk.setOwn(number)
                try walk.selected(column)
                walk.setOwn(before)
            }
        }
    }

    private mutating func name(_ position: Int, of number: Int) {
        tokens.add(.as)
        tokens.add(.name, (position >= 0 ? sources[number].table.columns[position].sqlName : "rowid").utf8)
    }

    mutating func selected(_ column: SelectedColumn) throws {
        if column.expression.isBoolean { tokens.add(.boolean) }
        try expression(column.expression)
        // SQLite names the rowid column "rowid" in results, even if the SQL uses another name.
        let isRowID = column.expression.columnPosition?.position == TableSchema.rowID
        let given: String? = isRowID ? "rowid" : column.expression.sqlColumnName
        guard let name = column.name, namesColumns || name != given else { return }
        tokens.add(.as)
        tokens.add(.name, name.utf8)
    }

    // MARK: - After FROM

    private mutating func restrict(_ request: Request, _ frame: Frame) throws {
        let parts = request.parts.values
        var isFirst = true
        func next(_ walk: inout CompilerWalk) {
            walk.tokens.add(isFirst ? .where : .and)
            isFirst = false
        }
        if let reach = parts.reach {
            if !reach.numbersKeys {
                next(&self)
                try anchor(reach, frame.reach[0])
            }
            for (end, hop) in reach.association.hops.enumerated() {
                for association in hop.firsts {
                    next(&self)
                    let start = end + 1 - association.hops.count
                    try chooseFirst(
                        of: association, Array(frame.reach[start...end]), from: start == 0 ? nil : frame.reach[start - 1],
                        reach.anchor)
                }
            }
            if let filter = request.filter {
                next(&self)
                try checkIsClear(filter, of: frame.own)
                try expression(filter, Precedence.and)
            }
        } else if let filter = request.filter {
            next(&self)
            try expression(filter)
        }
        if request.parts.isNone { return }
        if !parts.groups.isEmpty {
            tokens.add(.groupBy)
            try list(parts.groups) { walk, expression in try walk.expression(expression) }
        }
        if let having = parts.having {
            guard !parts.groups.isEmpty || request.selectsAggregates else {
                throw RequestError.argument(
                    "having: the request has no groups; add group(...), or "
                        + "use filter(...) for conditions on single rows")
            }
            tokens.add(.having)
            try expression(having)
        }
    }

    /// - Parameter isNamed: Whether ORDER BY can refer to names of result columns.
    private mutating func order(_ request: Request, _ frame: Frame, isNamed: Bool) throws {
        var isFirst = true
        try order(of: request, frame.own, frame.joins, isNamed: isNamed, &isFirst)
        let reach = request.parts.values.reach
        // Sort rows that were reached through other tables by the orders of these tables as well.
        for (index, hop) in (reach?.association.hops.dropLast() ?? []).enumerated() {
            try order(of: hop.request, frame.reach[index], frame.reachJoins[index], isNamed: false, &isFirst)
        }
        // The orders of joined rows do not affect which of several rows is the first.
        guard let reach, reach.isOrderedByKey else { return try order(of: frame.joins, isNamed: isNamed, &isFirst) }
        for column in reach.association.orderOfChoice {
            tokens.add(isFirst ? .orderBy : .comma)
            isFirst = false
            self.column(column.position, of: frame.reach[column.hop])
        }
    }

    /// Writes the orders of joined associations, which come after the request's own order.
    private mutating func order(of joins: [JoinNode], isNamed: Bool, _ isFirst: inout Bool) throws {
        for node in joins {
            for (index, hop) in node.hops.enumerated() {
                let isNamed = isNamed && node.join.role != .joined && index == node.hops.count - 1
                try order(of: hop.request, hop.number, hop.children, isNamed: isNamed, &isFirst)
                try order(of: hop.children, isNamed: isNamed, &isFirst)
            }
        }
    }

    /// Writes the request's own order, with the given source as its rows.
    private mutating func order(
        of request: Request, _ number: Int, _ joins: [JoinNode], isNamed: Bool, _ isFirst: inout Bool
    ) throws {
        for order in request.orders {
            let named = isNamed ? nil : resultColumn(order.expression, of: request, number, joins)
            let before = setOwn(named?.number ?? number)
            try self.order([named.map { named in order.map { _ in named.expression } } ?? order], &isFirst)
            setOwn(before)
        }
    }

    /// Returns the expression behind a result column's name, and the preferred source for its columns; `nil` for other
    /// expressions.
    private func resultColumn(
        _ expression: Expression, of request: Request, _ number: Int, _ joins: [JoinNode]
    ) -> (expression: Expression, number: Int)? {
        guard case .resultColumn(let name) = expression.kind else { return nil }
        if let found = request.annotation(named: name) { return (found, number) }
        for node in joins {
            let hop = node.destination
            if let found = resultColumn(expression, of: hop.request, hop.number, hop.children) { return found }
        }
        return nil
    }

    mutating func order(_ orders: [Ordering], _ isFirst: inout Bool, begin: Tokens.Word = .orderBy) throws {
        for order in orders {
            tokens.add(isFirst ? begin : .comma)
            isFirst = false
            try expression(order.expression)
            if order.isDescending { tokens.add(.descending) }
            if let nullsFirst = order.nullsFirst { tokens.add(nullsFirst ? .nullsFirst : .nullsLast) }
        }
    }

    private mutating func limit(_ request: Request, isFirst: Bool) {
        let limit = isFirst ? min(request.limit ?? 1, 1) : request.limit
        guard limit != nil || request.offset > 0 else { return }
        tokens.add(.limit)
        value(.integer(limit ?? -1))
        guard request.offset > 0 else { return }
        tokens.add(.offset)
        value(.integer(request.offset))
    }

    /// Writes a SELECT that applies an association's limit separately for each parent row.
    private mutating func selectLimitedForEach(_ request: Request) throws {
        tokens.add(.selectStarFrom)
        tokens.add(.open)
        enterScope()
        let declaredCount = declared.count
        try commonTables(of: request)
        let frame = try placeSources(of: request)
        tokens.add(.select)
        let layout = try RowLayout(request, frame, in: self)
        if isOutermost { self.layout = layout }
        try items(of: layout)
        tokens.add(.comma)
        try rowNumber(request, frame)
        try from(request, frame)
        try restrict(request, frame)
        leaveScope()
        declared.removeSubrange(declaredCount...)
        tokens.add(.close)
        limitRowNumber(request)
    }

    private mutating func rowNumber(_ request: Request, _ frame: Frame) throws {
        tokens.add(.rowNumber)
        let reach = request.parts.values.reach!
        if reach.numbersKeys {
            tokens.add(.keyNumber)
        } else {
            let hop = reach.association.hops[0]
            list(hop.columns.indices) { walk, index in walk.keyColumn(index, of: hop, frame.reach[0]) }
        }
        try order(request, frame, isNamed: false)
        tokens.add(.close)
        tokens.add(.as)
        tokens.add(.rowNumberName)
    }

    private mutating func limitRowNumber(_ request: Request) {
        tokens.add(.where)
        tokens.add(.rowNumberName)
        tokens.add(.above)
        value(.integer(request.offset))
        if let limit = request.limit {
            tokens.add(.and)
            tokens.add(.rowNumberName)
            tokens.add(.upTo)
            value(.integer(request.offset.addingReportingOverflow(limit).overflow ? .max : request.offset + limit))
        }
        tokens.add(.orderBy)
        tokens.add(.rowNumberName)
    }

    // MARK: - Set operations

    private mutating func compound(_ compound: Compound) throws {
        let before = isInside
        isInside = true
        defer { isInside = before }
        try member(compound.first)
        for (operation, request) in compound.others {
            switch operation {
            case .union: tokens.add(.union)
            case .unionAll: tokens.add(.unionAll)
            case .intersect: tokens.add(.intersect)
            case .except: tokens.add(.except)
            }
            try member(request)
        }
    }

    /// Writes a member of a set operation. A member with an order, a limit, WITH or a nested set operation needs a SELECT
    /// around it.
    private mutating func member(_ request: Request) throws {
        let isCompound = if case .compound = request.source.body { request.isBare } else { false }
        let isPlain =
            request.orders.isEmpty && request.limit == nil && request.offset == 0 && !isCompound
            && request.parts.values.commonTables.isEmpty && !hasJoinedOrders(request.parts.values.joins)
        if isPlain { return try select(request) }
        tokens.add(.selectStarFrom)
        tokens.add(.open)
        try select(request)
        tokens.add(.close)
    }

    private func hasJoinedOrders(_ joins: [Join]) -> Bool {
        joins.contains { join in
            join.association.hops.contains { !$0.request.orders.isEmpty || hasJoinedOrders($0.request.parts.values.joins) }
        }
    }
}
