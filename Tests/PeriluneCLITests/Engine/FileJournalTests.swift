import Foundation
import PeriluneTestTools
import Testing

/// The journal mode of databases that commands create, and the files that commands leave next to a database.
@Suite(.patience, .startsPrograms) struct FileJournalTests {
    private static let table = "db:execute('CREATE TABLE IF NOT EXISTS t (a); INSERT INTO t VALUES (1)')"

    /// Returns the read version in the header of a database file: 2 for a write-ahead log.
    private static func version(_ name: String, in folder: TestFolder) throws -> UInt8? {
        let header = try FileHandle(forReadingFrom: URL(filePath: folder.path + "/" + name)).read(upToCount: 20)
        return header.flatMap { $0.count == 20 ? $0[19] : nil }
    }

    private static func files(in folder: TestFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.contains(".sqlite") }.sorted()
    }

    @Test(arguments: [
        ["run", "-e", Self.table, "--database", "x.sqlite"],
        ["run", "-e", "\(Self.table) error('failed')", "--database", "x.sqlite"],
        ["run", "-e", "\(Self.table) os.exit(3)", "--database", "x.sqlite"],
        ["run", "-e", "\(Self.table) for _ in db:rows('SELECT * FROM t') do os.exit(3) end", "--database", "x.sqlite"],
        ["run", "-e", "q = perilune.queue('x.sqlite') q:execute('CREATE TABLE t (a)') os.exit(0)"],
        [
            "run", "-e",
            "q = perilune.pool('x.sqlite') q:execute('CREATE TABLE t (a)') q:fetch_value('SELECT count(*) FROM t') error('failed')",
        ],
        [
            "run", "-e",
            "q = perilune.pool('x.sqlite') q:execute('CREATE TABLE t (a)') for _ in q:rows('SELECT count(*) FROM t') do os.exit(2) end",
        ],
        ["run", "--timeout", "1s", "-e", "\(Self.table) while true do end", "--database", "x.sqlite"],
        ["run", "--sandbox", "-e", Self.table, "--database", "x.sqlite"],
        ["migrate", "--database", "x.sqlite"],
        ["import", "a.csv", "--table", "a", "--create", "--database", "x.sqlite"],
        ["restore", "a.sql", "--database", "x.sqlite"],
    ])
    func `a command creates a WAL database and leaves no other files`(words: [String]) throws {
        let folder = try TestFolder([
            "migrations/1_a.sql": "CREATE TABLE a (x)", "a.csv": "x\n1\n", "a.sql": "CREATE TABLE a (x);\n",
        ])
        let result = try CommandProcess(TestFolder.binary, words, in: folder).wait()
        #expect(try Self.files(in: folder) == ["x.sqlite"], "\(result)")
        #expect(try Self.version("x.sqlite", in: folder) == 2, "\(result)")
    }

    @Test(arguments: ["INT", "TERM", "HUP"])
    func `a command that a signal ends leaves only the database file`(signal: String) throws {
        let folder = try TestFolder()
        for body in [
            "while true do end", "db:write(function() print('ready') io.stdout:flush() while true do os.time() end end)",
        ] {
            let process = try CommandProcess(
                TestFolder.binary,
                ["run", "--database", "x.sqlite", "-e", "\(Self.table) print('ready') io.stdout:flush() \(body)"], in: folder,
                isOutputRead: true)
            #expect(try process.readLine() == "ready")
            process.send(signal)
            _ = try process.wait()
            #expect(try Self.files(in: folder) == ["x.sqlite"])
        }
    }

    @Test(arguments: [
        ["query", "SELECT * FROM t"], ["query", "SELECT nothing"], ["query", "--write", "INSERT INTO t VALUES (2)"], ["schema"],
        ["dump"], ["doctor"],
        ["run", "--readonly", "-e", "db:fetch_value('SELECT 1 FROM t')"], ["run", "--preview", "-e", Self.table],
        ["migrate", "--status"],
    ])
    func `a command that uses a database leaves no other files`(words: [String]) throws {
        let folder = try TestFolder(["migrations/1_a.sql": "CREATE TABLE a (x)"])
        _ = try folder.perilune("run", "-e", Self.table, "--database", "x.sqlite")
        let result = try CommandProcess(TestFolder.binary, words + ["--database", "x.sqlite"], in: folder).wait()
        #expect(try Self.files(in: folder) == ["x.sqlite"], "\(result)")
    }

    @Test func `an existing database keeps its journal mode`() throws {
        let folder = try TestFolder()
        _ = try folder.perilune(
            "run", "-e", "db:execute('PRAGMA journal_mode = delete; CREATE TABLE t (a)')", "--database", "x.sqlite")
        _ = try folder.perilune("run", "-e", Self.table, "--database", "x.sqlite")
        #expect(try Self.version("x.sqlite", in: folder) == 1)
    }

    @Test func `the settings of a project select the journal mode of its databases`() throws {
        let folder = try TestFolder(["perilune.toml": "[database]\njournal_mode = \"delete\"\nsynchronous = \"normal\""])
        let script =
            "for _, d in ipairs{ db, perilune.queue('y.sqlite') } do print(d:fetch_value('PRAGMA journal_mode'), d:fetch_value('PRAGMA synchronous')) end"
        #expect(try folder.perilune("run", "-e", script, "--database", "x.sqlite").output == "delete\t1\ndelete\t1\n")
    }

    @Test func `doctor explains the durability of commits and the effect of a power cut`() throws {
        let folder = try TestFolder()
        _ = try folder.perilune("run", "-e", Self.table, "--database", "x.sqlite")
        var result = try folder.perilune("doctor", "--database", "x.sqlite").output
        #expect(result.contains("each commit waits for the disk (synchronous full)"), "\(result)")
        try folder.write("database.synchronous = \"normal\"", to: "perilune.toml")
        result = try folder.perilune("doctor", "--database", "x.sqlite").output
        #expect(result.contains("a power cut can undo the last ones; a killed process never does"), "\(result)")
    }
}
