/// One walk over a request, which writes its shape, collects its bound values in the order of their parameters, and finds the
/// source of each column. Nothing of SQL text is made here.
struct CompilerWalk {
    var tokens = Tokens()
    var values: [Value] = []
    /// Every source of the statement, by number.
    private(set) var sources: [PlacedSource] = []
    /// The sources that columns may name here, the innermost last, and where those of each SELECT begin.
    private var visible: [Int] = []
    private(set) var scopes: [Scope] = []
    private var scopeCount = 0
    /// Sources that columns inside other SELECTs mean: no source of these may have their names.
    private(set) var outerUses: [(source: Int, scope: Int)] = []
    /// The source whose columns are meant first.
    private(set) var own = -1
    /// Whether columns are written without their table, and names of it: for SQL that stands alone.
    var isInline = false
    /// The common tables that may be read here.
    var declared: [TableSchema] = []
    /// The folded names of all common tables of the statement.
    var declaredNames: Set<String> = []
    let compiler: RequestCompiler
    /// Whether the columns of the outermost SELECT are to be described even if they are simple: for a shape that is new.
    var isDescribing = false
    /// What they are.
    var layout: Layout?
    /// Whether the SELECT that comes is not the outermost one.
    var isInside = false

    struct PlacedSource {
        let source: Source
        /// The table as it is in the schema that is compiled for.
        let table: TableSchema
        /// Whether it is written to: then it is called by its own name, whatever its alias.
        let isTarget: Bool
        /// The SELECT it belongs to.
        let scope: Int
    }

    /// A SELECT that is being written, and what is to be restored after it.
    struct Scope {
        let id: Int
        let start: Int
        let own: Int
    }

    init(_ compiler: RequestCompiler) { self.compiler = compiler }

    // MARK: - Sources

    /// Gives a source its number.
    mutating func place(_ source: Source, isTarget: Bool = false) throws -> Int {
        var table = source.table
        if let schema = source.schema, schema !== compiler.schema { table = try compiler.current(table) }
        try checkAlias(source)
        sources.append(PlacedSource(source: source, table: table, isTarget: isTarget, scope: scopes[scopes.count - 1].id))
        visible.append(sources.count - 1)
        return sources.count - 1
    }

    private func checkAlias(_ source: Source) throws {
        guard let alias = source.alias?.foldedName else { return }
        let start = scopes[scopes.count - 1].start
        if visible[start...].contains(where: { sources[$0].source.alias?.foldedName == alias }) {
            throw RequestError(
                "ambiguous", "two tables of the request have the alias `\(source.alias!)`", fields: ["name": source.alias!])
        }
    }

    /// Begins a SELECT.
    mutating func enterScope() {
        scopeCount += 1
        scopes.append(Scope(id: scopeCount, start: visible.count, own: own))
    }

    mutating func leaveScope() {
        let scope = scopes.removeLast()
        visible.removeSubrange(scope.start...)
        own = scope.own
    }

    /// Columns of that source are meant first from now on. Returns what was before.
    @discardableResult
    mutating func setOwn(_ number: Int) -> Int {
        defer { own = number }
        return own
    }

    /// The source of the SELECT around this one whose columns are meant first there.
    var outerOwn: Int { scopes[scopes.count - 1].own }

    // MARK: - Columns

    /// Writes a column of the source that it means.
    mutating func column(_ table: TableSchema, _ position: Int, _ alias: String?) throws {
        if isInline {
            tokens.add(.bareColumn, (position >= 0 ? table.columns[position].name : table.rowIDName ?? "rowid").utf8)
            return
        }
        if own >= 0, alias == nil || sources[own].source.alias?.foldedName == alias!.foldedName,
            sources[own].table === table
        {
            try checkMeaning(table, position, alias)
            column(position, of: own)
            return
        }
        let number = try findSource(table, alias)
        column(try current(position, of: table, in: number), of: number)
    }

