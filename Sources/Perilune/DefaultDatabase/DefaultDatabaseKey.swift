public import GRDB
public import PeriluneDependencies

/// The key of the default database in a dependency container.
///
/// Closing the container releases the database without closing it, because hosts may still use it. The database is closed when the last
/// host is released.
enum DefaultDatabaseKey: DependencyContainer.Key {
    static var name: String { "defaultDatabase" }
    static let belongsToOneTest = true

    static func defaultSource(in context: DependencyContainer.Context) -> DependencyContainer.Default<DatabaseSource> {
        switch context {
        case .live:
            .none(
                cure:
                    "call `try await DependencyContainer.prepare { $0.defaultDatabase = .pool(\"app.sqlite\") }` at the start of "
                    + "the program, or give the host a database: `ScriptHost(database: .pool(\"app.sqlite\"))`")
        case .test:
            .reported(
                .inMemory(),
                cure: "give the test one with the trait `.defaultDatabase()` of PeriluneTestSupport, or prepare one; "
                    + "an empty database in memory is used for now")
        case .preview:
            .reported(.inMemory(), cure: "prepare one at the start of the program; an empty database in memory is used for now")
        }
    }

    static func makeValue(of source: DatabaseSource, in scope: DependencyContainer) async throws -> any DatabaseWriter {
        try await DatabaseMaker(source: source, environment: .resolve(in: scope)).make()
    }
}

extension DependencyContainer.Values {
    /// The source of the database that scripts use as `db`.
    public var defaultDatabase: DatabaseSource? {
        get { self[DefaultDatabaseKey.self] }
        set { self[DefaultDatabaseKey.self] = newValue }
    }
}

extension DependencyContainer {
    /// The default database of the current task.
    ///
    /// - Throws: ``DependencyError`` if it was not prepared; the error of opening or migrating it.
    public static var defaultDatabase: any DatabaseWriter {
        get async throws { try await value(for: DefaultDatabaseKey.self) }
    }
}
