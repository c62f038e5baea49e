internal import CPeriluneRows
internal import GRDB
internal import PeriluneLua

/// An opener for the default database, and for databases opened with `perilune.queue`, `perilune.pool` and `perilune.deserialize`.
final class DatabaseOpener {
    /// Whether scripts may open files and run SQL that accesses files.
    private let allowsFiles: Bool
    /// Whether the script runs in a preview, which never opens files.
    private let isPreview: Bool
    /// The environment with the clock and random numbers of the databases.
    private let environment: ScriptEnvironment
    private let extensions: SQLiteExtensions
    private var openCount = 0
    /// The number of opened databases after which a garbage collection closes unused databases. Lua does not collect them early
    /// enough by itself, because a database occupies only a few bytes in Lua.
    private static let opensPerCollection = 64

    init(allowsFiles: Bool, isPreview: Bool = false, environment: ScriptEnvironment, extensions: SQLiteExtensions = .none) {
        self.environment = environment
        self.extensions = extensions
        self.allowsFiles = allowsFiles
        self.isPreview = isPreview
    }

    /// Adds `queue` and `pool` to the table `perilune`.
    func install(in perilune: LuaTable, of state: LuaState) throws {
        try perilune.setFunction("queue") { [unowned state] arguments in
            try [
                self.open(arguments, "perilune.queue", in: state) { path, options in
                    try self.environment.opening(path, options.queueConfiguration(for: path)) { path, configuration in
                        try configuration.waitingToOpen { try DatabaseQueue(path: path, configuration: $0) }
                    }
                }
            ]
        }
        try perilune.setFunction("pool") { [unowned state] arguments in
            try [
                self.open(arguments, "perilune.pool", in: state) { path, options in
                    guard let path else {
                        throw BindingError(
                            "argument",
                            "perilune.pool: argument 1: expected the path of a file; use perilune.queue for a database in memory")
                    }
                    if options.journal.mode == .delete, options.journal.switchesExisting {
                        throw BindingError(
                            "argument", "perilune.pool: option journal_mode: a pool needs \"wal\"; use perilune.queue")
                    }
                    let pool = try self.environment.opening(path, options.configuration) { path, configuration in
                        try configuration.waitingToOpen { try DatabasePool(path: path, configuration: $0) }
                    }
                    try options.journal.apply(to: pool)
                    return pool
                }
            ]
        }
        try installDeserialize(in: perilune, of: state)
    }

    /// Adds `deserialize` to the table `perilune`.
    private func installDeserialize(in perilune: LuaTable, of state: LuaState) throws {
        try perilune.setFunction("deserialize") { [unowned state] arguments in
            try arguments.refuseSurplus(after: 2, of: "perilune.deserialize")
            guard case .string(let bytes) = arguments[1] else {
                throw BindingError(
                    "argument", "perilune.deserialize: argument 1: expected a string, got \(arguments[1].shortDescription)")
            }
            guard self.allowsFiles else {
                throw BindingError("sandbox", "perilune.deserialize: this script may not open databases of others")
            }
            return try [
                self.open(nil, options: arguments[2], "perilune.deserialize", in: state) { path, options in
                    let queue = try self.environment.opening(path, options.configuration) {
                        try DatabaseQueue(path: $0, configuration: $1)
                    }
                    try DatabaseCopies.fill(queue, with: bytes.bytes)
                    return queue
                }
            ]
        }
    }

    private func open(
        _ arguments: LuaArguments, _ function: String, in state: LuaState,
        _ make: (String?, DatabaseOptions) throws -> any DatabaseWriter
    ) throws -> LuaValue {
        try arguments.refuseSurplus(after: 2, of: function)
        return try open(readPath(arguments, function), options: arguments[2], function, in: state, make)
    }

    private func open(
        _ path: String?, options: LuaValue, _ function: String, in state: LuaState,
        _ make: (String?, DatabaseOptions) throws -> any DatabaseWriter
    ) throws -> LuaValue {
        let options = try DatabaseOptions(options, for: function, state: state)
        openCount += 1
        if openCount.isMultiple(of: Self.opensPerCollection) { state.collectGarbage() }
        let made = Result { try make(path, options) }
        let traceError = takeTraceError(in: state)
        let writer: any DatabaseWriter
        do {
            writer = try made.get()
        } catch let error as DatabaseError {
            throw OpeningError(path: path ?? ":memory:", error: error)
        }
        if let traceError { throw traceError }
        let rights = ScriptDatabase.Rights(
            allowsFiles: allowsFiles, allowsClosing: true, isPreview: isPreview, extensions: extensions)
        let (database, value) = try ScriptDatabase.makeValue(for: writer, rights: rights, in: state)
        if let preparation = options.preparation { try prepare(database, value, preparation, in: state) }
        if !options.observer.isNil { try observe(value, options.observer, in: state) }
        return value
    }

    /// Returns the error that the trace function raised while the database was opened. No access was open that would raise it.
    private func takeTraceError(in state: LuaState) -> (any Error)? {
        (try? state.withUnsafeStack { L, _ in pdb_take_pending_error(L) ? state.takeUnsafeError(status: LUA_ERRRUN) : nil })
            ?? nil
    }

    /// Prepares the writer. Every other connection is prepared before the script first uses it.
    private func prepare(
        _ database: ScriptDatabase, _ value: LuaValue, _ preparation: LuaFunction, in state: LuaState
    ) throws {
        try state.withUnsafeStack([value, .function(preparation)]) { L, _ in pdb_set_preparation(L) }
        do {
            try state.loadLibrary("local db = ... db:write_without_transaction(function() end)", named: "perilune/opening")
                .call([value])
        } catch {
            try? database.close()
            throw error
        }
    }

    private func observe(_ database: LuaValue, _ observer: LuaValue, in state: LuaState) throws {
        try state.loadLibrary("local db, observer = ... db:observe_transactions(observer)", named: "perilune/opening")
            .call([database, observer])
    }

    /// Returns the path argument, or `nil` for an in-memory database.
    private func readPath(_ arguments: LuaArguments, _ function: String) throws -> String? {
        if arguments[1].isNil { return nil }
        guard case .string(let text) = arguments[1] else {
            throw BindingError(
                "argument", "\(function): argument 1: expected the path of a file, got \(arguments[1].shortDescription)")
        }
        let path = text.description
        if path == ":memory:" { return nil }
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw BindingError("argument", "\(function): argument 1: expected the path of a file, got \"\(path)\"")
        }
        guard allowsFiles else {
            throw BindingError("sandbox", "\(function): this script may not open files; databases in memory are allowed")
        }
        guard !isPreview else {
            throw BindingError(
                "preview", "\(function): a preview cannot open other database files; databases in memory are allowed")
        }
        return path
    }
}

/// The error of opening a database.
struct OpeningError: LuaErrorDescribing {
    let path: String
    let error: DatabaseError

    var luaKind: String { "cannot_open" }
    var luaMessage: String { error.reason }
    var luaFields: [String: ScriptValue] {
        [
            "path": .string(path),
            "code": .integer(Int64(error.resultCode.rawValue)),
            "extended_code": .integer(Int64(error.extendedResultCode.rawValue)),
        ]
    }
}
