internal import Perilune
internal import PeriluneLua
internal import Synchronization

/// How often lines of Lua have run: of scripts and modules, not of the scenarios themselves.
public struct LineCoverage: Sendable {
    /// By file, then by line: 0 for lines that could have run.
    public internal(set) var files: [String: [Int: Int]] = [:]
}

/// Adds up which lines have run in many states.
final class CoverageCollector: Sendable {
    private let coverage = Mutex(LineCoverage())

    /// Adds what has run in a state, before it is closed.
    func add(_ state: LuaState) {
        var found: [String: [Int: Int]] = [:]
        state.readCoverage { file, line, count in found[file, default: [:]][line] = count }
        add(found.filter { !Self.isTest($0.key) })
    }

    /// Adds what has run in another process: by file, then by line.
    func add(_ files: [String: [Int: Int]]) {
        coverage.withLock { coverage in
            for (file, counts) in files { coverage.files[file, default: [:]].merge(counts) { $0 + $1 } }
        }
    }

    /// Takes what has run since it was taken before.
    func take() -> [String: [Int: Int]] {
        coverage.withLock { coverage in
            defer { coverage.files = [:] }
            return coverage.files
        }
    }

    private static func isTest(_ file: String) -> Bool {
        file.hasSuffix(ScenarioFiles.suffix) || file == "support.lua" || file.hasSuffix("/support.lua")
    }

    /// The sums, with the lines that could have run and have not. Needs a large stack, since it compiles the files.
    func finished() -> LineCoverage {
        coverage.withLock { coverage in
            for file in coverage.files.keys {
                for line in Self.activeLines(of: file) { coverage.files[file]![line, default: 0] += 0 }
            }
            return coverage
        }
    }

    private static func activeLines(of file: String) -> Set<Int> {
        guard let text = try? ScriptHost.read(file), let state = try? LuaState(),
            let chunk = try? state.load(LuaString(text), named: file).compiled(named: file)
        else { return [] }
        return chunk.activeLines
    }
}
