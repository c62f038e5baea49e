internal import CPeriluneRows
package import GRDB
package import PeriluneLua

/// The options for installing the script API (`db`, `perilune` and their methods) in a state.
package struct ScriptSetup {
    /// The default database.
    package var database: any DatabaseWriter
    /// Whether scripts may open database files and run SQL that accesses files.
    package var allowsFiles: Bool
    /// Whether a transaction that SQL begins in the default database stays open between calls; see ``ScriptDatabase/Rights``.
    package var keepsTransactions = false
    /// The clock, the random number generator and other services for scripts.
    package var environment: ScriptEnvironment
    /// The external effects that scripts are denied, even if their libraries would allow them. By default, a preview denies all.
    package var withheld: OutsideEffects
    /// The extensions that each connection loads before the script uses it.
    package var extensions = SQLiteExtensions.none
    /// Whether the default database is available as the global `db` in addition to `perilune.database`.
    package var definesGlobal = true
    /// The event loop of the scripts, which the host drives.
    package let loop: ScriptLoop
    /// Additional Lua modules besides the standard modules.
    package var modules: [LibraryModules] = []
    /// Adds further modules to the state. Called with the module loader after the standard modules are loaded.
    package var extending: (@Sendable (LibraryLoader, LuaState) throws -> Void)?

    package init(database: any DatabaseWriter, allowsFiles: Bool, environment: ScriptEnvironment = .machine) {
        self.database = database
        self.allowsFiles = allowsFiles
        self.environment = environment
        withheld = environment.context == .preview ? .all : []
        loop = ScriptLoop(environment: environment)
    }

    /// Installs the API in a state. Call this once per state.
    ///
    /// - Returns: The loader of the library's modules.
    @discardableResult
    package func install(in state: LuaState) throws -> LibraryLoader {
        try state.loading { try load(in: state) }
    }

    private func load(in state: LuaState) throws -> LibraryLoader {
        try DatabaseCallbacks.open(in: state)
        loop.join(state)
        let migrations = MigrationBinding(allowsFiles: allowsFiles, logger: environment.logger)
        let library = try ScriptLibrary(
            in: state, environment: environment, modules: modules, migrations: migrations, loop: loop)
        let isPreview = withheld.contains(.databases)
        try DatabaseOpener(allowsFiles: allowsFiles, isPreview: isPreview, environment: environment, extensions: extensions)
            .install(in: library.perilune, of: state)
        ClusterOpener(isAllowed: allowsFiles, isPreview: isPreview).install(in: library.loader)
        let rights = ScriptDatabase.Rights(
            allowsFiles: allowsFiles, allowsClosing: false, isPreview: isPreview, extensions: extensions,
            keepsTransactions: keepsTransactions)
        let (_, value) = try ScriptDatabase.makeValue(for: database, rights: rights, in: state)
        try library.perilune.set("database", value)
        try state.withUnsafeStack([value]) { L, _ in pdb_set_default_database(L) }
        if definesGlobal { try state.globals.set("db", value) }
        try library.withhold(withheld, in: state)
        try extending?(library.loader, state)
        return library.loader
    }
}

/// Effects of scripts outside their database.
package struct OutsideEffects: OptionSet, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Writing, renaming and removing files.
    package static let files = OutsideEffects(rawValue: 1)
    /// Running programs.
    package static let programs = OutsideEffects(rawValue: 2)
    /// Loading native modules, which can run any code.
    package static let native = OutsideEffects(rawValue: 4)
    /// Opening other database files.
    package static let databases = OutsideEffects(rawValue: 8)
    package static let all: OutsideEffects = [.files, .programs, .native, .databases]
}
