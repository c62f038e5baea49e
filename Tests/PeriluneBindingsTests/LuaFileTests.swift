import Foundation
import Perilune
import PeriluneScenarios
import Testing

/// The tests that are written in Lua: `Lua/*.lua` beside this file.
///
/// Such a file consists of calls `test("what is so", function() ... end)`, each at the beginning of a line, and of local functions
/// that they share. Each test runs in a host of its own, over an empty database in memory, with the functions of ``script(_:_:)``.
/// Files `library_*.lua` and `scenario_*.lua` also have the function `library(name)`, which returns a module of the library, and the
/// latter also these:
///
/// - `language(host)`: loads the language, with what stands for the runner, and returns it.
/// - `run(body, host, info)`: runs the body of one scenario, and returns the result.
/// - `passes(body, host, info)`: the same, and it must have passed.
/// - `failure(body, host, info)`: the failure of the body, which must have exactly one.
@Suite struct LuaFileTests {
    // One after the other: hundreds of hosts at once, each with a thread of its own, would slow down all other tests.
    @Test(.serialized, arguments: LuaTest.all) func lua(_ test: LuaTest) async throws {
        let host = test.waits ? try await waitingHost() : try testHost(test.prepare)
        let source = testFunctions() + test.functions + test.preamble + (try String(contentsOfFile: test.path, encoding: .utf8))
        try await host.run(source: source, named: test.file, commandLine: [test.name])
    }

    @Test func `tests in Lua are found, and none twice`() {
        #expect(!LuaTest.all.isEmpty)
        #expect(Set(LuaTest.all.map(\.description)).count == LuaTest.all.count)
    }

    @Test func `a test in Lua that fails tells its line`() async throws {
        let host = try testHost()
        let source = testFunctions() + LuaTest.definition + "test(\"x\", function()\n equal(1, 2) end)"
        let error = await #expect(throws: (any Error).self) {
            try await host.run(source: source, named: "x.lua", commandLine: ["x"])
        }
        #expect(String(describing: error).contains("x.lua:2"))
    }
}

struct LuaTest: Sendable, CustomTestStringConvertible, CustomStringConvertible {
    let path: String
    let name: String
    /// Whether `perilune.record` gives classes that extend the one of the table: they do all that it does.
    var extends = false
    /// Whether it is of a file about waiting.
    var waits: Bool { ["automation.lua", "loop.lua", "observation_failures.lua", "schedule.lua"].contains(file) }
    var file: String { URL(filePath: path).lastPathComponent }
    var description: String { "\(file): \(name)\(extends ? " (class that extends another)" : "")" }
    var testDescription: String { description }

    /// Gives the tests of a file what they need beside the usual.
    func prepare(_ configuration: inout ScriptHost.Configuration) {
        guard file.hasPrefix("scenario_") || file.hasPrefix("library_") else { return }
        configuration.libraryModules = [.scenarios]
        configuration.extending = { loader, state in
            try state.globals.setFunction("library") { arguments in [try loader.require(arguments.get(1))] }
            try state.globals.setFunction("provide") { arguments in
                try loader.provide(arguments.get(1), arguments[2])
                return []
            }
        }
    }

    /// What files of its kind have beside the functions of all.
    var functions: String { file.hasPrefix("scenario_") ? Self.scenarioFunctions : "" }

    private static let scenarioFunctions = """
        function language(host) \
          provide("scenarios.native.host", host or {}) \
          local S = library("scenarios") \
          S.install() \
          return S \
        end \
        local runs = 0 \
        function run(body, host, info) \
          local S = language(host) \
          runs = runs + 1 \
          local file = ("a%d_scenario.lua"):format(runs) \
          S.load(file, "scenario(\\"s\\", function(t)\\n" .. body .. "\\nend)") \
          return S.run(file .. " > s", info or {}) \
        end \
        function failure(body, host, info) \
          local result = run(body, host, info) \
          equal(result.outcome, "failed") \
          equal(#result.failures, 1) \
          return result.failures[1] \
        end \
        function passes(body, host, info) \
          local result = run(body, host, info) \
          if result.outcome ~= "passed" then \
            local failure = result.failures[1] or { message = "", details = {} } \
            error(result.outcome .. ": " .. failure.message .. " " .. table.concat(failure.details, "; "), 2) \
          end \
          return result \
        end \

        """

    /// On one line, so that the lines of a file keep their numbers.
    static let definition = "function test(name, body) if name == arg[1] then body() end end "
    private static let extending = """
        do local make = perilune.record function perilune.record(...) return make(...):extend() end end \

        """
    var preamble: String { Self.definition + (extends ? Self.extending : "") }

    static let all: [LuaTest] = {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Lua").path
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return files.filter { $0.hasSuffix(".lua") }.sorted().flatMap { tests(in: "\(folder)/\($0)") }
    }()

    private static func tests(in path: String) -> [LuaTest] {
        let source = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        let tests = source.split(separator: "\n").compactMap { line -> LuaTest? in
            guard let match = line.firstMatch(of: /^test\("(.*)", function\(\)/) else { return nil }
            return LuaTest(path: path, name: String(match.1))
        }
        guard source.contains("perilune.record(") else { return tests }
        return tests + tests.map { LuaTest(path: $0.path, name: $0.name, extends: true) }
    }
}
