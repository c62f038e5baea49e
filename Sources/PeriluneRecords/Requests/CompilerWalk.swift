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
    /// Whether its table means it although it has an alias.
    private var isBound = false
    /// Whether columns are written without their table, and names of it: for SQL that stands alone.
    var isInline = false
    /// The common tables that may be read here.
    var declared: [TableSchema] = []
    /// The folded names of all common tables of the statement.
    var declaredNames: Set<String> = []
    /// The common tables whose definitions are being written, the innermost last.
    var defining: [TableSchema] = []
    /// Whether every column of the result is given its name: SQLite renames those that come out of a join in parentheses.
    var namesColumns = false
    /// Whether a SELECT of whole rows brings those columns, too, that are left out unless they are asked for: it is read by another one.
    var wantsLazyColumns = false
    /// Whether the condition that is written is negated as a whole.
    var isInsideNot = false
    let compiler: RequestCompiler
    /// Whether the columns of the outermost SELECT are to be described even if they are simple: for a shape that is new.
    var isDescribing = false
    /// What they are.
    var layout: RowLayout?
    /// Whether the SELECT that comes is not the outermost one.
    var isInside = false
    /// The joins in parentheses that are being written: SQL lets their conditions mean no tables outside.
    var group: JoinGroup?

    struct JoinGroup {
        /// The association that is joined as a whole.
        let name: String
        /// Its sources.
        let members: Set<Int>
        /// Sources that are placed later belong to a SELECT inside.
        let end: Int
    }

    struct PlacedSource {
        let source: RequestSource
        /// The table in the schema that is compiled for.
        let table: TableSchema
        /// Whether it is written to: then it is called by its own name, whatever its alias.
        let isTarget: Bool
        /// The SELECT it belongs to.
        let scope: Int
        /// The associations that lead to it.
        var identities: [AssociationIdentity] = []
        /// The source whose rows it belongs to by them, if that is in the statement, and its table.
        var parent: Int?
        var origin: TableSchema?
    }

    /// A SELECT that is being written, and what is to be restored after it.
    struct Scope {
        let id: Int
        let start: Int
        let own: Int
        let isBound: Bool
    }

    init(_ compiler: RequestCompiler) { self.compiler = compiler }

    // MARK: - Sources

    /// Gives a source its number.
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

    /// Notes which association leads to a source, and from where.
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

    /// Columns of that source are meant first from now on. Returns what was before.
    @discardableResult
    mutating func setOwn(_ number: Int) -> Int {
        defer { own = number }
        return own
    }

    /// Writes what was said of the source before it got its alias.
    mutating func bound(_ body: (inout CompilerWalk) throws -> Void) rethrows {
        let before = isBound
        isBound = true
        try body(&self)
        isBound = before
    }

    /// The source of the SELECT around this one whose columns are meant first there.
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

    /// The sources that may be named here, with what is meant first, SELECT by SELECT from the innermost.
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

    /// Whether the source whose columns are meant first is that table, and nothing else can be.
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
