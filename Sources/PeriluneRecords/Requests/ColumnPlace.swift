/// The way in which a column expression selects a source among several with the same table.
enum ColumnPlace: Sendable {
    /// The source of the request or association that uses the column, or otherwise the only source with the table.
    case nearest
    /// The source with the given alias.
    case alias(String)
    /// The source that the given association leads to.
    case association(AssociationIdentity)
}

/// The identity of an association's rows, which distinguishes them from other rows of the same table. Copies of an association share its
/// identity, unless they are renamed.
package final class AssociationIdentity: Sendable {
    /// A number that the caller chooses; 0 if the association's columns are not distinguished from other columns of the table.
    let number: Int
    let name: String

    package init(number: Int, name: String) {
        self.number = number
        self.name = name
    }

    func isSame(as other: AssociationIdentity) -> Bool { number == other.number && name == other.name }
}

extension Expression {
    /// Returns the expression for a source that is about to get an alias, with its columns bound to that alias.
    func bound(to table: TableSchema, _ alias: String) -> Expression {
        switch kind {
        case .value, .parameter, .excluded, .resultColumn, .bound, .column(_, _, .alias): self
        case .column(let own, let position, .nearest):
            own.isSameTable(as: table) ? .column(position, of: own, alias: alias) : self
        default: Expression(copying: self, .bound(self))
        }
    }

    /// The expression without a binding to a source.
    var unbound: Expression { if case .bound(let expression) = kind { expression } else { self } }

    /// Returns whether the expression is the given column of a source when that source uses it.
    func isColumn(_ position: Int, of source: RequestSource) -> Bool {
        guard case .column(let table, position, let place) = kind, table.isSameTable(as: source.table) else { return false }
        switch place {
        case .nearest: return source.alias == nil
        case .alias(let alias): return source.alias?.foldedName == alias.foldedName
        case .association: return false
        }
    }

    /// The direct parts of the expression: its operands, and its subrequests.
    var parts: (expressions: [Expression], requests: [Request]) {
        switch kind {
        case .value, .parameter, .column, .resultColumn, .excluded: ([], [])
        case .unary(_, let part), .cast(let part, _), .collation(let part, _), .bound(let part), .inValues(let part, _, _):
            ([part], [])
        case .binary(_, let a, let b), .logical(_, let a, let b): ([a, b], [])
        case .between(let a, let b, let c, _): ([a, b, c], [])
        case .like(_, let a, let pattern, let escape, _): ([a, pattern] + (escape.map { [$0] } ?? []), [])
        case .inExpressions(let part, let members, _): ([part] + members, [])
        case .inRequest(let part, let request, _): ([part], [request])
        case .keys(let list): (list.columns, [])
        case .exists(let request, _), .request(let request): ([], [request])
        case .function(let call): (call.parts, [])
        case .choice(let choice):
            (
                [choice.base, choice.otherwise].compactMap { $0 } + choice.branches.flatMap { [$0.condition, $0.result] }, []
            )
        case .fragment(let fragment): (fragment.arguments, [])
        case .row(let parts): (parts, [])
        case .aggregate(let aggregate):
            (aggregate.expression.map { [$0] } ?? [], aggregate.association.hops.map(\.request))
        }
    }

    /// Returns whether this expression or an operand of it satisfies a condition. Subrequests are not searched.
    ///
    /// - Parameter former: Expressions to skip, including their operands.
    func contains(except former: [Expression] = [], _ condition: (Expression) -> Bool) -> Bool {
        var pending = [self]
        while let expression = pending.popLast() {
            if former.contains(where: { $0 === expression }) { continue }
            if condition(expression) { return true }
            // The expression of an aggregate refers to rows of a subrequest.
            if case .aggregate = expression.kind { continue }
            pending += expression.parts.expressions
        }
        return false
    }
}
