/// Combination of two requests for the same table with OR.
extension Request {
    /// Returns a request for the rows of either request. The requests may differ only in their conditions and orders; the caller
    /// (either.lua) checks that all other parts are equal.
    package func or(_ other: Request) throws -> Request {
        guard table.isSameTable(as: other.table), source.alias?.foldedName == other.source.alias?.foldedName else {
            throw RequestError.argument(
                "or_filter: expected a request of `\(table.name)`" + (source.alias.map { " with the alias `\($0)`" } ?? "")
                    + ", got one of `\(other.table.name)`" + (other.source.alias.map { " with the alias `\($0)`" } ?? ""))
        }
        guard !source.isDerived, !other.source.isDerived else {
            throw RequestError.argument(
                "or_filter: one of the requests tests a window function over rows that are derived first, so its condition holds for "
                    + "them only; use union(...)")
        }
        guard let mine = filter, let theirs = other.filter else {
            return Request(source: source, orders: orders, limit: limit, offset: offset, parts: parts)
        }
        return Request(source: source, filter: try mine.or(theirs), orders: orders, limit: limit, offset: offset, parts: parts)
    }
}

extension RequestSource {
    /// Whether the source reads the rows of other requests.
    fileprivate var isDerived: Bool {
        switch body {
        case .compound, .request: true
        case .table, .commonTable, .fragment: false
        }
    }
}
