/// A walk over a request. It writes the request's shape, collects the bound values in the order of their parameters, and finds
/// the source of each column. It creates no SQL text.
struct CompilerWalk {
    var tokens = Tokens()
    var values: [Value] = []
    /// All sources of the statement. Their indexes are their numbers.
    private(set) var sources: [PlacedSource] = []
    /// The sources that columns may use here, the innermost last.
    private var visible: [Int] = []
    private(set) var scopes: [Scope] = []
    private var scopeCount = 0
    /// The sources that columns inside other SELECTs refer to, with those SELECTs. Sources there must have different names.
    private(set) var outerUses: [(source: Int, scope: Int)] = []
    /// The number of the source whose columns have precedence.
    private(set) var own = -1
    /// Whether columns without an alias refer to the source with precedence although it has one.
    private var isBound = false
    /// Whether columns are written without their table, for SQL outside of a statement.
    var isInline = false
    /// The common tables that may be read here.
    var declared: [TableSchema] = []
    /// The folded names of all common tables of the statement.
    var declaredNames: Set<String> = []
    /// The common tables whose definitions are being written, the innermost last.
    var defining: [TableSchema] = []
    /// Whether every result column needs a name, because SQLite renames columns of a join in parentheses.
    var namesColumns = false
    /// Whether a SELECT of whole rows includes lazy columns, because an outer SELECT reads them.
    var wantsLazyColumns = false
    /// Whether the condition being written is negated as a whole.
    var isInsideNot = false
    let compiler: RequestCompiler
    /// Whether the result columns of the outermost SELECT are described even if they are simple, because the shape is new.
    var isDescribing = false
    /// The layout of the result columns.
    var layout: RowLayout?
    /// Whether the next SELECT is not the outermost one.
    var isInside = false
    /// The joins in parentheses that are being written. SQL does not allow their conditions to refer to tables outside.
    var group: JoinGroup?

    struct JoinGroup {
        /// The name of the association that is joined as a whole.
        let name: String
        /// The numbers of the association's sources.
        let members: Set<Int>
        /// The number from which on sources belong to an inner SELECT.
        let end: Int
    }

    struct PlacedSource {
        let source: RequestSource
        /// The table in the schema of the compilation.
        let table: TableSchema
        /// Whether the source is the target of a write. A target is referred to by the table's own name even if it has an alias.
        let isTarget: Bool
        /// The id of the SELECT that contains the source.
        let scope: Int
        /// The associations that lead to the source.
        var identities: [AssociationIdentity] = []
        /// The number of the source that the rows belong to through the associations, if it is in the statement, and the table of
        /// that source.
        var parent: Int?
        var origin: TableSchema?
    }

    /// A SELECT that is being written, with the state to restore after it.
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

    /// Gives a source precedence. Returns the previous one.
    @discardableResult
    mutating func setOwn(_ number: Int) -> Int {
        defer { own = number }
        return own
    }

    /// Writes expressions that were created before their source got an alias.
    mutating func bound(_ body: (inout CompilerWalk) throws -> Void) rethrows {
        let before = isBound
        isBound = true
        try body(&self)
        isBound = before
    }

    /// The source with precedence in the surrounding SELECT.
    var outerOwn: Int { scopes[scopes.count - 1].own }

    // MARK: - Columns

    @inline(__always)
    mutating func column(_ position: Int, of number: Int) {
        if sources[number].scope != scopes[scopes.count - 1].id { noteOuterUse(of: number) }
        tokens.add(.column)
        tokens.add(number: number)
        tokens.add(number: position)
    }

    /// Writes a column, which is compared by a collation if one is given.
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

    /// The sources that may be used here, grouped by SELECT from the innermost, each with the source that has precedence.
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

    /// Returns whether the source that takes precedence is the given table and has no alias, so that a reference is unambiguous.
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
