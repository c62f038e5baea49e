/// The policy for a row of an UPDATE or INSERT that violates a constraint.
package enum ConflictPolicy: String, Sendable, CaseIterable {
    case abort, fail, ignore, replace, rollback
}

/// A column to update, and its new value.
package struct Assignment: Sendable {
    let column: Int
    let value: Expression

    package init(_ column: Int, _ value: Expression) {
        self.column = column
        self.value = value
    }
}

/// The values that an UPDATE or DELETE returns for each written row.
package enum Returning: Sendable {
    case nothing
    case allColumns
    case columns([SelectedColumn])
}

extension Request {
    /// Compiles an UPDATE of the request's rows.
    package func compiledUpdate(
        _ assignments: [Assignment], onConflict policy: ConflictPolicy? = nil, returning: Returning = .nothing,
        by compiler: RequestCompiler
    ) throws -> CompiledRequest {
        try checkAssignments(assignments)
        if let rows = try rowsOfTable() ?? rowsOfDistinct("update_all") {
            return try rows.compiledUpdate(assignments, onConflict: policy, returning: returning, by: compiler)
        }
        let valuesFirst = hasKey && assignments.contains { $0.value.needsRow(of: self) }
        return try compileWriting(returning, compiler, "update_all") { walk, target in
            switch policy {
            case nil: walk.tokens.add(.update)
            case .abort: walk.tokens.add(.updateAbort)
            case .fail: walk.tokens.add(.updateFail)
            case .ignore: walk.tokens.add(.updateIgnore)
            case .replace: walk.tokens.add(.updateReplace)
            case .rollback: walk.tokens.add(.updateRollback)
            }
            walk.target(target)
            walk.tokens.add(.set)
            if valuesFirst { return try walk.assignFrom(self, assignments, target) }
            let table = table
            try walk.list(assignments) { walk, assignment in
                walk.tokens.add(.name, table.columns[assignment.column].sqlName.utf8)
                walk.tokens.add(.equals)
                try walk.expression(assignment.value, Precedence.any)
            }
            try walk.restrictTarget(to: self, target)
        }
    }

    /// Compiles a DELETE of the request's rows.
    package func compiledDelete(returning: Returning = .nothing, by compiler: RequestCompiler) throws -> CompiledRequest {
        if let rows = try rowsOfTable() ?? rowsOfDistinct("delete_all") {
            return try rows.compiledDelete(returning: returning, by: compiler)
        }
        return try compileWriting(returning, compiler, "delete_all") { walk, target in
            walk.tokens.add(.deleteFrom)
            walk.target(target)
            try walk.restrictTarget(to: self, target)
        }
    }

    /// Returns the rows of a nested request as a request for rows of the underlying table, selected by key; `nil` if the rows do not come
    /// from one table.
    private func rowsOfTable() throws -> Request? {
        guard case .request(let inner) = source.body, source.schema != nil, table.hasCompleteKey else { return nil }
        var source = inner.source
        while case .request(let inner) = source.body { source = inner.source }
        guard case .table = source.body else { return nil }
        return Request(source: source, filter: try isAmong(keysOfRows(table.primaryKey), table.primaryKey.map(source.column)))
    }

    /// Returns a distinct request with a limit as a request that selects rows by key, because the limit counts distinct rows instead of
    /// joined rows. The joins remain for the values that an update reads from them.
    private func rowsOfDistinct(_ verb: String) throws -> Request? {
        guard countsDistinctRows, case .table = source.body, parts.values.selection == nil, parts.values.groups.isEmpty else {
            return nil
        }
        let isKept =
            table.hasCompleteKey
            ? try isAmong(keysOfRows(table.primaryKey), table.primaryKey.map(source.column))
            : try isAmong(rowIDsOfEqualRows(verb), [source.column(TableSchema.rowID)])
        let parts = parts.changed { parts in
            parts.isDistinct = false
            parts.annotations = []
        }
        return Request(source: source, filter: try filter.map { try $0.and(isKept) } ?? isKept, parts: parts)
    }

    private func isAmong(_ keys: Request, _ columns: [Expression]) throws -> Expression {
        try (columns.count == 1 ? columns[0] : Expression.row(columns)).isIn(keys)
    }

    /// Whether the limit counts rows after DISTINCT has removed duplicates.
    private var countsDistinctRows: Bool {
        let isPlain = parts.values.isOfOneTable && isOrderedByKey && table.hasCompleteKey
        return hasLimit && parts.values.isDistinct && !isPlain
    }

