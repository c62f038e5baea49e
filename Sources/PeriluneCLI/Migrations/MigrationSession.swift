internal import Glibc
internal import Perilune
internal import PeriluneBindings
internal import PeriluneLua
internal import PeriluneRecords

/// A script host that runs a folder of migrations on a database. Its errors are ``CommandFailure`` values.
struct MigrationSession {
    private let request: MigrationRequest
    private let texts: SourceTexts
    private let host: ScriptHost

    /// Opens the database in a new host.
    init(
        request: MigrationRequest, texts: SourceTexts, database: DatabaseSource
    ) async throws {
        var configuration = Self.configuration(request)
        configuration.database = database
        do {
            try await self.init(request: request, texts: texts, host: ScriptHost(configuration))
        } catch {
            throw CommandFailure(ErrorReport(opening: request.database, error: error))
        }
    }

    /// Uses an existing host, which must have the configuration of ``configuration(_:)``.
    init(request: MigrationRequest, texts: SourceTexts, host: ScriptHost) async {
        self.request = request
        self.texts = texts
        self.host = host
        OpenHosts.add(host)
        await host.listen(for: SIGUSR2)
    }

    /// Returns the configuration of a host for migrations.
    static func configuration(_ request: MigrationRequest) -> ScriptHost.Configuration {
        var configuration = ScriptHost.Configuration()
        configuration.libraries = .trusted
        configuration.allowsFiles = true
        configuration.sqliteExtensions = request.extensions
        configuration.errorDisclosure = .all
        configuration.moduleFolder = request.folder
        return configuration
    }

    func status() async throws -> ScriptMigrations.Status {
        do {
            return try await host.migrationStatus(ofFolder: request.folder)
        } catch {
            throw await failure(error)
        }
    }

    /// Runs the pending migrations; Ctrl-C cancels them.
    ///
    /// - Returns: The failure and the migration in which it occurred, if any.
    func migrate(
        didApply: @escaping @Sendable (String, Double) -> Void
    ) async -> (failure: CommandFailure, migration: String?)? {
        await attempt { host, request in
            try await host.migrate(folder: request.folder, upTo: request.target, didApply: didApply)
        }
    }

    /// Undoes the last migration, or all migrations after the target; Ctrl-C cancels this.
    ///
    /// - Returns: The failure and the migration in which it occurred, if any.
    func migrateDown(didUndo: @escaping @Sendable (String) -> Void) async -> (failure: CommandFailure, migration: String?)? {
        await attempt { host, request in
            try await host.migrateDown(folder: request.folder, to: request.target, didUndo: didUndo)
        }
    }

    private func attempt(
        _ body: (ScriptHost, MigrationRequest) async throws -> Void
    ) async -> (failure: CommandFailure, migration: String?)? {
        Interrupts.onFirst { [host] in host.cancelRunOrNext() }
        do {
            try await body(host, request)
            return nil
        } catch {
            guard case .string(let name)? = (error as? LuaError)?.fields["migration"] else {
                return (await failure(error), nil)
            }
            return (await failure(error), name.description)
        }
    }

    private func failure(_ error: any Error) async -> CommandFailure {
        guard let error = error as? LuaError else { return CommandFailure(ErrorReport("\(error)", kind: "host")) }
        var report = ErrorReport(error, source: texts)
        // The path stands for all files of the folder, in which `require` searches.
        report.addHelp(for: ScriptRequest(sources: [.file("\(request.folder)/migration.lua")]))
        if report.help == nil, report.sql != nil, !error.code.isLimit, let names = await host.databaseNames() {
            report.addSuggestion(from: names)
        }
        return CommandFailure(ofScript: report)
    }
}
