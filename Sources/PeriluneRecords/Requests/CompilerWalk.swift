/// A walk over a request that writes its shape, collects its bound values in the order of their parameters, and finds the source of
/// each column. It makes no SQL text.
struct CompilerWalk {
    var tokens = Tokens()
    var values: [Value] = []
    /// Every source of the statement, by number.
    private(set) var sources: [PlacedSource] = []
    /// The sources that columns may use here, the innermost last, and the start of each SELECT's sources.
    private var visible: [Int] = []
    private(set) var scopes: [Scope] = []
    private var scopeCount = 0
    /// Sources that columns inside other SELECTs refer to, so sources there must not have the same names.
    private(set) var outerUses: [(source: Int, scope: Int)] = []
    /// The source whose columns have precedence.
    private(set) var own = -1
    /// Whether its table refers to it although it has an alias.
    private var isBound = false
    /// Whether columns are written without their table, for standalone SQL.
    var isInline = false
    /// The common tables that may be read here.
    var declared: [TableSchema] = []
    /// The folded names of all common tables of the statement.
    var declaredNames: Set<String> = []
    /// The common tables whose definitions are being written, the innermost last.
    var defining: [TableSchema] = []
    /// Whether every result column gets a name, because SQLite renames columns of a join in parentheses.
    var namesColumns = false
    /// Whether a SELECT of whole rows includes lazy columns, because another SELECT reads it.
    var wantsLazyColumns = false
    /// Whether the condition being written is negated as a whole.
    var isInsideNot = false
    let compiler: RequestCompiler
    /// Whether the result columns of the outermost SELECT are described even if they are simple, for a new shape.
    var isDescribing = false
    /// The layout of the result columns.
    var layout: RowLayout?
    /// Whether the next SELECT is not the outermost one.
    var isInside = false
    /// The joins in parentheses being written. In SQL their conditions cannot refer to tables outside.
    var group: JoinGroup?

    struct JoinGroup {
        /// The name of the association joined as a whole.
        let name: String
        /// The numbers of its sources.
        let members: Set<Int>
        /// Sources placed later belong to an inner SELECT.
        let end: Int
    }

    struct PlacedSource {
        let source: RequestSource
        /// The table in the schema of the compilation.
        let table: TableSchema
        /// Whether it is the target of a write, which is called by its own name even if it has an alias.
        let isTarget: Bool
        /// The SELECT that contains it.
        let scope: Int
        /// The associations that lead to it.
        var identities: [AssociationIdentity] = []
        /// The source whose rows it belongs to through these associations, if that is in the statement, and its table.
        var parent: Int?
        var origin: TableSchema?
    }

    /// A SELECT being written, with the state to restore after it.
    struct Scope {
        let id: Int
        let start: Int
        let own: Int
        let isBound: Bool
    }

    init(_ compiler: RequestCompiler) { self.compiler = compiler }

    // MARK: - Sources

    /// Numbers a source.
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

    /// Records the association that leads to a source, and its parent.
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

    /// Starts a SELECT.
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

    /// Gives a source precedence and returns the previous one.
    @discardableResult
    mutating func setOwn(_ number: Int) -> Int {
        defer { own = number }
        return own
    }

    /// Writes expressions from the time before the source got its alias.
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

    private mutating func noteOuterUse(of number: Int) {
        let outer = sources[number].scope
        for scope in scopes.reversed() {
            if scope.id == outer { return }
            outerUses.append((number, scope.id))
        }
    }

    /// The sources that may be used here, with the one that has precedence, SELECT by SELECT from the innermost.
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

    /// Returns whether the source with precedence is that table and no other source can be meant.
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
