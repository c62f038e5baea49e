// swift-format-ignore-file
// The documentation shows these examples word for word, in shorter lines.
import Foundation
import GRDB
import Perilune
import PeriluneTestSupport
import Synchronization
import Testing

// example
enum MailerKey: DependencyContainer.Key {
    static func defaultSource(
        in context: Context
    ) -> DependencyContainer.Default<Mailer> {
        context == .live ? .value(.smtp) : .value(.discarding)
    }
}

extension DependencyContainer.Values {
    var mailer: Mailer? {
        get { self[MailerKey.self] }
        set { self[MailerKey.self] = newValue }
    }
}

extension DependencyContainer {
    static var mailer: Mailer {
        get async throws { try await value(for: MailerKey.self) }
    }
}
// end

@Suite struct ContextExamples {
    // example
    let schema = Migrations.inTransaction { db in
        try db.execute(sql: """
            CREATE TABLE IF NOT EXISTS note (
                id INTEGER PRIMARY KEY, text TEXT)
            """)
    }
    // end

    @Test func preparing() async throws {
        // example
        try await DependencyContainer.prepare {
            $0.defaultDatabase = .pool("shop.sqlite", migrations: "\(folder)/migrations")
        }
        let database = try await DependencyContainer.defaultDatabase
        // end
        // example
        let sales = try await database.read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM sale")
        }
        // end
        #expect(sales == 2)
    }

    @Test func `a database that the program has opened`() async throws {
        try await withTemporaryFolder { folder in
            // example
            let pool = try DatabasePool(path: "\(folder)/shop.sqlite")
            let host = try await ScriptHost(database: .existing(pool))
            // end
            try await host.run(source: "db:execute('CREATE TABLE a (b)')")
            #expect(try await pool.value("SELECT COUNT(*) FROM a", as: Int.self) == 0)
        }
    }

    @Test func `a migrator of GRDB`() async throws {
        // example
        var migrator = DatabaseMigrator()
        migrator.registerMigration("notes") { db in
            try db.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY)")
        }
        let source = DatabaseSource.pool(
            "notes.sqlite", migrations: .migrator(migrator))
        // end
        let host = try await ScriptHost(database: source)
        #expect(try await host.run(source: "return db:table_exists('note')") == true)
    }

    @Test func overrides() async throws {
        // example
        try await DependencyContainer.with {
            $0.date = .constant(Date(timeIntervalSince1970: 0))
            $0.defaultDatabase = .inMemory(migrations: schema)
        } operation: {
            let host = try await ScriptHost()
            let year: Int = try await host.run(source: "return perilune.now().year")
            assert(year == 1970)
        }
        // end
    }

    @Test(.defaultDatabase()) func `a clock that is set by hand`() async throws {
        // example
        let clock = ManualClock()
        try await DependencyContainer.with { $0.date = .manual(clock) } operation: {
            let host = try await ScriptHost()
            try await host.run(source: """
                hours = 0
                perilune.every("1h", function() hours = hours + 1 end)
                """)
            clock.advance(by: 3600)
            try await host.run(source: "perilune.sleep(0)")
            let hours: Int = try await host.run(source: "return hours")
            #expect(hours == 1)
        }
        // end
    }

    @Test func `a program can define dependencies`() async throws {
        try await DependencyContainer.mailer.send("Verne", "discarded")
        let outbox = Outbox()
        try await DependencyContainer.with { $0.mailer = outbox.mailer } operation: {
            try await DependencyContainer.mailer.send("Verne", "kept")
        }
        #expect(outbox.letters == ["Verne: kept"])
    }

    @Test func `a program with swift-dependencies`() async throws {
        try await DependencyContainer.inProcess(.live) {
            // example
            @Dependency(\.defaultDatabase) var database
            @Dependency(\.date) var date
            @Dependency(\.uuid) var uuid
            try await DependencyContainer.prepare { [date, uuid, database] in
                $0.defaultDatabase = .existing(database)
                $0.date = DateSource { date.now }
                $0.uuid = UUIDSource { uuid() }
            }
            // end
            let host = try await ScriptHost()
            let found: [String] = try await host.run(source: "return { tostring(perilune.now()), perilune.uuid():lower(), db:fetch_value('SELECT a FROM other') }")
            #expect(found == ["1970-01-01 00:00:05.000", "00000000-0000-0000-0000-000000000007", "theirs"])
        }
    }

    @Test func `a database for reading`() async throws {
        // example
        let host = try await ScriptHost(
            database: .pool("shop.sqlite", readonly: true))
        // end
        let error = await #expect(throws: LuaError.self) { try await host.run(source: "db:execute('CREATE TABLE a (b)')") }
        #expect(error?.kind?.rawValue.hasPrefix("readonly") == true)
    }

    @Test func trace() async throws {
        let records = LogRecords()
        try await DependencyContainer.prepare { $0.logger = records.logger }
        // example
        try await DependencyContainer.prepare {
            $0.defaultDatabase = .pool(
                "shop.sqlite", trace: .log(.profile, slow: .milliseconds(100)))
        }
        // end
        try await ScriptHost().run(source: "db:execute('CREATE TABLE a (b)')")
        #expect(records.lines.contains { $0.contains("CREATE TABLE a (b)") })
    }

    @Test func previews() async throws {
        try await withTemporaryFolder { folder in
            try makeExampleFiles(in: folder)
            try await DependencyContainer.inProcess(.live) {
                try await DependencyContainer.prepare {
                    $0.defaultDatabase = .pool("\(folder)/shop.sqlite", migrations: .folder("\(folder)/migrations"))
                }
                let database = try await DependencyContainer.defaultDatabase
                // example
                let preview = try await ScriptPreview(of: .pool("\(folder)/shop.sqlite"))
                try await preview.host.run(
                    source: "db:execute('DELETE FROM sale WHERE total < 5')")
                let (report, plan) = try await preview.finish()
                print(report.tables.map { "\($0.name): \($0.deleted) deleted" })
                try await plan?.apply(to: "\(folder)/shop.sqlite")
                // end
                #expect(report.tables.map(\.deleted) == [1])
                #expect(try await database.value("SELECT COUNT(*) FROM sale", as: Int.self) == 1)
                // example
                for table in report.tables {
                    for row in table.rows {
                        print(row.kind, row.key, row.before?["total"] ?? .null)
                    }
                }
                // end
                #expect(report.tables.flatMap(\.rows).map(\.kind) == [.delete])
                try await database.write { db in
                    try db.execute(sql: "INSERT INTO sale (id, customer, total, day) VALUES (7, 'Ibsen', 2, '2026-01-02')")
                }
                do {
                    let (_, plan) = try await Self.plan(for: "db:execute('UPDATE sale SET total = 9 WHERE id = 7')", in: folder)
                    try await database.write { db in try db.execute(sql: "UPDATE sale SET customer = 'Bo' WHERE id = 7") }
                    await #expect(throws: PlanError.self) { try await plan?.apply(to: "\(folder)/shop.sqlite") }
                    // example
                    try await plan?.apply(to: "\(folder)/shop.sqlite", comparing: .changedColumns)
                    // end
                }
                #expect(try await database.value("SELECT total FROM sale WHERE id = 7", as: Int.self) == 9)
            }
        }
    }

    private static func plan(for source: String, in folder: String) async throws -> (PreviewReport, PreviewPlan?) {
        let preview = try await ScriptPreview(of: .pool("\(folder)/shop.sqlite"))
        try await preview.host.run(source: source)
        return try await preview.finish()
    }

    @Test func limits() async throws {
        // example
        var configuration = ScriptHost.Configuration(database: .inMemory())
        configuration.limits = LuaLimits(
            memoryInBytes: 16 << 20, time: .seconds(1), instructions: 100_000_000)
        let host = try await ScriptHost(configuration)
        do {
            try await host.run(source: "while true do end")
        } catch let error as LuaError where error.code.isLimit {
            print(error.code)    // timeout or budget
        }
        // end
        let error = await #expect(throws: LuaError.self) {
            // example
            let options = RunOptions(limits: LuaLimits(time: .milliseconds(50)))
            try await ScriptHost.withOptions(options) {
                try await host.run(source: "while true do end")
            }
            // end
        }
        #expect(error?.code == .timeout)
    }
}

// MARK: - A stand-in for swift-dependencies

/// The part of the interface of swift-dependencies and SQLiteData that the recipe for such programs uses.
private struct DependencyValues {
    struct DateGenerator: Sendable {
        var now: Date { Date(timeIntervalSince1970: 5) }
    }

    struct UUIDGenerator: Sendable {
        func callAsFunction() -> UUID { UUID(uuidString: "00000000-0000-0000-0000-000000000007")! }
    }

    let date = DateGenerator(), uuid = UUIDGenerator()
    let defaultDatabase: any DatabaseWriter = {
        let queue = try! DatabaseQueue()
        try! queue.write { db in try db.execute(sql: "CREATE TABLE other AS SELECT 'theirs' AS a") }
        return queue
    }()
}

/// The property wrapper of swift-dependencies.
@propertyWrapper private struct Dependency<Value> {
    let wrappedValue: Value

    init(_ property: KeyPath<DependencyValues, Value>) { wrappedValue = DependencyValues()[keyPath: property] }
}
