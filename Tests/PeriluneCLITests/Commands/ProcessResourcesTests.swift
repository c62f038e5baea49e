import PeriluneTestTools
import Testing

/// System resources that the process checks at startup.
@Suite(.startsPrograms) struct ProcessResourcesTests {
    private func run(under limit: String) throws -> CommandResult {
        let folder = try TestFolder(["one.lua": "db:execute('CREATE TABLE t (a)') print(1)"])
        return try folder.shell("ulimit \(limit); exec \"$PERILUNE\" run one.lua --database x.sqlite")
    }

    @Test(arguments: [5, 6, 9, 12])
    func `too few file descriptors are an error instead of a crash`(count: Int) throws {
        let result = try run(under: "-n \(count)")
        #expect(result.status == 74)
        #expect(result.errors.contains("more files can be opened; perilune needs 16 (raise `ulimit -n`)"))
    }

    @Test(
        .unless(.thread, "the sanitizer takes terabytes of address space"),
        .unless(.address, "the sanitizer takes terabytes of address space")
    ) func `too little address space is an error instead of a hang`() throws {
        let result = try run(under: "-v 200000")
        #expect(result.status == 5)
        #expect(result.errors.contains("the process may use 195 MB of address space; perilune needs 256 MB (raise `ulimit -v`)"))
    }

    /// When threads started at the same time, three of twenty runs failed.
    @Test(
        .unless(.thread, "the sanitizer takes terabytes of address space"),
        .unless(.address, "the sanitizer takes terabytes of address space"), arguments: 1...12
    ) func `the minimum address space is enough for every run`(run number: Int) throws {
        let result = try run(under: "-v 262144")
        #expect((result.status, result.output) == (0, "1\n"))
    }

    @Test func `a limit of 32 file descriptors is enough`() throws {
        #expect(try run(under: "-n 32").output == "1\n")
    }
}
