internal import GRDB
internal import PeriluneBindings
public import PeriluneLua

/// Runs scripts against a database.
///
/// A host is an actor with a thread of its own: scripts may block in SQLite, and recurse deeply, without occupying the
/// threads that Swift's concurrency shares. Several hosts run in parallel.
///
/// ```swift
/// let host = try ScriptHost(ScriptHost.Configuration(database: .file("shop.sqlite")))
/// try await host.run(source: "print(db:fetch_value('SELECT COUNT(*) FROM customer'))")
/// ```
public actor ScriptHost {
    private nonisolated let thread: LuaThread
    public nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    let state: LuaState
    /// The default database.
    let database: any DatabaseWriter
    private let cancellation: LuaState.Cancellation

    /// Opens the database and prepares a state for scripts.
    ///
    /// - Throws: An error of GRDB if the database cannot be opened.
    public init(_ configuration: Configuration = Configuration()) throws {
        thread = LuaThread()
        let state = try LuaState(libraries: configuration.libraries, limits: configuration.limits)
        database = try configuration.openDatabase()
        try ScriptSetup(database: database, allowsFiles: configuration.allowsFiles).install(in: state)
        try ScriptModules.install(in: state, folder: configuration.moduleFolder)
        cancellation = state.cancellation
        self.state = state
    }

    /// Ends the script that runs, from anywhere; what it has begun is rolled back. It throws an error with code `cancelled`.
    public nonisolated func cancel() {
        cancellation.cancel()
    }
}
