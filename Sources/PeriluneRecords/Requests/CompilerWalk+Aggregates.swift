/// Compilation of association aggregates into subqueries over the rows associated with the current row.
extension CompilerWalk {
    mutating func aggregate(_ aggregate: AssociationAggregate, _ least: UInt8) throws {
        let association = aggregate.association
        let request = association.reached(.outer).with { parts in
            parts.prefetches = []
            parts.joins = parts.joins.map { Join(association: $0.association, isRequired: $0.isRequired, role: .joined) }
        }
        try requireOrigin(of: association)
        if aggregate.function == .isEmpty || aggregate.function == .exists {
            return try exists(request, aggregate.function == .isEmpty, least)
        }
        tokens.add(.open)
        if request.hasLimit || request.parts.values.isDistinct {
            try aggregateOfRows(aggregate, request)
        } else if let expression = aggregate.expression {
            try select(request, .aggregate(aggregate.function.sql, expression, isDistinct: false), isOrdered: false)
        } else {
            try select(request, .countRows, isOrdered: false)
        }
        tokens.add(.close)
    }

    /// Compiles an aggregate over a subquery, because the rows are distinct or limited.
    private mutating func aggregateOfRows(_ aggregate: AssociationAggregate, _ request: Request) throws {
        tokens.add(.select)
        if aggregate.expression == nil {
            tokens.add(.countRows)
        } else {
            tokens.add(.function, aggregate.function.sql.utf8)
            tokens.add(.name, "value".utf8)
            tokens.add(.close)
        }
        tokens.add(.from)
        tokens.add(.open)
        try select(request, aggregate.expression.map { .value($0) } ?? .columns, isOrdered: request.hasLimit)
        tokens.add(.close)
    }

    /// Checks that the current row belongs to the association's origin.
    private func requireOrigin(of association: Association) throws {
        guard own >= 0, sources[own].source.table.isSameTable(as: association.origin) else {
            throw RequestError.argument(
                "an aggregate of `\(association.name)` can be used only in requests of `\(association.origin.name)`")
        }
    }
}
