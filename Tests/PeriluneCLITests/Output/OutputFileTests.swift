import Foundation
import Testing

/// Files that commands write with options such as `--output`.
@Suite(.patience, .startsPrograms) struct OutputFileTests {
    private static let query = "\"$PERILUNE\" query 'SELECT 1 AS a' --format csv --output"

    @Test func `output goes through a pipe with a name, which stays a pipe`() throws {
        let folder = try TestFolder()
        let result = try folder.shell("mkfifo p && { cat p & \(Self.query) p && wait && test -p p; }")
        #expect((result.status, result.output, result.errors) == (0, "a\n1\n", ""))
    }

    @Test func `output replaces the target of a symbolic link, not the link`() throws {
        let folder = try TestFolder(["real.csv": "old"])
        let result = try folder.shell(
            """
            mkdir d && ln -s ../real.csv d/link.csv && ln -s new.csv missing.csv && \
            \(Self.query) d/link.csv && \(Self.query) missing.csv && test -L d/link.csv && test -L missing.csv
            """)
        #expect((result.status, result.errors) == (0, ""))
        #expect(try folder.read("real.csv") == "a\n1\n")
        #expect(try folder.read("new.csv") == "a\n1\n")
    }

    @Test func `a replaced file keeps its mode`() throws {
        let folder = try TestFolder(["private.csv": "old", "open.csv": "old"])
        let result = try folder.shell(
            """
            chmod 600 private.csv && chmod 666 open.csv && \(Self.query) private.csv && \(Self.query) open.csv && \
            stat -c %a private.csv open.csv
            """)
        #expect((result.status, result.output, result.errors) == (0, "600\n666\n", ""))
    }

    @Test(.enabled(if: geteuid() == 0)) func `a replaced file keeps its owner`() throws {
        let folder = try TestFolder(["a.csv": "old"])
        let result = try folder.shell("chown 1000:1001 a.csv && \(Self.query) a.csv && stat -c %u:%g a.csv")
        #expect((result.status, result.output, result.errors) == (0, "1000:1001\n", ""))
    }

    @Test func `the name of standard output appends to the output that exists`() throws {
        let folder = try TestFolder()
        let result = try folder.shell(
            "echo first > out; ln -s /proc/self/fd/1 stream; \(Self.query) stream >> out; cat out; \(Self.query) stream | cat")
        #expect((result.status, result.output, result.errors) == (0, "first\na\n1\na\n1\n", ""))
    }

    @Test func `the name of a compressed file is refused, because output is not compressed`() throws {
        let folder = try TestFolder(["new.sql": "CREATE TABLE t (a);"])
        try #require(folder.perilune("restore", "new.sql", "--database", "x.sqlite").status == 0)
        for (name, program) in [("d.sql.gz", "gzip"), ("D.SQL.XZ", "xz")] {
            let result = try folder.perilune("dump", "--database", "x.sqlite", "--output", name)
            #expect(result.status == 64)
            #expect(
                result.errors == """
                    error: refusing to write \(name): the output would not be compressed
                      help  write to standard output, and compress that: `| \(program) > \(name)`

                    """)
            #expect(!folder.exists(name))
        }
        let query = try folder.perilune("query", "SELECT 1", "--format", "csv", "--output", "a.csv.zst")
        #expect(query.status == 64 && query.errors.contains("`| zstd > a.csv.zst`"), "\(query.errors)")
    }

    @Test func `a file that cannot be written leaves no part behind`() throws {
        let folder = try TestFolder(["a.csv": "old"])
        let failed = try folder.perilune("query", "SELECT abs(-9223372036854775808)", "--output", "a.csv")
        #expect(failed.status == 1)
        let folderResult = try folder.perilune("query", "SELECT 1", "--format", "csv", "--output", folder.path)
        #expect((folderResult.status, folderResult.errors) == (74, "error: cannot write \(folder.path): Is a directory\n"))
        #expect(try folder.read("a.csv") == "old")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".part") } == [])
    }
}
