internal import CPeriluneRows
package import GRDB
package import PeriluneLua

/// Gives a state what scripts see: `db`, `perilune` and their methods.
package struct ScriptSetup {
    /// The default database.
    package var database: any DatabaseWriter
    /// Whether scripts may open database files and use SQL that reaches files.
    package var allowsFiles: Bool
    /// Whether a transaction that SQL begins in the default database stays open between calls; see ``ScriptDatabase/Rights``.
    package var keepsTransactions = false
    /// Clock, random numbers and the like.
    package var environment: ScriptEnvironment
    /// Whether scripts run on a copy, and what they may do outside of it. In previews nothing by default.
    package var previewMode: PreviewMode?
    /// What each connection loads before the script uses it.
    package var extensions = SQLiteExtensions.none
    /// What scripts wait for. The host drives it.
    package let loop: ScriptLoop
    /// Lua modules beside those of every state.
    package var modules: [LibraryModules] = []
    /// Is given what loads the modules of the library, once those of every state are loaded: for what is not in every state.
    package var extending: (@Sendable (LibraryLoader, LuaState) throws -> Void)?

    package init(database: any DatabaseWriter, allowsFiles: Bool, environment: ScriptEnvironment = .machine) {
        self.database = database
        self.allowsFiles = allowsFiles
        self.environment = environment
        previewMode = environment.context == .preview ? .holdingBackEffects : nil
        loop = ScriptLoop(environment: environment)
    }

    /// Installs it. Once for each state.
    ///
    /// - Returns: What loads the modules of the library.
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
        try DatabaseOpener(allowsFiles: allowsFiles, isPreview: previewMode != nil, environment: environment, extensions: extensions)
            .install(in: library.perilune, of: state)
        ClusterOpener(isAllowed: allowsFiles, isPreview: previewMode != nil).install(in: library.loader)
        let rights = ScriptDatabase.Rights(
            allowsFiles: allowsFiles, allowsClosing: false, isPreview: previewMode != nil, extensions: extensions,
            keepsTransactions: keepsTransactions)
        let (_, value) = try ScriptDatabase.makeValue(for: database, rights: rights, in: state)
        try library.perilune.set("database", value)
        try state.withUnsafeStack([value]) { L, _ in pdb_set_default_database(L) }
        try state.globals.set("db", value)
        if previewMode == .holdingBackEffects { try library.holdBackEffects() }
        try extending?(library.loader, state)
        return library.loader
    }
}

/// What a script may do outside of the copy on which it is previewed.
package enum PreviewMode: Sendable {
    /// What its libraries allow.
    case allowingEffects
    /// Nothing that changes files or runs programs.
    case holdingBackEffects
}
