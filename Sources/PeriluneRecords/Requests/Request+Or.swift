/// Joining two requests over one table by OR.
extension Request {
    /// The rows of this request and those of another one over the same table, as one request: its condition is that either holds.
    package func or(_ other: Request) throws -> Request {
        guard table.isSameTable(as: other.table), source.alias?.foldedName == other.source.alias?.foldedName else {
            throw RequestError.argument(
                "or_filter: expected a request of `\(table.name)`" + (source.alias.map { " with the alias `\($0)`" } ?? "")
                    + ", got one of `\(other.table.name)`" + (other.source.alias.map { " with the alias `\($0)`" } ?? ""))
        }
        if let obstacle = try obstacleToOr(other) {
            throw RequestError.argument("or_filter: the other request has \(obstacle), which a condition cannot have; use union(...)")
        }
        guard let mine = filter, let theirs = other.filter else {
            return Request(source: source, orders: orders, limit: limit, offset: offset, parts: parts)
        }
        return Request(source: source, filter: try mine.or(theirs), orders: orders, limit: limit, offset: offset, parts: parts)
    }

    private func obstacleToOr(_ other: Request) throws -> String? {
        let mine = parts.values
        let parts = other.parts.values
        if other.hasLimit { return "a limit" }
        if !parts.groups.isEmpty || parts.having != nil { return "groups" }
        if parts.isDistinct && !mine.isDistinct { return "distinct()" }
        if parts.selection != nil && mine.selection == nil { return "selected columns" }
        if !parts.tableJoins.isEmpty { return "joins of its own" }
        if !parts.prefetches.isEmpty && mine.prefetches.isEmpty { return "included associations" }
        func isIn(_ joins: [Join]) -> (Join) -> Bool {
            { join in
                joins.contains { other in
                    other.isRequired == join.isRequired && other.association.name == join.association.name
                        && other.association.hasSamePath(as: join.association)
                        && other.association.request.filter == nil && join.association.request.filter == nil
                }
            }
        }
        let theirJoins = parts.joins.allSatisfy(isIn(mine.joins))
        let myJoins = mine.joins.allSatisfy { !$0.isRequired || isIn(parts.joins)($0) }
        return theirJoins && myJoins ? nil : "other joined associations"
    }
}
