/// Selection of the statement that prefetches the associated rows of many rows.
extension Association {
    /// Returns whether prefetching can read the whole associated table: the parent request returns all rows of its table, and
    /// the associated table refers to them by an integer foreign key. The statement then needs no list of keys, which is
    /// cheaper for SQLite.
    func isForAllRows(of parent: Request) -> Bool {
        guard isPlural, hops.count == 1, hops[0].columns.count == 1, !request.hasLimit, parent.givesAllRows else { return false }
        let (from, to) = hops[0].columns[0]
        guard to >= 0, origin.holdsIntegers(from), request.table.holdsIntegers(to) else { return false }
        let name = request.table.columns[to].sqlName
        return request.table.foreignKeys.contains { $0.table.foldedName == origin.name.foldedName && $0.columns == [name] }
    }
}

extension Request {
    /// Whether the request returns every row of its table.
    fileprivate var givesAllRows: Bool {
        guard case .table = source.body, filter == nil, !hasLimit else { return false }
        let parts = parts.values
        return parts.groups.isEmpty && parts.having == nil && parts.reach == nil && !parts.joins.contains(where: \.isRequired)
    }
}

extension TableSchema {
    fileprivate func holdsIntegers(_ column: Int) -> Bool { type(ofColumn: column).affinity == .integer }
}
