import Foundation
import GRDB
import Perilune
import PeriluneDependencies
import PeriluneTestSupport
import Testing

/// Sources of databases, for hosts, pools and previews.
@Suite struct DatabaseSourceTests {
    private static let schema = Migrations.inTransaction { db in
        try db.execute(sql: "CREATE TABLE IF NOT EXISTS author (id INTEGER PRIMARY KEY, name TEXT)")
    }

    private static let insert = "db:execute(\"INSERT INTO author (name) VALUES ('Verne')\")"

    private static func names(in path: String) async throws -> [String] {
        var configuration = Configuration()
        // The host's last connection locks the file while it closes it.
        configuration.busyMode = .timeout(10)
        return try await DatabaseQueue(path: path, configuration: configuration).read { db in
            try String.fetchAll(db, sql: "SELECT name FROM author")
        }
    }

    @Test func `the database of a host follows the context`() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/shop.sqlite"
            for source in [DatabaseSource.pool(path, migrations: Self.schema), .queue(path, migrations: Self.schema)] {
                try await DependencyContainer.inProcess(.test) {
                    try await DependencyContainer.with({ _ in }) {
                        try await ScriptHost(database: source).run(source: Self.insert)
                    }
                }
                #expect(!FileManager.default.fileExists(atPath: path))
                try await DependencyContainer.inProcess(.live) {
                    try await ScriptHost(database: source).run(source: Self.insert)
                }
                #expect(try await Self.names(in: path) == ["Verne"])
                try await DependencyContainer.inProcess(.preview) {
                    let host = try await ScriptHost(database: source)
                    try await host.run(source: Self.insert)
                    #expect(try await host.run(source: "return db:fetch_value('SELECT COUNT(*) FROM author')") == 2)
                }
                #expect(try await Self.names(in: path) == ["Verne"])
                for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
            }
        }
    }

    @Test func `a database source sets the journal of a new file and the synchronization of commits`() async throws {
        try await withTemporaryFolder { folder in
            let sources: [(DatabaseSource, String)] = [
                (.queue("\(folder)/a.sqlite", inEveryContext: true), "wal 2"),
                (.queue("\(folder)/b.sqlite", inEveryContext: true, synchronous: .normal), "wal 1"),
                (.queue("\(folder)/c.sqlite", inEveryContext: true, journal: .delete, synchronous: .extra), "delete 3"),
                (.pool("\(folder)/d.sqlite", inEveryContext: true), "wal 1"),
                (.pool("\(folder)/e.sqlite", inEveryContext: true, synchronous: .full), "wal 2"),
            ]
            for (source, expected) in sources {
                let found = try await DependencyContainer.with {
                    $0.defaultDatabase = source
                } operation: {
                    try await DependencyContainer.defaultDatabase.writeWithoutTransaction { db in
                        let journal = try String.fetchOne(db, sql: "PRAGMA journal_mode") ?? ""
                        return try "\(journal) \(Int.fetchOne(db, sql: "PRAGMA synchronous") ?? -1)"
                    }
                }
                #expect(found == expected)
            }
        }
    }

    @Test func `a database source can open its file in every context`() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/shop.sqlite"
            for context in DependencyContainer.Context.allCases {
                try await DependencyContainer.inProcess(context) {
                    try await DependencyContainer.with({ _ in }) {
                        try await ScriptHost(database: .queue(path, migrations: Self.schema, inEveryContext: true)).run(
                            source: Self.insert)
                    }
                }
            }
            #expect(try await Self.names(in: path).count == 3)
        }
    }

    @Test func `an existing database is the same in every context`() async throws {
        let queue = try DatabaseQueue()
        try await queue.write { db in try db.execute(sql: "CREATE TABLE author (name TEXT)") }
        for context in DependencyContainer.Context.allCases {
            try await DependencyContainer.inProcess(context) {
                try await DependencyContainer.with({ _ in }) {
                    try await ScriptHost(database: .existing(queue)).run(source: Self.insert)
                }
            }
        }
        #expect(try await queue.value("SELECT COUNT(*) FROM author", as: Int.self) == 3)
    }

    @Test(arguments: DependencyContainer.Context.allCases)
    func `a read-only database source refuses writes and keeps the schema`(_ context: DependencyContainer.Context) async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/shop.sqlite"
            try await DependencyContainer.inProcess(.live) {
                try await ScriptHost(database: .queue(path, migrations: Self.schema)).run(source: Self.insert)
            }
            try await DependencyContainer.inProcess(context) {
                try await DependencyContainer.with({ _ in }) {
                    for source in [
                        DatabaseSource.pool(path, migrations: Self.schema, readonly: true),
                        .queue(path, migrations: Self.schema, readonly: true),
                    ] {
                        let host = try await ScriptHost(database: source)
                        let count: Int = try await host.run(source: "return db:fetch_value('SELECT COUNT(*) FROM author')")
                        #expect(count == (context == .test ? 0 : 1))
                        let error = await #expect(throws: LuaError.self) { try await host.run(source: Self.insert) }
                        #expect(error?.kind?.rawValue.hasPrefix("readonly") == true, "\(String(describing: error))")
                    }
                }
            }
        }
    }

    @Test(arguments: ScriptPlace.allCases) func `the hosts of a pool share one database`(_ place: ScriptPlace)
        async throws
    {
        var configuration = place.configuration(
            ScriptHost.Configuration(database: .pool("never.sqlite", migrations: Self.schema)))
        configuration.limits = LuaLimits(time: .seconds(60))
        let pool = try await ScriptPool(size: 2, configuration: configuration) { host in
            try await host.run(source: "function add() \(Self.insert) return db:fetch_value('SELECT COUNT(*) FROM author') end")
        }
        var counts: [Int] = []
        for _ in 1...3 { counts.append(try await pool.call("add")) }
        #expect(counts == [1, 2, 3])
        await pool.close()
    }

    @Test func `a database in memory is migrated for isolated scripts`() async throws {
        let host = try await makeIsolatedHost { $0.database = .inMemory(migrations: Self.schema) }
        #expect(try await host.run(source: "\(Self.insert) return db:fetch_value('SELECT name FROM author')") == "Verne")
    }

    @Test func `a Lua script can migrate the database`() async throws {
        let host = try await ScriptHost(database: .inMemory(migrations: .script("db:execute('CREATE TABLE note (text)')")))
        #expect(try await host.run(source: "return db:table_exists('note')") == true)
    }

    @Test func `a preview in a test does not read its live database file`() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/shop.sqlite"
            try await DependencyContainer.inProcess(.live) {
                try await ScriptHost(database: .queue(path, migrations: Self.schema)).run(source: Self.insert)
            }
            func count(_ source: DatabaseSource?) async throws -> Int {
                try await ScriptPreview(of: source).host.run(source: "return db:fetch_value('SELECT COUNT(*) FROM author')")
            }
            #expect(try await count(.queue(path, migrations: Self.schema)) == 0)
            #expect(try await count(.queue(path, inEveryContext: true)) == 1)
            try await DependencyContainer.inProcess(.live) {
                let live = try await count(.pool(path))
                #expect(live == 1)
            }
        }
    }

    @Test(.defaultDatabase(migrations: library), .script(insert))
    func `a preview without a source previews the default database`() async throws {
        let preview = try await ScriptPreview()
        try await preview.host.run(source: "db:execute('DELETE FROM author')")
        #expect(try await preview.finish().report.tables.map(\.deleted) == [1])
        #expect(try await DependencyContainer.defaultDatabase.value("SELECT COUNT(*) FROM author", as: Int.self) == 1)
    }

    @Test func `without the product PeriluneCluster, opening a database in a cluster is an error`() async throws {
        var configuration = ScriptHost.Configuration(database: .inMemory())
        configuration.allowsFiles = true
        let host = try await ScriptHost(configuration)
        let error = await #expect(throws: LuaError.self) {
            try await host.run(source: "perilune.cluster('shop', { servers = { '127.0.0.1:1' } })")
        }
        #expect(error?.message.contains("add the product PeriluneCluster") == true, "\(error?.message ?? "")")
        #expect(error?.fields["kind"] == .string("cluster_unreachable"))
    }
}
