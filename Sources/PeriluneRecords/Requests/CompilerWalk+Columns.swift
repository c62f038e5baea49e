/// Resolution of columns: which source of the statement a column refers to.
///
/// 1. A column with an alias refers to the source with that alias. A column of an association refers to the source that the association
/// leads to.
/// 2. Any other column refers to the source that uses it: the source of the request or of the association. If that association has an
/// alias, its own columns use the alias; the same table without the alias then means its parent row, if the parent is of the same table.
/// 3. Otherwise the column refers to the only source of its table. Inside an association, its parent rows and the rows joined to them are
/// searched first; then the SELECT that contains the column; then the enclosing SELECTs.
///
/// If several sources remain, the column is ambiguous.
extension CompilerWalk {
    /// Writes a column of the source that it refers to.
    mutating func column(_ table: TableSchema, _ position: Int, _ place: ColumnPlace) throws {
        if isInline {
            tokens.add(.bareColumn, (position >= 0 ? table.columns[position].sqlName : table.rowIDName ?? "rowid").utf8)
            return
        }
        if case .nearest = place, isPlainlyOwn(table) { return column(position, of: own) }
        let meaning = ColumnMeaning(walk: self, table: table, position: position, place: place)
        let number = try meaning.find()
        try checkIsInGroup(number, position, of: table)
        column(try current(position, of: table, in: number), of: number)
    }

    private func checkIsInGroup(_ number: Int, _ position: Int, of table: TableSchema) throws {
        guard let group, number < group.end, !group.members.contains(number) else { return }
        let column = position >= 0 ? table.columns[position].name : table.rowIDName ?? "rowid"
        throw RequestError.argument(
            "a condition inside of the optional `\(group.name)` refers to the column `\(column)` of a `\(table.name)` outside of it; put the "
                + "condition on `\(group.name)` itself, or make that required")
    }

    /// Returns the position of a column in the current schema. The given position belongs to the schema in which the expression was
    /// created.
    func current(_ position: Int, of table: TableSchema, in number: Int) throws -> Int {
        let found = sources[number].table
        if found === table || position == TableSchema.rowID { return position }
        let name = table.columns[position].sqlName
        guard let position = found.column(inDatabase: name) else { throw RequestError.unknownColumn(name, in: found) }
        return position
    }

    /// Throws an error if a condition of an association is ambiguous: it uses columns of the association and also columns of the associated
    /// table, and the latter could mean a parent row of the same table.
    func checkIsClear(_ expression: Expression, of number: Int) throws {
        let placed = sources[number]
        guard placed.source.alias == nil, !placed.identities.isEmpty else { return }
        var ancestor = placed.parent
        var isAround = placed.origin?.isSameTable(as: placed.table) ?? false
        while let source = ancestor, !isAround {
            isAround = sources[source].source.alias == nil && sources[source].table.isSameTable(as: placed.table)
            ancestor = sources[source].parent
        }
        guard isAround else { return }
        for identity in placed.identities {
            for member in expression.members(isAnd: true) { try member.checkIsClear(identity, placed.table) }
        }
    }
}

extension Expression {
    /// Throws an error if the expression uses both columns of the association and columns of the associated table.
    func checkIsClear(_ identity: AssociationIdentity, _ table: TableSchema, except former: [Expression] = []) throws {
        guard identity.number != 0, contains(except: former, { $0.isColumn(of: identity) }) else { return }
        var name: String?
        let isMixed = contains(except: former) { expression in
            guard case .column(let own, let position, .nearest) = expression.kind, own.isSameTable(as: table) else {
                return false
            }
            name = position >= 0 ? own.columns[position].name : own.rowIDName ?? "rowid"
            return true
        }
        guard isMixed else { return }
        throw RequestError(
            "ambiguous",
            "`\(name!)` is ambiguous between `\(identity.name)` and the `\(table.name)` it belongs to; give the association an "
                + "alias, local other = Class.\(identity.name):aliased(\"other\"), and use the columns of other.c",
            fields: ["table": table.name])
    }

    func isColumn(of identity: AssociationIdentity) -> Bool {
        if case .column(_, _, .association(let own)) = kind { own.number == identity.number } else { false }
    }
}

/// The resolution of one column to a source of the statement.
private struct ColumnMeaning {
    let walk: CompilerWalk
    let table: TableSchema
    let position: Int
    let place: ColumnPlace

    private var sources: [CompilerWalk.PlacedSource] { walk.sources }

    func find() throws -> Int {
        let levels = walk.levels
        if case .nearest = place, let number = try findAlong(levels[0]) { return number }
        for (index, level) in levels.enumerated() {
            let found = level.numbers.filter(matches)
            if let number = try choose(found, level, outer: levels[(index + 1)...]) { return number }
        }
        throw notFound()
    }

    private func matches(_ number: Int) -> Bool {
        let placed = sources[number]
        guard placed.table === table || placed.source.table.isSameTable(as: table) else { return false }
        return switch place {
        case .nearest: true
        case .alias(let alias): placed.source.alias?.foldedName == alias.foldedName
        case .association(let identity): placed.identities.contains { $0.number == identity.number }
        }
    }

