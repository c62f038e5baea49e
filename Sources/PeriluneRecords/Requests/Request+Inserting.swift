/// The action of an INSERT for a row that conflicts with an existing one.
package struct Upsert: Sendable {
    /// The columns of the unique key; empty for any key.
    let target: [Int]
    /// The assignments to the existing row; empty to leave it unchanged.
    let assignments: [Assignment]
    let condition: Expression?

    package init(target: [Int], assignments: [Assignment], condition: Expression?) {
        self.target = target
        self.assignments = assignments
        self.condition = condition
    }
}

extension Request {
    /// Compiles an INSERT of another request's rows into the table of this request, which must not have conditions of its own.
    ///
    /// - Parameters:
    ///   - columns: The columns of the table that receive the result columns of `rows`, in order.
    ///   - upsert: The action for conflicting rows. It cannot be combined with a policy.
    package func compiledInsert(
        _ columns: [Int], from rows: Request, onConflict policy: ConflictPolicy? = nil, upsert: Upsert? = nil,
        returning: Returning = .nothing, by compiler: RequestCompiler
    ) throws -> CompiledRequest {
        try checkInserted(columns, rows)
        for assignment in upsert?.assignments ?? [] where !assignment.value.traits.isDisjoint(with: [.row, .aggregate, .window]) {
            throw RequestError.argument(
                "insert_from: `\(table.columns[assignment.column].name)` requires a single value for each row")
        }
        let result = try returned(returning)
        let describe = { (walk: CompilerWalk, _: RowLayout?) in
            result.map { RequestCompiler.Description($0, try? RowLayout($0, .init(own: walk.sources.count - 1), in: walk)) }
                ?? RequestCompiler.Description()
        }
        let table = table
        let (plan, walk) = try compiler.compile(describe) { walk in
            walk.isInside = true
            walk.tokens.add(policy.map(\.insertWord) ?? .insertInto)
            walk.tokens.add(.name, table.name.utf8)
            // Rename a table called `excluded`, because that name has a special meaning in upserts.
            if upsert != nil, table.name.foldedName == "excluded" { walk.tokens.add(.text, " AS \"perilune_target\"".utf8) }
            walk.tokens.add(.text, " (".utf8)
            walk.list(columns) { walk, column in walk.tokens.add(.name, table.columns[column].sqlName.utf8) }
            walk.tokens.add(.text, ") ".utf8)
            if upsert == nil {
                try walk.select(rows)
            } else {
                // Without a WHERE, SQLite would parse ON after the SELECT as part of a join.
                walk.tokens.add(.selectStarFrom)
                walk.tokens.add(.open)
                try walk.select(rows)
                walk.tokens.add(.text, ") WHERE 1".utf8)
            }
            walk.enterScope()
            walk.setOwn(try walk.place(source, isTarget: true))
            if let upsert { try walk.upsert(upsert, table) }
            if let result { try walk.returning(result) }
            walk.leaveScope()
        }
        return CompiledRequest(plan: plan, values: walk.values, prefetches: [], schema: compiler.schema)
    }

    private func checkInserted(_ columns: [Int], _ rows: Request) throws {
        guard case .table = source.body, table.kind == .table || table.kind == .view else {
            throw RequestError.argument("insert_from: expected a table to insert into")
        }
        try rows.checkColumnCount(columns.count, for: "insert_from")
        var seen = Set<Int>()
        for column in columns {
            guard column >= 0 else { throw RequestError.argument("insert_from: name the key column instead of the row id") }
            let info = table.columns[column]
            if info.generation != nil {
                throw RequestError.argument("insert_from: `\(info.name)` is a generated column, which cannot be written")
            }
            guard seen.insert(column).inserted else { throw RequestError.argument("insert_from: `\(info.name)` is given twice") }
        }
    }
}

extension ConflictPolicy {
    fileprivate var insertWord: Tokens.Word {
        switch self {
        case .abort: .insertAbort
        case .fail: .insertFail
        case .ignore: .insertIgnore
        case .replace: .insertReplace
        case .rollback: .insertRollback
        }
    }
}

extension CompilerWalk {
    fileprivate mutating func upsert(_ upsert: Upsert, _ table: TableSchema) throws {
        tokens.add(.onConflict)
        if !upsert.target.isEmpty {
            tokens.add(.open)
            list(upsert.target) { walk, column in walk.tokens.add(.name, table.columns[column].sqlName.utf8) }
            tokens.add(.text, ") ".utf8)
        }
        guard !upsert.assignments.isEmpty else { return tokens.add(.doNothing) }
        tokens.add(.doUpdate)
        try list(upsert.assignments) { walk, assignment in
            walk.tokens.add(.name, table.columns[assignment.column].sqlName.utf8)
            walk.tokens.add(.equals)
            try walk.expression(assignment.value)
        }
        guard let condition = upsert.condition else { return }
        tokens.add(.where)
        try expression(condition)
    }
}
