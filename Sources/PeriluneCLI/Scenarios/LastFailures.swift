internal import Foundation
internal import Perilune
internal import PeriluneDependencies
internal import PeriluneScenarios

/// The scenarios of a folder that failed in their last run, for `--failed`. Stored in the user's cache directory.
struct LastFailures {
    private let file: URL

    /// Opens the list of failures for the project in the current folder.
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

    /// Returns a file name for a folder: its last component for readability, and a hash of the path.
    private static func name(of folder: String) -> String {
        let hash = folder.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
        let last = PathParts(folder).name.filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
        return "\(last)-\(String(hash, radix: 16))"
    }

    /// Returns the identifiers of the failed scenarios; `nil` if no run is stored.
    func read() -> Set<String>? {
        guard let data = try? Data(contentsOf: file), let list = try? JSONDecoder().decode([String].self, from: data) else {
            return nil
        }
        return Set(list)
    }

    /// Stores the results of a run; scenarios that did not run keep their previous results.
    func update(with summary: ScenarioSummary) {
        var failed = read() ?? []
        for result in summary.results where result.outcome != .interrupted && result.outcome != .notRun {
            if result.outcome.isSuccess { failed.remove(result.scenario.id) } else { failed.insert(result.scenario.id) }
        }
        // Errors while writing the cache are ignored.
        try? FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try? JSONEncoder().encode(failed.sorted()).write(to: file, options: .atomic)
    }
}
