import Foundation
import Testing

/// Databases of which a user may read the files, but not write to them or to their folder.
@Suite(.patience, .startsPrograms) struct UnwritableFolderTests {
    /// A shell function that runs the command as a user without permission to write. Root may write anywhere, so another user runs a copy
    /// of the command, which that user can reach.
    private static let reader = """
        cp "$PERILUNE" perilune
        if test "$(id -u)" = 0; then user="setpriv --reuid=65534 --regid=65534 --clear-groups"; fi
        perilune() { HOME=/ $user ./perilune "$@"; }

        """

    private let folder: TestFolder

    init() throws {
        folder = try TestFolder(["migrations/01.sql": "CREATE TABLE u (b)", "new.lua": "db:execute('SELECT 1')"])
        let made = try folder.perilune(
            "run", "--database", "a.sqlite", "-e",
            "db:execute('PRAGMA journal_mode = WAL') db:execute('CREATE TABLE t (a); INSERT INTO t VALUES (1)')"
        )
        try #require(made.status == 0, "\(made.errors)")
    }

    /// Runs a command line in the folder while only root may write to it.
    private func read(_ line: String) throws -> CommandResult {
        try folder.shell(Self.reader + "chmod 644 a.sqlite; chmod 555 .; \(line); status=$?; chmod 755 .; exit $status")
    }

    @Test(arguments: [
        ("perilune query 'SELECT a FROM t' --format csv --database a.sqlite", "a\n1\n"),
        ("perilune run --readonly --database a.sqlite -e 'return db:fetch_one([[SELECT a FROM t]]).a'", "1\n"),
        ("perilune run --readonly --database a.sqlite -e 'print(db:path())'", "a.sqlite\n"),
        (
            "perilune run -e 'print(perilune.queue([[a.sqlite]], { readonly = true }):fetch_one([[SELECT a FROM t]]).a)'", "1\n"
        ),
        ("echo 'db:fetch_one([[SELECT a FROM t]]).a' | perilune console a.sqlite --readonly", "1\n"),
    ])
    func `a database in WAL mode is read in a folder without write permission`(line: String, output: String) throws {
        let result = try read(line)
        #expect((result.status, result.output, result.errors) == (0, output, ""))
    }

    @Test func `the status of automations and migrations is read in a folder without write permission`() throws {
        let automations = try read("perilune automations status --database a.sqlite")
        #expect((automations.status, automations.errors) == (0, "no automation has run with this database\n"))
        let status = try read("perilune migrate --status --format csv --database a.sqlite")
        #expect((status.status, status.output, status.errors) == (0, "migration,status\n01,pending\n", ""))
        let check = try read("perilune migrate --check --database a.sqlite")
        #expect((check.status, check.errors) == (2, "1 migration is pending: 01\n"))
    }

    @Test func `a database that cannot be written to is named, with the commands that read it`() throws {
        let result = try read("perilune run new.lua --database a.sqlite")
        #expect(result.status == 74)
        #expect(result.errors.hasPrefix("error: cannot open the database a.sqlite: "))
        #expect(result.errors.contains("and by `perilune run` and `perilune console` with --readonly\n"))
    }

    @Test(arguments: ["query 'SELECT 1'", "run --readonly new.lua", "run new.lua", "migrate --check", "schema"])
    func `a file without read permission is reported with the missing permission`(command: String) throws {
        let result = try folder.shell(
            Self.reader
                + "chmod 0 a.sqlite; perilune \(command) --database a.sqlite; status=$?; chmod 644 a.sqlite; exit $status"
        )
        #expect(result.status == 74)
        #expect(
            result.errors.hasPrefix(
                "error: cannot open the database a.sqlite: Permission denied: this user may not read the file\n"))
    }
}
