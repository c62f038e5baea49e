/// How the rows of one table belong to those of another: by pairs of columns, over any number of tables in between. Derives like
/// a request: ``map(_:)`` changes which of the associated rows are meant, their order, selection and own associations.
package final class Association: Sendable {
    /// The field that associated rows are found in.
    package let name: String
    /// Whether one row may have several.
    package let isPlural: Bool
    package let origin: TableSchema
    /// The tables on the way; the last one is that of the associated rows.
    let hops: [Hop]
    /// A number of the caller, found again in the plan.
    package let tag: Int
    /// What names of aggregates are made of: `book` of `book_count`.
    let singularName: String
    /// What its columns are known by.
    let number: Int

    /// One step from table to table.
    struct Hop: Sendable {
        /// Positions in the table before, and in this one.
        let columns: [(from: Int, to: Int)]
        let request: Request
        /// The associations that lead to these rows: several, where one goes through others.
        var identities: [AssociationIdentity] = []
        /// For each pair the collation that the column of this table is compared by, where that is not its own.
        var collations: [String?]
        /// The associations on the way that end here, each of which means the first of several rows.
        var firsts: [Association] = []

        var table: TableSchema { request.table }
        /// Whether it leads to one row at most.
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

    /// Which rows are associated, of all that the keys allow.
    package var request: Request { hops[hops.count - 1].request }

    /// The same association, of rows that a request is derived to have.
    ///
    /// - Throws: ``RequestError`` where a new condition means the rows both by columns of the association and by those of their table,
    ///   which may be that of the rows they belong to.
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

    /// The same association by another name.
    package func named(_ name: String) throws -> Association {
        try Expression.checkName(name, of: "an association")
        var hops = hops
        hops[hops.count - 1].identities = hops[hops.count - 1].identities.map { identity in
            identity.number == number ? AssociationIdentity(number: number, name: name) : identity
        }
        return Association(
            name: name, isPlural: isPlural, origin: origin, hops: hops, tag: tag, number: number, singularName: singularName)
    }

    // MARK: - Making

    /// - Parameters:
    ///   - columns: Pairs of positions: in the origin, and in the table of the request. At least one.
    ///   - request: The rows of the other table that may be associated.
    ///   - belongs: Whether the columns of the other table are those that are referenced.
    ///   - tag: A number that the plan gives back, for finding the class of the rows.
    ///   - number: What its columns are known by: ``AssociationIdentity/number``.
    ///   - singularName: What names of aggregates are made of; by default the name of the other table.
    package convenience init(
        _ name: String, isPlural: Bool, from origin: TableSchema, columns: [(from: Int, to: Int)], to request: Request,
        belongs: Bool = true, tag: Int = 0, number: Int = 0, singularName: String? = nil
    ) throws {
        try Expression.checkName(name, of: "an association")
        guard !columns.isEmpty else { throw RequestError.argument("the association `\(name)` needs columns") }
        // As SQLite compares foreign keys: by the collation of the column that is referenced.
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

    /// The rows that are associated with those of an association: the publishers of an author's books.
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

    /// Whether its rows can be joined one by one.
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

    /// Whether two associations reach the same rows by the same columns, whatever their conditions.
    func hasSamePath(as other: Association) -> Bool {
        hops.count == other.hops.count
            && zip(hops, other.hops).allSatisfy { a, b in
                a.table.isSameTable(as: b.table) && a.columns.elementsEqual(b.columns) { $0 == $1 }
                    && a.firsts.map(\.number) == b.firsts.map(\.number)
            }
    }
}

extension Request {
    /// Raises where what was added to the request of an association may mean other rows than it says.
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

    /// Whether it is the same table of the database, perhaps as it looked at another time.
    func isSameTable(as other: TableSchema) -> Bool {
        self === other
            || (kind != .request && other.kind != .request && databaseName == other.databaseName
                && name.foldedName == other.name.foldedName)
    }
}
