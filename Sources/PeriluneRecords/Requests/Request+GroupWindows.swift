/// Validation of window functions in grouped requests. Such a window has one row per group, so a column that is not grouped would have the
/// value of an arbitrary row of its group.
extension Request {
    /// Returns the request after checking its window functions, if it has groups. Columns of joined tables are not checked, because the
    /// grouped columns may determine them.
    ///
    /// - Throws: ``RequestError`` if a window, or an argument of a window function, uses a column of the table that is not grouped.
    func checkingWindowsOfGroups() throws -> Request {
        guard !parts.values.groups.isEmpty, !groupsAreRows else { return self }
        for expression in expressions where expression.traits.contains(.window) {
            var found: (call: FunctionCall, column: Expression)?
            _ = expression.contains { part in
                guard case .function(let call) = part.kind, let window = call.window,
                    let column = (call.arguments + window.parts).lazy.compactMap(columnBesideGroups).first
                else { return false }
                found = (call, column)
                return true
            }
            if let found { throw refusal(of: found.column, in: found.call) }
        }
        return self
    }

    private func refusal(of column: Expression, in call: FunctionCall) -> RequestError {
        let name = column.columnName ?? "the column"
        let example = call.isAggregate ? "column:sum():sum():over{...}, the sum of the sums" : "column:max()"
        return RequestError.argument(
            "\(call.name) over a window: the request has groups, in which `\(name)` has many values; aggregate it in each group first, as in "
                + "\(example), or group by it")
    }

    /// Returns a column of the table that is used outside of aggregates but not grouped, or `nil`. If the request groups by expressions
    /// other than columns, only a plain column is checked.
    private func columnBesideGroups(in argument: Expression) -> Expression? {
        let groups = parts.values.groups
        if argument.traits.contains(.aggregate)
            || argument.columnPosition == nil && !groups.allSatisfy({ $0.columnPosition != nil })
        {
            return nil
        }
        var found: Expression?
        _ = argument.contains { part in
            guard let position = part.columnPosition?.position, part.isColumn(position, of: source),
                !groups.contains(where: { $0.unbound.isColumn(position, of: source) })
            else { return false }
            found = part
            return true
        }
        return found
    }

    /// Whether each group consists of a single row of the table.
    var groupsAreRows: Bool {
        table.containsUniqueKey(
            parts.values.groups.compactMap { group in
                group.columnPosition.flatMap { group.isColumn($0.position, of: source) ? $0.position : nil }
            })
    }
}
