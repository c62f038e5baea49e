import Foundation
import GRDB
import Perilune
import PeriluneLua
import Testing

@Suite struct PreviewSourceTests {
    private static let one = "CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 'é')"

    private func preview(_ source: DatabaseSource, _ script: String) async throws -> PreviewReport {
        let preview = try await ScriptPreview(of: source)
        try await preview.host.run(source: script)
        return try await preview.finish().report
    }

    // MARK: - The original is not touched: PreviewFolder.preview compares all files of its folder

    @Test func `previewing a database with an unused WAL creates no files`() async throws {
        let folder = try PreviewFolder("PRAGMA journal_mode = WAL;" + Self.one)
        #expect(try folder.contents().keys.sorted() == ["shop.sqlite"])
        let (report, _) = try await folder.preview("db:execute('DELETE FROM t')")
        #expect(report["t"]?.counts == [0, 0, 1])
        #expect(try folder.contents().keys.sorted() == ["shop.sqlite"])
    }

    @Test func `a preview sees data in another program's WAL without moving it`() async throws {
        let folder = try PreviewFolder("PRAGMA journal_mode = WAL;" + Self.one)
        let other = try DatabasePool(path: folder.database)
        try await other.write { db in try db.execute(sql: "INSERT INTO t VALUES (2, 'new')") }
        let log = try #require(try folder.contents()["shop.sqlite-wal"])
        #expect(!log.isEmpty)
        let (report, _) = try await folder.preview(
            "assert(db:fetch_value('SELECT COUNT(*) FROM t') == 2) db:execute('DELETE FROM t')")
        #expect(report["t"]?.counts == [0, 0, 2])
        // The other program is not affected.
        try await other.write { db in try db.execute(sql: "INSERT INTO t VALUES (3, 'newer')") }
        #expect(try await other.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") } == 3)
    }

    @Test func `another program may write during a preview`() async throws {
        let folder = try PreviewFolder(Self.one)
        let preview = try await ScriptPreview(of: .queue(folder.database, inEveryContext: true))
        try folder.execute("INSERT INTO t VALUES (2, 'new')")
        try await preview.host.run(
            source: "db:execute('INSERT INTO t VALUES (2, 3)') assert(#db:fetch_all('SELECT * FROM t') == 2)")
        #expect(try await preview.finish().report["t"]?.counts == [1, 0, 0])
        #expect(try folder.values("SELECT a FROM t") == ["é", "new"])
    }

