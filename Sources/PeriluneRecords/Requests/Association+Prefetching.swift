/// The statement that fetches associated rows of many rows at once.
extension Association {
    /// Whether the rows that are associated with those of a request are all that any row could have: the request gives all rows of a
    /// table, and those of the other one name them by a foreign key of integers. Then they can be fetched without asking for keys,
    /// which costs SQLite more than to read them in their order.
    func isForAllRows(of parent: Request) -> Bool {
        guard isPlural, hops.count == 1, hops[0].columns.count == 1, !request.hasLimit, parent.givesAllRows else { return false }
        let (from, to) = hops[0].columns[0]
        guard to >= 0, origin.holdsIntegers(from), request.table.holdsIntegers(to) else { return false }
        let name = request.table.columns[to].sqlName
        return request.table.foreignKeys.contains { $0.table.foldedName == origin.name.foldedName && $0.columns == [name] }
    }
}

extension Request {
    /// Whether nothing keeps a row of its table from being among its rows.
    fileprivate var givesAllRows: Bool {
        guard case .table = source.body, filter == nil, !hasLimit else { return false }
        let parts = parts.values
        return parts.groups.isEmpty && parts.having == nil && parts.reach == nil && !parts.joins.contains(where: \.isRequired)
    }
}

extension TableSchema {
    fileprivate func holdsIntegers(_ column: Int) -> Bool { type(ofColumn: column).affinity == .integer }
}
