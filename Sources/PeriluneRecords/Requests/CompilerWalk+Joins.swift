/// Writing of FROM and WITH: the request's source, the tables along an association, joined associations, and common table expressions.
extension CompilerWalk {
    /// A joined association with the numbers of its sources.
    struct JoinNode {
        let join: Join
        /// The hops from the origin to the associated rows, in order.
        let hops: [JoinedHop]
        var destination: JoinedHop { hops[hops.count - 1] }
    }

    struct JoinedHop {
        let number: Int
        let hop: Association.Hop
        let children: [JoinNode]

        var request: Request { hop.request }
    }

    mutating func placeJoins(_ joins: [Join], of parent: Int) throws -> [JoinNode] {
        if joins.isEmpty { return [] }
        return try joins.map { join in
            var parent = parent
            let hops = try join.association.hops.map { hop in
                let number = try place(hop.request.source)
                note(number, reachedBy: hop, from: parent)
                parent = number
                return JoinedHop(
                    number: number, hop: hop, children: try placeJoins(hop.request.parts.values.joins, of: number))
            }
            return JoinNode(join: join, hops: hops)
        }
    }

    // MARK: - FROM

    mutating func from(_ request: Request, _ frame: Frame) throws {
        tokens.add(.from)
        try source(frame.own)
        if request.parts.isNone { return }
        if let reach = request.parts.values.reach {
            try wayBack(reach, frame)
            if reach.numbersKeys { joinKeys(reach, frame.reach[0]) }
        }
        for node in frame.joins { try join(node, to: frame.own) }
        for (join, number) in zip(request.parts.values.tableJoins, frame.tableJoins) { try self.join(join, number) }
    }

    private mutating func join(_ join: TableJoin, _ number: Int) throws {
        tokens.add(join.kind.word)
        try source(number)
        guard let condition = join.condition else { return }
        tokens.add(.on)
        do {
            try expression(condition)
        } catch let error as RequestError where error.kind == "not_joined" {
            // The condition cannot refer to a table that a later JOIN adds.
            throw RequestError(error.kind, error.message, fields: error.fields.merging(["place": "join"]) { $1 })
        }
    }

    /// - Parameter showsRowID: Whether to select the rowid as a column, because SQLite does not expose rowids from a join in parentheses.
    private mutating func source(_ number: Int, showsRowID: Bool = false) throws {
        let source = sources[number].source
        switch source.body {
        case .table: break
        case .commonTable:
            guard declared.contains(where: { $0 === source.table }) else {
                throw RequestError(
                    "not_joined", "the common table `\(source.table.name)` is not part of the request; add it with with(...)",
                    fields: ["table": source.table.name])
            }
        case .fragment, .compound, .request:
            tokens.add(.open)
            try rows(of: source)
            tokens.add(.close)
            tokens.add(.sourceAlias)
            tokens.add(number: number)
            noteAlias(source)
            noteRequestTable(source.table)
            return
        }
        if showsRowID { rowIDAndColumns(of: number) }
        tokens.add(.source)
        tokens.add(number: number)
        tokens.add(id: source.table.kind == .request ? 0 : sources[number].table.id)
        if showsRowID {
            tokens.add(.close)
            tokens.add(.sourceAlias)
            tokens.add(number: number)
        }
        noteAlias(source)
        if source.table.kind == .request { noteRequestTable(source.table) }
    }

    private mutating func rowIDAndColumns(of number: Int) {
        let name = sources[number].table.rowIDName ?? "rowid"
        tokens.add(.open)
        tokens.add(.select)
        tokens.add(.name, name.utf8)
        tokens.add(.as)
        tokens.add(.name, name.utf8)
        tokens.add(.comma)
        tokens.add(.star)
        tokens.add(.from)
    }

    private mutating func rows(of source: RequestSource) throws {
        // A request over whole rows may refer to any of their columns, including lazy ones.
        let before = wantsLazyColumns
        wantsLazyColumns = source.table.hasLazyColumns
        defer { wantsLazyColumns = before }
        switch source.body {
        case .compound: try select(Request(source: RequestSource(source.table, body: source.body, schema: nil)))
        case .request(let request): try select(request)
        case .fragment(let fragment):
            let own = setOwn(-1)
            try pieces(of: fragment)
            setOwn(own)
        case .table, .commonTable: break
        }
    }

