/// Associations that mean one row, where the keys allow several: `has_one` without a unique key. They mean the first, by the order of the
/// association, then by the key; so no row comes twice because several others belong to it. Rows of views and common tables, which have
/// no key, are distinguished by all their columns.
extension Association {
    /// A column of one of the tables on the way.
    typealias ChoiceColumn = (hop: Int, position: Int)

    /// Whether there may be several rows, of which the first is meant.
    package var meansFirst: Bool { choosesFirst && !request.hasLimit && !request.parts.values.isDistinct }

    /// Whether the keys allow several rows, of which one is meant.
    var choosesFirst: Bool { !isPlural && !columnsOfChoice.isEmpty }

    /// The columns that identify the rows.
    var columnsOfChoice: [ChoiceColumn] {
        hops.enumerated().flatMap { index, hop in isToOne(at: index) ? [] : hop.rowKey.map { (index, $0) } }
    }

    /// Whether these may be NULL.
    var hasNullableChoice: Bool {
        hops.enumerated().contains { index, hop in !isToOne(at: index) && hop.isWithoutKey }
    }

    /// Whether a hop leads to one row at most: by its key, or because the first row of several is meant.
    private func isToOne(at index: Int) -> Bool {
        if hops[index].isToOne { return true }
        return hops.enumerated().contains { end, hop in
            hop.firsts.contains { index <= end && index > end - $0.hops.count }
        }
    }

    /// The request for the associated rows of an anchor: all of them, or the first.
    func reached(_ anchor: Reach.Anchor) -> Request {
        let isFirst = meansFirst
        let rows = request.with { $0.reach = Reach(association: self, anchor: anchor, isOrderedByKey: isFirst) }
        guard isFirst else { return rows }
        return Request(
            source: rows.source, filter: rows.filter, orders: rows.orders, limit: 1, offset: 0, parts: rows.parts)
    }
}

extension Association.Hop {
    /// The columns that tell its rows from one another: the primary key, or the row id, which does not come out of a join in parentheses;
    /// all columns of what has neither.
    fileprivate var rowKey: [Int] {
        if isWithoutKey { return Array(table.columns.indices) }
        return table.primaryKey.isEmpty ? [TableSchema.rowID] : table.primaryKey
    }

    /// Whether it is a view, or rows that no table has.
    fileprivate var isWithoutKey: Bool {
        guard case .table = request.source.body else { return true }
        return table.primaryKey.isEmpty && table.rowIDName == nil
    }
}