    /// A column without an alias, where the request's own table has one and a request around reads the same table without: it could be
    /// either.
    private func checkMeaning(_ table: TableSchema, _ position: Int, _ alias: String?) throws {
        guard alias == nil, let ownAlias = sources[own].source.alias, scopes.count > 1 else { return }
        guard
            visible[..<scopes[scopes.count - 1].start].contains(where: {
                sources[$0].table === table && sources[$0].source.alias == nil
            })
        else { return }
        let column = position >= 0 ? table.columns[position].name : "rowid"
        throw RequestError(
            "ambiguous",
            "`\(column)` may be that of `\(ownAlias)` or that of `\(table.name)` in the request around: take it from the request with the "
                + "alias, and give the request around an alias too", fields: ["table": table.name])
    }

    @inline(__always)
    mutating func column(_ position: Int, of number: Int) {
        if sources[number].scope != scopes[scopes.count - 1].id { noteOuterUse(of: number) }
        tokens.add(.column)
        tokens.add(number: number)
        tokens.add(number: position)
    }

    private mutating func noteOuterUse(of number: Int) {
        let outer = sources[number].scope
        for scope in scopes.reversed() {
            if scope.id == outer { return }
            outerUses.append((number, scope.id))
        }
    }

    /// A position in a table as it looked when the expression was made, in the table as it is.
    func current(_ position: Int, of table: TableSchema, in number: Int) throws -> Int {
        let found = sources[number].table
        if found === table || position == TableSchema.rowID { return position }
        let name = table.columns[position].name
        guard let position = found.column(named: name) else { throw RequestError.unknownColumn(name, in: found) }
        return position
    }

    /// The number of the source that a column of a table means: the nearest one.
    private func findSource(_ table: TableSchema, _ alias: String?) throws -> Int {
        var end = visible.count
        var preferred = own
        for scope in scopes.reversed() {
            let found = visible[scope.start..<end].filter { matches($0, table, alias) }
            if let number = try choose(found, preferred, table, alias) { return number }
            end = scope.start
            preferred = scope.own
        }
        throw notFound(table, alias)
    }

    private func choose(_ found: [Int], _ preferred: Int, _ table: TableSchema, _ alias: String?) throws -> Int? {
        if found.contains(preferred) { return preferred }
        if found.count < 2 { return found.first }
        let names = found.map { sources[$0].source.alias.map { "`\($0)`" } ?? "one without an alias" }
        throw RequestError(
            "ambiguous",
            alias.map { "there are two tables with the alias `\($0)`" }
                ?? "`\(table.name)` is joined \(found.count) times (\(names.joined(separator: ", "))): give each an alias, and "
                + "take the column from the one that is meant", fields: ["table": table.name])
    }

    private func matches(_ number: Int, _ table: TableSchema, _ alias: String?) -> Bool {
        let placed = sources[number]
        if let alias, placed.source.alias?.foldedName != alias.foldedName { return false }
        return placed.table === table || placed.source.table.isSameTable(as: table)
    }

    private func notFound(_ table: TableSchema, _ alias: String?) -> RequestError {
        if alias == nil, visible.contains(where: { sources[$0].table.kind == .request && sources[$0].table.name == table.name }) {
            return RequestError(
                "not_joined",
                "a column of `\(table.name)` is used, but the request reads what was selected of it: name the column as it was "
                    + "selected, perilune.column(\"name\")", fields: ["table": table.name])
        }
        let names = visible.map { sources[$0].source.alias ?? sources[$0].table.name }
        return RequestError(
            "not_joined",
            "a column of `\(alias ?? table.name)` is used, but the request reads \(names.map { "`\($0)`" }.joined(separator: ", ")) "
                + "only; join it: joining_required(...)", fields: ["table": table.name])
    }

    // MARK: - Values

    @inline(__always)
    mutating func value(_ value: Value) {
        tokens.add(.value)
        values.append(value)
    }

    mutating func list<Element>(_ elements: some Collection<Element>, _ body: (inout CompilerWalk, Element) throws -> Void)
        rethrows
    {
        var isFirst = true
        for element in elements {
            if !isFirst { tokens.add(.comma) }
            isFirst = false
            try body(&self, element)
        }
    }
}
