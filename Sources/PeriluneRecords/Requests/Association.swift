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

    /// One step from table to table.
    struct Hop: Sendable {
        /// Positions in the table before, and in this one.
        let columns: [(from: Int, to: Int)]
        let request: Request

        var table: TableSchema { request.table }
        /// Whether it leads to one row at most.
        var isToOne: Bool { table.containsUniqueKey(columns.map(\.to)) }
    }

    init(name: String, isPlural: Bool, origin: TableSchema, hops: [Hop], tag: Int, singularName: String?) {
        self.name = name
        self.isPlural = isPlural
        self.origin = origin
        self.hops = hops
        self.tag = tag
        self.singularName = singularName ?? hops.last!.table.name
    }

    /// Which rows are associated, of all that the keys allow.
    package var request: Request { hops[hops.count - 1].request }

    /// The same association, of rows that a request is derived to have.
    package func map(_ change: (Request) throws -> Request) rethrows -> Association {
        let request = try change(request)
        let last = Hop(columns: hops[hops.count - 1].columns, request: request)
        return Association(
            name: name, isPlural: isPlural, origin: origin, hops: hops.dropLast() + [last], tag: tag, singularName: singularName)
    }

    /// The same association by another name.
    package func named(_ name: String) throws -> Association {
        try Expression.checkName(name, of: "an association")
        return Association(
            name: name, isPlural: isPlural, origin: origin, hops: hops, tag: tag, singularName: singularName)
    }

    // MARK: - Making

    /// - Parameters:
    ///   - columns: Pairs of positions: in the origin, and in the table of the request. At least one.
    ///   - request: The rows of the other table that may be associated.
    ///   - tag: A number that the plan gives back, for finding the class of the rows.
    ///   - singularName: What names of aggregates are made of; by default the name of the other table.
    package convenience init(
        _ name: String, isPlural: Bool, from origin: TableSchema, columns: [(from: Int, to: Int)], to request: Request,
        tag: Int = 0, singularName: String? = nil
    ) throws {
        try Expression.checkName(name, of: "an association")
        guard !columns.isEmpty else { throw RequestError.argument("the association `\(name)` needs columns") }
        let hop = Hop(columns: columns, request: request)
        self.init(name: name, isPlural: isPlural, origin: origin, hops: [hop], tag: tag, singularName: singularName)
    }

    /// The rows that are associated with those of an association: the publishers of an author's books.
    package static func through(
        _ first: Association, _ second: Association, name: String, isPlural: Bool? = nil, tag: Int? = nil,
        singularName: String? = nil
    ) throws -> Association {
        try Expression.checkName(name, of: "an association")
        guard first.request.table.isSameTable(as: second.origin) else {
            throw RequestError.argument(
                "`\(name)`: `\(first.name)` leads to `\(first.request.table.name)`, but `\(second.name)` begins at "
                    + "`\(second.origin.name)`")
        }
        for association in [first, second] { try association.checkIsJoinable(for: "`\(name)` through `\(association.name)`") }
        return Association(
            name: name, isPlural: isPlural ?? (first.isPlural || second.isPlural), origin: first.origin,
            hops: first.hops + second.hops, tag: tag ?? second.tag, singularName: singularName)
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
                "\(place): an association with \(obstacle) cannot be joined; including_all can fetch it")
        }
    }

    /// Whether two associations reach the same rows by the same columns, whatever their conditions.
    func hasSamePath(as other: Association) -> Bool {
        hops.count == other.hops.count
            && zip(hops, other.hops).allSatisfy { a, b in
                a.table.isSameTable(as: b.table) && a.columns.elementsEqual(b.columns) { $0 == $1 }
            }
    }
}

extension TableSchema {
    /// Whether it is the same table of the database, perhaps as it looked at another time.
    func isSameTable(as other: TableSchema) -> Bool {
        self === other
            || (kind != .request && other.kind != .request && databaseName == other.databaseName
                && name.foldedName == other.name.foldedName)
    }
}
