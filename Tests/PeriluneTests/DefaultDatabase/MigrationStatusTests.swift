import Foundation
import GRDB
import Perilune
import PeriluneDependencies
import PeriluneTestTools
import Testing

/// The status of migrations, and databases that a newer program has migrated.
@Suite struct MigrationStatusTests {
    private static func write(_ files: [String: String], to folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (name, text) in files { try Data(text.utf8).write(to: URL(filePath: "\(folder)/\(name)")) }
    }

    private static let first = ["0001_author.sql": "CREATE TABLE author (name TEXT);"]
    private static let second = ["0002_book.sql": "CREATE TABLE book (title TEXT);"]

    /// Opens a second connection, which waits while the connection of an ended context is being closed on another thread.
    private static func queue(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(60)
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    private static func open(_ migrations: Migrations, _ path: String) async throws {
        try await DependencyContainer.inProcess(.live) {
            try await DependencyContainer.prepare { $0.defaultDatabase = .queue(path, migrations: migrations) }
        }
    }

    @Test func `the migration status lists applied, pending, edited and unknown migrations of a folder`() async throws {
        try await withTemporaryFolder { folder in
            let migrations = Migrations.folder("\(folder)/migrations"), path = "\(folder)/x.sqlite"
            try Self.write(Self.first, to: "\(folder)/migrations")
            let queue = try Self.queue(path)
            #expect(try await migrations.status(in: queue) == Migrations.Status(pending: ["0001_author"]))
            try await Self.open(migrations, path)
            #expect(try await migrations.status(in: queue) == Migrations.Status(applied: ["0001_author"]))
            #expect(try await migrations.status(in: queue).isUpToDate)
            try Self.write(Self.second, to: "\(folder)/migrations")
            try Self.write(["0001_author.sql": "CREATE TABLE author (name TEXT, born TEXT);"], to: "\(folder)/migrations")
            #expect(
                try await migrations.status(in: queue)
                    == Migrations.Status(
                        applied: ["0001_author"], pending: ["0002_book"], edited: ["0001_author"]))
            try FileManager.default.removeItem(atPath: "\(folder)/migrations/0001_author.sql")
            #expect(try await migrations.status(in: queue) == Migrations.Status(pending: ["0002_book"], unknown: ["0001_author"]))
        }
    }

    @Test func `reading the status of a migrator does not change the database`() async throws {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("one") { db in try db.create(table: "one") { $0.column("a") } }
        let older = migrator
        migrator.registerMigration("two") { db in try db.create(table: "two") { $0.column("a") } }
        let queue = try DatabaseQueue()
        let status = try await Migrations.migrator(migrator).status(in: queue)
        #expect(status == Migrations.Status(pending: ["one", "two"]))
        #expect(try await queue.read { db in try db.tableExists("grdb_migrations") } == false)
        try older.migrate(queue)
        #expect(
            try await Migrations.migrator(migrator).status(in: queue) == Migrations.Status(applied: ["one"], pending: ["two"]))
        try migrator.migrate(queue)
        #expect(try await Migrations.migrator(older).status(in: queue) == Migrations.Status(applied: ["one"], unknown: ["two"]))
    }

    @Test func `a database that a newer program has migrated is refused unless unknown migrations are accepted`() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/x.sqlite", old = "\(folder)/old", new = "\(folder)/new"
            try Self.write(Self.first, to: old)
            try Self.write(Self.first.merging(Self.second) { $1 }, to: new)
            try await Self.open(.folder(new), path)
            let error = await #expect(throws: LuaError.self) { try await Self.open(.folder(old), path) }
            #expect(error?.kind == "superseded")
            #expect(error?.message.contains("lacks (0002_book): a newer version of the program has migrated it") == true)
            try await Self.open(.folder(old, acceptsUnknown: true), path)
            var migrator = DatabaseMigrator()
            migrator.registerMigration("0001_author") { _ in }
            let known = migrator
            await #expect(throws: LuaError.self) { try await Self.open(.migrator(known), path) }
            try await Self.open(.migrator(known, acceptsUnknown: true), path)
        }
    }

    @Test func `a preview of an edited schema starts with an empty database on request`() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/x.sqlite", migrations = "\(folder)/migrations"
            try Self.write(Self.first, to: migrations)
            try await Self.open(.folder(migrations), path)
            try await Self.queue(path).write { db in try db.execute(sql: "INSERT INTO author VALUES ('Verne')") }
            try Self.write(["0001_author.sql": "CREATE TABLE author (name TEXT, born TEXT);"], to: migrations)
            for erases in [false, true] {
                try await DependencyContainer.inProcess(.preview) {
                    try await DependencyContainer.prepare {
                        $0.defaultDatabase = .queue(path, migrations: .folder(migrations, erasesOnSchemaChange: erases))
                    }
                    let host = try await ScriptHost()
                    let found: [Int] = try await host.run(
                        source: """
                            return { db:fetch_value("SELECT COUNT(*) FROM author"), db:fetch_value("SELECT COUNT(*) FROM pragma_table_info('author')") }
                            """)
                    #expect(found == (erases ? [0, 2] : [1, 1]))
                }
            }
            #expect(try await Self.queue(path).value("SELECT COUNT(*) FROM author", as: Int.self) == 1)
        }
    }

    /// Runs a closure on a separate thread, like a program without asynchronous code.
    private static func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
        }
    }

    @Test(.patience) func `a program without asynchronous code can prepare its database`() async throws {
        try await DependencyContainer.inProcess(.live) {
            let container = DependencyContainer.current
            try await Self.onThread {
                try container.with {
                    try DependencyContainer.prepareAndWait { $0.defaultDatabase = .inMemory(migrations: library) }
                }
            }
            let host = try await ScriptHost()
            #expect(try await host.run(source: "return db:fetch_value('SELECT COUNT(*) FROM author')") == 0)
        }
        try await DependencyContainer.inProcess(.live) {
            let container = DependencyContainer.current
            await #expect(throws: (any Error).self) {
                try await Self.onThread {
                    try container.with {
                        try DependencyContainer.prepareAndWait { $0.defaultDatabase = .queue("/nowhere/x.sqlite") }
                    }
                }
            }
        }
    }
}
