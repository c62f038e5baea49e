/// Associations that select one row although the keys allow several: `has_one` without a unique key. The row is the first by the
/// order of the association, then by the key, so no row comes twice. The row id distinguishes rows without a key, and rows whose
/// key may be NULL. Rows of views and common tables have neither, so all their columns distinguish them.
extension Association {
    /// A column of one of the tables along the association.
    typealias ChoiceColumn = (hop: Int, position: Int)

    /// Whether the association means the first of several rows that may exist.
    package var meansFirst: Bool { choosesFirst && !request.hasLimit && !request.parts.values.isDistinct }

    /// Whether the keys allow several rows although the association means one.
    var choosesFirst: Bool { !isPlural && !columnsOfChoice.isEmpty }

    /// The columns that identify the associated rows.
    var columnsOfChoice: [ChoiceColumn] { columns(\.rowKey) }

    /// The columns by which the first row is chosen, after the association's own order.
    var orderOfChoice: [ChoiceColumn] { columns(\.rowOrder) }

    private func columns(_ positions: (Hop) -> [Int]) -> [ChoiceColumn] {
        hops.enumerated().flatMap { index, hop in isToOne(at: index) ? [] : positions(hop).map { (index, $0) } }
    }

    /// Returns whether the row ids of a hop's table identify the associated rows.
    func choosesByRowID(at index: Int) -> Bool {
        choosesFirst && columnsOfChoice.contains { $0.hop == index && $0.position == TableSchema.rowID }
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
    /// The columns that distinguish the request's rows: the primary key, or the row id if the key does not identify each row; all
    /// columns if neither exists.
    fileprivate var rowKey: [Int] {
        if isWithoutKey { return Array(table.columns.indices) }
        return table.hasCompleteKey ? table.primaryKey : [TableSchema.rowID]
    }

    /// The columns that order the request's rows: the primary key, then the columns that distinguish them.
    fileprivate var rowOrder: [Int] {
        isWithoutKey || table.hasCompleteKey ? rowKey : table.primaryKey + rowKey
    }

    /// Whether the request reads a view or rows that are in no table.
    fileprivate var isWithoutKey: Bool {
        guard case .table = request.source.body else { return true }
        return table.primaryKey.isEmpty && table.rowIDName == nil
    }
}
