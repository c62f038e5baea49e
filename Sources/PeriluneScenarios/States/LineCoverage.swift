internal import Foundation
internal import Perilune
internal import PeriluneLua
internal import Synchronization

/// The number of times that lines of Lua have run, in scripts and modules but not in the scenarios themselves.
package struct LineCoverage: Sendable {
    /// The counts by file and line: 0 for executable lines that did not run.
    package internal(set) var files: [String: [Int: Int]] = [:]
}

extension LineCoverage {
    /// A readable table with the number of executed lines of each file.
    package var table: String {
        let rows = files.sorted { $0.key < $1.key }.map { ($0.key, $0.value.count, $0.value.values.count { $0 > 0 }) }
        let all = (
            "in \(rows.count) \(rows.count == 1 ? "file" : "files")", rows.reduce(0) { $0 + $1.1 }, rows.reduce(0) { $0 + $1.2 }
        )
        let lines = (rows + [all]).map { name, count, run in
            let share = count == 0 ? "" : "\(run * 100 / count) %"
            return [String(count), String(run), share].map { Self.padded($0, to: 7) }.joined() + "  \(name)"
        }
        return (["  lines    run  share  coverage"] + lines).map { $0 + "\n" }.joined()
    }

    private static func padded(_ text: String, to width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}

/// A project folder, with the scripts and modules that scenarios run.
struct ProjectFolder: Hashable, Sendable {
    /// The path; empty for the current folder.
    let path: String
    /// The folder of the scenarios, which is excluded from coverage.
    let scenarios: String

    /// The maximum number of entries to examine, because the folder may be a home folder.
    private static let mostEntries = 20_000

    /// The paths of the folder's Lua files, without hidden folders and scenario folders.
    var files: [String] {
        guard scenarios != path, let names = FileManager.default.enumerator(atPath: path.isEmpty ? "." : path) else { return [] }
        var files: [String] = []
        var count = 0
        while let name = names.nextObject() as? String, count < Self.mostEntries {
            count += 1
            let file = ScenarioLocation.path(name, in: path)
            let isHidden = name.split(separator: "/").last?.hasPrefix(".") == true || name.hasSuffix("node_modules")
            if isHidden || file == scenarios {
                names.skipDescendants()
            } else if name.hasSuffix(".lua"), !CoverageCollector.isTest(file) {
                files.append(file)
            }
        }
        return files
    }
}

/// A collector that sums the executed lines of many Lua states.
final class CoverageCollector: Sendable {
    private let coverage = Mutex(LineCoverage())

    /// Adds the lines that have run in a state. Called before the state is closed.
    func add(_ state: LuaState) {
        var found: [String: [Int: Int]] = [:]
        state.readCoverage { file, line, count in found[file, default: [:]][line] = count }
        add(found.filter { !Self.isTest($0.key) })
    }

    /// Adds the lines that have run in another process, by file and line.
    func add(_ files: [String: [Int: Int]]) {
        coverage.withLock { coverage in
            for (file, counts) in files { coverage.files[Self.path(file), default: [:]].merge(counts) { $0 + $1 } }
        }
    }

    /// Returns the path of a file without a leading `./`, which the paths of modules in the current folder have.
    private static func path(_ file: String) -> String {
        var path = file[...]
        while path.hasPrefix("./") { path = path.dropFirst(2) }
        return String(path)
    }

    /// Removes and returns the lines that have run since the last call.
    func take() -> [String: [Int: Int]] {
        coverage.withLock { coverage in
            defer { coverage.files = [:] }
            return coverage.files
        }
    }

    static func isTest(_ file: String) -> Bool {
        file.hasSuffix(ScenarioFiles.suffix) || file == "support.lua" || file.hasSuffix("/support.lua")
    }

    /// Returns the total coverage, including executable lines that did not run, and project files that were never loaded. Compiling these
    /// files needs a large stack.
    func finished(in projects: Set<ProjectFolder>) -> LineCoverage {
        coverage.withLock { coverage in
            for file in projects.flatMap(\.files) where coverage.files[file] == nil { coverage.files[file] = [:] }
            for file in coverage.files.keys {
                guard let lines = Self.activeLines(of: file) else {
                    coverage.files[file] = [:]
                    continue
                }
                for line in lines { coverage.files[file]![line, default: 0] += 0 }
            }
            return coverage
        }
    }

    /// Returns the executable lines of a file; `nil` for a file without code, in which Lua would count the last line.
    private static func activeLines(of file: String) -> Set<Int>? {
        guard let text = try? ScriptHost.read(file), let state = try? LuaState(),
            let chunk = try? state.load(LuaString(text), named: file).compiled(named: file)
        else { return [] }
        return hasCode(String(decoding: text, as: UTF8.self)) ? chunk.activeLines : nil
    }

    /// Returns whether a file contains more than comments and white space.
    private static func hasCode(_ text: String) -> Bool {
        let code = text.replacing(/--\[(=*)\[(?s:.*?)\]\1\]/, with: "").replacing(/--[^\n]*/, with: "")
        return code.contains { !$0.isWhitespace }
    }
}
