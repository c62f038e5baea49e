import Foundation
import GRDB
import Perilune
import PeriluneLuaFileTools
import PeriluneTestTools
import Testing

/// SQLite extensions that the host lists.
@Suite struct ExtensionTests {
    private static let path = NativeLibrary.path

    private func script(_ source: String, _ configure: (inout ScriptHost.Configuration) -> Void = { _ in }) async throws {
        let host = try testHost { configuration in
            configuration.sqliteExtensions = [Self.path]
            configure(&configuration)
        }
        try await host.runChecked(source)
    }

    @Test func `every connection that a script uses loads the host's SQLite extensions`() async throws {
        try await script(
            """
            equal(db:fetch_value("SELECT thrice(5)"), 15)
            equal(perilune.queue():fetch_value("SELECT thrice(5)"), 15)
            local pool = perilune.pool(temporary_path("pool.sqlite"))
            equal(pool:fetch_value("SELECT thrice(5)"), 15)
            equal(pool:read(function(db) return db:fetch_value("SELECT thrice(5)") end), 15)
            equal(pool:write(function(db) return db:fetch_value("SELECT thrice(5)") end), 15)
            equal(pool:snapshot():fetch_value("SELECT thrice(5)"), 15)
            equal(perilune.deserialize(db:serialize()):fetch_value("SELECT thrice(5)"), 15)
            """)
    }

    @Test func `hosts that share a database can all use the extensions that they list`() async throws {
        let queue = try DatabaseQueue()
        for _ in 1...2 { try await script("equal(db:fetch_value('SELECT thrice(5)'), 15)") { $0.database = .existing(queue) } }
    }

    @Test func `in a host without extensions, scripts have no extension functions and cannot load extensions`() async throws {
        try await PeriluneBindingsTests.script(
            """
            fails("sql", db.fetch_value, db, "SELECT thrice(5)")
            local err = fails("sql", db.fetch_value, db, "SELECT load_extension(?)", arg[1])
            """, arguments: [Self.path])
    }

    @Test func `a sandboxed script can use the listed extensions and cannot load others`() async throws {
        try await script(
            """
            equal(db:fetch_value("SELECT thrice(5)"), 15)
            fails("sql", db.fetch_value, db, "SELECT load_extension('x.so')")
            """
        ) { configuration in
            configuration.libraries = .sandboxed
            configuration.allowsFiles = false
        }
    }

    @Test func `a file that is not an SQLite extension makes the host's creation fail and is named in the error`() throws {
        let path = temporaryPath("no.so")
        try Data("text".utf8).write(to: URL(filePath: path))
        for wrong in [path, path + "-missing"] {
            let error = #expect(throws: (any Error).self) { try testHost { $0.sqliteExtensions = [Self.path, wrong] } }
            #expect(error.map { "\($0)" }?.contains("cannot load the extension \(wrong)") == true)
        }
    }
}
