import Perilune
import Testing

@testable import PeriluneCLI

/// `perilune run` without options, for which the argument parser is skipped.
@Suite struct PlainRunTests {
    @Test(arguments: [
        ["a.lua"], ["-"], ["a.lua", "1", "--readonly", "x"], ["a.lua", "--", "--sandbox"], ["--database", "d.sqlite", "a.lua"],
        ["a.lua", "--database", "d.sqlite", "x", "--database", "e"], ["--database", ":memory:", "a.lua"], ["--", "-a.lua", "b"],
        ["a.lua", "-e", "x"], ["a.lua", "", "é", "--help"], ["a.lua", "--", "--frob"],
        ["-e", "x"], ["-e", "", "-e", "-x", "a.lua", "b"], ["-e", "x", "--"], ["-e", "x", "--database", "d.sqlite"],
        ["-e", "x", "--", "a.lua", "b"],
    ])
    func `the fast path parses a plain run command like the argument parser`(arguments: [String]) throws {
        let plain = try #require(PlainRun(["run"] + arguments))
        for option in [ContextOption.live, .test] {
            let context = try CommandContext(option)
            let parsed = try #require(try RunCommand.parseAsRoot(RunArguments.arranged(arguments)) as? RunCommand)
            var (expected, request) = (parsed.makeRequest(in: context), plain.makeRequest(in: context))
            #expect("\(request.limitSources.map { "\($0)" }.sorted())" == "\(expected.limitSources.map { "\($0)" }.sorted())")
            (expected.limitSources, request.limitSources) = ([:], [:])
            #expect("\(request)" == "\(expected)")
            #expect(
                request.database
                    == (option == .test || arguments.contains(":memory:") || plain.database == nil ? nil : "d.sqlite"))
        }
    }

    @Test(arguments: [
        [], ["a.lua", "--readonly"], ["-e"], ["-e", "", "-e", "--", "a.lua", "b"], ["--help"], ["--database", "d"],
        ["--database=d", "a.lua"], [""],
        ["--database", "", "a.lua"], ["-v", "a.lua"], ["a.lua", "--database"], ["a.lua", "--frob"],
        ["a.lua", "--preview", "--database", "d"], ["--databse", "d", "a.lua"],
    ])
    func `the fast path leaves all other arguments to the argument parser`(arguments: [String]) {
        #expect(PlainRun(["run"] + arguments) == nil)
        #expect(PlainRun(arguments) == nil)
    }
}
