/// Selection of the first row for associations to one row whose keys allow several, such as `has_one` without a unique key. Rows are
/// ordered by the association's order, then by primary key, so each parent gets exactly one row. The rowid distinguishes rows without a
/// primary key, or whose primary key may be NULL. Rows of views and common table expressions have neither, so all their columns distinguish
/// them.
extension Association {
    /// A column of a table along the association.
    typealias ChoiceColumn = (hop: Int, position: Int)

    /// Whether the association selects only the first of the rows that its keys allow.
    package var meansFirst: Bool { choosesFirst && !request.hasLimit && !request.parts.values.isDistinct }

    /// Whether the association is to one row, but its keys allow several.
    var choosesFirst: Bool { !isPlural && !columnsOfChoice.isEmpty }

    /// The columns that identify the associated rows.
    var columnsOfChoice: [ChoiceColumn] { columns(\.rowKey) }

    /// The columns by which the first row is chosen, after the association's own order.
    var orderOfChoice: [ChoiceColumn] { columns(\.rowOrder) }

    private func columns(_ positions: (Hop) -> [Int]) -> [ChoiceColumn] {
        hops.enumerated().flatMap { index, hop in isToOne(at: index) ? [] : positions(hop).map { (index, $0) } }
    }

    /// Returns whether the rowids of a hop's table identify the associated rows.
    func choosesByRowID(at index: Int) -> Bool {
        choosesFirst && columnsOfChoice.contains { $0.hop == index && $0.position == TableSchema.rowID }
    }

    /// Whether a column that identifies rows may be NULL.
    var hasNullableChoice: Bool {
        hops.enumerated().contains { index, hop in !isToOne(at: index) && hop.isWithoutKey }
    }

    /// Returns whether a hop leads to at most one row, by a unique key or because only the first row is selected.
    private func isToOne(at index: Int) -> Bool {
        if hops[index].isToOne { return true }
        return hops.enumerated().contains { end, hop in
            hop.firsts.contains { index <= end && index > end - $0.hops.count }
        }
    }

    /// Returns the request for the rows that an anchor is associated with: all of them, or the first.
    func reached(_ anchor: Reach.Anchor) -> Request {
        let isFirst = meansFirst
        let rows = request.with { $0.reach = Reach(association: self, anchor: anchor, isOrderedByKey: isFirst) }
        guard isFirst else { return rows }
        return Request(
            source: rows.source, filter: rows.filter, orders: rows.orders, limit: 1, offset: 0, parts: rows.parts)
    }
}

extension Association.Hop {
    /// The columns that identify the request's rows: the primary key, or the rowid if the primary key may be NULL; all columns if neither
    /// exists.
    fileprivate var rowKey: [Int] {
        if isWithoutKey { return Array(table.columns.indices) }
        return table.hasCompleteKey ? table.primaryKey : [TableSchema.rowID]
    }

    /// The columns that order the request's rows: the primary key, followed by the columns that identify the rows.
    fileprivate var rowOrder: [Int] {
        isWithoutKey || table.hasCompleteKey ? rowKey : table.primaryKey + rowKey
    }

    /// Whether the request's rows have neither a primary key nor a rowid, as in views.
    fileprivate var isWithoutKey: Bool {
        guard case .table = request.source.body else { return true }
        return table.primaryKey.isEmpty && table.rowIDName == nil
    }
}
