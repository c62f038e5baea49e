import Foundation
import GRDB
import Testing

@testable import PeriluneCLI

@Suite struct DatabaseFileTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
    }

    private var path: String { folder.path + "/a.sqlite" }

    private func open() throws -> DatabasePool { try DatabasePool(path: path) }

    private var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    @Test(arguments: ["", "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)"])
    func `an empty new database is removed together with its WAL and journal files`(sql: String) throws {
        let pool = try open()
        try pool.write { try $0.execute(sql: sql) }
        try pool.close()
        DatabaseFile.removeIfEmpty(path)
        #expect(try files == [])
        DatabaseFile.removeIfEmpty(path)
        #expect(try files == [])
    }

    @Test(arguments: [
        "CREATE TABLE t (a)", "CREATE VIEW v AS SELECT 1",
        "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY); INSERT INTO grdb_migrations VALUES ('01')",
    ])
    func `a database that another process has filled is kept`(sql: String) throws {
        let pool = try open()
        try pool.write { try $0.execute(sql: sql) }
        try pool.close()
        DatabaseFile.removeIfEmpty(path)
        #expect(try files == ["a.sqlite"])
        #expect(
            try open().read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM sqlite_schema WHERE name NOT LIKE 'sqlite%'") } == 1
        )
    }

    @Test func `a new database that other processes have open is kept, and they can write to it`() throws {
        let other = try open()
        DatabaseFile.removeIfEmpty(path)
        try other.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try other.close()
        #expect(try files == ["a.sqlite"])
        #expect(try open().read { try $0.tableExists("t") })
    }

    @Test func `the file behind a symbolic link is removed, and the link is kept`() throws {
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/link", withDestinationPath: "a.sqlite")
        try open().close()
        DatabaseFile.removeIfEmpty(folder.path + "/link")
        #expect(try files == ["link"])
    }
}
