import Perilune
import PeriluneLuaFileTools
import Testing

/// The tests that are written in Lua: `Lua/*.lua` in this folder; see ``LuaTest``.
///
/// Each runs in its own host, with an empty database in memory and the functions of ``script(_:_:)``. Files `library_*.lua` also
/// have the function `library(name)`, which returns a module of the library.
@Suite struct LuaFileTests {
    private static let all = LuaTest.all(beside: #filePath)
    /// Tests about waiting, which run in virtual time.
    private static let waiting: Set = [
        "automation.lua", "automation_runs.lua", "automation_times.lua", "durable_changes.lua", "durable_runs.lua", "jobs.lua",
        "loop.lua", "observation_control.lua", "observation_failures.lua", "schedule.lua",
    ]

    @Test(arguments: all) func lua(_ test: LuaTest) async throws {
        guard !Self.waiting.contains(test.file) else { return try await test.run(on: waitingHost()) }
        try await test.run(
            on: testHost { configuration in
                guard test.file.hasPrefix("library_") else { return }
                configuration.extending = { loader, state in
                    try state.globals.setFunction("library") { arguments in [try loader.require(arguments.get(1))] }
                }
            })
    }

    @Test func `every Lua test is found exactly once`() {
        #expect(!Self.all.isEmpty)
        #expect(Set(Self.all.map(\.description)).count == Self.all.count)
        #expect(LuaTest.overlookedLines(beside: #filePath) == [])
    }

    @Test func `a failing Lua test reports its line`() async throws {
        let host = try testHost()
        let source = testFunctions() + LuaTest.definition + "test(\"x\", function()\n equal(1, 2) end)"
        let error = await #expect(throws: (any Error).self) {
            try await host.run(source: source, named: "x.lua", commandLine: ["x"])
        }
        #expect(String(describing: error).contains("x.lua:2"))
    }
}
