import Perilune
import PeriluneLua
import PeriluneLuaFileTools
import Testing

@testable import PeriluneScenarios

/// The tests of the scenario language that are written in Lua: `Lua/*.lua` in this folder; see ``LuaTest``.
///
/// Each runs in its own host, with an empty database in memory, the functions of ``testFunctions()`` and these:
///
/// - `library(name)`: returns a module of the library.
/// - `language(host)`: loads the language with a substitute for the runner, and returns it.
/// - `run(body, host, info)`: runs the body of one scenario, and returns the result.
/// - `passes(body, host, info)`: runs the body like `run`, and checks that the scenario has passed.
/// - `failure(body, host, info)`: returns the failure of the body, which must have exactly one.
@Suite struct LanguageTests {
    private static let all = LuaTest.all(beside: #filePath)

    @Test(.serialized, arguments: all) func lua(_ test: LuaTest) async throws {
        let host = try testHost { configuration in
            configuration.libraryModules = [.scenarios]
            configuration.extending = { loader, state in
                try state.globals.setFunction("library") { arguments in [try loader.require(arguments.get(1))] }
                try state.globals.setFunction("provide") { arguments in
                    try loader.provide(arguments.get(1), arguments[2])
                    return []
                }
            }
        }
        try await test.run(on: host, functions: Self.functions)
    }

    @Test func `all Lua tests of scenarios are found`() {
        #expect(!Self.all.isEmpty)
        #expect(LuaTest.overlookedLines(beside: #filePath) == [])
    }

    private static let functions = """
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
}
