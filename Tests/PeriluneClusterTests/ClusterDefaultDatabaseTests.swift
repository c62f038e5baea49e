import Foundation
import GRDB
import Perilune
import PeriluneDependencies
import PeriluneLua
import PeriluneTestTools
import Testing

/// A cluster as the default database of a program.
@Suite(.serialized, .patience, .startsPrograms, .withNodes) struct ClusterDefaultDatabaseTests {
    /// Runs an operation as if a program had just started in the given context.
    private func program(_ context: DependencyContainer.Context, _ operation: nonisolated(nonsending) () async throws -> Void)
        async throws
    {
        try await DependencyContainer(.process { .notRunByTests }, context: .success(context)).with(operation)
    }

    private func migrations() throws -> (folder: URL, migrations: Migrations) {
        let folder = FileManager.default.temporaryDirectory.appending(path: "perilune-steps-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try "CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT);".write(
            to: folder.appending(path: "0001_author.sql"), atomically: true, encoding: .utf8)
        return (folder, .folder(folder.path))
    }

    @Test func `a default database in a cluster is migrated and used in live, copied in a preview, and unused in a test`()
        async throws
    {
        let nodes = try await ClusterNodes()
        let (folder, migrations) = try migrations()
        defer { try? FileManager.default.removeItem(at: folder) }
        let database = DatabaseSource.cluster(servers: nodes.servers, name: "shop", timeout: .seconds(20), migrations: migrations)
        for name in ["Verne", "Melville"] {
            // The second program finds the tables and rows of the first one.
            try await program(.live) {
                try await DependencyContainer.prepare { $0.defaultDatabase = database }
                let host = try await ScriptHost()
                try await host.run(source: "db:execute('INSERT INTO author (name) VALUES (?)', ...)", arguments: name)
                #expect(try await host.run(source: "return db:path()") == "dqlite://\(nodes.servers.joined(separator: ","))/shop")
                #expect(try await host.run(source: "return #db:cluster_nodes()") == 3)
            }
        }
        #expect(nodes.shell("SELECT group_concat(name) FROM author").contains("Verne,Melville"))
        try await program(.preview) {
            try await DependencyContainer.prepare { $0.defaultDatabase = database }
            let host = try await ScriptHost()
            #expect(
                try await host.run(
                    source: "db:execute('DELETE FROM author WHERE id = 1') return db:fetch_value('SELECT name FROM author')")
                    == "Melville")
        }
        try await program(.test) {
            try await DependencyContainer.prepare { $0.defaultDatabase = database }
            let host = try await ScriptHost()
            #expect(try await host.run(source: "return db:fetch_value('SELECT count(*) FROM author')") == 0)
            try await host.run(source: "db:execute('INSERT INTO author VALUES (1, ?)', 'Stevenson')")
        }
        #expect(nodes.shell("SELECT group_concat(name) FROM author").contains("Verne,Melville"))
    }

    @Test func `Swift migrations of a cluster are refused before anything is written`() async throws {
        let nodes = try await ClusterNodes()
        let database = DatabaseSource.cluster(
            servers: nodes.servers, name: "shop",
            migrations: .inTransaction { db in try db.execute(sql: "CREATE TABLE author (id INTEGER PRIMARY KEY)") })
        try await program(.live) {
            let error = await #expect(throws: (any Error).self) {
                try await DependencyContainer.prepare { $0.defaultDatabase = database }
            }
            #expect("\(error.map(String.init(describing:)) ?? "")".contains("migrations in Swift"))
        }
        #expect(nodes.shell("SELECT count(*) FROM sqlite_schema").contains("0"))
    }
}
