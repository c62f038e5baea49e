import Foundation
import Perilune
import PeriluneLua
import PeriluneLuaFileTools
import PeriluneTestTools
import Testing

/// Runs Lua in a separate host, with an empty database in memory and a few functions for checks:
///
/// - `equal(actual, expected)`: compares tables deeply; integers and floats differ.
/// - `fails(kind, f, ...)`: calls `f`, which must raise an error object of that kind, and returns the error; `nil` allows any
///   error.
/// - `matches(text, part)`: the text of a value must contain the part.
/// - `temporary_path(name)`: a path in a folder of this run.
///
/// Failures in Lua are thrown with their line in the chunk.
func script(
    _ source: String, arguments: [String] = [], _ configure: (inout ScriptHost.Configuration) -> Void = { _ in }
) async throws {
    let host = try testHost(configure)
    try await host.runChecked(source, arguments: arguments)
}

extension ScriptHost {
    /// Adds a function `begin`, for tests that wait until a script is running.
    func registerBegin() async -> Tally {
        let begun = Tally()
        try? register(module: "test") { $0.function("begin") { () in begun.add() } }
        try? await run(source: "begin = require('test').begin")
        return begun
    }

    /// Runs Lua with the functions for checks.
    func runChecked(_ source: String, arguments: [String] = []) async throws {
        try await run(source: testFunctions() + source, named: "test", commandLine: arguments)
    }
}

/// Returns the number of open files of this process whose paths start with a path.
func openFiles(at path: String) -> Int {
    let folder = "/proc/self/fd"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { name in
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)"))?.hasPrefix(path) == true
    }.count
}

/// Whether this process soon closes the files at a path. Hosts without references close their files on their own threads.
func closesFiles(at path: String) async -> Bool {
    await eventually { openFiles(at: path) == 0 }
}

/// Returns the error with which a script ends.
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
