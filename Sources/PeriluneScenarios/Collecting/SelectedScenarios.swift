/// The contents of a run: the selected scenarios in the order in which they begin, and the files that do not load.
package struct SelectedScenarios: Sendable {
    /// A scenario to run, with its sources.
    struct Entry: Sendable {
        var scenario: Scenario
        let source: ScenarioDatabases.Source
    }

    var entries: [Entry] = []
    /// Scenarios that cannot be run, reported as failed.
    var broken: [ScenarioResult] = []
    /// The number of scenarios found, selected or not.
    package private(set) var foundCount = 0
    /// The tags of the scenarios that were found, selected or not.
    private(set) var foundTags: Set<String> = []
    /// The number of scenario files that were not loaded because the selection excludes them.
    private(set) var unreadCount = 0
    /// Whether scenarios are left out because others use `scenario.only`.
    package private(set) var isFocused = false
    /// The scenarios that use `scenario.only`.
    package private(set) var focused: [Scenario] = []
    /// The project folders, which contain scripts and modules, each with its scenario folder.
    private(set) var projects: Set<ProjectFolder> = []
    /// The paths in the options that are folders.
    private(set) var folders: [String] = []
    /// The definitions of files that were loaded completely, selected or not.
    private var definitions: [(path: String, scenarios: [Scenario])] = []
    /// An explanation for a run without scenarios.
    package var explanationOfNone: String { Self.explanationOfNone(found: foundCount, unread: unreadCount) }

    /// - Parameters:
    ///   - found: The number of scenarios found, selected or not.
    ///   - unread: The number of files that were not loaded.
    static func explanationOfNone(found: Int, unread: Int) -> String {
        if found > 0 { return "none of the \(found) scenarios matched" }
        return unread == 0 ? "no scenarios found" : "no scenario files have changed"
    }

    /// Whether the run contains every scenario that was found.
    var isWhole: Bool { unreadCount == 0 && broken.isEmpty && entries.count == foundCount }

    /// The selected scenarios, in the order of files and lines.
    package var scenarios: [Scenario] {
        entries.map(\.scenario).sorted { $0.file == $1.file ? $0.isBefore($1) : $0.file < $1.file }
    }
    /// The reasons why files or scenarios cannot be run.
    package var failures: [ScenarioFailure] { broken.flatMap(\.failures) }
    /// Whether the run is empty.
    package var isEmpty: Bool { entries.isEmpty && broken.isEmpty }

    /// Loads the files and selects scenarios.
    ///
    /// - Throws: ``ScenarioUsageError`` if a path does not exist, or if its line belongs to no scenario.
    init(_ options: ScenarioOptions, collector: ScenarioCollector) throws {
        var seen: Set<String> = []
        var wanted: [(path: ScenarioPath, place: ScenarioLocation)] = []
        for path in options.paths {
            if path.line == nil, !path.path.hasSuffix(".lua") { folders.append(path.path == "." ? "" : path.path) }
            for place in try ScenarioFiles.find(path.path) {
                let file = ScenarioLocation.pathFromCurrentFolder(place.path)
                projects.insert(ProjectFolder(path: place.project, scenarios: place.root))
                guard seen.insert("\(file):\(path.line ?? 0):\(path.position ?? 0)").inserted else { continue }
                if let files = options.selection.files, !files.contains(file) {
                    unreadCount += 1
                    continue
                }
                wanted.append((path, place))
            }
        }
        for (item, collected) in zip(wanted, collector.collect(wanted.map(\.place))) {
            try add(collected, at: item.path, options)
        }
        removeRepeated(options)
        focus(options)
        arrange(options)
    }

    private mutating func add(_ collected: ScenarioCollector.Collected, at path: ScenarioPath, _ options: ScenarioOptions) throws
    {
        if let failure = collected.failure {
            let path = collected.place.path
            var scenario = Scenario(id: collected.place.identity, name: "the file does not load", file: path, line: 1)
            scenario.line = failure.file == path ? failure.line ?? 1 : 1
            var result = ScenarioResult(scenario, .errored, seed: options.seed)
            result.failures = [failure]
            broken.append(result)
        }
        guard let file = collected.file else { return }
        foundCount += collected.scenarios.count
        for scenario in collected.scenarios { foundTags.formUnion(scenario.tags) }
        // The snapshots of a file that does not load are unknown.
        if collected.failure == nil { definitions.append((collected.place.path, collected.scenarios)) }
        let source = ScenarioDatabases.Source(file: file, templates: collected.templates)
        try path.check(lineCount: file.lineCount, collected.scenarios)
        let chosen = path.select(Self.numbered(collected.scenarios)).filter(options.selection.includes)
        entries += chosen.map { Entry(scenario: $0, source: source) }
    }

    /// Returns the files whose scenarios have all run and passed. The snapshots used by these scenarios are all that the file needs.
    func passedFiles(by results: [ScenarioResult]) -> [String] {
        let results = Dictionary(grouping: results) { "\($0.scenario.file) \($0.scenario.localID)" }
        return definitions.filter { file in
            file.scenarios.allSatisfy { scenario in
                guard !scenario.isTodo else { return true }
                let own = results["\(scenario.file) \(scenario.localID)"] ?? []
                return !own.isEmpty && scenario.fails == nil && own.allSatisfy { $0.outcome == .passed }
            }
        }.map(\.path)
    }

    /// Numbers scenarios on the same line: the cases of one definition, or definitions in a loop.
    private static func numbered(_ scenarios: [Scenario]) -> [Scenario] {
        let counts = Dictionary(grouping: scenarios, by: \.line).mapValues(\.count)
        var positions: [Int: Int] = [:]
        return scenarios.map { scenario in
            guard counts[scenario.line]! > 1 else { return scenario }
            var scenario = scenario
            positions[scenario.line, default: 0] += 1
            scenario.positionAtLine = positions[scenario.line]
            return scenario
        }
    }

    /// Fails scenarios whose name is already used in the same file, because their results could not be distinguished, and they could not be
    /// run alone. Equal names in different scenario folders are allowed: the identifier of the later scenario then begins with its full
    /// path.
    private mutating func removeRepeated(_ options: ScenarioOptions) {
        var files: [String: String] = [:]
        for index in entries.indices {
            let (scenario, place) = (entries[index].scenario, entries[index].source.file.place)
            let path = ScenarioLocation.pathFromCurrentFolder(place.path)
            if files[scenario.localID, default: path] != path {
                entries[index].scenario.id = path + scenario.localID.dropFirst(place.identity.count)
            } else {
                files[scenario.localID] = path
            }
        }
        var first: [String: Scenario] = [:]
        entries.removeAll { entry in
            let scenario = entry.scenario
            guard let other = first[scenario.id] else {
                first[scenario.id] = scenario
                return false
            }
            // The user named the same file or line twice.
            guard other.line != scenario.line || other.positionAtLine != scenario.positionAtLine else { return true }
            var result = ScenarioResult(scenario, .errored, seed: options.seed)
            let message = "another scenario has the same name, at \(other.place)"
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
        // The sort keys do not depend on how paths were typed, so a seed always produces the same order.
        entries.sort {
            let (file, other) = ($0.source.file.place.identity, $1.source.file.place.identity)
            return file == other ? $0.scenario.isBefore($1.scenario) : file < other
        }
        guard options.order == .random else { return }
        var generator = SeededGenerator(options.seed.value)
        entries.shuffle(using: &generator)
    }
}

/// A random number generator with a seed (SplitMix64).
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
