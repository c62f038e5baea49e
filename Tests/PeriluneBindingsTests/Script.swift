import Foundation
import Perilune
import PeriluneLua
import PeriluneLuaFileTools
import PeriluneTestTools
import Testing

/// Runs Lua in a host of its own, over an empty database in memory, with a few functions to check what it does:
///
/// - `equal(actual, expected)`: deep for tables; integers and floats are told apart.
/// - `fails(kind, f, ...)`: calls `f`, which must raise an error object of that kind, and returns it; with `nil` any error.
/// - `matches(text, part)`: the text of a value must contain the part.
/// - `temporary_path(name)`: a path in a folder of this run.
///
/// What fails in Lua is thrown, with its line in the chunk.
func script(
    _ source: String, arguments: [String] = [], _ configure: (inout ScriptHost.Configuration) -> Void = { _ in }
) async throws {
    let host = try testHost(configure)
    try await host.runChecked(source, arguments: arguments)
}

extension ScriptHost {
    /// Gives scripts a function `begin`, for tests that wait until a script runs.
    func registerBegin() async -> Tally {
        let begun = Tally()
        try? register(module: "test") { $0.function("begin") { () in begun.add() } }
        try? await run(source: "begin = require('test').begin")
        return begun
    }

    /// Runs Lua with the functions that check.
    func runChecked(_ source: String, arguments: [String] = []) async throws {
        try await run(source: testFunctions() + source, named: "test", commandLine: arguments)
    }
}

/// How many files at a path (and with more after it) this process has open.
func openFiles(at path: String) -> Int {
    let folder = "/proc/self/fd"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { name in
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)"))?.hasPrefix(path) == true
    }.count
}

/// Whether this process closes the files at a path soon: hosts without references close theirs on threads of their own.
func closesFiles(at path: String) async -> Bool {
    await eventually { openFiles(at: path) == 0 }
}

/// The error with which a script ends.
func failure(
    of source: String, _ configure: (inout ScriptHost.Configuration) -> Void = { _ in }
) async -> LuaError? {
    do {
        try await script(source, configure)
        return nil
    } catch {
        return error as? LuaError
    }
}