    private mutating func noteAlias(_ source: RequestSource) {
        tokens.add(.note, (source.alias ?? "").utf8)
    }

    /// Notes the id of a table. A table that exists only in a request gets a new id each time, so its columns are noted instead.
    private mutating func noteRequestTable(_ table: TableSchema) {
        guard table.kind == .request else {
            withUnsafeBytes(of: table.id) { tokens.add(.note, $0) }
            return
        }
        tokens.add(.note, table.name.utf8)
        for column in table.columns { tokens.add(.note, "\(column.name)\0\(column.type.text)".utf8) }
    }

    // MARK: - Joins

    private mutating func join(_ node: JoinNode, to parent: Int) throws {
        tokens.add(node.join.isRequired ? .join : .leftJoin)
        if isGroup(node) { return try joinGroup(node, to: parent) }
        for (index, hop) in node.hops.enumerated() {
            if index > 0 { tokens.add(node.join.isRequired ? .join : .leftJoin) }
            try source(hop.number)
            tokens.add(.on)
            try link(hop, to: index == 0 ? parent : node.hops[index - 1].number)
            try chooseFirsts(on: node, endingAt: index, parent)
            if index == node.hops.count - 1 { try chooseFirst(of: node, parent) }
            for child in hop.children { try join(child, to: hop.number) }
        }
    }

    /// Returns whether an optional association must be joined as a group in parentheses, because an intermediate row counts only together
    /// with the rows after it.
    private func isGroup(_ node: JoinNode) -> Bool {
        if node.join.isRequired { return false }
        if node.hops.contains(where: { hop in hop.children.contains { $0.join.isRequired } }) { return true }
        return zip(node.hops.dropLast(), node.join.association.hops).contains { !$1.isToOne }
    }

    func hasGroup(_ joins: [JoinNode]) -> Bool {
        joins.contains { node in isGroup(node) || node.hops.contains { hasGroup($0.children) } }
    }

    private mutating func joinGroup(_ node: JoinNode, to parent: Int) throws {
        let outer = group
        group = JoinGroup(name: node.join.association.name, members: numbers(of: node), end: sources.count)
        tokens.add(.open)
        for (index, hop) in node.hops.enumerated() {
            if index > 0 { tokens.add(.join) }
            try source(hop.number, showsRowID: isRowIDUsedOutside(index, of: node))
            if index > 0 {
                tokens.add(.on)
                try link(hop, to: node.hops[index - 1].number)
                // Conditions inside the parentheses cannot refer to the parent.
                try chooseFirsts(on: node, endingAt: index, nil)
            }
            for child in hop.children { try join(child, to: hop.number) }
        }
        tokens.add(.close)
        group = outer
        tokens.add(.on)
        try link(node.hops[0], to: parent)
        try chooseFirsts(on: node, endingAt: 0, parent)
        try chooseFirst(of: node, parent)
    }

    /// Returns whether the condition after the parentheses selects rows of an inner table by rowid.
    private func isRowIDUsedOutside(_ index: Int, of node: JoinNode) -> Bool {
        let association = node.join.association
        let associations = [association] + (index == 0 ? association.hops[0].firsts : [])
        return associations.contains { $0.choosesByRowID(at: index) }
    }

    private func numbers(of node: JoinNode) -> Set<Int> {
        node.hops.reduce(into: []) { numbers, hop in
            numbers.insert(hop.number)
            for child in hop.children { numbers.formUnion(self.numbers(of: child)) }
        }
    }

    /// Adds the condition that selects the first of several rows, if the association is to one row.
    private mutating func chooseFirst(of node: JoinNode, _ parent: Int) throws {
        let association = node.join.association
        guard association.choosesFirst, !isRecursive(association) else { return }
        tokens.add(.and)
        try chooseFirst(of: association, node.hops.map(\.number), anchor: .outer, parent)
    }

