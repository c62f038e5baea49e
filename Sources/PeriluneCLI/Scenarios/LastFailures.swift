internal import Foundation
internal import Perilune
internal import PeriluneDependencies
internal import PeriluneScenarios

/// Remembers which scenarios of a folder have failed last, for `--failed`: in the user's cache, since it concerns only this user.
struct LastFailures {
    private let file: URL

    /// Those of the project in the current folder.
    init(environment: EnvironmentVariables = .ofProcess) {
        let folder = FileManager.default.currentDirectoryPath
        let cache =
            if let path = environment["XDG_CACHE_HOME"], path.hasPrefix("/") {
                URL(filePath: path)
            } else {
                FileManager.default.homeDirectoryForCurrentUser.appending(path: ".cache")
            }
        file = cache.appending(path: "perilune/failed/\(Self.name(of: folder)).json")
    }

    /// A file name for a folder: its last part for people, its hash for the rest.
    private static func name(of folder: String) -> String {
        let hash = folder.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
        let last = PathParts(folder).name.filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
        return "\(last)-\(String(hash, radix: 16))"
    }

    /// The identifiers; `nil` if no run is remembered.
    func read() -> Set<String>? {
        guard let data = try? Data(contentsOf: file), let list = try? JSONDecoder().decode([String].self, from: data) else { return nil }
        return Set(list)
    }

    /// Remembers what a run has come to; scenarios that it has not run keep what they had.
    func update(with summary: ScenarioSummary) {
        var failed = read() ?? []
        for result in summary.results where result.outcome != .interrupted && result.outcome != .notRun {
            if result.outcome.isSuccess { failed.remove(result.scenario.id) } else { failed.insert(result.scenario.id) }
        }
        // Failing to write the cache is not an error.
        try? FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try? JSONEncoder().encode(failed.sorted()).write(to: file, options: .atomic)
    }
}