    @Test func `a read-only file can be previewed`() async throws {
        let folder = try PreviewFolder(Self.one)
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: folder.database)
        let (report, _) = try await folder.preview("db:execute('DELETE FROM t')")
        #expect(report["t"]?.counts == [0, 0, 1])
    }

    @Test func `names of previewed files may contain URL characters`() async throws {
        let folder = try PreviewFolder("PRAGMA journal_mode = WAL;" + Self.one)
        let odd = folder.path + "/a%20b?c#d é.sqlite"
        try FileManager.default.moveItem(atPath: folder.database, toPath: odd)
        #expect(try await preview(.queue(odd, inEveryContext: true), "db:execute('DELETE FROM t')")["t"]?.counts == [0, 0, 1])
        #expect(try folder.contents().keys.sorted() == ["a%20b?c#d é.sqlite"])
    }

    @Test func `a preview does not create a missing file`() async throws {
        let folder = try PreviewFolder(nil)
        let (report, plan) = try await folder.preview("db:execute('CREATE TABLE t (a)')")
        #expect(report.schema.map(\.name) == ["t"])
        #expect(plan == nil)
        #expect(try folder.contents().isEmpty)
    }

    @Test func `previewing a file that is not a database is an error`() async throws {
        let folder = try PreviewFolder(nil)
        try Data("this is not a database, however long it may be".utf8).write(to: URL(fileURLWithPath: folder.database))
        let error = await #expect(throws: DatabaseError.self) { try await folder.preview("") }
        #expect(error?.resultCode == .SQLITE_NOTADB)
    }

    @Test func `previewing a folder or a pipe is an immediate error`() async throws {
        let folder = try PreviewFolder(nil)
        try FileManager.default.createDirectory(atPath: folder.database, withIntermediateDirectories: false)
        let error = await #expect(throws: DatabaseError.self) {
            try await ScriptPreview(of: .queue(folder.database, inEveryContext: true))
        }
        #expect(error?.message == "it is a folder")
        #expect(mkfifo(folder.path + "/pipe", 0o600) == 0)
        let other = await #expect(throws: DatabaseError.self) {
            try await ScriptPreview(of: .queue(folder.path + "/pipe", inEveryContext: true))
        }
        #expect(other?.message == "it is not a regular file")
    }

    @Test func `a preview reads the WAL of a killed program and creates no files`() async throws {
        let folder = try PreviewFolder("PRAGMA journal_mode = WAL; \(Self.one)")
        let killed = try PreviewFolder(nil)
        let other = try DatabaseQueue(path: folder.database)
        try await other.writeWithoutTransaction { db in try db.execute(sql: "UPDATE t SET a = 'in the log'") }
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: folder.database + suffix, toPath: killed.database + suffix)
        }
        let (report, plan) = try await killed.preview(
            "assert(db:fetch_value('SELECT a FROM t') == 'in the log') db:execute('DELETE FROM t')")
        #expect(report["t"]?.rows == [RowChange(kind: .delete, before: [1, "in the log"])])
        #expect(plan != nil)
        #expect(try killed.contents().keys.sorted() == ["shop.sqlite", "shop.sqlite-wal"])
    }

    @Test func `a preview reports the open transaction of a killed program without rolling it back`() async throws {
        let folder = try PreviewFolder(Self.one)
        // A copy taken during a write: the file has some of the new pages, and the journal has their originals.
        let other = try DatabaseQueue(path: folder.database)
        try await other.writeWithoutTransaction { [database = folder.database, path = folder.path] db in
            try db.execute(sql: "PRAGMA cache_size = 1; BEGIN")
            for _ in 0..<300 { try db.execute(sql: "INSERT INTO t (a) VALUES (zeroblob(1000))") }
            for name in ["", "-journal"] {
                try FileManager.default.copyItem(atPath: database + name, toPath: path + "/killed\(name)")
            }
            try db.execute(sql: "ROLLBACK")
        }
        let before = try folder.contents()
        let error = await #expect(throws: DatabaseError.self) {
            try await ScriptPreview(of: .queue(folder.path + "/killed", inEveryContext: true))
        }
        #expect(
            error?.message == "a program ended while writing to the database, and a read-only connection cannot recover it; "
                + "open it once for writing")
        #expect(try folder.contents() == before)
    }

    @Test func `previewing a locked database is an error`() async throws {
        let folder = try PreviewFolder(Self.one)
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: folder.database, configuration: configuration)
        try await other.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN EXCLUSIVE; INSERT INTO t VALUES (2, 2)")
        }
        let error = await #expect(throws: DatabaseError.self) { try await folder.preview("") }
        #expect(error?.resultCode == .SQLITE_BUSY)
        try await other.writeWithoutTransaction { db in try db.execute(sql: "ROLLBACK") }
    }

    @Test(arguments: [
        "PRAGMA page_size = 512", "PRAGMA page_size = 65536", "PRAGMA encoding = 'UTF-16'", "PRAGMA auto_vacuum = 1",
    ])
    func `a preview copies databases of all kinds`(pragma: String) async throws {
        let folder = try PreviewFolder("\(pragma); \(Self.one)")
        let (report, plan) = try await folder.preview("db:execute('UPDATE t SET a = ?', 'ü') db:execute('VACUUM')")
        #expect(report["t"]?.rows == [RowChange(kind: .update, before: [1, "é"], after: [1, "ü"])])
        try await #require(plan).apply(to: folder.database)
        #expect(try folder.values("SELECT a FROM t") == ["ü"])
    }

    // MARK: - Other sources

    @Test func `a preview can start with an empty database`() async throws {
        let report = try await preview(.inMemory(), "db:execute('CREATE TABLE t (a); INSERT INTO t VALUES (1)')")
        #expect(report.schema.map(\.name) == ["t"])
        #expect(report["t"]?.counts == [1, 0, 0])
    }

    @Test func `a preview does not report changes by its seed`() async throws {
        let seed = "db:execute([[\(Self.one)]])"
        let report = try await preview(.inMemory(migrations: .script(seed)), "db:execute('INSERT INTO t VALUES (2, 2)')")
        #expect(report.schema.isEmpty)
        #expect(report["t"]?.counts == [1, 0, 0])
        let error = await #expect(throws: LuaError.self) {
            try await preview(.inMemory(migrations: .script("error('bad seed')")), "")
        }
        #expect(error?.message.contains("bad seed") == true)
    }

    @Test func `a preview copies a database that the program has open`() async throws {
        let queue = try DatabaseQueue()
        try await queue.write { db in try db.execute(sql: Self.one) }
        let report = try await preview(.existing(queue), "db:execute('DELETE FROM t')")
        #expect(report["t"]?.counts == [0, 0, 1])
        #expect(try await queue.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") } == 1)
    }

    // MARK: - What scripts may not do

    @Test func `previewed scripts cannot open other database files`() async throws {
        let folder = try PreviewFolder(Self.one)
        for script in [
            "perilune.queue('\(folder.path)/x.sqlite')", "perilune.pool('\(folder.database)')",
            "db:execute([[ATTACH '\(folder.path)/x.sqlite' AS x]])",
            "db:execute([[ATTACH DATABASE '\(folder.database)' AS x]])",
            "db:execute('ATTACH ? AS x', '\(folder.database)')", "db:execute([[ATTACH ':memory:' || '/x' AS x]])",
            "db:execute([[VACUUM INTO '\(folder.path)/x.sqlite']])",
            "db:execute([[SELECT 1; ATTACH '\(folder.path)/y' AS x]])",
            "perilune.queue():execute([[ATTACH '\(folder.path)/x.sqlite' AS x]])",
        ] {
            let error = await #expect(throws: LuaError.self, "\(script)") {
                try await folder.preview(script, trusted: true)
            }
            #expect(error?.kind == "preview", "\(script)")
        }
    }

    @Test func `previewed scripts can open and attach databases in memory`() async throws {
        let folder = try PreviewFolder(Self.one)
        let (report, plan) = try await folder.preview(
            """
            perilune.queue():execute("CREATE TABLE x (a)")
            db:execute("ATTACH ':memory:' AS x; CREATE TABLE x.t (a); INSERT INTO x.t VALUES (1); PRAGMA journal_mode = WAL")
            db:execute("CREATE TEMP TABLE t (a); INSERT INTO temp.t VALUES (1)")
            db:execute("DELETE FROM main.t")
            """, trusted: true)
        #expect(report.tables.map(\.name) == ["t"])
        #expect(report["t"]?.counts == [0, 0, 1])
        #expect(plan != nil)
    }

    @Test func `a preview refuses functions with external effects unless they are allowed`() async throws {
        let folder = try PreviewFolder(Self.one)
        let file = folder.path + "/out.txt"
        for script in [
            "io.open('\(file)', 'w')", "io.open('\(file)', 'r+')", "io.open('\(file)', 'ab')", "io.output('\(file)')",
            "package.loadlib('libc.so.6', '*')", "io.popen('touch \(file)')", "os.execute('touch \(file)')",
            "os.remove('\(folder.database)')",
            "os.rename('\(folder.database)', '\(file)')", "os.tmpname()",
        ] {
            let error = await #expect(throws: LuaError.self, "\(script)") {
                try await folder.preview(script, trusted: true)
            }
            #expect(error?.kind == "preview", "\(script)")
        }
        let reading =
            "assert(io.open('\(folder.database)', 'rb')):close() assert(io.output() == io.stdout) return os.time()"
        #expect(try await folder.preview(reading, trusted: true).report.hasChanges == false)
        let preview = try await ScriptPreview(
            of: .queue(folder.database, inEveryContext: true), configuration: Self.trusted, allowsEffects: true)
        try await preview.host.run(source: "io.open('\(file)', 'w'):close()")
        #expect(try folder.contents().keys.contains("out.txt"))
    }

    private static var trusted: ScriptHost.Configuration {
        var configuration = ScriptHost.Configuration()
        configuration.libraries = .trusted
        return configuration
    }

    @Test func `the preview report of a failed script includes its committed changes`() async throws {
        let folder = try PreviewFolder(Self.one)
        let preview = try await ScriptPreview(of: .queue(folder.database, inEveryContext: true))
        await #expect(throws: LuaError.self) {
            try await preview.host.run(
                source: """
                    db:execute("INSERT INTO t VALUES (2, 2)")
                    db:write(function(db) db:execute("DELETE FROM t") error("stop") end)
                    """)
        }
        #expect(try await preview.finish().report["t"]?.counts == [1, 0, 0])
    }

    @Test func `a preview records effects in order`() async throws {
        var configuration = ScriptHost.Configuration()
        let recorder = EffectRecorder()
        configuration.effectRecorder = recorder
        let preview = try await ScriptPreview(of: .inMemory(), configuration: configuration)
        recorder.record(PreviewEffect(name: "mail.send", arguments: ["'a@b'", "'hello'"]))
        recorder.record(PreviewEffect(name: "mail.flush"))
        let report = try await preview.finish().report
        #expect(report.effects.map(\.name) == ["mail.send", "mail.flush"])
        #expect(report.hasChanges)
    }
}
