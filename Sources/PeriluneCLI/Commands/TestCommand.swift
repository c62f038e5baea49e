import ArgumentParser
internal import Foundation
internal import PeriluneDependencies
internal import PeriluneScenarios

/// The command `perilune test`.
struct TestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Run test scenarios, each on a fresh database.",
        discussion: """
            Scenarios are in files named NAME_scenario.lua. PATH is a file, or a folder to
            search (`scenarios`, or that of perilune.toml, by default). FILE:LINE selects the scenarios at a line, and
            FILE:LINE:N the Nth of them, such as one case. Files support.lua in the same
            folder or above are loaded first.

            Each scenario begins with a copy of a database to which the migrations in
            `migrations`, beside the folder of the scenarios, have been applied. It has a
            frozen clock, and random numbers that depend only on the seed.

            EXAMPLES:
              perilune test
              perilune test scenarios/billing_scenario.lua:12 --seed 7f3a
              perilune test --filter invoice --skip '/slow|network/' --tag billing
              perilune test --failed --bail
              perilune test --report junit:report.xml --coverage lcov:coverage.info
              perilune test --report report.html
              perilune test --crash scenarios/orders_scenario.lua

            SNAPSHOTS are in __snapshots__/FILE/NAME.snap beside FILE_scenario.lua. A new or
            changed snapshot is written to NAME.snap.new. After such a run, --review shows each
            of these, without running scenarios, and asks whether to accept it;
            --update-snapshots runs scenarios and accepts all. Obsolete snapshots
            are reported when all scenarios of a file pass, and deleted by
            --remove-obsolete-snapshots. If the environment variable CI is set, nothing is
            written or deleted.

            During a run, the key t or the signal USR1 shows what is running. Ctrl-C stops
            the run and completes the reports.

            EXIT STATUS: 0 all passed, 1 some failed, or `scenario.only` was left in, 4
            nothing to run, 5 some timed out and nothing else failed, 64 usage error, 70 a
            report could not be written, 130 Ctrl-C.
            """.paragraphs)

    @Argument(help: "Files and folders; FILE:LINE selects a scenario.", completion: .custom(CompletionValues.scenarioPaths))
    var paths: [String] = []

    @Option(
        help: ArgumentHelp(
            "Run only scenarios whose file, group or name contains this text, or matches /.../.", valueName: "text"),
        completion: .custom(CompletionValues.scenarioNames))
    var filter: [String] = []

    @Option(
        help: ArgumentHelp("Skip scenarios whose file, group or name contains this text, or matches /.../.", valueName: "text"),
        completion: .custom(CompletionValues.scenarioNames))
    var skip: [String] = []

    @Option(help: ArgumentHelp("Run only scenarios with one of these tags; repeatable.", valueName: "a,b"))
    var tag: [String] = []

    @Option(help: ArgumentHelp("Skip scenarios with one of these tags; repeatable.", valueName: "a,b"))
    var skipTag: [String] = []

    @Flag(help: "Run only scenarios that failed in the last run.")
    var failed = false

    @Flag(help: "Run only scenarios in files that git reports as changed; all, if what they use has changed.")
    var onlyChanged = false

    @Option(
        name: [.customShort("j", allowingJoined: true), .long],
        help: ArgumentHelp("The number of scenarios to run in parallel.", valueName: "n"))
    var jobs: Int?

    @Option(help: "The order: random (from the seed), or by file and line.")
    var order = OrderOption.random

    @Option(help: ArgumentHelp("The seed of the order and of all random values.", valueName: "seed"))
    var seed: String?

    @Option(
        name: .customLong("repeat"),
        help: ArgumentHelp(
            "Run all scenarios n times with the same seed; one that goes another way in a later round fails.", valueName: "n"))
    var rounds = 1

    @Option(help: ArgumentHelp("Run each scenario n times with different seeds, until it fails.", valueName: "n"))
    var stress = 1

    @Flag(help: "Stop after the first failure, or after N with --bail N.")
    var bail = false

    @Option(help: ArgumentHelp("Same as --bail N.", valueName: "n"))
    var maxFailures: Int?

    @Option(
        help: ArgumentHelp("The default time limit of a scenario; 10s if not given.", valueName: "time"),
        transform: OptionValue.duration)
    var timeout: Duration?

    @Flag(
        help:
            "Run each scenario with the option `crash` again for each of its crash points, and end its service there; on if CI is set."
    )
    var crash = false

    @Option(
        help: ArgumentHelp(
            "Run scenarios with the option `crash` with a crash at this point, or at several.", valueName: "n[,n]"),
        transform: OptionValue.counts)
    var crashAt: [Int]?

    @Option(help: ArgumentHelp("The greatest number of crash points to try in a scenario, chosen by the seed.", valueName: "n"))
    var crashPoints = 200

    @Option(help: ArgumentHelp("The greatest number of crashes in one run: 1 or 2.", valueName: "n"))
    var crashDepth = 1

    @Flag(help: "Run scenarios in processes of their own, so that one that crashes fails alone.")
    var isolate = false

    @Flag(help: "Run again whenever a file changes.")
    var watch = false

    @Flag(help: "Accept all new and changed snapshots.")
    var updateSnapshots = false

    @Option(help: ArgumentHelp("How to treat scenarios that pass without a check: allow, warn or fail.", valueName: "verdict"))
    var noChecks = NoChecksOption.warn

    @Flag(help: "Delete snapshots that no scenario uses.")
    var removeObsoleteSnapshots = false

    @Flag(help: "Review the new and changed snapshots of the last run one by one, without running scenarios.")
    var review = false

    @Option(
        help: ArgumentHelp(
            "Measure the line coverage of Lua: table shows it, lcov (if not given) writes it to coverage.info or to FILE; repeatable.",
            valueName: "table|lcov[:file]"))
    var coverage: [String] = []

    @Option(help: ArgumentHelp("List the n slowest scenarios.", valueName: "n"))
    var durations: Int?

    @Option(
        help: ArgumentHelp(
            """
            The format of the report, and optionally its file: pretty, dots, FILE.html (a page for browsers), tap (version 13), tap14, jsonl, junit (valid for the \
            schemas of Ant and Jenkins) or junit_extended (with file, line and output of each scenario); repeatable.
            """, valueName: "format[:file]"))
    var report: [String] = []

    @Flag(help: "List the scenarios without running them.")
    var list = false

    @Option(
        help: ArgumentHelp("Write types for editors (LuaCATS) to a folder, without running scenarios.", valueName: "folder"))
    var types: String?

    @Flag(help: "With --list, write one JSON object a line.")
    var json = false

    @Flag(help: "Keep the database of each scenario, and report its path; --verbose keeps those of failures.")
    var keepDatabases = false

    @Option(help: ArgumentHelp("The folder with the migrations.", valueName: "folder"))
    var migrations: String?

    @OptionGroup var extending: ExtensionOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if let seed, RunSeed(seed) == nil {
            throw ValidationError("--seed: expected at most 16 hexadecimal digits, as a run shows them, got \(seed)")
        }
        for (name, number) in [
            ("--jobs", jobs), ("--bail, --max-failures", maxFailures), ("--repeat", rounds), ("--stress", stress),
            ("--durations", durations), ("--crash-points", crashPoints),
        ] {
            if let number, number < 1 { throw ValidationError("\(name): expected a number of at least 1, got \(number)") }
        }
        for text in report where ReportSet.Request(text) == nil {
            let names = ScenarioReportFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError(
                "--report: expected FORMAT, FORMAT:FILE or FILE.html, where FORMAT is one of \(names), got \(text)")
        }
        for text in filter + skip { try Self.check(text) }
        for (name, tags) in [("--tag", tag), ("--skip-tag", skipTag)] where tags.contains("") {
            throw ValidationError("\(name): expected one or more tags, got an empty text")
        }
        if json, !list { throw ValidationError("--json requires --list") }
        for text in coverage where CoverageRequest(text) == nil {
            throw ValidationError("--coverage: expected table, lcov or lcov:FILE, got \(text)")
        }
        if crash, crashAt != nil { throw ValidationError("--crash cannot be combined with --crash-at") }
        if !(1...2).contains(crashDepth) { throw ValidationError("--crash-depth: expected 1 or 2, got \(crashDepth)") }
        if review, updateSnapshots { throw ValidationError("--review cannot be combined with --update-snapshots") }
        if review, let option = selectingOption {
            throw ValidationError(
                "--review cannot be combined with \(option); it runs no scenarios, and reviews snapshots of files")
        }
        if watch, list || review || types != nil {
            throw ValidationError("--watch cannot be combined with --list, --review or --types")
        }
    }

    /// The first given option that selects scenarios.
    private var selectingOption: String? {
        let options = [
            ("--filter", !filter.isEmpty), ("--skip", !skip.isEmpty), ("--tag", !tag.isEmpty), ("--failed", failed),
            ("--only-changed", onlyChanged),
        ]
        return options.first { $0.1 }?.0
    }

    private static func check(_ pattern: String) throws {
        do {
            _ = try ScenarioSelection.Pattern(pattern)
        } catch {
            throw ValidationError("\(pattern) is not a regular expression: \(error)")
        }
    }

    func run() async throws {
        if common.verbose {
            let notes = [Setting.scenarios, .migrations].map { Settings.note($0) } + [ExtensionOptions.note()]
            for note in notes.compactMap({ $0 }) { CommandOutput.note(note, common.errorColors) }
        }
        let session = try TestSession(makeRequest(), colors: common.outputColors)
        let status = try await session.run()
        // If a report could not be written, the session has already reported the error.
        if status == 0 { try StandardStreams.flush() }
        if status != 0 { throw ExitCode(status) }
    }
}

