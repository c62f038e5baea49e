/// Requests for rows with given keys.
extension Request {
    /// Returns the columns of the key: the primary key, or else the rowid.
    func keyColumns() throws -> [Expression] {
        if !table.primaryKey.isEmpty { return table.primaryKey.map(source.column) }
        if case .table = source.body, table.rowIDName != nil { return [source.column(TableSchema.rowID)] }
        throw RequestError.argument("`\(table.name)` has no primary key; name the columns")
    }

    /// Returns columns that distinguish all rows: the primary key, or the rowid if the primary key may be NULL in several rows.
    func tellingColumns() throws -> [Expression] {
        if case .table = source.body, table.rowIDName != nil, table.keyMayBeNull { return [source.column(TableSchema.rowID)] }
        return try keyColumns()
    }

    /// Returns the request for the row with a primary key.
    package func filterKey(_ values: [Value]) throws -> Request {
        let columns = try keyColumns()
        try checkKey(values, columns)
        var condition: Expression?
        for (column, value) in zip(columns, values) {
            let part = try column.binary(.equal, .value(value))
            condition = try condition.map { try $0.and(part) } ?? part
        }
        return try filter(condition!)
    }

    private func checkKey(_ values: [Value], _ columns: [Expression]) throws {
        guard values.count == columns.count else {
            let names = columns.map { "`\($0.columnName ?? "rowid")`" }.joined(separator: ", ")
            throw RequestError.argument(
                "the key of `\(table.name)` is \(names): expected \(columns.count) value\(columns.count == 1 ? "" : "s"), "
                    + "got \(values.count)")
        }
        if values.contains(where: \.isNull) { throw RequestError.argument("a key of `\(table.name)` cannot be null") }
    }

    /// Returns the request for the rows with the given primary keys, without an order.
    package func filterKeys(_ keys: [[Value]]) throws -> Request {
        let columns = try keyColumns()
        for key in keys { try checkKey(key, columns) }
        if columns.count == 1 { return try filter(columns[0].isIn(values: keys.map { $0[0] })) }
        if keys.isEmpty { return try none() }
        return try filter(.keys(KeyList(columns: columns, rows: keys)))
    }

    /// Returns the request for the row with the given values in the given columns, which must form a unique key.
    package func filterUniqueKey(_ values: [(column: Int, value: Value)]) throws -> Request {
        guard !values.isEmpty else { throw RequestError.argument("a key cannot be empty") }
        guard table.containsUniqueKey(values.map(\.column)) else {
            let names = values.map { "`\($0.column < 0 ? "rowid" : table.columns[$0.column].name)`" }.joined(separator: ", ")
            let keys = table.distinctKeys.map { "(" + $0.map { table.columns[$0].name }.joined(separator: ", ") + ")" }
            throw RequestError.argument(
                "\(names) is not a unique key of `\(table.name)`; its unique keys are: "
                    + (keys.isEmpty ? "none" : keys.joined(separator: ", ")) + "; use filter{...} for any other columns")
        }
        return try values.reduce(self) { request, pair in
            try request.filter(source.column(pair.column).binary(.equal, .value(pair.value)))
        }
    }
}

extension Expression {
    static func keys(_ list: KeyList) throws -> Expression {
        try make(.keys(list), .boolean, cost: 12, overAll: list.columns)
    }
}
