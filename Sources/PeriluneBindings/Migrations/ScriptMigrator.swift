internal import GRDB
internal import Logging
internal import PeriluneLua
internal import PeriluneRecords

/// The Swift part of a script migrator. It retains no Lua values; each call passes the list of migrations.
final class ScriptMigrator {
    private let allowsFiles: Bool
    private let logger: Logger
    private var names = MigrationNames()
    private var isRunning = false

    init(allowsFiles: Bool, logger: Logger) {
        self.allowsFiles = allowsFiles
        self.logger = logger
    }

    /// Returns the functions `register(name, merges)`, `migrate(database, list, options)` and `differences(database, list)`.
    func makeFunctions(in state: LuaState) throws -> [LuaValue] {
        let register = try state.makeFunction("m:register") { arguments in
            try self.requireIdle("register")
            try Self.attempt { try self.names.register(arguments.get(1), merges: arguments.get(2)) }
            return []
        }
        let migrate = try state.makeFunction("m:migrate") { arguments in
            try self.entering("migrate", arguments) { try self.migrate($0, arguments) }
        }
        let differences = try state.makeFunction("m:has_schema_changes") { arguments in
            try self.entering("has_schema_changes", arguments) { try self.differences($0, arguments) }
        }
        return [.function(register), .function(migrate), .function(differences)]
    }

    private func requireIdle(_ method: String) throws {
        guard !isRunning else {
            throw BindingError(
                "nested_access", "m:\(method): a migrator cannot be used by its own migrations")
        }
    }

    private static func attempt(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as MigrationError {
            throw BindingError(error)
        }
    }

    // MARK: - Entering

    /// Runs a closure with exclusive use of the database in the first argument.
    private func entering(
        _ method: String, _ arguments: LuaArguments, _ body: (MigrationRunner) throws -> [LuaValue]
    ) throws -> [LuaValue] {
        try requireIdle(method)
        let runner = try makeRunner(method, arguments)
        isRunning = true
        defer {
            isRunning = false
            // The schema may have changed, and a failed migration may have rolled back its changes.
            try? runner.forgetSchema()
        }
        return try runner.database.entering(.alone, "it is being migrated") {
            try runner.database.writer.writeWithoutTransaction { db in
                try db.requireOpen()
                runner.database.makeWaitsCancellable(db)
            }
            return try runner.migrating { try body(runner) }
        }
    }

    private func makeRunner(_ method: String, _ arguments: LuaArguments) throws -> MigrationRunner {
        let handle = try DatabaseHandle(arguments, 1, for: "m:\(method): argument 1")
        try handle.database.requireOpen()
        guard handle.access == nil else {
            throw BindingError(
                "nested_access", "m:\(method): cannot be called inside a block or a migration of the same database")
        }
        return MigrationRunner(state: handle.state, database: handle.database, value: arguments[1])
    }

    // MARK: - Migrating

    private func migrate(_ runner: MigrationRunner, _ arguments: LuaArguments) throws -> [LuaValue] {
        let list = try LuaTable.fromLua(arguments[2])
        let options = try MigrationOptions(LuaTable.fromLua(arguments[3]), runner.database.writer)
        var applied: [String] = []
        var run = MigrationList.Run()
        run.didApply = { name, duration in
            applied.append(name)
            try options.didApply?.call([.string(LuaString(name)), .number(duration / .seconds(1))])
        }
        let erased = try reporting(&run, in: runner.state) { run in
            let migrations = try ScriptMigration.list(list, run: runner.run)
            try migrations.check(runner.database.writer, upTo: options.target)
            let erased = options.erases ? try erase(for: runner, list, options, &run) : []
            run.checking = runner.checkForeignKeys
            try migrations.migrate(runner.database.writer, upTo: options.target, run: &run)
            return erased
        }
        return try [applied.toLua(in: runner.state), erased.toLua(in: runner.state)]
    }

    /// Runs migrations, and converts errors to errors for the script.
    private func reporting<Result>(
        _ run: inout MigrationList.Run, in state: LuaState, _ body: (inout MigrationList.Run) throws -> Result
    ) throws -> Result {
        do {
            return try body(&run)
        } catch let error as MigrationError {
            throw BindingError(error)
        } catch {
            throw try MigrationFailure.described(error, migration: run.current, in: state)
        }
    }

    private func erase(
        for runner: MigrationRunner, _ list: LuaTable, _ options: MigrationOptions, _ run: inout MigrationList.Run
    ) throws -> [String] {
        let differences = try differences(for: runner, list, &run)
        guard !differences.isEmpty else { return [] }
        try options.requireErasing(runner.database.writer, differences)
        try runner.database.writer.erase()
        logger.warning(
            "the schema differed from what the migrations create, so all data was erased",
            metadata: ["database": "\(runner.database.writer.path)", "differences": "\(differences.joined(separator: "; "))"],
            source: "migrations")
        return differences
    }

    // MARK: - Differences

    private func differences(_ runner: MigrationRunner, _ arguments: LuaArguments) throws -> [LuaValue] {
        let list = try LuaTable.fromLua(arguments[2])
        var run = MigrationList.Run()
        let found = try reporting(&run, in: runner.state) { run in try differences(for: runner, list, &run) }
        return [try found.toLua(in: runner.state)]
    }

    private func differences(
        for runner: MigrationRunner, _ list: LuaTable, _ run: inout MigrationList.Run
    ) throws -> [String] {
        let migrations = try ScriptMigration.list(list, run: runner.run)
        let found = try migrations.schemaDifferences(of: runner.database.writer) { scratch, target in
            try migrate(scratch, upTo: target, list, for: runner, &run)
        }
        return found.map(\.description)
    }

    /// Runs migrations in a temporary scratch database.
    private func migrate(
        _ scratch: DatabaseQueue, upTo target: String, _ list: LuaTable, for runner: MigrationRunner,
        _ run: inout MigrationList.Run
    ) throws {
        let rights = ScriptDatabase.Rights(allowsFiles: allowsFiles, allowsClosing: false)
        let (database, value) = try ScriptDatabase.makeValue(for: scratch, rights: rights, in: runner.state)
        let scratchRunner = MigrationRunner(state: runner.state, database: database, value: value)
        defer { scratchRunner.abandon() }
        try scratchRunner.copyDefinitions(of: runner)
        let didApply = run.didApply
        run.didApply = { _, _ in }
        run.checking = scratchRunner.checkForeignKeys
        try database.entering(.alone, "it is being migrated") {
            try ScriptMigration.list(list, run: scratchRunner.run).migrate(scratch, upTo: target, run: &run)
        }
        run.didApply = didApply
    }
}

extension BindingError {
    init(_ error: MigrationError) {
        switch error.kind {
        case .argument: self.init("argument", error.message)
        case .unknown(let name, let names): self = .unknown("migration", name, among: names)
        case .readonly: self.init("readonly", error.message)
        }
    }
}
