internal import Foundation
@preconcurrency internal import Glibc
internal import Perilune
internal import PeriluneDependencies
internal import PeriluneLua

/// The list of files that a script uses, which `--watch` reads while the script runs in another process.
enum UsedFiles {
    /// The variable that names the file of the list.
    private static let variable = "PERILUNE_USED_FILES"

    static func environment(list: String) -> [String: String] { [variable: list] }

    /// Keeps the list in a process that is watched: the files of the scripts, those that `require` looks for, and those that
    /// `dofile` and `loadfile` read.
    ///
    /// - Parameter paths: The scripts.
    static func noteIfWatched(_ paths: [String], in configuration: inout ScriptHost.Configuration) {
        guard let list = EnvironmentVariables.ofProcess[variable] else { return }
        // Programs that the script runs are not watched.
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

    /// Keeps the files of the scripts only, for scripts that another process runs and that can load no others.
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

    /// Calls of the originals are tail calls, so that errors name the same lines.
    private static let wrapping = """
        local note, dofile, loadfile = ..., dofile, loadfile
        if dofile then _G.dofile = function(...) if type((...)) == "string" then note((...)) end return dofile(...) end end
        if loadfile then _G.loadfile = function(...) if type((...)) == "string" then note((...)) end return loadfile(...) end end
        """

    /// The files of a list.
    static func read(_ list: String) -> [String] {
        let text = (try? String(contentsOfFile: list, encoding: .utf8)) ?? ""
        // The last line may be on its way.
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }
}
