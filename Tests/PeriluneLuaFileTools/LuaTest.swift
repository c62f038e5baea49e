import Foundation
package import Perilune
internal import Testing

/// A test that is written in Lua.
///
/// Its file consists of calls `test("what is so", function() ... end)`, each at the beginning of a line, and of local functions that they
/// share.
package struct LuaTest: Sendable, CustomTestStringConvertible, CustomStringConvertible {
    package let path: String
    package let name: String
    /// Whether `perilune.record` returns extended classes, which must behave like the table's own class.
    package var extends = false
    package var file: String { URL(filePath: path).lastPathComponent }
    package var description: String { "\(file): \(name)\(extends ? " (class that extends another)" : "")" }
    package var testDescription: String { description }

    /// Runs the test on a host.
    ///
    /// - Parameter functions: Lua code on one line that defines functions for the file, in addition to the test functions.
    package func run(on host: ScriptHost, functions: String = "") async throws {
        let source = testFunctions() + functions + preamble + (try String(contentsOfFile: path, encoding: .utf8))
        try await host.run(source: source, named: file, commandLine: [name])
    }

    /// The definition is on one line, so that the file keeps its line numbers.
    package static let definition = "function test(name, body) if name == arg[1] then body() end end "
    private static let extending = """
        do local make = perilune.record function perilune.record(...) return make(...):extend() end end \

        """
    private var preamble: String { Self.definition + (extends ? Self.extending : "") }

    /// Returns the tests in the folder `Lua` next to a Swift file. The environment variable `PERILUNE_LUA_TESTS` selects tests whose
    /// names begin with its value.
    package static func all(beside file: String) -> [LuaTest] {
        files(beside: file).flatMap(tests)
    }

    private static func files(beside file: String) -> [String] {
        let folder = URL(filePath: file).deletingLastPathComponent().appending(path: "Lua").path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let beginning = ProcessInfo.processInfo.environment["PERILUNE_LUA_TESTS"] ?? ""
        return names.filter { $0.hasSuffix(".lua") && $0.hasPrefix(beginning) }.sorted().map { "\(folder)/\($0)" }
    }

    private static var definitionLine: Regex<(Substring, Substring)> { /^test\("(.*)", function\(\)/ }

    /// Returns the lines that call `test` without defining a test that is found, for example in a loop or with a computed name.
    package static func overlookedLines(beside file: String) -> [String] {
        files(beside: file).flatMap { path in
            let source = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            return source.split(separator: "\n").filter { $0.contains(/^\s*test\(/) && $0.firstMatch(of: definitionLine) == nil }
                .map(String.init)
        }
    }

    private static func tests(in path: String) -> [LuaTest] {
        let source = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        // The code of each test, and the code that all tests of the file share.
        var shared = "", isInTest = false
        var bodies: [(name: String, code: String)] = []
        for line in source.split(separator: "\n") {
            if let match = line.firstMatch(of: definitionLine) {
                bodies.append((String(match.1), ""))
                isInTest = true
            }
            if isInTest { bodies[bodies.count - 1].code += line + "\n" } else { shared += line + "\n" }
            if line.hasPrefix("end)") { isInTest = false }
        }
        let makesClasses = { (code: String) in code.contains("perilune.record(") || code.contains("perilune.record \"") }
        let tests = bodies.map { LuaTest(path: path, name: $0.name) }
        guard source.contains("perilune.record(") else { return tests }
        return tests
            + bodies.filter { makesClasses(shared) || makesClasses($0.code) }.map {
                LuaTest(path: path, name: $0.name, extends: true)
            }
    }
}
