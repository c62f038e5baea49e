import Foundation
import Perilune
import PeriluneDependencies
import PeriluneLua
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

/// A path that no other test has, in a folder that is removed when the tests end.
func temporaryPath(_ name: String) -> String {
    // Without such a folder no test can run.
    try! TemporaryFolder.path(name)
}

/// How many files at a path (and with more after it) this process has open.
func openFiles(at path: String) -> Int {
    let folder = "/proc/self/fd"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { name in
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)"))?.hasPrefix(path) == true
    }.count
}

/// Whether this process closes the files at a path soon: hosts that nobody keeps close theirs on threads of their own.
func closesFiles(at path: String) async -> Bool {
    await eventually { openFiles(at: path) == 0 }
}

/// A host as ``script(_:_:)`` makes it: trusted, with files, over a database in memory.
func testHost(_ configure: (inout ScriptHost.Configuration) -> Void = { _ in }) throws -> ScriptHost {
    var configuration = ScriptHost.Configuration(database: .inMemory)
    configuration.libraries = .trusted
    configuration.allowsFiles = true
    configure(&configuration)
    return try ScriptHost(standalone: configuration)
}

/// The same with the clock of tests, which stands but where a script waits: so waiting takes no time, and its end does not depend
/// on how busy the machine is.
func waitingHost() async throws -> ScriptHost {
    var configuration = ScriptHost.Configuration(database: .inMemory)
    configuration.libraries = .trusted
    configuration.allowsFiles = true
    return try await ScriptHost(configuration)
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

/// The functions for the tests of one host, whose files are removed when the tests end.
func testFunctions() -> String {
    checks + """
        do local count, base = 0, "\(temporaryPath("lua"))" \
        function temporary_path(name) count = count + 1 return base .. count .. "-" .. name end end \

        """
}

let checks = """
    local function show(v, depth) \
      if type(v) == "string" then return string.format("%q", v) end \
      if type(v) ~= "table" or (depth or 0) > 4 then return tostring(v) end \
      local parts = {} \
      for k, x in pairs(v) do parts[#parts + 1] = "[" .. tostring(k) .. "] = " .. show(x, (depth or 0) + 1) end \
      table.sort(parts) \
      return "{" .. table.concat(parts, ", ") .. "}" \
    end \
    local function same(a, b) \
      if type(a) == "table" and type(b) == "table" then \
        for k, x in next, a do if not same(x, rawget(b, k)) then return false end end \
        for k in next, b do if rawget(a, k) == nil then return false end end \
        return true \
      end \
      return a == b and math.type(a) == math.type(b) or (a ~= a and b ~= b) \
    end \
    function equal(a, b) if not same(a, b) then error("expected " .. show(b) .. ", got " .. show(a), 2) end end \
    function matches(text, part) \
      if not tostring(text):find(part, 1, true) then error("expected " .. part .. " in: " .. tostring(text), 2) end \
    end \
    function fails(kind, f, ...) \
      local ok, err = pcall(f, ...) \
      if ok then error("expected an error of kind " .. tostring(kind), 2) end \
      local found = type(err) ~= "string" and err.kind or nil \
      if kind and found ~= kind then error("expected kind " .. kind .. ", got " .. tostring(found) .. ": " .. tostring(err), 2) end \
      return err \
    end \
    function temporary_path(name) local path = os.tmpname() os.remove(path) return path .. "-" .. name end \

    """.split(separator: "\n").joined(separator: " ") + " "
