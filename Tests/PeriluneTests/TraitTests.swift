import Foundation
import GRDB
import Perilune
import PeriluneLua
import PeriluneTestSupport
import Synchronization
import Testing

@Suite(.defaultDatabase(migrations: library), .dependency(\.date, .constant(Date(timeIntervalSince1970: 86400))))
struct TraitTests {
    static let seen = Mutex<[ObjectIdentifier: any DatabaseWriter]>([:])

    @Test(arguments: 1...10) func `each test case has its own database`(_ number: Int) async throws {
        let host = try await ScriptHost()
        try await host.run(
            source: """
                assert(db:fetch_value("SELECT COUNT(*) FROM author") == 0)
                db:execute("INSERT INTO author (name) VALUES ('x')")
                assert(db:fetch_value("SELECT created FROM author") == "1970-01-02 00:00:00")
                assert(perilune.uuid() == "00000000-0000-0000-0000-000000000000")
                """)
        let database = try await DependencyContainer.defaultDatabase
        #expect(try await DependencyContainer.defaultDatabase === database)
        // Retains the databases, so that their addresses stay distinct.
        let isNew = Self.seen.withLock { $0.updateValue(database, forKey: ObjectIdentifier(database)) == nil }
        #expect(isNew)
    }

    @Test(.dependency(\.date, .constant(Date(timeIntervalSince1970: 0))))
    func `inner test traits take precedence over outer ones`() async throws {
        let year: Int = try await ScriptHost().run(source: "return perilune.now().year")
        #expect(year == 1970)
        #expect(try await DependencyContainer.defaultDatabase.value("SELECT COUNT(*) FROM author", as: Int.self) == 0)
    }

    @Test(.script("db:execute(\"INSERT INTO author (name) VALUES ('Verne'), ('Melville')\")"))
    func `the script trait fills the test's database`() async throws {
        #expect(try await DependencyContainer.defaultDatabase.value("SELECT COUNT(*) FROM author", as: Int.self) == 2)
    }

    @Test(.defaultDatabase) func `the database trait without arguments gives a test an empty database`() async throws {
        #expect(try await DependencyContainer.defaultDatabase.value("SELECT COUNT(*) FROM sqlite_master", as: Int.self) == 0)
    }

    @Test(.defaultDatabase(.pool("nowhere/at/all.sqlite", usesFilesInTests: true)))
    func `a test can use a pool in a file, which is not at the given path`() async throws {
        let database = try await DependencyContainer.defaultDatabase
        #expect(database is DatabasePool)
        #expect(try await database.value("PRAGMA journal_mode", as: String.self) == "wal")
        #expect(!FileManager.default.fileExists(atPath: "nowhere"))
    }

    @Test func `a database that an app prepares at startup does not replace the one from the trait`() async throws {
        try await DependencyContainer.prepare { $0.defaultDatabase = .pool("live.sqlite") }
        #expect(try await DependencyContainer.defaultDatabase.value("SELECT COUNT(*) FROM author", as: Int.self) == 0)
        #expect(!FileManager.default.fileExists(atPath: "live.sqlite"))
    }

    @Test func `two tests that write to the same table at once do not interfere`() async throws { try await write() }
    @Test func `neither of two tests that write to the same table at once is affected`() async throws { try await write() }

    private func write() async throws {
        let host = try await ScriptHost()
        let count: Int = try await host.run(
            source: """
                for i = 1, 200 do db:execute("INSERT INTO author (name) VALUES (?)", tostring(i)) end
                return db:fetch_value("SELECT COUNT(*) FROM author")
                """)
        #expect(count == 200)
    }
}

@Suite struct SupportTests {
    @Test func `a host with a database in memory needs no setup in tests`() async throws {
        let host = try await ScriptHost.forTest(migrations: library)
        let other = try await ScriptHost.forTest(migrations: library)
        try await host.run(source: "db:execute(\"INSERT INTO author (name) VALUES ('x')\") assert(perilune.now().year == 2000)")
        let count: Int = try await other.run(source: "return db:fetch_value('SELECT COUNT(*) FROM author')")
        #expect(count == 0)
    }

    @Test func `call recorders replace functions of the program`() async throws {
        let mail = CallRecorder()
        let host = try await ScriptHost.forTest()
        try await host.register(module: "mail") {
            $0.record("send", in: mail)
            $0.record("count", in: mail, returning: 7)
        }
        try await host.run(
            source: """
                local mail = require "mail"
                assert(mail.send("ada", { copies = 2, tags = { "a", "b" } }) == nil)
                assert(mail.count(1.5, true, nil) == 7)
                """)
        #expect(mail.calls.map(\.function) == ["send", "count"])
        #expect(mail.calls[0].arguments == ["ada", ["copies": 2, "tags": ["a", "b"]]])
        #expect(mail.calls[1].arguments == [1.5, true, nil])
        #expect(mail.calls[0].description == "send(\"ada\", {copies = 2, tags = {\"a\", \"b\"}})")
    }

    @Test func `migrations of a test are read again when files in their folder change`() async throws {
        try await withTemporaryFolder { folder in
            try "CREATE TABLE a (x);".write(toFile: "\(folder)/0001_a.sql", atomically: true, encoding: .utf8)
            try "return function(db) db:execute('INSERT INTO a VALUES (7)') end"
                .write(toFile: "\(folder)/0002_fill.lua", atomically: true, encoding: .utf8)
            let migrations = Migrations.folder(folder)
            let host = try await ScriptHost.forTest(migrations: migrations)
            let seven: Int = try await host.run(source: "return db:fetch_value('SELECT x FROM a')")
            #expect(seven == 7)
            try "CREATE TABLE b (y);".write(toFile: "\(folder)/0003_b.sql", atomically: true, encoding: .utf8)
            let later = try await ScriptHost.forTest(migrations: migrations)
            try await later.run(source: "assert(db:table_exists('b'))")
        }
    }

    @Test func `every allocation of an embedder's code can be made to fail`() throws {
        let count = try LuaState.failingEachAllocation(of: { try LuaState() }) { state in
            try state.load("local t = {} for i = 1, 10 do t[i] = 'x' .. i end return #t").call([])
        }
        #expect(count > 3)
    }
}
