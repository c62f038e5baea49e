/// Resolution of an association's columns from the foreign keys of the schema.
extension Association {
    /// Creates the association from rows of the origin to the rows that they reference with a foreign key (`belongs_to`).
    ///
    /// - Parameters:
    ///   - columns: The columns of the foreign key; required unless the schema defines exactly one.
    ///   - referenced: The referenced columns, if the schema does not define the foreign key.
    package static func belongsTo(
        _ name: String, from origin: TableSchema, to request: Request, columns: [String]? = nil, referenced: [String]? = nil,
        tag: Int = 0, number: Int = 0, singularName: String? = nil
    ) throws -> Association {
        let key = try ForeignKeySearch(holder: origin, other: request.table, name: name, columns: columns, referenced: referenced)
            .find()
        return try Association(
            name, isPlural: false, from: origin, columns: key.map { ($0.holder, $0.other) }, to: request, tag: tag,
            number: number, singularName: singularName)
    }

    /// Creates the association from rows of the origin to the row or rows that reference them with a foreign key (`has_one`,
    /// `has_many`).
    package static func has(
        _ name: String, many isPlural: Bool, from origin: TableSchema, to request: Request, columns: [String]? = nil,
        referenced: [String]? = nil, tag: Int = 0, number: Int = 0, singularName: String? = nil
    ) throws -> Association {
        let key = try ForeignKeySearch(holder: request.table, other: origin, name: name, columns: columns, referenced: referenced)
            .find()
        return try Association(
            name, isPlural: isPlural, from: origin, columns: key.map { ($0.other, $0.holder) }, to: request, belongs: false,
            tag: tag, number: number, singularName: singularName)
    }
}

private struct ForeignKeySearch {
    /// The table that contains the foreign key.
    let holder: TableSchema
    let other: TableSchema
    let name: String
    let columns: [String]?
    let referenced: [String]?

    typealias Pairs = [(holder: Int, other: Int)]

    func find() throws -> Pairs {
        let candidates = holder.foreignKeys.filter { $0.table.foldedName == other.name.foldedName }
        guard let columns else { return try findOnly(candidates) }
        if let referenced { return try pairs(columns, referenced) }
        let positions = try columns.map { try position($0, in: holder) }
        if let key = candidates.first(where: { Set($0.columns.compactMap(holder.column(inDatabase:))) == Set(positions) }) {
            return try pairs(of: key)
        }
        guard !other.primaryKey.isEmpty else {
            throw RequestError.argument(
                "`\(name)`: `\(other.name)` has no primary key; name the referenced columns")
        }
        return try pairs(columns, other.primaryKey.map { other.columns[$0].name })
    }

    private func findOnly(_ candidates: [TableSchema.ForeignKey]) throws -> Pairs {
        if candidates.count == 1 { return try pairs(of: candidates[0]) }
        if candidates.isEmpty {
            throw RequestError(
                "no_foreign_key",
                "`\(name)`: `\(holder.name)` has no foreign key to `\(other.name)`; name its columns: columns = { ... }",
                fields: ["table": holder.name, "name": name])
        }
        let list = candidates.map { "{ " + fields($0.columns, of: holder).map { "\"\($0)\"" }.joined(separator: ", ") + " }" }
        throw RequestError(
            "ambiguous",
            "`\(name)`: `\(holder.name)` has \(candidates.count) foreign keys to `\(other.name)`; choose one: columns = "
                + list.joined(separator: " or columns = "),
            fields: ["table": holder.name, "name": name])
    }

    /// Returns the column pairs of a foreign key, which uses the column names of the database.
    private func pairs(of key: TableSchema.ForeignKey) throws -> Pairs {
        try pairs(fields(key.columns, of: holder), fields(key.referencedColumns, of: other))
    }

    private func fields(_ columns: [String], of table: TableSchema) -> [String] {
        columns.map { column in
            guard let position = table.column(inDatabase: column), position >= 0 else { return column }
            return table.columns[position].name
        }
    }

    private func pairs(_ columns: [String], _ referenced: [String]) throws -> Pairs {
        guard columns.count == referenced.count, !columns.isEmpty else {
            throw RequestError.argument(
                "`\(name)`: \(columns.count) column\(columns.count == 1 ? "" : "s") of `\(holder.name)` cannot point to "
                    + "\(referenced.count) of `\(other.name)`")
        }
        return try zip(columns, referenced).map { (try position($0, in: holder), try position($1, in: other)) }
    }

    private func position(_ column: String, in table: TableSchema) throws -> Int {
        guard let position = table.column(named: column) else { throw RequestError.unknownColumn(column, in: table) }
        return position
    }
}
