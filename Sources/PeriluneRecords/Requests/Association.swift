/// A relation between the rows of two tables, which matches pairs of columns and may lead through other tables. Associations are immutable,
/// like requests: ``map(_:)`` returns a copy with a different condition, order, selection or nested association.
package final class Association: Sendable {
    /// The name of the field that holds the associated rows.
    package let name: String
    /// Whether a row can have several associated rows.
    package let isPlural: Bool
    package let origin: TableSchema
    /// The steps along the association. The table of the last step contains the associated rows.
    let hops: [Hop]
    /// A number that the caller chooses and that the plan returns.
    package let tag: Int
    /// The base of the default names of aggregates: `book` in `book_count`.
    let singularName: String
    /// The number that identifies the association's columns; see ``AssociationIdentity/number``.
    let number: Int

    /// One step from table to table.
    struct Hop: Sendable {
        /// The positions of the compared columns in the previous table and in this one.
        let columns: [(from: Int, to: Int)]
        let request: Request
        /// The identities of the associations that lead to these rows: more than one if an association goes through another.
        var identities: [AssociationIdentity] = []
        /// For each column pair, the collation of the comparison; `nil` if this table's column has the same one.
        var collations: [String?]
        /// The associations that end at this hop and select only the first of several rows.
        var firsts: [Association] = []

        var table: TableSchema { request.table }
        /// Whether the hop leads to at most one row.
        var isToOne: Bool {
            table.containsUniqueKey(columns.map(\.to)) && collations.allSatisfy { $0 == nil }
        }
    }

    init(name: String, isPlural: Bool, origin: TableSchema, hops: [Hop], tag: Int, number: Int, singularName: String?) {
        self.name = name
        self.number = number
        self.isPlural = isPlural
        self.origin = origin
        self.hops = hops
        self.tag = tag
        self.singularName = singularName ?? hops.last!.table.name
    }

    /// The request that defines which of the rows with matching keys are associated.
    package var request: Request { hops[hops.count - 1].request }

    /// Returns a copy of the association with a different request for its rows.
    ///
    /// - Throws: ``RequestError`` if a new condition is ambiguous: it refers to the associated rows by columns of the association, and by
    ///   columns of the table, which could mean other rows of that table as well.
    package func map(_ change: (Request) throws -> Request) throws -> Association {
        let former = request
        let request = try change(former)
        let hop = hops[hops.count - 1]
        try request.checkIsClear(to: hop.identities, origin, after: former)
        let last = Hop(
            columns: hop.columns, request: request, identities: hop.identities, collations: hop.collations, firsts: hop.firsts)
        return Association(
            name: name, isPlural: isPlural, origin: origin, hops: hops.dropLast() + [last], tag: tag, number: number,
            singularName: singularName)
    }

    /// Returns a copy of the association with a different name.
    package func named(_ name: String) throws -> Association {
        try Expression.checkName(name, of: "an association")
        var hops = hops
        hops[hops.count - 1].identities = hops[hops.count - 1].identities.map { identity in
            identity.number == number ? AssociationIdentity(number: number, name: name) : identity
        }
        return Association(
            name: name, isPlural: isPlural, origin: origin, hops: hops, tag: tag, number: number, singularName: singularName)
    }

    // MARK: - Creating

    /// - Parameters:
    ///   - columns: Pairs of column positions in the origin and in the table of the request. At least one pair.
    ///   - request: The rows of the other table that may be associated.
    ///   - belongs: Whether the origin contains the foreign key.
    ///   - tag: A number that the plan returns, to find the class of the rows.
    ///   - number: The identity of the association's columns: ``AssociationIdentity/number``.
    ///   - singularName: The base of the default names of aggregates; by default the name of the other table.
    package convenience init(
        _ name: String, isPlural: Bool, from origin: TableSchema, columns: [(from: Int, to: Int)], to request: Request,
        belongs: Bool = true, tag: Int = 0, number: Int = 0, singularName: String? = nil
    ) throws {
        try Expression.checkName(name, of: "an association")
        guard !columns.isEmpty else { throw RequestError.argument("the association `\(name)` needs columns") }
        // SQLite compares foreign keys with the collation of the referenced column.
        let collations = columns.map { pair -> String? in
            let collation = origin.collation(of: pair.from)
            return belongs || collation == request.table.collation(of: pair.to) ? nil : collation
        }
        let hop = Hop(
            columns: columns, request: request, identities: [AssociationIdentity(number: number, name: name)],
            collations: collations)
        self.init(
            name: name, isPlural: isPlural, origin: origin, hops: [hop], tag: tag, number: number, singularName: singularName)
    }

    /// Creates an association through another one, such as from authors through books to publishers.
    package static func through(
        _ first: Association, _ second: Association, name: String, isPlural: Bool? = nil, tag: Int? = nil, number: Int = 0,
        singularName: String? = nil
    ) throws -> Association {
        try Expression.checkName(name, of: "an association")
        guard first.request.table.isSameTable(as: second.origin) else {
            throw RequestError.argument(
                "`\(name)`: `\(first.name)` leads to `\(first.request.table.name)`, but `\(second.name)` begins at "
                    + "`\(second.origin.name)`")
        }
        for association in [first, second] { try association.checkIsJoinable(for: "`\(name)` through `\(association.name)`") }
        var hops = first.hops + second.hops
        for (association, end) in [(first, first.hops.count - 1), (second, hops.count - 1)] where association.choosesFirst {
            hops[end].firsts.append(association)
        }
        hops[hops.count - 1].identities.append(AssociationIdentity(number: number, name: name))
        return Association(
            name: name, isPlural: isPlural ?? (first.isPlural || second.isPlural), origin: first.origin, hops: hops,
            tag: tag ?? second.tag, number: number, singularName: singularName)
    }

    /// Checks that a join can include the association's rows: it has no limit, groups or `distinct()`.
    func checkIsJoinable(for place: String) throws {
        let parts = request.parts.values
        let obstacle =
            request.limit != nil || request.offset > 0
            ? "a limit"
            : parts.isDistinct
                ? "distinct()"
                : !parts.groups.isEmpty || parts.having != nil ? "groups" : nil
        if let obstacle {
            throw RequestError.argument(
                "\(place): an association with \(obstacle) cannot be joined; use including_all to fetch it")
        }
    }

    /// Returns whether two associations lead through the same tables by the same columns, regardless of their conditions.
    func hasSamePath(as other: Association) -> Bool {
        hops.count == other.hops.count
            && zip(hops, other.hops).allSatisfy { a, b in
                a.table.isSameTable(as: b.table) && a.columns.elementsEqual(b.columns) { $0 == $1 }
                    && a.firsts.map(\.number) == b.firsts.map(\.number)
            }
    }
}

