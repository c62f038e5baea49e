/// Whether what is written reads the table that it is written to.
extension Expression {
    /// Whether a sub-request in it may read rows of a table. SQL text and views are taken to read any.
    func mayRead(_ table: TableSchema) -> Bool {
        if case .fragment(let fragment) = kind, fragment.mayReadTables { return true }
        let parts = parts
        return parts.requests.contains { $0.mayRead(table) } || parts.expressions.contains { $0.mayRead(table) }
    }
}

extension Request {
    func mayRead(_ table: TableSchema) -> Bool {
        switch source.body {
        case .table: if self.table.kind != .table || self.table.isSameTable(as: table) { return true }
        case .commonTable: break
        case .compound(let compound):
            if ([compound.first] + compound.others.map(\.request)).contains(where: { $0.mayRead(table) }) { return true }
        case .request(let request): if request.mayRead(table) { return true }
        }
        let parts = parts.values
        let associations = parts.joins.map(\.association) + (parts.reach.map { [$0.association] } ?? [])
        return expressions.contains { $0.mayRead(table) }
            || associations.contains { association in association.hops.contains { $0.request.mayRead(table) } }
            || parts.commonTables.contains { $0.mayRead(table) }
    }
}

extension CommonTable {
    fileprivate func mayRead(_ table: TableSchema) -> Bool {
        switch definition {
        case .request(let request): request.mayRead(table)
        case .fragment: true
        case nil: false
        }
    }
}

extension SQLFragment {
    /// Whether it holds the word SELECT.
    fileprivate var mayReadTables: Bool {
        pieces.contains { piece in
            if case .text(let text) = piece { String(decoding: text, as: UTF8.self).foldedName.contains("select") } else { false }
        }
    }
}
