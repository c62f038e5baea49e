/// A value computed from the rows associated with each row, such as their count or the maximum of an expression.
package final class AssociationAggregate: Sendable {
    package enum Function: String, Sendable {
        case count, isEmpty, exists, minimum, maximum, sum, average, total

        var sql: String {
            switch self {
            case .count, .isEmpty, .exists: "COUNT"
            case .minimum: "MIN"
            case .maximum: "MAX"
            case .sum: "SUM"
            case .average: "AVG"
            case .total: "TOTAL"
            }
        }
    }

    let function: Function
    let association: Association
    /// The expression over the associated rows; `nil` to count the rows.
    let expression: Expression?

    init(_ function: Function, of association: Association, _ expression: Expression?) {
        self.function = function
        self.association = association
        self.expression = expression
    }

    /// The opposite of `isEmpty` or `exists`; `nil` for other aggregates.
    var negated: AssociationAggregate? {
        switch function {
        case .isEmpty: AssociationAggregate(.exists, of: association, nil)
        case .exists: AssociationAggregate(.isEmpty, of: association, nil)
        default: nil
        }
    }

    /// The default name of the result column: `book_count`, `has_no_book`, `max_book_year`, `book_price_sum`.
    var defaultName: String? {
        let name = association.singularName
        switch function {
        case .count where expression == nil: return "\(name)_count"
        case .isEmpty: return "has_no_\(name)"
        case .exists: return "has_\(name)"
        default: break
        }
        guard let column = expression?.columnName else { return nil }
        switch function {
        case .minimum: return "min_\(name)_\(column)"
        case .maximum: return "max_\(name)_\(column)"
        case .average: return "average_\(name)_\(column)"
        case .sum: return "\(name)_\(column)_sum"
        case .total: return "\(name)_\(column)_total"
        case .count, .isEmpty, .exists: return nil
        }
    }
}

extension Association {
    /// Returns an aggregate as an expression for requests of the origin. It may be used in `annotated`, `having`, `order` and
    /// arithmetic.
    ///
    /// - Parameter expression: The expression over the associated rows, for `minimum`, `maximum`, `sum`, `average` and `total`.
    package func aggregate(_ function: AssociationAggregate.Function, _ expression: Expression? = nil) throws -> Expression {
        if function != .count, function != .isEmpty, function != .exists, expression == nil {
            throw RequestError.argument("`\(name)`: \(function.rawValue) needs a column or an expression")
        }
        if let expression, !expression.traits.isDisjoint(with: [.aggregate, .row, .window]) {
            throw RequestError.argument("`\(name)`: an aggregate cannot take an aggregate or several columns")
        }
        if !request.parts.values.groups.isEmpty || request.parts.values.having != nil {
            throw RequestError.argument("`\(name)`: an association with groups cannot be aggregated")
        }
        if expression != nil, request.parts.values.isDistinct {
            throw RequestError.argument("`\(name)`: an association with distinct() can only be counted")
        }
        let aggregate = AssociationAggregate(function, of: self, expression)
        let isBoolean =
            switch function {
            case .isEmpty, .exists: true
            case .minimum, .maximum: expression!.isBoolean
            case .count, .sum, .average, .total: false
            }
        return try Expression.make(
            .aggregate(aggregate), isBoolean ? .boolean : [], cost: 12, overAll: expression.map { [$0] } ?? [],
            requests: [request])
    }
}
