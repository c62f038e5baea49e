/// An association that a request joins.
struct Join: Sendable {
    let association: Association
    /// Whether rows without an associated row are excluded.
    let isRequired: Bool
    let role: Role

    enum Role: UInt8, Sendable {
        /// The rows are used only in conditions and orders.
        case joined
        /// The columns are added to the row's columns.
        case annotated
        /// The rows become tables in fields.
        case included
    }

    /// Whether rows of associations are fetched with the joined row.
    var hasInclusion: Bool {
        role == .included || association.request.parts.values.joins.contains(where: \.hasInclusion)
            || !association.request.parts.values.prefetches.isEmpty
    }
}

/// An association whose rows are fetched by a separate request.
struct Prefetch: Sendable {
    let association: Association
}

/// The rows of an association's table that are associated with certain rows.
struct Reach: Sendable {
    let association: Association
    let anchor: Anchor
    /// Whether the last order is by the rows' key, because only the first row is meant.
    var isOrderedByKey = false

    enum Anchor: Sendable {
        /// The row of the surrounding request.
        case outer
        /// The row that has these values in the columns of the association.
        case values([Expression])
        /// The rows whose keys are given when the request runs. The key is fetched with each associated row.
        case open
        /// The rows with these keys. The key is fetched with each associated row.
        case keys([[Value]])
        /// The rows of `open` or `keys`, for keys that only SQLite can compare: the number of the key, from 1, is fetched with
        /// each associated row.
        case openNumbered
        case numberedKeys([[Value]])
        /// Any row, because all rows are fetched. The key is fetched with each associated row.
        case all
        /// The parent of a row in the surrounding request. That row is itself one of the associated rows.
        case sibling
        /// The row whose key the surrounding request has joined. The row found is itself one of the associated rows.
        case joinedKey

        /// The anchor of a request inside another one for the same row.
        var ofInnerRequest: Anchor {
            switch self {
            case .outer, .values, .sibling, .joinedKey: self
            case .openNumbered, .numberedKeys: .joinedKey
            case .open, .keys, .all: .sibling
            }
        }
    }

    var carriesKey: Bool {
        switch anchor {
        case .open, .keys, .openNumbered, .numberedKeys, .all: true
        case .outer, .values, .sibling, .joinedKey: false
        }
    }

    var numbersKeys: Bool {
        switch anchor {
        case .openNumbered, .numberedKeys: true
        case .open, .keys, .all, .outer, .values, .sibling, .joinedKey: false
        }
    }
}

extension Request {
    /// Returns the rows that have an associated row, which conditions and orders may use. Rows with several associated rows come
    /// several times.
    package func joining(_ association: Association, required: Bool) throws -> Request {
        try adding(Join(association: association, isRequired: required, role: .joined), "joining")
    }

    /// Returns the rows with the associated row in a field. Only for associations to one row; for others see
    /// ``includingAll(_:depth:)``.
    package func including(_ association: Association, required: Bool) throws -> Request {
        if association.isPlural {
            throw RequestError.argument("`\(association.name)` may have several rows; use including_all")
        }
        try checkField(association.name)
        return try adding(Join(association: association, isRequired: required, role: .included), "including")
    }

    /// Returns the rows with the selected columns of the associated row in addition to their own.
    package func annotated(withJoined association: Association, required: Bool) throws -> Request {
        let result = try adding(Join(association: association, isRequired: required, role: .annotated), "annotated_with")
        var seen = Set<String>()
        for name in result.outputNames.compactMap({ $0 }) where !seen.insert(name.foldedName).inserted {
            throw RequestError.argument("the column `\(name)` already exists; rename the joined one with column:as(\"name\")")
        }
        return result
    }

    /// Returns the rows with the list of their associated rows in a field (or the row itself, for associations to one row),
    /// fetched by one additional request. A limit of the association applies to each row.
    ///
    /// - Parameter depth: For an association of a table to itself, the number of levels to follow.
    package func includingAll(_ association: Association, depth: Int? = nil) throws -> Request {
        try checkOrigin(association)
        try checkField(association.name)
        var association = association
        if let depth {
            guard association.origin.isSameTable(as: association.request.table) else {
                throw RequestError.argument("`\(association.name)`: a depth applies only to associations of a table with itself")
            }
            guard (1...Self.deepestPrefetch).contains(depth) else {
                throw RequestError.argument(
                    "`\(association.name)`: expected a depth from 1 to \(Self.deepestPrefetch), got \(depth)")
            }
            let single = association
            for _ in 1..<depth { association = try single.map { [association] in try $0.includingAll(association) } }
        }
        guard association.request.prefetchDepth < Self.deepestPrefetch else {
            throw RequestError(
                "too_deep", "`\(association.name)`: more than \(Self.deepestPrefetch) associations are nested")
        }
        try association.checkIsFetchable()
        return with { parts in
            parts.prefetches.removeAll { $0.association.name == association.name }
            parts.prefetches.append(Prefetch(association: association))
        }
    }

    private static let deepestPrefetch = 30

    private var prefetchDepth: Int {
        let parts = parts.values
        let below = parts.prefetches.map { $0.association.request.prefetchDepth + 1 }
        return max(below.max() ?? 0, parts.joins.map { $0.association.request.prefetchDepth }.max() ?? 0)
    }

    /// Returns the request for the rows associated with one row.
    ///
    /// - Parameter values: The row's values in ``Association/originColumns``.
    package static func associated(_ association: Association, with values: [Value]) throws -> Request {
        if values.contains(where: \.isNull) { return try association.request.none() }
        return try associated(association, withExpressions: try values.map { try Expression.value($0) })
    }

