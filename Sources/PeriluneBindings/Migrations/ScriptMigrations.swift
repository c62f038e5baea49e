internal import GRDB
package import PeriluneLua
package import PeriluneRecords

/// The Swift interface to a script migrator, which has a single list of migrations in Lua, in files and in Swift.
///
/// It migrates the default database of a state that ``ScriptSetup`` has set up.
package struct ScriptMigrations {
    private let migrator: LuaTable
    private let state: LuaState

    /// The status of a database's migrations.
    package struct Status: Equatable, Sendable {
        /// The names of all migrations in order.
        package let names: [String]
        package let pending: [String]
        /// The applied migrations that are missing from the list, in the order of their application.
        package let unknown: [String]
        /// The applied migrations whose files were changed later, in order.
        package let edited: [String]
    }

    package init(in state: LuaState) throws {
        self.state = state
        migrator = try LuaTable.fromLua(Self.run("return perilune.migrator()", [], in: state).first ?? .nil)
    }

    /// Adds the migrations of a folder.
    ///
    /// - Throws: `LuaError`. If the folder has a problem, ``LuaError/underlying`` is a ``MigrationFolderError``.
    package func register(folder: String) throws {
        try run("m:register_folder(...)", .string(LuaString(folder)))
    }

    /// Adds a Swift migration.
    package func register(_ migration: Migration) throws {
        let body = try state.makeFunction(migration.name) { arguments in
            guard let db = DatabaseHandle(arguments[1], in: try arguments.state)?.connection else {
                throw BindingError("dead_handle", "the migration `\(migration.name)` was called outside of its migrator")
            }
            let applied = try arguments[2].isNil ? [:] : arguments.get(2, as: [String: Bool].self)
            try migration.body(db, Set(applied.keys))
            return []
        }
        let merges = try state.makeTable()
        for (index, name) in migration.merges.enumerated() {
            try merges.rawSet(.integer(Int64(index + 1)), .string(LuaString(name)))
        }
        try run(
            "local name, checks, merges, body = ... m:register(name, { foreign_keys = checks, merges = merges }, body)",
            .string(LuaString(migration.name)), .string(LuaString(migration.foreignKeyChecks.rawValue)), .table(merges),
            .function(body))
    }

    /// Returns the status of the database's migrations.
    package func status() throws -> Status {
        let lists = try run("return m:names(), m:pending(), m:unknown(), m:edited()").map { try [String].fromLua($0) }
        return Status(names: lists[0], pending: lists[1], unknown: lists[2], edited: lists[3])
    }

    /// Returns the name of the migration with the given name or unique prefix.
    package func name(meantBy text: String) throws -> String {
        let names = try run("return m:names()").map { try [String].fromLua($0) }[0]
        let candidates = names.filter { $0.hasPrefix(text) }
        guard !names.contains(text), !text.isEmpty, let first = candidates.first else { return text }
        guard candidates.count == 1 else {
            throw BindingError("argument", "`\(text)` is ambiguous: \(candidates.joined(separator: ", "))")
        }
        return first
    }

    /// Runs the pending migrations.
    ///
    /// - Parameters:
    ///   - target: The last migration to run. By default, all pending migrations run.
    ///   - didApply: Called for each committed migration with its duration in seconds.
    package func migrate(
        upTo target: String? = nil, didApply: @escaping (String, Double) -> Void = { _, _ in }
    ) throws {
        let callback = try state.makeFunction("did_apply") { arguments in
            didApply(try arguments.get(1), try arguments.get(2))
            return []
        }
        try run(
            "local target, did_apply = ... m:migrate(perilune.database, { up_to = target, did_apply = did_apply })",
            target.map { .string(LuaString($0)) } ?? .nil, .function(callback))
    }

    /// Undoes the last applied migration, or all migrations after a target.
    ///
    /// - Parameters:
    ///   - target: The last migration that stays applied; `nil` undoes only one migration.
    ///   - didUndo: Called for each undone migration.
    package func migrateDown(to target: String?, didUndo: @escaping (String) -> Void) throws {
        let callback = try state.makeFunction("did_undo") { arguments in
            didUndo(try arguments.get(1))
            return []
        }
        try run(
            "local target, did_undo = ... m:migrate_down(perilune.database, { to = target, did_undo = did_undo })",
            target.map { .string(LuaString($0)) } ?? .nil, .function(callback))
    }

    // MARK: - Calling Lua

    @discardableResult
    private func run(_ code: String, _ arguments: LuaValue...) throws -> [LuaValue] {
        let chunk = "local m = ... return (function(...) \(code) end)(select(2, ...))"
        return try Self.run(chunk, [.table(migrator)] + arguments, in: state)
    }

    private static func run(_ code: String, _ arguments: [LuaValue], in state: LuaState) throws -> [LuaValue] {
        try state.loadLibrary(code, named: "migrations").call(arguments)
    }
}
