/// Associations that mean one row, where the keys allow several: `has_one` without a unique key. They mean the first, by the order of the
/// association, then by the key; so no row comes twice because several others belong to it.
extension Association {
    /// A column of one of the tables on the way.
    typealias ChoiceColumn = (hop: Int, position: Int)

    /// Whether there may be several rows, of which the first is meant. Rows of views and common tables cannot be told from one another:
    /// there are as many as there are.
    package var meansFirst: Bool { choosesFirst && !request.hasLimit && !request.parts.values.isDistinct }

    /// Whether the keys allow several rows, of which one is meant.
    var choosesFirst: Bool { !isPlural && !columnsOfChoice.isEmpty }

    /// The columns that tell the rows from one another.
    var columnsOfChoice: [ChoiceColumn] {
        var result: [ChoiceColumn] = []
        for (index, hop) in hops.enumerated() where !hop.isToOne {
            guard case .table = hop.request.source.body, let key = hop.table.rowKey else { return [] }
            result += key.map { (index, $0) }
        }
        return result
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

extension TableSchema {
    /// The columns that tell its rows from one another: the primary key, or the row id; `nil` if there are none. The row id does not come
    /// out of a join in parentheses.
    fileprivate var rowKey: [Int]? {
        if !primaryKey.isEmpty { return primaryKey }
        return rowIDName != nil ? [Self.rowID] : nil
    }
}
