internal import GRDB
internal import PeriluneBindings
internal import PeriluneDependencies

/// A cache of migrated in-memory databases, which tests copy.
actor DatabaseTemplates {
    static let shared = DatabaseTemplates()

    private var templates: [Migrations.Identity: Task<DatabaseQueue, any Error>] = [:]

    /// Returns the database that results from migrations. Migrations always run with the same time and random numbers, so tests do not
    /// depend on which of them runs first.
    func template(of migrations: Migrations, configuration: Configuration) async throws -> DatabaseQueue {
        let identity = try migrations.identity()
        if let template = templates[identity] { return try await template.value }
        let template = Task {
            var configuration = configuration
            let sources = try SQLEnvironment(date: .year2000, random: .seeded(0))
            defer { sources.release() }
            sources.configure(&configuration, date: .year2000)
            let queue = try DatabaseQueue(path: sources.uri(of: nil), configuration: configuration)
            try migrations.migrate(queue, .template)
            return queue
        }
        templates[identity] = template
        do {
            return try await template.value
        } catch {
            templates[identity] = nil
            throw error
        }
    }
}

extension ScriptEnvironment {
    /// The deterministic environment in which the migrations of a template run.
    fileprivate static var template: ScriptEnvironment {
        var environment = ScriptEnvironment.machine
        (environment.context, environment.date, environment.random, environment.uuid) = (.test, .year2000, .seeded(0), .counting)
        return environment
    }
}