    /// Adds the same condition for each intermediate association to one row.
    private mutating func chooseFirsts(on node: JoinNode, endingAt end: Int, _ parent: Int?) throws {
        for association in node.join.association.hops[end].firsts where !isRecursive(association) {
            tokens.add(.and)
            let start = end + 1 - association.hops.count
            try chooseFirst(
                of: association, node.hops[start...end].map(\.number), from: start == 0 ? parent : node.hops[start - 1].number)
        }
    }

    /// Returns whether an association leads to the common table that is being defined. SQLite allows only one reference to a recursive
    /// table, so a subquery cannot look up its first row.
    private func isRecursive(_ association: Association) -> Bool {
        association.hops.contains { hop in defining.contains { $0 === hop.table } }
    }

    /// - Parameters:
    ///   - numbers: The sources of the association's rows, which are compared with the first row.
    ///   - parent: The source of the parent rows, if it is in the request.
    ///   - anchor: The anchor of the request, if the parent rows are not in it.
    mutating func chooseFirst(
        of association: Association, _ numbers: [Int], from parent: Int?, _ anchor: Reach.Anchor = .sibling
    ) throws {
        // The texts 1 and 01 both equal the number 1, but not each other, so only the parent's number finds all rows.
        if !association.comparesTextsAsNumbers.contains(true) {
            try chooseFirst(of: association, numbers, anchor: .sibling, numbers[0])
        } else if let parent {
            try chooseFirst(of: association, numbers, anchor: .outer, parent)
        } else if case .outer = anchor {
            try chooseFirst(of: association, numbers, anchor: .outer, outerOwn)
        } else {
            try chooseFirst(of: association, numbers, anchor: anchor.ofInnerRequest, numbers[0])
        }
    }

    private mutating func chooseFirst(
        of association: Association, _ numbers: [Int], anchor: Reach.Anchor, _ own: Int
    ) throws {
        let columns = association.columnsOfChoice
        if columns.count > 1 { tokens.add(.open) }
        list(columns) { walk, column in walk.column(column.position, of: numbers[column.hop]) }
        if columns.count > 1 { tokens.add(.close) }
        tokens.add(association.hasNullableChoice ? .is : .equals)
        tokens.add(.open)
        let before = setOwn(own)
        let isInside = isInside
        self.isInside = true
        try select(association.reached(anchor).withoutColumns, .columnsOfChoice)
        self.isInside = isInside
        setOwn(before)
        tokens.add(.close)
    }

    /// Writes the columns that identify the rows of an association.
    mutating func columnsOfChoice(of reach: Reach, _ frame: Frame) {
        list(reach.association.columnsOfChoice) { walk, column in walk.column(column.position, of: frame.reach[column.hop]) }
    }

    /// Writes the condition that joins associated rows to their parent row.
    private mutating func link(_ hop: JoinedHop, to parent: Int) throws {
        try equality(hop.hop, hop.number, parent)
        try condition(of: hop.request, hop.number)
    }

    private mutating func equality(_ hop: Association.Hop, _ number: Int, _ parent: Int) throws {
        for (index, pair) in hop.columns.enumerated() {
            if index > 0 { tokens.add(.and) }
            keyColumn(index, of: hop, number)
            tokens.add(.equals)
            column(pair.from, of: parent)
        }
    }

    /// Writes a column of a hop's table with the collation in which it is compared with the previous table's column.
    mutating func keyColumn(_ index: Int, of hop: Association.Hop, _ number: Int) {
        column(hop.columns[index].to, of: number, hop.collations[index])
    }

    private mutating func condition(of request: Request, _ number: Int) throws {
        guard let filter = request.filter else { return }
        tokens.add(.and)
        try checkIsClear(filter, of: number)
        let before = setOwn(number)
        try expression(filter, Precedence.and)
        setOwn(before)
    }

    // MARK: - The rows of an association

    /// Joins the tables between the associated rows and their parent rows, in reverse order.
    private mutating func wayBack(_ reach: Reach, _ frame: Frame) throws {
        let hops = reach.association.hops
        for index in stride(from: hops.count - 1, to: 0, by: -1) {
            let before = frame.reach[index - 1]
            tokens.add(.join)
            try source(before)
            tokens.add(.on)
            try equality(hops[index], frame.reach[index], before)
            try condition(of: hops[index - 1].request, before)
            for child in frame.reachJoins[index - 1] { try join(child, to: before) }
        }
    }

