/// The result columns of a SELECT and their structure, including nested rows. Only the simplest requests do without it.
struct RowLayout {
    enum Item {
        /// A column, by its position in the table and the number of its source.
        case column(Int, Int)
        /// A column with an explicit collation.
        case collated(Int, Int, String)
        /// A selected column, and the number of the preferred source for its columns.
        case selected(SelectedColumn, Int)
        /// The number of the parent's key, starting at 1.
        case keyNumber
    }

    private(set) var items: [Item] = []
    let root: SegmentBuilder
    /// For prefetched rows, the result columns that identify the parent.
    private(set) var keyColumns: [Int] = []
    /// Whether ``keyColumns`` contains the numbers of keys instead of keys.
    private(set) var numbersKeys = false
    private let isDistinct: Bool

    init(_ request: Request, _ frame: CompilerWalk.Frame, in walk: CompilerWalk, withLazyColumns: Bool = false) throws {
        root = SegmentBuilder(name: "", request: request, number: frame.own, table: walk.sources[frame.own].table)
        isDistinct = request.parts.values.isDistinct
        try add(root, frame.joins, walk, withLazyColumns: withLazyColumns)
        try addKeys(of: root, walk)
        if let reach = request.parts.values.reach, reach.carriesKey {
            try addKey(reach, frame.reach[0], walk)
        }
    }

    /// Adds the result columns that identify the parent of a prefetched row.
    private mutating func addKey(_ reach: Reach, _ number: Int, _ walk: CompilerWalk) throws {
        guard !reach.numbersKeys else {
            numbersKeys = true
            keyColumns = [items.count]
            return items.append(.keyNumber)
        }
        let hop = reach.association.hops[0], source = walk.sources[number].source
        for (pair, collation) in zip(hop.columns, hop.collations) {
            let position = try walk.current(pair.to, of: hop.table, in: number)
            // distinct() merges rows that are equal for the parent's collation, so keys that differ only in spelling must
            // compare equal.
            if isDistinct, let collation, index(of: position, number, source) == nil {
                keyColumns.append(items.count)
                items.append(.collated(position, number, collation))
            } else {
                keyColumns.append(try hidden(position, number, of: source, isSame: true))
            }
        }
    }

    // MARK: - Segments

    private mutating func add(
        _ segment: SegmentBuilder, _ joins: [CompilerWalk.JoinNode], _ walk: CompilerWalk, withLazyColumns: Bool = false
    ) throws {
        let parts = segment.request.parts.values
        segment.start = items.count
        if let selection = parts.selection {
            items += selection.map { .selected($0, segment.number) }
            segment.names = selection.map(\.name)
        } else {
            let table = segment.table
            let columns = withLazyColumns ? table.storedColumns : table.visibleColumns
            items += columns.map { .column($0, segment.number) }
            segment.names = columns.map { table.columns[$0].name }
        }
        segment.addExtras(parts.annotations, at: items.count)
        items += parts.annotations.map { .selected($0, segment.number) }
        for node in joins { addAnnotations(of: node, to: segment, walk) }
        for node in joins where node.join.role == .included { try add(node, to: segment, walk) }
    }

    /// Adds the columns of a joined association that become additional columns of its parent.
    private mutating func addAnnotations(of node: CompilerWalk.JoinNode, to segment: SegmentBuilder, _ walk: CompilerWalk) {
        if node.join.role == .annotated {
            let columns = node.destination.request.selectedColumns
            segment.addExtras(columns, at: items.count)
            items += columns.map { .selected($0, node.destination.number) }
        }
        guard node.join.role != .included else { return }
        for child in node.destination.children { addAnnotations(of: child, to: segment, walk) }
    }

    private mutating func add(_ node: CompilerWalk.JoinNode, to parent: SegmentBuilder, _ walk: CompilerWalk) throws {
        let hop = node.destination
        let association = node.join.association
        let segment = SegmentBuilder(
            name: association.name, request: hop.request, number: hop.number, table: walk.sources[hop.number].table)
        segment.tag = association.tag
        segment.isOptional = !node.join.isRequired
        segment.presenceColumn = hop.hop.columns[0].to
        segment.association = association
        parent.children.append(segment)
        try add(segment, hop.children, walk)
    }

    // MARK: - Hidden columns

    /// Adds hidden columns, which are needed only to decode the rows. They follow all other columns.
    private mutating func addKeys(of segment: SegmentBuilder, _ walk: CompilerWalk) throws {
        if segment.isOptional {
            let position = try walk.current(segment.presenceColumn, of: segment.request.table, in: segment.number)
            segment.presence = try hidden(position, segment.number, of: segment.request.source)
        }
        for prefetch in segment.request.parts.values.prefetches {
            let columns = try prefetch.association.originColumns.map { position in
                try hidden(
                    walk.current(position, of: prefetch.association.origin, in: segment.number), segment.number,
                    of: segment.request.source)
            }
            segment.prefetchKeys.append(columns)
        }
        for child in segment.children { try addKeys(of: child, walk) }
    }

    /// - Parameter isSame: Whether rows that distinct() merges always have equal values in the column.
    private mutating func hidden(_ position: Int, _ number: Int, of source: RequestSource, isSame: Bool = false) throws -> Int {
        if let index = index(of: position, number, source) { return index }
        if isDistinct, !isSame {
            throw RequestError.argument(
                "distinct() with included associations requires that their key columns are selected"
            )
        }
        items.append(.column(position, number))
        return items.count - 1
    }

    /// Returns the index of the result column that contains the given column of a source.
    private func index(of position: Int, _ number: Int, _ source: RequestSource) -> Int? {
        items.firstIndex { item in
            switch item {
            case .column(position, number): true
            case .selected(let column, number): column.expression.isColumn(position, of: source)
            default: false
            }
        }
    }

    // MARK: - The shape

    /// Adds notes about everything that affects the plan but not the SQL text.
    func note(in tokens: inout Tokens) {
        note(root, in: &tokens)
    }

    private func note(_ segment: SegmentBuilder, in tokens: inout Tokens) {
        tokens.add(.note, segment.name.utf8)
        tokens.add(
            .note,
            "\(segment.tag) \(segment.number) \(segment.start) \(segment.isOptional) \(segment.names.count) "
                .utf8)
        for extra in segment.extras { tokens.add(.note, "\(extra.name ?? "")\0\(extra.column)".utf8) }
        for child in segment.children { note(child, in: &tokens) }
        tokens.add(.note, EmptyCollection())
    }
}

/// A mutable segment of a plan under construction.
final class SegmentBuilder {
    let name: String
    let request: Request
    let number: Int
    let table: TableSchema
    var tag = 0
    var start = 0
    var names: [String?] = []
    var extras: [(name: String?, column: Int)] = []
    var isOptional = false
    /// The position of the column in the table. `presence` is its position in the result.
    var presenceColumn = 0
    var presence: Int?
    var association: Association?
    var prefetchKeys: [[Int]] = []
    var children: [SegmentBuilder] = []

    init(name: String, request: Request, number: Int, table: TableSchema) {
        self.name = name
        self.request = request
        self.number = number
        self.table = table
    }

    func addExtras(_ columns: [SelectedColumn], at start: Int) {
        extras += columns.enumerated().map { ($1.name, start + $0) }
    }
}