    /// Returns the keys of exactly the rows that the request fetches.
    ///
    /// - Parameter key: The positions of the key's columns in the table.
    private func keysOfRows(_ key: [Int]) throws -> Request {
        guard countsDistinctRows else {
            return try withoutColumns.with { $0.annotations = [] }.select(key.map { SelectedColumn(source.column($0)) })
        }
        let rows = try withoutIncluded.nested()
        return try rows.select(key.map { SelectedColumn(try rows.column(table.columns[$0].name)) })
    }

    /// Returns the rowids of all rows that equal one of the request's distinct rows, for tables without a primary key, or whose primary key
    /// may be NULL.
    private func rowIDsOfEqualRows(_ verb: String) throws -> Request {
        guard table.rowIDName != nil else {
            throw RequestError.argument(
                "\(verb): `\(table.name)` has no key, so a limit of its distinct rows does not identify rows to write; remove "
                    + "distinct() or limit(...)")
        }
        let columns = table.visibleColumns.map(source.column)
        let distinct = try withoutIncluded.with { $0.selection = columns.map { SelectedColumn($0) } }.nested()
        let rows = Request(source: RequestSource(table, schema: source.schema))
        var pairs = try table.visibleColumns.map { (rows.source.column($0), try distinct.column(table.columns[$0].name)) }
        if let name = rowIDAnnotation?.name { pairs.append((rows.source.column(TableSchema.rowID), try distinct.column(name))) }
        let isEqual = try Expression.combined(isAnd: true, pairs.map { try $0.binary(.is, $1) })
        return try rows.joined(.inner, to: distinct, on: isEqual).select([SelectedColumn(rows.source.column(TableSchema.rowID))])
    }

    private var rowIDAnnotation: SelectedColumn? {
        parts.values.annotations.first { $0.expression.isColumn(TableSchema.rowID, of: source) }
    }

    private func checkAssignments(_ assignments: [Assignment]) throws {
        guard !assignments.isEmpty else { throw RequestError.argument("update_all: expected at least one column to change") }
        var seen = Set<Int>()
        for assignment in assignments {
            guard assignment.column >= 0 else { throw RequestError.argument("update_all: the row id cannot be changed") }
            let column = table.columns[assignment.column]
            if column.generation != nil {
                throw RequestError.argument("update_all: `\(column.name)` is a generated column, which cannot be written")
            }
            guard seen.insert(assignment.column).inserted else {
                throw RequestError.argument("update_all: `\(column.name)` is given twice")
            }
            if !assignment.value.traits.isDisjoint(with: [.row, .aggregate]) {
                throw RequestError.argument("update_all: `\(column.name)` requires a single value for each row")
            }
        }
    }

    // MARK: - Compiling

    private func compileWriting(
        _ returning: Returning, _ compiler: RequestCompiler, _ verb: String,
        _ write: (inout CompilerWalk, Int) throws -> Void
    ) throws -> CompiledRequest {
        try checkIsWritable(verb)
        let result = try returned(returning)
        let describe = { (walk: CompilerWalk, _: RowLayout?) in
            result.map { RequestCompiler.Description($0, try? RowLayout($0, .init(own: 0), in: walk)) }
                ?? RequestCompiler.Description()
        }
        let (plan, walk) = try compiler.compile(describe) { walk in
            walk.isInside = true
            walk.enterScope()
            let number = try walk.place(source, isTarget: true)
            walk.setOwn(number)
            try write(&walk, number)
            if let result { try walk.returning(result) }
            walk.leaveScope()
        }
        return CompiledRequest(plan: plan, values: walk.values, prefetches: [], schema: compiler.schema)
    }

    private func checkIsWritable(_ verb: String) throws {
        guard case .table = source.body else {
            throw RequestError.argument("\(verb): only rows of a table can be written, not those of another request")
        }
        let parts = parts.values
        if !parts.groups.isEmpty, !groupsAreRows {
            throw RequestError.argument("\(verb): a group of rows cannot be written; group by the primary key, or remove group()")
        }
        if parts.isDistinct, parts.selection != nil {
            throw RequestError.argument("\(verb): distinct rows cannot be written; remove distinct()")
        }
    }

    /// Returns a request over the written rows with the columns to return.
    func returned(_ returning: Returning) throws -> Request? {
        let plain = Request(source: source)
        switch returning {
        case .nothing: return nil
        case .allColumns: return plain
        case .columns(let columns):
            if columns.contains(where: { !$0.expression.traits.isDisjoint(with: [.aggregate, .window]) }) {
                throw RequestError.argument(
                    "returning: expected values of the written row, got an aggregate or a window function")
            }
            return try plain.select(columns)
        }
    }

