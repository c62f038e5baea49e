import Foundation
import GRDB
import Perilune
import PeriluneLuaFileTools
import Testing

/// The limits, permissions and lifetimes that the host enforces for blobs, snapshots and copies.
@Suite struct WholeDatabaseTests {
    @Test func `a blob that exceeds a script's memory limit is copied in pieces`() async throws {
        let queue = try DatabaseQueue(path: temporaryPath("blobs.sqlite"))
        try await queue.write { db in
            try db.execute(sql: "CREATE TABLE file (id INTEGER PRIMARY KEY, content BLOB)")
            try db.execute(sql: "INSERT INTO file (content) VALUES (zeroblob(50000000)), (zeroblob(50000000))")
        }
        let host = try testHost { configuration in
            configuration.database = .existing(queue)
            configuration.limits = LuaLimits(memoryInBytes: 8 << 20)
        }
        try await host.runChecked(
            """
            db:write(function(db)
              local from, to = db:open_blob("file", "content", 1), db:open_blob("file", "content", 2, { write = true })
              to:seek("set", 49999990) to:write("0123456789") to:seek("set")
              from = db:open_blob("file", "content", 1)
              for piece in from:pieces() do to:write(piece) end
              equal(to:seek(), 50000000)
              to:seek("end", -3)
              equal(to:read(), "\\0\\0\\0")
            end)
            """)
        let error = await #expect(throws: LuaError.self) {
            try await host.run(source: "db:read(function(db) db:open_blob('file', 'content', 1):read() end)")
        }
        #expect(error?.code == .memory)
    }

    @Test func `bytes of blobs that a script reads and writes count toward its limits`() async throws {
        let host = try testHost { $0.limits = LuaLimits(instructions: 1_000_000) }
        try await host.run(
            source:
                "db:execute(\"CREATE TABLE file (id INTEGER PRIMARY KEY, content BLOB); INSERT INTO file (content) VALUES (zeroblob(1000000))\")"
        )
        let error = await #expect(throws: LuaError.self) {
            try await host.run(
                source: """
                    db:read(function(db)
                      local blob = db:open_blob('file', 'content', 1)
                      while true do blob:seek('set') blob:read() end
                    end)
                    """)
        }
        #expect(error?.code == .budget)
    }

    @Test func `a sandboxed script cannot open other databases`() async throws {
        try await script("fails('sandbox', perilune.deserialize, db:serialize())") { configuration in
            configuration.libraries = .sandboxed
            configuration.allowsFiles = false
        }
    }

    @Test func `a database that exceeds a script's memory limit cannot be serialized`() async throws {
        let queue = try DatabaseQueue()
        try await queue.write { db in
            try db.execute(sql: "CREATE TABLE file (content BLOB); INSERT INTO file VALUES (zeroblob(20000000))")
        }
        try await script("fails('memory', db.serialize, db)") { configuration in
            configuration.database = .existing(queue)
            configuration.limits = LuaLimits(memoryInBytes: 8 << 20)
        }
    }

    @Test func `the time of a transaction comes from the host's clock`() async throws {
        try await DependencyContainer.with {
            $0.date = .constant(Date(timeIntervalSince1970: 86400))
        } operation: {
            let host = try await ScriptHost(database: .existing(DatabaseQueue()))
            try await host.runChecked(
                "db:write(function(db) equal(tostring(db:transaction_date()), tostring(perilune.date('1970-01-02 00:00:00'))) end)"
            )
        }
    }

    @Test func `a snapshot stays readable if its pool is closed`() async throws {
        let path = temporaryPath("pool.sqlite")
        try await script(
            """
            local pool = perilune.pool(arg[1])
            pool:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
            local snapshot = pool:snapshot()
            pool:execute("DELETE FROM t")
            pool:close()
            equal(snapshot:fetch_value("SELECT COUNT(*) FROM t"), 1)
            fails("closed", pool.snapshot, pool)
            snapshot:close()
            """, arguments: [path])
        #expect(await closesFiles(at: path))
    }

    @Test func `snapshots that scripts leave open are closed with their host`() async throws {
        let path = temporaryPath("pool.sqlite")
        try await script(
            """
            pool = perilune.pool(arg[1])
            pool:execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
            snapshots = {}
            for i = 1, 5 do snapshots[i] = pool:snapshot() end
            rows = snapshots[1]:rows("SELECT * FROM t")
            rows()
            """, arguments: [path])
        #expect(await closesFiles(at: path))
    }

    @Test func `a backup ends when its run is cancelled`() async throws {
        let queue = try DatabaseQueue()
        try await queue.write { db in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(1000000))")
        }
        let host = try testHost { configuration in
            configuration.database = .existing(queue)
            configuration.limits = LuaLimits(time: .milliseconds(300))
        }
        let error = await #expect(throws: LuaError.self) {
            try await host.run(source: "db:backup_to(perilune.queue(), { pages = 1, pause = '1h' })")
        }
        #expect(error?.code == .timeout)
        try await queue.write { db in
            try db.execute(sql: "DELETE FROM t")
        }
    }
}
