import Foundation
import Perilune
import PeriluneLua
import PeriluneTestTools
import Testing

/// Scripts on three real nodes.
@Suite(.serialized, .patience, .startsPrograms, .withNodes) struct ClusterScriptTests {
    private func host(_ nodes: ClusterNodes, _ name: String, libraries: LuaLibraries = .trusted) async throws -> ScriptHost {
        var configuration = ScriptHost.Configuration(database: .queue(nodes.url(name), inEveryContext: true))
        (configuration.libraries, configuration.allowsFiles) = (libraries, true)
        return try await ScriptHost(configuration)
    }

    /// Each file in `Lua` runs on a separate database. A second client reads the results from its table `seen`.
    @Test func `scripts get the same results from a cluster as from a file`() async throws {
        let nodes = try await ClusterNodes()
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Lua")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".lua") }.sorted()
        #expect(!files.isEmpty)
        for file in files {
            let name = String(file.dropLast(4))
            let host = try await host(nodes, name)
            do {
                let seen: String? = try await host.run(
                    source: String(contentsOf: folder.appending(path: file), encoding: .utf8), named: file)
                if let seen { #expect(nodes.shell("SELECT * FROM seen", database: name).contains(seen), "\(file)") }
            } catch {
                Issue.record("\(file): \(error)")
            }
        }
        try await refusals(nodes)
        try await twoClients(nodes)
        try await names(nodes)
        try remarks(nodes)
    }

    /// A cluster creates a missing database, so commands that read it report an empty database.
    private func remarks(_ nodes: ClusterNodes) throws {
        let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "perilune")
        for arguments in [["query", "SELECT 1"], ["schema"], ["dump"]] {
            for (name, isEmpty) in [("clients", false), ("mistyped", true)] {
                let process = Process(), errors = Pipe()
                (process.executableURL, process.arguments) = (program, arguments + ["--database", nodes.url(name)])
                (process.standardOutput, process.standardError) = (FileHandle.nullDevice, errors)
                try process.run()
                let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
                process.waitUntilExit()
                #expect(process.terminationStatus == 0, "\(text)")
                #expect(text.contains("there is nothing in \(nodes.url(name)); is that its name?") == isEmpty, "\(text)")
            }
        }
    }

    private func refusals(_ nodes: ClusterNodes) async throws {
        let host = try await host(nodes, "refusals")
        let kinds: [String] = try await host.run(
            source: """
                db:execute("CREATE TABLE t (a, b BLOB)")
                db:execute("INSERT INTO t (b) VALUES (x'00')")
                local kinds = {}
                local function try(f, ...)
                  local ok, err = pcall(f, ...)
                  kinds[#kinds + 1] = ok and "done" or err.kind
                end
                try(db.execute, db, "ATTACH ':memory:' AS other")
                try(db.execute, db, "VACUUM")
                try(db.execute, db, "CREATE TEMP TABLE u (a)")
                try(db.execute, db, "PRAGMA user_version = 7")
                try(db.execute, db, "INSERT INTO t (a) VALUES (?)", "a\\0b")
                try(db.add_function, db, "twice", function(n) return n * 2 end)
                try(db.add_collation, db, "mine", function(a, b) return a < b and -1 or 1 end)
                try(db.observe_transactions, db, { did_commit = print })
                try(db.checkpoint, db)
                try(db.write, db, function(db) return db:open_blob("t", "b", 1) end)
                try(db.record_changes, db, function() end)
                return kinds
                """)
        #expect(kinds == Array(repeating: "cluster_refused", count: kinds.count), "\(kinds)")
        #expect(kinds.count == 11)
        let blob: Bool = try await host.run(
            source: """
                db:execute("INSERT INTO t (b) VALUES (?)", perilune.blob("a\\0b"))
                return db:fetch_value("SELECT b FROM t WHERE rowid = 2") == "a\\0b"
                """)
        #expect(blob)
    }

    /// Two hosts write at the same time and wait for each other.
    private func twoClients(_ nodes: ClusterNodes) async throws {
        let first = try await host(nodes, "clients"), second = try await host(nodes, "clients")
        try await first.run(
            source: "db:execute('CREATE TABLE counter (n INTEGER NOT NULL)') db:execute('INSERT INTO counter VALUES (0)')")
        let counting = """
            for _ = 1, 50 do
              db:write(function(db)
                local n = db:fetch_value("SELECT n FROM counter")
                db:execute("UPDATE counter SET n = ?", n + 1)
              end)
            end
            """
        async let one: Void = first.run(source: counting)
        async let other: Void = second.run(source: counting)
        _ = try await (one, other)
        #expect(try await first.run(source: "return db:fetch_value('SELECT n FROM counter')") == 100)
        // Each host sees the other's schema changes without reopening the database.
        try await first.run(source: "db:execute('CREATE TABLE later (id INTEGER PRIMARY KEY, flag BOOLEAN)')")
        try await first.run(
            source: "db:execute('ALTER TABLE counter ADD COLUMN done BOOLEAN') db:execute('UPDATE counter SET done = 1')")
        #expect(
            try await second.run(
                source: "db:execute('INSERT INTO later (flag) VALUES (1)') return db:fetch_value('SELECT flag FROM later')")
                == true)
        #expect(
            try await second.run(source: "return db:write(function(db) return db:fetch_one('SELECT * FROM counter').done end)")
                == true)
    }

    private func names(_ nodes: ClusterNodes) async throws {
        let host = try await host(nodes, "names")
        let roles: [String] = try await host.run(
            source: "local roles = {} for i, node in ipairs(db:cluster_nodes()) do roles[i] = node.role end return roles")
        #expect(roles == ["voter", "voter", "voter"])
        let ids: [String] = try await host.run(
            source: "local ids = {} for i, node in ipairs(db:cluster_nodes()) do ids[i] = node.id end return ids")
        #expect(try Set(ids) == Set(nodes.ids().values.map(String.init)))
        let kind: String = try await host.run(
            source:
                "local ok, err = pcall(perilune.cluster, 'shop', { servers = { '127.0.0.1:1' }, timeout = '200ms' }) return err.kind"
        )
        #expect(kind == "cluster_unreachable")
    }
}
