import Foundation
import PeriluneTestTools
import Testing

@testable import PeriluneCLI

/// Temporary files are removed when the command ends.
@Suite(.patience, .startsPrograms) struct TemporaryFileTests {
    /// Commands that copy a database that is too large for memory, with their exit statuses.
    static let commands: [([String], Int32)] = [
        (["run", "-e", "db:execute('DELETE FROM big')", "--preview"], 0),
        (["run", "-e", "error('stop')", "--preview"], 1),
        (["run", "-e", "os.exit(3)", "--preview"], 3),
        (["run", "-e", "perilune.pool('other.sqlite')", "--preview"], 1),
        (["run", "-e", "db:execute('CREATE TABLE a (b)')", "--context", "test"], 0),
        (["migrate", "--dry-run"], 0),
        (["migrate", "broken", "--dry-run"], 1),
    ]

    @Test(arguments: commands) func `no command leaves temporary files`(_ command: [String], _ status: Int32) throws {
        let folder = try TestFolder([
            "migrations/0001_more.sql": "CREATE TABLE more (a)", "broken/0001_wrong.sql": "CREATE nonsense", "tmp/.keep": "",
        ])
        let made = try folder.perilune(
            "run", "-e", "db:execute('CREATE TABLE big (a); INSERT INTO big VALUES (zeroblob(70000000))')", "--database",
            "big.sqlite")
        try #require(made.status == 0, "\(made.errors)")
        let result = try CommandProcess(
            TestFolder.binary, command + ["--database", "big.sqlite"], in: folder, environment: ["TMPDIR": folder.path + "/tmp"]
        ).wait()
        #expect(result.status == status, "\(result.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/tmp") == [".keep"])
    }
}