    private func choose(
        _ found: [Int], _ level: CompilerWalk.Level, outer: ArraySlice<CompilerWalk.Level>
    ) throws -> Int? {
        if found.contains(level.own), level.isBound || !isAliased(level.own) { return level.own }
        switch place {
        case .alias:
            if found.contains(level.own) { return level.own }
        case .nearest:
            if found.contains(level.own) { return try around(level.own, outer) ?? level.own }
        case .association(let identity):
            let plain = found.filter { !isAliased($0) }
            let exact = plain.filter { sources[$0].identities.contains(where: identity.isSame(as:)) }
            if let number = exact.first ?? plain.first, exact.count == 1 || plain.count == 1 { return number }
        }
        if found.count < 2 { return found.first }
        throw ambiguous(found)
    }

    /// Returns the source of a column that an association uses but that belongs to another table. Parent rows of the association, and rows
    /// joined to it, take precedence over other joins of the request.
    private func findAlong(_ level: CompilerWalk.Level) throws -> Int? {
        guard level.own >= 0, sources[level.own].parent != nil, !matches(level.own) else { return nil }
        let found = ancestors(of: level.own) + level.numbers.filter { ancestors(of: $0).contains(level.own) }
        let matching = found.filter(matches)
        let plain = matching.filter { !isAliased($0) }
        if let number = plain.first ?? matching.first, plain.count == 1 || matching.count == 1 { return number }
        if matching.isEmpty { return nil }
        throw ambiguous(matching)
    }

    /// Returns the sources of a row's parents, nearest first.
    private func ancestors(of number: Int) -> [Int] {
        var result: [Int] = []
        var top = number
        while let parent = sources[top].parent {
            result.append(parent)
            top = parent
        }
        return result
    }

    private func isAliased(_ number: Int) -> Bool { sources[number].source.alias != nil }

    /// Returns the source for a table without an alias that is used inside an aliased source of the same table: the parent with that table.
    private func around(_ number: Int, _ outer: ArraySlice<CompilerWalk.Level>) throws -> Int? {
        let ancestors = ancestors(of: number)
        let found = ancestors.filter { !isAliased($0) && matches($0) }
        let top = ancestors.last ?? number
        if found.count > 1 { throw ambiguous(found) }
        if let number = found.first { return number }
        if let origin = sources[top].origin, origin.isSameTable(as: table) { throw notInStatement(number) }
        if outer.contains(where: { $0.numbers.contains { !isAliased($0) && sources[$0].table === table } }) {
            throw mayBeOuter(number)
        }
        return nil
    }

    // MARK: - Errors

    private var columnName: String { position >= 0 ? table.columns[position].name : "rowid" }

    private func ambiguous(_ found: [Int]) -> RequestError {
        let names = found.map { sources[$0].source.alias.map { "`\($0)`" } ?? "one without an alias" }.joined(separator: ", ")
        let message =
            switch place {
            case .alias(let alias): "two tables have the alias `\(alias)`"
            case .association(let identity):
                "`\(identity.name)` leads to `\(table.name)` \(found.count) times in the request (\(names)); give each an alias, and use "
                    + "the column from the intended one"
            case .nearest:
                "`\(table.name)` is joined \(found.count) times (\(names)); give each an alias, and use the column from the one "
                    + "that is meant"
            }
        return RequestError("ambiguous", message, fields: ["table": table.name])
    }

    /// Returns the error for a column without an alias that could mean the request's aliased table or the enclosing request's table without
    /// an alias.
    private func mayBeOuter(_ number: Int) -> RequestError {
        RequestError(
            "ambiguous",
            "`\(columnName)` is ambiguous between `\(sources[number].source.alias!)` and `\(table.name)` of the enclosing request; take "
                + "it from the request with the alias, and give the enclosing request an alias too", fields: ["table": table.name]
        )
    }

    /// Returns the error for a column of the parent row in a statement that fetches only the associated rows.
    private func notInStatement(_ number: Int) -> RequestError {
        RequestError(
            "not_joined",
            "`\(columnName)` is a column of the `\(table.name)` that rows of `\(sources[number].source.alias!)` belong to, but they are fetched "
                + "by a separate statement; join the association, or compare within one row",
            fields: ["table": table.name])
    }

    private func notFound() -> RequestError {
        let visible = walk.levels.flatMap(\.numbers)
        if case .nearest = place,
            visible.contains(where: { sources[$0].table.kind == .request && sources[$0].table.name == table.name })
        {
            return RequestError(
                "not_joined",
                "a column of `\(table.name)` is used, but the request reads a selection of it; refer to the selected column "
                    + "with perilune.column(\"name\")", fields: ["table": table.name])
        }
        let names = visible.map { "`\(sources[$0].source.alias ?? sources[$0].table.name)`" }.joined(separator: ", ")
        let (what, cure) =
            switch place {
            case .nearest: (table.name, "joining_required(...)")
            case .alias(let alias): (alias, "joining_required(...)")
            case .association(let identity): (identity.name, "joining_required(Class.\(identity.name))")
            }
        return RequestError(
            "not_joined", "a column of `\(what)` is used, but the request reads \(names) only; join it: \(cure)",
            fields: ["table": table.name])
    }
}
