import Foundation
import GRDB
import Perilune
import PeriluneLuaFileTools
import Testing

/// Blobs in pieces, where the host has a part in them.
@Suite struct WholeDatabaseTests {
    @Test func `a blob that is longer than the memory of a script is copied in pieces`() async throws {
        let queue = try DatabaseQueue(path: temporaryPath("blobs.sqlite"))
        try await queue.write { db in
            try db.execute(sql: "CREATE TABLE file (id INTEGER PRIMARY KEY, content BLOB)")
            try db.execute(sql: "INSERT INTO file (content) VALUES (zeroblob(50000000)), (zeroblob(50000000))")
        }
        let host = try testHost { configuration in
            configuration.database = .open(queue)
            configuration.limits = LuaLimits(memoryInBytes: 8 << 20)
        }
        try await host.runChecked("""
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

    @Test func `reading and writing blobs counts as work`() async throws {
        let host = try testHost { $0.limits = LuaLimits(instructions: 1_000_000) }
        try await host.run(source: "db:execute(\"CREATE TABLE file (id INTEGER PRIMARY KEY, content BLOB); INSERT INTO file (content) VALUES (zeroblob(1000000))\")")
        let error = await #expect(throws: LuaError.self) {
            try await host.run(source: """
                db:read(function(db)
                  local blob = db:open_blob('file', 'content', 1)
                  while true do blob:seek('set') blob:read() end
                end)
                """)
        }
        #expect(error?.code == .budget)
    }
}
