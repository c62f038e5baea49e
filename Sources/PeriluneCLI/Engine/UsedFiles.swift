internal import Foundation
@preconcurrency internal import Glibc
internal import Perilune
internal import PeriluneDependencies
internal import PeriluneLua

/// The list of files that a script uses. The script's process writes the list, and `--watch` reads it.
enum UsedFiles {
    /// The environment variable with the path of the list.
    private static let variable = "PERILUNE_USED_FILES"

    static func environment(list: String) -> [String: String] { [variable: list] }

    /// Records the used files in a watched process: the scripts, the files that `require` searches for, and those read by `dofile`
    /// and `loadfile`.
    ///
    /// - Parameter paths: The scripts.
    static func noteIfWatched(_ paths: [String], in configuration: inout ScriptHost.Configuration) {
        guard let list = EnvironmentVariables.ofProcess[variable] else { return }
        // Programs that the script starts are not watched.
        unsetenv(variable)
        let note: @Sendable (String) -> Void = { path in append(path, to: list) }
        for path in paths + [Settings.current.file?.path].compactMap({ $0 }) { note(path) }
        configuration.willLookForModule = note
        let former = configuration.extending
        configuration.extending = { loader, state in
            try former?(loader, state)
            try observeLoading(in: state, note)
        }
    }

    /// Records only the scripts themselves, for runs in another process that cannot load other files.
    static func noteIfWatched(_ paths: [String]) {
        guard let list = EnvironmentVariables.ofProcess[variable] else { return }
        for path in paths + [Settings.current.file?.path].compactMap({ $0 }) { append(path, to: list) }
    }

    private static func append(_ path: String, to list: String) {
        guard !path.contains("\n"), let file = FileHandle(forWritingAtPath: list) else { return }
        defer { try? file.close() }
        _ = try? file.seekToEnd()
        try? file.write(contentsOf: Data((path + "\n").utf8))
    }

    private static func observeLoading(in state: LuaState, _ note: @escaping @Sendable (String) -> Void) throws {
        let function = try state.makeFunction("note") { arguments in
            let path: String = try arguments.get(1)
            note(path)
            return []
        }
        _ = try state.load(wrapping, named: "watch").call([.function(function)])
    }

    /// Lua code that wraps `dofile` and `loadfile`. Tail calls keep the line numbers of errors unchanged.
    private static let wrapping = """
        local note, dofile, loadfile = ..., dofile, loadfile
        if dofile then _G.dofile = function(...) if type((...)) == "string" then note((...)) end return dofile(...) end end
        if loadfile then _G.loadfile = function(...) if type((...)) == "string" then note((...)) end return loadfile(...) end end
        """

    /// Returns the files in a list.
    static func read(_ list: String) -> [String] {
        let text = (try? String(contentsOfFile: list, encoding: .utf8)) ?? ""
        // The last line is dropped, because it may be incomplete.
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }
}