enum OrderOption: String, CaseIterable, ExpressibleByArgument, Sendable {
    case random, file
}

enum NoChecksOption: String, CaseIterable, ExpressibleByArgument, Sendable {
    case allow, warn, fail
}

extension TestCommand {
    func makeRequest() throws -> TestRequest {
        var options = ScenarioOptions()
        let folder = Settings.current[.scenarios].map { [$0.text] } ?? []
        options.paths = (paths.isEmpty ? folder : paths).map { ScenarioPath($0) }
        options.selection.filters = try filter.map { try .init($0) }
        options.selection.skips = try skip.map { try .init($0) }
        options.selection.tags = tag.flatMap { $0.split(separator: ",").map(String.init) }
        options.selection.skippedTags = skipTag.flatMap { $0.split(separator: ",").map(String.init) }
        options.workers = jobs ?? ProcessInfo.processInfo.activeProcessorCount
        options.order = order == .random ? .random : .file
        if let seed = seed.flatMap(RunSeed.init) { options.seed = seed }
        (options.rounds, options.stress) = (rounds, stress)
        options.bail = bail ? 1 : maxFailures
        if let timeout { options.timeout = timeout }
        options.isCI = EnvironmentVariables.ofProcess.isSet("CI")
        options.crashes = crashAt.map { .at($0) } ?? (crash || options.isCI || crashDepth > 1 ? .all : .none)
        (options.crashPoints, options.crashDepth) = (crashPoints, crashDepth)
        options.removesObsoleteSnapshots = removeObsoleteSnapshots
        options.snapshots = updateSnapshots ? .replace : .beside
        if let noChecks = ScenarioOptions.NoChecks(rawValue: noChecks.rawValue) { options.noChecks = noChecks }
        options.migrations = migrations ?? (Settings.current.isSet(.migrations) ? Settings.current[.migrations]?.text : nil)
        options.extensions = extending.paths()
        options.keepsDatabases = keepDatabases
        options.keepsFailedDatabases = common.verbose
        var request = TestRequest(options: options)
        request.reports = report.compactMap { ReportSet.Request($0) }
        request.options.keepsDetails = request.reports.contains { $0.format == .html }
        request.coverage = coverage.compactMap { CoverageRequest($0) }
        request.options.coversLines = !request.coverage.isEmpty
        request.durations = durations ?? 0
        (request.onlyFailed, request.onlyChanged) = (failed, onlyChanged)
        request.isIsolated = isolate
        (request.isWatching, request.isReviewing) = (watch, review)
        request.listing = list ? (json ? .json : .text) : nil
        request.typesFolder = types
        request.isVerbose = common.verbose
        return request
    }
}
