/// Associations that mean one row although the keys allow several: `has_one` without a unique key. The row is the first by the
/// order of the association, then by the key, so no row comes twice. Rows of views and common tables have no key, so all their
/// columns distinguish them.
extension Association {
    /// A column of one of the tables along the association.
    typealias ChoiceColumn = (hop: Int, position: Int)

    /// Whether the association means the first of several rows that may exist.
    package var meansFirst: Bool { choosesFirst && !request.hasLimit && !request.parts.values.isDistinct }

    /// Whether the keys allow several rows although the association means one.
    var choosesFirst: Bool { !isPlural && !columnsOfChoice.isEmpty }

    /// The columns that identify the associated rows.
    var columnsOfChoice: [ChoiceColumn] {
        hops.enumerated().flatMap { index, hop in isToOne(at: index) ? [] : hop.rowKey.map { (index, $0) } }
    }

    /// Whether the identifying columns may be NULL.
    var hasNullableChoice: Bool {
        hops.enumerated().contains { index, hop in !isToOne(at: index) && hop.isWithoutKey }
    }

    /// Returns whether a hop leads to at most one row: by its key, or because only the first row is meant.
    private func isToOne(at index: Int) -> Bool {
        if hops[index].isToOne { return true }
        return hops.enumerated().contains { end, hop in
            hop.firsts.contains { index <= end && index > end - $0.hops.count }
        }
    }

    /// Returns the request for the associated rows of an anchor: all rows, or the first.
    func reached(_ anchor: Reach.Anchor) -> Request {
        let isFirst = meansFirst
        let rows = request.with { $0.reach = Reach(association: self, anchor: anchor, isOrderedByKey: isFirst) }
        guard isFirst else { return rows }
        return Request(
            source: rows.source, filter: rows.filter, orders: rows.orders, limit: 1, offset: 0, parts: rows.parts)
    }
}

extension Association.Hop {
    /// The columns that distinguish the request's rows: the primary key, or the row id, which is not available from a join in
    /// parentheses; all columns if neither exists.
    fileprivate var rowKey: [Int] {
        if isWithoutKey { return Array(table.columns.indices) }
        return table.primaryKey.isEmpty ? [TableSchema.rowID] : table.primaryKey
    }

    /// Whether the request reads a view or rows that are in no table.
    fileprivate var isWithoutKey: Bool {
        guard case .table = request.source.body else { return true }
        return table.primaryKey.isEmpty && table.rowIDName == nil
    }
}