    /// Writes the condition that connects the associated rows to rows of the origin.
    mutating func anchor(_ reach: Reach, _ number: Int) throws {
        let hop = reach.association.hops[0]
        let pairs = hop.columns
        switch reach.anchor {
        case .outer: try equality(hop, number, outerOwn)
        case .sibling:
            for index in pairs.indices {
                if index > 0 { tokens.add(.and) }
                keyColumn(index, of: hop, number)
                tokens.add(.equals)
                column(pairs[index].to, of: outerOwn)
            }
        case .values(let values):
            for index in pairs.indices {
                if index > 0 { tokens.add(.and) }
                keyColumn(index, of: hop, number)
                tokens.add(.equals)
                try expression(values[index], Precedence.bits)
            }
        case .open:
            keyColumns(of: hop, number)
            tokens.add(.in)
            tokens.add(.open)
            jsonKeys(pairs.count) { $0.tokens.add(.keys) }
            tokens.add(.close)
        case .keys(let rows): keys(rows, hop, number)
        case .joinedKey: equalKeys(hop, number)
        case .openNumbered, .numberedKeys: break
        case .all:
            for (index, pair) in pairs.enumerated() {
                if index > 0 { tokens.add(.and) }
                column(pair.to, of: number)
                tokens.add(.isNotNull)
            }
        }
    }

    private mutating func keyColumns(of hop: Association.Hop, _ number: Int) {
        if hop.columns.count > 1 { tokens.add(.open) }
        list(hop.columns.indices) { walk, index in walk.keyColumn(index, of: hop, number) }
        if hop.columns.count > 1 { tokens.add(.close) }
    }

    private mutating func keys(_ rows: [[Value]], _ hop: Association.Hop, _ number: Int) {
        let pairs = hop.columns
        keyColumns(of: hop, number)
        tokens.add(.in)
        tokens.add(.open)
        if pairs.count > 1 { tokens.add(.values) }
        list(rows) { walk, row in
            if pairs.count > 1 { walk.tokens.add(.open) }
            walk.list(row) { walk, value in walk.value(value) }
            if pairs.count > 1 { walk.tokens.add(.close) }
        }
        tokens.add(.close)
    }

    // MARK: - Common tables

    /// Writes WITH for the common table expressions of a request and its joins.
    mutating func commonTables(of request: Request) throws {
        var tables: [CommonTable] = []
        try collect(from: request, into: &tables)
        tables.removeAll { table in declared.contains { $0 === table.table } }
        if tables.isEmpty { return }
        tokens.add(.withRecursive)
        for table in tables { declared.append(table.table) }
        try list(tables) { walk, table in try walk.define(table) }
        tokens.add(.text, CollectionOfOne(0x20))
    }

    private func collect(from request: Request, into tables: inout [CommonTable]) throws {
        let parts = request.parts.values
        for table in parts.commonTables where !tables.contains(where: { $0.table === table.table }) {
            if tables.contains(where: { $0.table.name.foldedName == table.table.name.foldedName }) {
                throw RequestError.argument(
                    "two common tables are named `\(table.table.name)`; names must differ in more than case")
            }
            tables.append(table)
        }
        for join in parts.joins {
            for hop in join.association.hops { try collect(from: hop.request, into: &tables) }
        }
        for hop in parts.reach?.association.hops.dropLast() ?? [] { try collect(from: hop.request, into: &tables) }
    }

    private mutating func define(_ commonTable: CommonTable) throws {
        declaredNames.insert(commonTable.table.name.foldedName)
        tokens.add(.name, commonTable.table.name.utf8)
        tokens.add(.open)
        list(commonTable.table.columns) { walk, column in walk.tokens.add(.name, column.name.utf8) }
        tokens.add(.close)
        tokens.add(.as)
        tokens.add(.open)
        let before = setOwn(-1)
        defining.append(commonTable.table)
        defer { defining.removeLast() }
        switch commonTable.definition {
        case .request(let request): try select(request)
        case .fragment(let fragment): try pieces(of: fragment)
        case nil: break
        }
        setOwn(before)
        tokens.add(.close)
    }
}
