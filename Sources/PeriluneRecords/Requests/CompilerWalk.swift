/// A walk over a request that writes its shape as tokens, collects the bound values in parameter order, and resolves each column to a
/// source. SQL text is created later, from the tokens.
struct CompilerWalk {
    var tokens = Tokens()
    var values: [Value] = []
    /// All sources of the statement, numbered by their indexes.
    private(set) var sources: [PlacedSource] = []
    /// The sources that columns may refer to at this point, innermost last.
    private var visible: [Int] = []
    private(set) var scopes: [Scope] = []
    private var scopeCount = 0
    /// The sources that columns in nested SELECTs refer to, and these SELECTs. Such sources need names that are unique there.
    private(set) var outerUses: [(source: Int, scope: Int)] = []
    /// The number of the preferred source, to which columns without an alias refer first; -1 without such a source.
    private(set) var own = -1
    /// Whether columns without an alias refer to the preferred source although it has an alias.
    private var isBound = false
    /// Whether to write columns without their table, for SQL that is not part of a statement.
    var isInline = false
    /// The common table expressions that may be used at this point.
    var declared: [TableSchema] = []
    /// The case-folded names of all common table expressions in the statement.
    var declaredNames: Set<String> = []
    /// The common table expressions whose definitions are being written, innermost last.
    var defining: [TableSchema] = []
    /// Whether to name every result column, because SQLite renames the columns of a join in parentheses.
    var namesColumns = false
    /// Whether a SELECT of whole rows includes lazy columns, because an enclosing SELECT reads them.
    var wantsLazyColumns = false
    /// Whether the current condition is inside a NOT.
    var isInsideNot = false
    let compiler: RequestCompiler
    /// Whether to describe even simple result columns of the outermost SELECT, because the shape is not cached yet.
    var isDescribing = false
    /// The layout of the outermost SELECT's result columns.
    var layout: RowLayout?
    /// Whether the SELECT to be written is nested in another statement.
    var isInside = false
    /// The join in parentheses that is being written. SQL does not allow its conditions to refer to tables outside of it.
    var group: JoinGroup?

    struct JoinGroup {
        /// The name of the association that is joined as a group.
        let name: String
        /// The numbers of the association's sources.
        let members: Set<Int>
        /// The first source number that belongs to a nested SELECT instead.
        let end: Int
    }

    struct PlacedSource {
        let source: RequestSource
        /// The table in the schema for which the request is compiled.
        let table: TableSchema
        /// Whether the source is the target of a write, which is named by the table's own name even if it has an alias.
        let isTarget: Bool
        /// The id of the SELECT that contains the source.
        let scope: Int
        /// The associations that lead to the source.
        var identities: [AssociationIdentity] = []
        /// The number of the parent rows' source, if it is in the statement, and the table of the parent rows.
        var parent: Int?
        var origin: TableSchema?
    }

    /// A SELECT that is being written, and the enclosing state to restore at its end.
    struct Scope {
        let id: Int
        let start: Int
        let own: Int
        let isBound: Bool
    }

    init(_ compiler: RequestCompiler) { self.compiler = compiler }

    // MARK: - Sources

    /// Adds a source and returns its number.
    mutating func place(_ source: RequestSource, isTarget: Bool = false) throws -> Int {
        var table = source.table
        if let schema = source.schema, schema !== compiler.schema { table = try compiler.current(table) }
        try checkAlias(source)
        var placed = PlacedSource(source: source, table: table, isTarget: isTarget, scope: scopes[scopes.count - 1].id)
        if let (identity, fromItself) = source.reached {
            placed.identities = [identity]
            placed.origin = fromItself ? table : nil
        }
        sources.append(placed)
        visible.append(sources.count - 1)
        return sources.count - 1
    }

    /// Records the association that leads to a source, and the source's parent.
    mutating func note(_ number: Int, reachedBy hop: Association.Hop, from parent: Int?, _ origin: TableSchema? = nil) {
        sources[number].identities += hop.identities
        sources[number].parent = parent
        sources[number].origin = origin
    }

    private func checkAlias(_ source: RequestSource) throws {
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
        scopes.append(Scope(id: scopeCount, start: visible.count, own: own, isBound: isBound))
        isBound = false
    }

    mutating func leaveScope() {
        let scope = scopes.removeLast()
        visible.removeSubrange(scope.start...)
        own = scope.own
        isBound = scope.isBound
    }

    /// Makes a source the preferred one. Returns the previously preferred one.
    @discardableResult
    mutating func setOwn(_ number: Int) -> Int {
        defer { own = number }
        return own
    }

    /// Writes expressions that were created before their source received an alias.
    mutating func bound(_ body: (inout CompilerWalk) throws -> Void) rethrows {
        let before = isBound
        isBound = true
        try body(&self)
        isBound = before
    }

    /// The preferred source of the enclosing SELECT.
    var outerOwn: Int { scopes[scopes.count - 1].own }

    // MARK: - Columns

    @inline(__always)
    mutating func column(_ position: Int, of number: Int) {
        if sources[number].scope != scopes[scopes.count - 1].id { noteOuterUse(of: number) }
        tokens.add(.column)
        tokens.add(number: number)
        tokens.add(number: position)
    }

    /// Writes a column, with an explicit collation if one is given.
    mutating func column(_ position: Int, of number: Int, _ collation: String?) {
        column(position, of: number)
        guard let collation else { return }
        tokens.add(.collate)
        tokens.add(.name, collation.utf8)
    }

    private mutating func noteOuterUse(of number: Int) {
        let outer = sources[number].scope
        for scope in scopes.reversed() {
            if scope.id == outer { return }
            outerUses.append((number, scope.id))
        }
    }

    /// The sources that may be used at this point, grouped by SELECT from the innermost outward.
    var levels: [Level] {
        var end = visible.count
        var result: [Level] = []
        var (own, isBound) = (own, isBound)
        for scope in scopes.reversed() {
            result.append(Level(numbers: visible[scope.start..<end], own: own, isBound: isBound))
            end = scope.start
            (own, isBound) = (scope.own, scope.isBound)
        }
        return result
    }

    struct Level {
        let numbers: ArraySlice<Int>
        let own: Int
        let isBound: Bool
    }

    /// Returns whether the preferred source is the given table without an alias, in which case a column needs no further search.
    @inline(__always)
    func isPlainlyOwn(_ table: TableSchema) -> Bool {
        own >= 0 && sources[own].table === table && sources[own].source.alias == nil
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
