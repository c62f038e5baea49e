/// Detection of values in a write that read the written table.
extension Expression {
    /// Returns whether a subrequest may read rows of the table. SQL text with SELECT, and views, are assumed to read any table.
    func mayRead(_ table: TableSchema) -> Bool {
        if case .fragment(let fragment) = kind, fragment.mayReadTables { return true }
        let parts = parts
        return parts.requests.contains { $0.mayRead(table) } || parts.expressions.contains { $0.mayRead(table) }
    }

    /// Returns whether the value depends on more than the row being written: on other rows of its table, a window, or joined tables.
    func needsRow(of request: Request) -> Bool {
        mayRead(request.table) || traits.contains(.window)
            || contains { part in
                guard case .column(let table, _, let place) = part.kind else { return false }
                switch place {
                case .nearest: return !table.isSameTable(as: request.table)
                case .alias(let alias): return alias.foldedName != request.source.alias?.foldedName
                case .association: return true
                }
            }
    }
}

extension Request {
    func mayRead(_ table: TableSchema) -> Bool {
        let parts = parts.values
        if source.mayRead(table) || parts.tableJoins.contains(where: { $0.source.mayRead(table) }) { return true }
        let associations = parts.joins.map(\.association) + (parts.reach.map { [$0.association] } ?? [])
        return expressions.contains { $0.mayRead(table) }
            || associations.contains { association in association.hops.contains { $0.request.mayRead(table) } }
            || parts.commonTables.contains { $0.mayRead(table) }
    }
}

extension RequestSource {
    fileprivate func mayRead(_ table: TableSchema) -> Bool {
        switch body {
        case .table: self.table.kind != .table || self.table.isSameTable(as: table)
        case .commonTable: false
        case .fragment: true
        case .compound(let compound): ([compound.first] + compound.others.map(\.request)).contains { $0.mayRead(table) }
        case .request(let request): request.mayRead(table)
        }
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
    /// Whether the text contains the word SELECT.
    fileprivate var mayReadTables: Bool {
        pieces.contains { piece in
            if case .text(let text) = piece { String(decoding: text, as: UTF8.self).foldedName.contains("select") } else { false }
        }
    }
}