    package static func associated(_ association: Association, withExpressions values: [Expression]) throws -> Request {
        guard values.count == association.originColumns.count else {
            throw RequestError.argument("`\(association.name)`: expected \(association.originColumns.count) values")
        }
        let hop = association.hops[0]
        guard association.hops.count == 1, !association.choosesFirst else { return association.reached(.values(values)) }
        return try values.indices.reduce(association.request) { request, index in
            let column = request.source.column(hop.columns[index].to)
            let collated = try hop.collations[index].map { try column.collating($0) } ?? column
            return try request.filter(collated.binary(.equal, values[index]))
        }
    }

    // MARK: - Checks

    private func checkOrigin(_ association: Association) throws {
        guard association.origin.isSameTable(as: table) else {
            throw RequestError.argument(
                "the association `\(association.name)` belongs to `\(association.origin.name)`, not to `\(table.name)`")
        }
    }

    private func checkField(_ name: String) throws {
        if parts.values.selection == nil, table.column(named: name) != nil {
            throw RequestError.argument("`\(table.name)` has a column `\(name)`; give the association another name")
        }
    }

    private func adding(_ join: Join, _ place: String) throws -> Request {
        try checkOrigin(join.association)
        try join.association.checkIsJoinable(for: "`\(join.association.name)`")
        if join.role != .included, join.hasInclusion {
            throw RequestError.argument(
                "`\(join.association.name)` is joined but not included, so it cannot include others; use including_..."
            )
        }
        let joins = try parts.values.joins.adding(join)
        return with { $0.joins = joins }
    }

    /// The columns that joined associations add to the row's own.
    var joinedAnnotations: [SelectedColumn] {
        parts.values.joins.flatMap { join -> [SelectedColumn] in
            let request = join.association.request
            return (join.role == .annotated ? request.selectedColumns : []) + request.joinedAnnotations
        }
    }

    /// All selected columns, including added ones.
    var selectedColumns: [SelectedColumn] {
        let base = parts.values.selection ?? table.visibleColumns.map { SelectedColumn(source.column($0)) }
        return base + parts.values.annotations
    }
}

extension SelectedColumn {
    /// Creates a selected column from a column with a name.
    init(_ column: Expression) {
        expression = column
        name = column.columnName
        belongsToRecord = false
    }
}

extension Association {
    /// The columns of the origin that determine the associated rows.
    package var originColumns: [Int] { hops[0].columns.map(\.from) }

    /// For each column of the first table that corresponds to ``originColumns``, the collation of the comparison if it is not the
    /// column's own.
    package var collations: [String?] { hops[0].collations }

    /// The names of the columns of the origin, and of the columns of the first table that correspond to them.
    package var columnNames: (origin: [String], first: [String]) {
        let columns = hops[0].columns
        return (
            columns.map { $0.from < 0 ? "rowid" : origin.columns[$0.from].name },
            columns.map { $0.to < 0 ? "rowid" : hops[0].table.columns[$0.to].name }
        )
    }

    func checkIsFetchable() throws {
        if !request.parts.values.groups.isEmpty || request.parts.values.having != nil {
            throw RequestError.argument("`\(name)`: an association with groups cannot be included")
        }
        if request.parts.values.isDistinct, request.limit != nil || request.offset > 0 {
            throw RequestError.argument(
                "`\(name)`: distinct() and a limit cannot be combined when associations are included")
        }
    }
}

extension [Join] {
    /// Returns the list with one more join, merged with an equal join of the list.
    func adding(_ join: Join) throws -> [Join] {
        let association = join.association
        guard
            let index = firstIndex(where: {
                $0.association.name == association.name && $0.association.request.source.alias == association.request.source.alias
            })
        else { return self + [join] }
        let other = self[index]
        guard association.hasSamePath(as: other.association) else {
            throw RequestError.argument(
                "two different associations are named `\(association.name)`; give one of them another name")
        }
        var copy = self
        let role = Join.Role(rawValue: Swift.max(join.role.rawValue, other.role.rawValue))!
        copy[index] = Join(
            association: try other.association.merging(association), isRequired: join.isRequired || other.isRequired, role: role)
        return copy
    }
}

extension Association {
    /// Returns the association with the conditions of both. Everything else comes from the other association.
    fileprivate func merging(_ other: Association) throws -> Association {
        let pairs = try zip(hops, other.hops).map { a, b in
            Hop(
                columns: a.columns, request: a.request === b.request ? a.request : try a.request.merging(b.request),
                identities: a.identities, collations: a.collations, firsts: a.firsts)
        }
        return Association(
            name: name, isPlural: isPlural, origin: origin, hops: pairs, tag: other.tag, number: number,
            singularName: singularName)
    }
}

extension Request {
    fileprivate func merging(_ other: Request) throws -> Request {
        let filter =
            switch (filter, other.filter) {
            case (let a?, let b?): a === b ? a : try a.and(b)
            case (let a, let b): a ?? b
            }
        let mine = parts.values
        let theirs = other.parts.values
        let joins = try theirs.joins.reduce(mine.joins) { try $0.adding($1) }
        let merged = parts.changed { parts in
            parts.selection = theirs.selection ?? mine.selection
            let names = Set(mine.annotations.compactMap { $0.name?.foldedName })
            parts.annotations += theirs.annotations.filter { $0.name.map { !names.contains($0.foldedName) } ?? true }
            parts.joins = joins
            parts.prefetches =
                mine.prefetches.filter { a in !theirs.prefetches.contains { $0.association.name == a.association.name } }
                + theirs.prefetches
            for table in theirs.commonTables where !parts.commonTables.contains(where: { $0 === table }) {
                parts.commonTables.append(table)
            }
        }
        return Request(
            source: source, filter: filter, orders: other.orders.isEmpty ? orders : other.orders, limit: limit, offset: offset,
            parts: merged)
    }
}
