/// What a run consists of: the scenarios that were chosen, in the order in which they begin, and the files that do not load.
public struct ScenarioPlan: Sendable {
    /// One to be run, with what it is run with.
    struct Entry: Sendable {
        let scenario: Scenario
        let source: ScenarioDatabases.Source
    }

    var entries: [Entry] = []
    /// What cannot be run, told as scenarios that have failed.
    var broken: [ScenarioResult] = []
    /// Those that were found, chosen or not.
    public private(set) var foundCount = 0
    /// How many files of scenarios were not looked into, as the selection does not name them.
    private(set) var unreadCount = 0
    /// Whether some are left out because of `scenario.only`.
    public private(set) var isFocused = false
    /// Where it stands.
    public private(set) var focused: [Scenario] = []

    /// The chosen scenarios, in the order of files and lines.
    public var scenarios: [Scenario] {
        entries.map(\.scenario).sorted { ($0.file, $0.line, $0.id) < ($1.file, $1.line, $1.id) }
    }
    /// Why files or scenarios cannot be run.
    public var failures: [ScenarioFailure] { broken.flatMap(\.failures) }
    public var isEmpty: Bool { entries.isEmpty && broken.isEmpty }

    /// Loads the files and chooses.
    ///
    /// - Throws: ``ScenarioUsageError`` if a path does not exist.
    init(_ options: ScenarioOptions, collector: ScenarioCollector) throws {
        var seen: Set<String> = []
        var wanted: [(path: ScenarioPath, found: ScenarioFiles.Found)] = []
        for path in options.paths {
            for found in try ScenarioFiles.find(path.path) where seen.insert("\(found.path):\(path.line ?? 0)").inserted {
                if let files = options.selection.files, !files.contains(found.path) {
                    unreadCount += 1
                    continue
                }
                wanted.append((path, found))
            }
        }
        for (item, collected) in zip(wanted, collector.collect(wanted.map(\.found))) { add(collected, at: item.path, options) }
        removeRepeated(options)
        focus(options)
        arrange(options)
    }

    private mutating func add(_ collected: ScenarioCollector.Collected, at path: ScenarioPath, _ options: ScenarioOptions) {
        if let failure = collected.failure {
            var scenario = Scenario(id: collected.path, name: "the file does not load", file: collected.path, line: 1)
            scenario.line = failure.file == collected.path ? failure.line ?? 1 : 1
            var result = ScenarioResult(scenario, .errored, seed: options.seed)
            result.failures = [failure]
            broken.append(result)
        }
        guard let file = collected.file else { return }
        foundCount += collected.scenarios.count
        let source = ScenarioDatabases.Source(file: file, templates: collected.templates)
        let chosen = path.select(collected.scenarios).filter(options.selection.includes)
        entries += chosen.map { Entry(scenario: $0, source: source) }
    }

    /// Two scenarios cannot have one name: results could not be told apart, and neither could they be run alone.
    private mutating func removeRepeated(_ options: ScenarioOptions) {
        var first: [String: Scenario] = [:]
        entries.removeAll { entry in
            let scenario = entry.scenario
            guard let other = first[scenario.id] else {
                first[scenario.id] = scenario
                return false
            }
            // A file that was given twice.
            guard other.line != scenario.line || other.caseName != nil else { return true }
            var result = ScenarioResult(scenario, .errored, seed: options.seed)
            let message = "there are two scenarios of this name; the other one is at \(other.place)"
            result.failures = [ScenarioFailure(message, kind: "duplicate_name", file: scenario.file, line: scenario.line)]
            broken.append(result)
            return true
        }
    }

    private mutating func focus(_ options: ScenarioOptions) {
        focused = entries.map(\.scenario).filter(\.isOnly)
        guard !focused.isEmpty, !options.isCI else { return }
        isFocused = true
        entries.removeAll { !$0.scenario.isOnly }
    }

    private mutating func arrange(_ options: ScenarioOptions) {
        entries.sort {
            ($0.scenario.file, $0.scenario.line, $0.scenario.id) < ($1.scenario.file, $1.scenario.line, $1.scenario.id)
        }
        guard options.order == .random else { return }
        var generator = SeededGenerator(options.seed.value)
        entries.shuffle(using: &generator)
    }
}

/// Numbers that follow from a seed (SplitMix64).
private struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
