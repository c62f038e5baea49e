/// A compiler of requests for one generation of a database schema.
///
/// A request that was built with an earlier schema compiles with this schema, if its columns still exist.
package struct RequestCompiler {
    package let schema: DatabaseSchema
    package let plans: PlanCache
    /// Reads the description of a table that is not in the schema yet.
    private let findTable: (String) throws -> TableSchema?

    /// - Parameter findTable: Returns the current description of a table for requests that were built with an earlier schema.
    package init(
        schema: DatabaseSchema, plans: PlanCache, findTable: @escaping (String) throws -> TableSchema? = { _ in nil }
    ) {
        self.schema = schema
        self.plans = plans
        self.findTable = findTable
    }

    /// Returns the description of a table in this schema.
    func current(_ table: TableSchema) throws -> TableSchema {
        if table.kind == .request { return table }
        if let known = try schema.knownTable(table.name) ?? findTable(table.name) { return known.named(by: table.fieldNames) }
        throw RequestError(
            "unknown_table", "no table `\(table.name)`: it existed when the request was built", fields: ["name": table.name])
    }

    // MARK: - Compiling

    /// Compiles the tokens that a walk writes. If their plan is not cached, writes them again with a description of the result
    /// columns.
    func compile(
        _ describe: (CompilerWalk, RowLayout?) -> Description = { _, _ in Description() },
        _ write: (inout CompilerWalk) throws -> Void
    ) throws -> (plan: Plan, walk: CompilerWalk) {
        var walk = CompilerWalk(self)
        try write(&walk)
        let key = PlanKey(bytes: walk.tokens.bytes)
        if let plan = plans.plan(for: key) { return (plan, walk) }
        var second = CompilerWalk(self)
        second.isDescribing = true
        try write(&second)
        let text = SQLWriter.write(second)
        let description = describe(second, second.layout)
        let plan = Plan(
            sql: text.sql, slots: text.slots, root: description.root, booleanColumns: description.booleanColumns,
            keyColumns: second.layout?.keyColumns ?? [], numbersKeys: second.layout?.numbersKeys ?? false)
        plans.keep(plan, for: key)
        return (plan, walk)
    }

    /// The structure of the result columns.
    struct Description {
        var root: Plan.Segment?
        var booleanColumns: [Int] = []

        init(root: Plan.Segment? = nil, booleanColumns: [Int] = []) {
            self.root = root
            self.booleanColumns = booleanColumns
        }

        /// - Parameter layout: The layout; `nil` for simple requests and for set operations, whose columns follow from the
        ///   request.
        init(_ request: Request, _ layout: RowLayout?) {
            var index = 0
            if let layout {
                root = Plan.Segment(layout.root, index: &index)
                booleanColumns = layout.booleanColumns
            } else {
                let builder = SegmentBuilder(name: "", request: request, number: 0, table: request.table)
                builder.names = request.outputNames
                root = Plan.Segment(builder, index: &index)
                booleanColumns = request.output.indices.filter { request.output[$0].type.content == .boolean }
            }
        }
    }

    func compileRows(_ request: Request, isFirst: Bool) throws -> CompiledRequest {
        try request.checkHasOwnRows()
        let (plan, walk) = try compile({ Description(request, $1) }, { try $0.select(request, isFirst: isFirst) })
        let prefetches = try walk.layout.map { try self.prefetches(of: $0.root, isFirst) } ?? []
        return CompiledRequest(plan: plan, values: walk.values, prefetches: prefetches, schema: schema)
    }

    /// Returns the prefetches of a segment and its descendants.
    private func prefetches(of root: SegmentBuilder, _ isFirst: Bool) throws -> [CompiledPrefetch] {
        var result: [CompiledPrefetch] = []
        var index = 0
        func visit(_ segment: SegmentBuilder) throws {
            let own = index
            index += 1
            for (prefetch, columns) in zip(segment.request.parts.values.prefetches, segment.prefetchKeys) {
                let isForAll = own == 0 && !isFirst && prefetch.association.isForAllRows(of: segment.request)
                result.append(
                    CompiledPrefetch(
                        prefetch.association, segmentIndex: own, parentKeyColumns: columns,
                        child: try compile(prefetch.association, isForAll ? .all : prefetch.association.openAnchor)))
            }
            for child in segment.children { try visit(child) }
        }
        try visit(root)
        return result
    }

    /// Compiles the request for the rows of an association.
    func compile(_ association: Association, _ anchor: Reach.Anchor) throws -> CompiledRequest {
        try compileRows(association.reached(anchor), isFirst: false)
    }

    func compileSingle(isBoolean: Bool = false, _ write: (inout CompilerWalk) throws -> Void) throws -> CompiledRequest {
        let description = Description(booleanColumns: isBoolean ? [0] : [])
        let (plan, walk) = try compile({ _, _ in description }, write)
        return CompiledRequest(plan: plan, values: walk.values, prefetches: [], schema: schema)
    }
}

extension RowLayout {
    /// The result columns that contain booleans.
    var booleanColumns: [Int] {
        items.indices.filter { index in
            switch items[index] {
            case .column, .collated, .keyNumber: false
            case .selected(let column, _): column.expression.isBoolean
            }
        }
    }
}
