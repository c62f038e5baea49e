import Foundation
import GRDB
import Perilune
import PeriluneDependencies
import PeriluneLua
import PeriluneTestTools
import Synchronization
import Testing

/// Previews of databases that the program has open, and plans that are applied to them.
@Suite(.patience) struct PlanDatabaseTests {
    private static func configuration() -> Configuration {
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            db.add(
                function: DatabaseFunction("thrice", argumentCount: 1, pure: true) { values in
                    Int.fromDatabaseValue(values[0]).map { $0 * 3 }
                })
            db.add(collation: DatabaseCollation("backwards") { first, second in second.compare(first) })
        }
        return configuration
    }

    private static func prepare(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE sale (id INTEGER PRIMARY KEY, total INTEGER, label TEXT COLLATE backwards);
                CREATE INDEX sale_total ON sale(thrice(total));
                CREATE TABLE audit (id INTEGER PRIMARY KEY, value INTEGER);
                CREATE TRIGGER sale_audit AFTER INSERT ON sale BEGIN INSERT INTO audit (value) VALUES (thrice(NEW.total)); END;
                INSERT INTO sale (total, label) VALUES (1, 'a');
                """)
    }

    @Test(arguments: [true, false]) func `a preview has the functions and collations of the original`(isSmall: Bool) async throws
    {
        try await withTemporaryFolder { folder in
            let pool = try DatabasePool(path: "\(folder)/shop.sqlite", configuration: Self.configuration())
            try await pool.write(Self.prepare)
            var options = ScriptPreview.Options()
            if !isSmall { options.copyLimitInBytes = 0 }
            let sources: [DatabaseSource] = [
                .existing(pool), .queue("\(folder)/shop.sqlite", inEveryContext: true, configuration: Self.configuration()),
            ]
            for source in sources {
                let preview = try await ScriptPreview(of: source, options: options)
                try await preview.host.run(source: "db:execute(\"INSERT INTO sale (total, label) VALUES (5, 'b')\")")
                let (report, plan) = try await preview.finish()
                #expect(report.tables.first { $0.name == "audit" }?.rows.first?.newValues == [2, 15])
                #expect(plan != nil)
            }
        }
    }

    @Test(arguments: [true, false]) func `a plan is applied to an open database, and its observers are notified`(inMemory: Bool)
        async throws
    {
        try await withTemporaryFolder { folder in
            let database: any DatabaseWriter =
                try inMemory
                ? DatabaseQueue(configuration: Self.configuration())
                : DatabasePool(path: "\(folder)/shop.sqlite", configuration: Self.configuration())
            try await database.write(Self.prepare)
            let preview = try await ScriptPreview(of: .existing(database))
            try await preview.host.run(source: "db:execute(\"INSERT INTO sale (total, label) VALUES (5, 'b')\")")
            let plan = try #require(try await preview.finish().plan)
            let seen = Mutex<[Int]>([]), tally = Tally()
            let observation = ValueObservation.tracking { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM audit") ?? 0 }
            let cancellable = observation.start(in: database, scheduling: .async(onQueue: .global())) { _ in
            } onChange: { count in
                seen.withLock { $0.append(count) }
                tally.add()
            }
            await tally.wait(for: 1)
            let host = try await ScriptHost(database: .existing(database))
            let heard = Tally()
            try await host.register(module: "m") { $0.function("hear") { (_: Int) in heard.add() } }
            try await host.run(
                source: """
                    local hear = require("m").hear
                    db:observe(function() return db:fetch_value("SELECT count(*) FROM sale") end, hear)
                    """)
            await heard.wait(for: 1)
            try await plan.apply(to: database)
            await tally.wait(for: 2)
            await heard.wait(for: 2)
            #expect(try await database.value("SELECT count(*) FROM sale", as: Int.self) == 2)
            #expect(try await database.value("PRAGMA foreign_keys", as: Int.self) == 1)
            let error = await #expect(throws: PlanError.self) { try await plan.apply(to: database) }
            #expect(error?.code == .conflict)
            try await plan.revert(in: database)
            #expect(try await database.value("SELECT count(*) FROM sale", as: Int.self) == 1)
            #expect(seen.withLock { $0.first } == 1)
            await host.endCallbacks()
            cancellable.cancel()
        }
    }

    @Test func `in tests and previews, plans are written only inside the temporary folder`() async throws {
        let queue = try DatabaseQueue()
        try await queue.write { db in try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY)") }
        let preview = try await ScriptPreview(of: .existing(queue))
        try await preview.host.run(source: "db:execute('INSERT INTO t DEFAULT VALUES')")
        let plan = try #require(try await preview.finish().plan)
        let path = FileManager.default.currentDirectoryPath + "/no such folder/shop.sqlite"
        for context in [DependencyContainer.Context.test, .preview] {
            try await DependencyContainer.inProcess(context) {
                let error = await #expect(throws: PlanError.self) { try await plan.apply(to: path) }
                #expect(error?.code == .context)
                let other = await #expect(throws: PlanError.self) {
                    try await plan.apply(to: NSTemporaryDirectory() + "/../" + path)
                }
                #expect(other?.code == .context)
                let allowed = await #expect(throws: PlanError.self) { try await plan.apply(to: path, inEveryContext: true) }
                #expect(allowed?.code == .file)
            }
        }
        try await DependencyContainer.inProcess(.live) {
            let error = await #expect(throws: PlanError.self) { try await plan.apply(to: path) }
            #expect(error?.code == .file)
        }
    }
}
