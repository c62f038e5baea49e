/// An association that a request joins.
struct Join: Sendable {
    let association: Association
    /// Whether rows without an associated row are left out.
    let isRequired: Bool
    let role: Role

    enum Role: UInt8, Sendable {
        /// Only conditions and orders use the associated rows.
        case joined
        /// The columns of the associated row become additional columns of the row.
        case annotated
        /// The associated row becomes a nested row in a field.
        case included
    }

    /// Whether the joined row is included as a field, or itself includes or prefetches other rows.
    var hasInclusion: Bool {
        role == .included || association.request.parts.values.joins.contains(where: \.hasInclusion)
            || !association.request.parts.values.prefetches.isEmpty
    }
}

/// An association whose rows are fetched by a separate statement.
struct Prefetch: Sendable {
    let association: Association
}

/// A restriction of a request to the rows that are associated with certain parent rows.
struct Reach: Sendable {
    let association: Association
    let anchor: Anchor
    /// Whether to sort by the rows' key last, because only the first row is wanted.
    var isOrderedByKey = false

    enum Anchor: Sendable {
        /// The current row of the enclosing request.
        case outer
        /// The row with these values in the association's columns.
        case values([Expression])
        /// The rows whose keys are bound when the request runs. Each associated row is fetched with its parent's key.
        case open
        /// The rows with these keys. Each associated row is fetched with its parent's key.
        case keys([[Value]])
        /// The same as `open` and `keys`, for keys that only SQLite can compare. Each associated row is fetched with the number of its
        /// parent's key, starting at 1.
        case openNumbered
        case numberedKeys([[Value]])
        /// All rows that have associated rows. Each associated row is fetched with its parent's key.
        case all
        /// The parent of the current row in the enclosing request, which is itself one of the associated rows.
        case sibling
        /// The parent whose key the enclosing request has joined. The enclosing request's row is itself one of the associated rows.
        case joinedKey

        /// The anchor for a subrequest about the same parent.
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
    /// Joins an association that conditions and orders can use. Rows with several associated rows appear several times.
    package func joining(_ association: Association, required: Bool) throws -> Request {
        try adding(Join(association: association, isRequired: required, role: .joined), "joining")
    }

    /// Includes the associated row as a field. Only for associations to one row; for others use ``includingAll(_:depth:)``.
    package func including(_ association: Association, required: Bool) throws -> Request {
        if association.isPlural {
            throw RequestError.argument("`\(association.name)` may have several rows; use including_all")
        }
        try checkField(association.name)
        return try adding(Join(association: association, isRequired: required, role: .included), "including")
    }

    /// Adds the selected columns of the associated row to the columns of each row.
    package func annotated(withJoined association: Association, required: Bool) throws -> Request {
        let result = try adding(Join(association: association, isRequired: required, role: .annotated), "annotated_with")
        var seen = Set<String>()
        for name in result.outputNames.compactMap({ $0 }) where !seen.insert(name.foldedName).inserted {
            throw RequestError.argument("the column `\(name)` already exists; rename the joined one with column:as(\"name\")")
        }
        return result
    }

    /// Includes the associated rows as a list in a field (or the row itself, for associations to one row), fetched by one additional
    /// statement. A limit of the association applies to each parent row separately.
    ///
    /// - Parameter depth: For an association from a table to itself, the number of levels to include.
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

    /// Returns the request for the rows associated with a single row.
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

    /// The columns that joined associations add to each row.
    var joinedAnnotations: [SelectedColumn] {
        parts.values.joins.flatMap { join -> [SelectedColumn] in
            let request = join.association.request
            return (join.role == .annotated ? request.selectedColumns : []) + request.joinedAnnotations
        }
    }

    /// All selected columns, including additional ones.
    var selectedColumns: [SelectedColumn] {
        let base = parts.values.selection ?? table.visibleColumns.map { SelectedColumn(source.column($0)) }
        return base + parts.values.annotations
    }
}

extension SelectedColumn {
    /// Creates a selected column with the column's own name.
    init(_ column: Expression) {
        expression = column
        name = column.columnName
        belongsToRecord = false
    }
}

extension Association {
    /// The columns of the origin that determine the associated rows.
    package var originColumns: [Int] { hops[0].columns.map(\.from) }

    /// For each column of the first table that is compared with ``originColumns``, the collation of the comparison; `nil` if the column has
    /// the same one.
    package var collations: [String?] { hops[0].collations }

    /// The names of ``originColumns``, and of the columns of the first table that are compared with them.
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
    /// Returns the list with an additional join. If the list already contains the association, merges both joins.
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
    /// Returns the association with the conditions of both. For everything else, the other association takes precedence.
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