extension Request {
    /// Throws an error if a changed association request does not make clear which rows its expressions refer to.
    fileprivate func checkIsClear(to identities: [AssociationIdentity], _ origin: TableSchema, after former: Request) throws {
        guard source.alias == nil, self !== former else { return }
        let added = expressions
        let known = former.expressions
        for identity in identities where identity.number != 0 {
            for expression in added where !known.contains(where: { $0 === expression }) {
                if origin.isSameTable(as: table) { try expression.checkIsClear(identity, table, except: known) }
                guard joins(identity), expression.contains(except: known, { $0.isColumn(of: identity) }) else { continue }
                throw RequestError(
                    "ambiguous",
                    "`\(identity.name)` leads to `\(table.name)` several times in the request; give each an alias, and use the "
                        + "column from the intended one", fields: ["table": table.name])
            }
        }
    }

    private func joins(_ identity: AssociationIdentity) -> Bool {
        parts.values.joins.contains { join in
            join.association.hops.contains { hop in
                hop.request.source.alias == nil && hop.identities.contains { $0.number == identity.number }
                    || hop.request.joins(identity)
            }
        }
    }
}

extension TableSchema {
    func collation(of column: Int) -> String { column < 0 ? "BINARY" : columns[column].collation ?? "BINARY" }

    /// Returns whether both describe the same table of the database, possibly from different versions of the schema.
    func isSameTable(as other: TableSchema) -> Bool {
        self === other
            || (kind != .request && other.kind != .request && databaseName == other.databaseName
                && name.foldedName == other.name.foldedName)
    }
}