    /// Whether a WHERE clause can select the rows of an UPDATE or DELETE. SQLite evaluates WHERE while it writes, so if the condition reads
    /// the written table, the keys must be collected first.
    fileprivate var isFoundByFilter: Bool {
        let parts = parts.values
        return !hasLimit && parts.joins.isEmpty && parts.tableJoins.isEmpty && parts.groups.isEmpty && parts.having == nil
            && parts.reach == nil
            && parts.commonTables.isEmpty && !(filter?.mayRead(table) ?? false && hasKey)
    }

    /// Whether the order distinguishes all rows of the table.
    fileprivate var isOrderedByKey: Bool {
        table.distinguishesRows(
            orders.compactMap { order in
                order.expression.columnPosition.flatMap {
                    order.expression.unbound.isColumn($0.position, of: source) ? $0.position : nil
                }
            })
    }

    fileprivate var hasKey: Bool { (try? tellingColumns()) != nil }
}

extension CompilerWalk {
    mutating func target(_ number: Int) {
        tokens.add(.target)
        tokens.add(number: number)
        withUnsafeBytes(of: sources[number].table.id) { tokens.add(.note, $0) }
    }

    fileprivate mutating func restrictTarget(to request: Request, _ number: Int) throws {
        if request.isFoundByFilter {
            guard let filter = request.filter else { return }
            tokens.add(.where)
            return try expression(filter)
        }
        let key = try request.tellingColumns()
        tokens.add(.where)
        if key.count > 1 { tokens.add(.open) }
        try list(key) { walk, column in try walk.expression(column) }
        if key.count > 1 { tokens.add(.close) }
        tokens.add(.in)
        tokens.add(.open)
        try keysAndValues(of: request, [], else: .key)
        tokens.add(.close)
    }

    /// Writes a subquery for the rows to write, which selects their keys and new values as `made_0`, `made_1`...
    ///
    /// If the order is ambiguous, the rows that a limit keeps depend on the index that SQLite uses, and therefore on the selected columns.
    /// The subquery then selects all columns, as a fetch does, in a materialized common table expression.
    private mutating func keysAndValues(of request: Request, _ values: [Expression], else output: Output) throws {
        let rows = request.withoutColumns
        guard request.hasLimit, !request.isOrderedByKey else { return try select(rows, output, isOrdered: request.hasLimit) }
        tokens.add(.with)
        tokens.add(.text, "\"perilune_rows\" AS MATERIALIZED (".utf8)
        try select(rows, .keyValuesAndColumns(values))
        tokens.add(.text, ") ".utf8)
        tokens.add(.select)
        try list(0..<(request.tellingColumns().count + values.count)) { walk, index in
            walk.tokens.add(.name, "made_\(index)".utf8)
        }
        tokens.add(.from)
        tokens.add(.name, "perilune_rows".utf8)
    }

    /// Writes assignments whose values are computed for all rows before the first row is written: `SET a = v.a FROM (SELECT key, values
    /// ...) AS v WHERE ...`.
    fileprivate mutating func assignFrom(_ request: Request, _ assignments: [Assignment], _ number: Int) throws {
        let table = sources[number].table
        let key = try request.tellingColumns()
        func made(_ index: Int) -> String { "\"perilune_made\".\"made_\(index)\"" }
        for (index, assignment) in assignments.enumerated() {
            if index > 0 { tokens.add(.comma) }
            tokens.add(.name, table.columns[assignment.column].sqlName.utf8)
            tokens.add(.equals)
            tokens.add(.text, made(key.count + index).utf8)
        }
        tokens.add(.from)
        tokens.add(.open)
        let values = assignments.map(\.value)
        try keysAndValues(of: request, values, else: .keyAndValues(values))
        tokens.add(.close)
        tokens.add(.text, " AS \"perilune_made\"".utf8)
        for (index, column) in key.enumerated() {
            tokens.add(index == 0 ? .where : .and)
            try expression(column, Precedence.bits)
            tokens.add(.equals)
            tokens.add(.text, made(index).utf8)
        }
    }

    mutating func returning(_ request: Request) throws {
        tokens.add(.returning)
        guard let selection = request.parts.values.selection else {
            guard request.table.hasLazyColumns else { return tokens.add(.star) }
            let own = own
            return list(request.table.visibleColumns) { walk, position in walk.column(position, of: own) }
        }
        try list(selection) { walk, column in try walk.selected(column) }
    }
}

extension Request {
    /// The request without parts that affect only its columns, such as prefetched associations.
    var withoutColumns: Request {
        with { parts in
            parts.prefetches = []
            parts.isDistinct = false
            parts.joins = parts.joins.map { Join(association: $0.association, isRequired: $0.isRequired, role: .joined) }
        }
    }
}
