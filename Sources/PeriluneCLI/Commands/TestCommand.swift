import ArgumentParser
internal import Foundation
internal import PeriluneScenarios

struct TestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Run test scenarios, each on a fresh database.",
        discussion: """
            Scenarios are in files NAME_scenario.lua; PATH is a file, or a folder in which
            they are looked for, `scenarios` if not said. FILE:LINE means the scenarios at
            the line, FILE:LINE:N the Nth of them: one case. A file support.lua beside them or above is loaded first.

            Each scenario begins with a copy of a database to which the migrations have
            been applied: those in `migrations` beside the folder of the scenarios. It has
            a clock that stands and random numbers that follow from the seed.

            EXAMPLES:
              perilune test
              perilune test scenarios/billing_scenario.lua:12 --seed 7f3a
              perilune test --filter invoice --skip '/slow|network/' --tag billing
              perilune test --failed --bail
              perilune test --report pretty --report junit:report.xml --coverage lcov:coverage.info

            SNAPSHOTS are in __snapshots__/FILE/NAME.snap beside FILE_scenario.lua. One that
            is new or differs is written beside as NAME.snap.new. --review shows these one
            after the other and asks; --update-snapshots takes all. Those that nothing
            compares any more are told, where all scenarios of a file have passed, and
            removed by --remove-obsolete-snapshots. Where the variable CI is set, nothing is
            written or removed.

            While it runs, the key t or the signal USR1 shows what is running. Ctrl-C ends
            the run and finishes the reports.

            EXIT STATUS: 0 all have passed, 1 some have failed, or `scenario.only` was left
            in, 4 there was nothing to run, 5 some were not done in time and nothing else
            failed, 64 wrong usage, 70 a report could not be written, 130 Ctrl-C.
            """)

    @Argument(help: "Files and folders, perhaps with the line of a scenario.")
    var paths: [String] = []

    @Option(help: ArgumentHelp("Only those whose file, group or name contains this; /.../ is an expression.", valueName: "text"))
    var filter: [String] = []

    @Option(help: ArgumentHelp("None of those whose file, group or name contains this.", valueName: "text"))
    var skip: [String] = []

    @Option(help: ArgumentHelp("Only those with one of these tags.", valueName: "a,b"))
    var tag: [String] = []

    @Flag(help: "Only those that failed last time.")
    var failed = false

    @Flag(help: "Only those in files that git sees as changed; all if anything that they use was changed.")
    var onlyChanged = false

    @Option(
        name: [.customShort("j", allowingJoined: true), .long],
        help: ArgumentHelp("How many run at once: -j1, -j 1, --jobs 1.", valueName: "n"))
    var jobs: Int?

    @Option(help: "The order in which they begin: by the seed, or by files and lines.")
    var order = OrderOption.random

    @Option(help: ArgumentHelp("The seed of the order and of all random values.", valueName: "seed"))
    var seed: String?

    @Option(name: .customLong("repeat"), help: ArgumentHelp("Run all of them n times.", valueName: "n"))
    var rounds = 1

    @Option(help: ArgumentHelp("Run each n times, with other seeds, up to its first failure.", valueName: "n"))
    var stress = 1

    @Flag(help: "Begin no more after the first failure; --bail N: after n.")
    var bail = false

    @Option(help: ArgumentHelp("The same as --bail N.", valueName: "n"))
    var maxFailures: Int?

    @Option(
        help: ArgumentHelp("How long a scenario may take that does not say; 10s if not given.", valueName: "time"),
        transform: OptionValue.duration)
    var timeout: Duration?

    @Flag(help: "Run again whenever a file changes.")
    var watch = false

    @Flag(help: "Write snapshots that are new or differ.")
    var updateSnapshots = false

    @Option(help: ArgumentHelp("What becomes of scenarios that pass and state nothing: allow, warn or fail.", valueName: "verdict"))
    var noChecks = NoChecksOption.warn

    @Flag(help: "Remove snapshots that no scenario compares any more.")
    var removeObsoleteSnapshots = false

    @Flag(help: "Look at snapshots that are new or differ, and take them or not.")
    var review = false

    @Option(help: ArgumentHelp("Note which lines of Lua have run, and write them to coverage.info; lcov:FILE says where.", valueName: "lcov[:file]"))
    var coverage: String?

    @Option(
        help: ArgumentHelp("""
            pretty, dots, tap (version 13), tap14, jsonl, junit (as the schemas of Ant and Jenkins have it) or junit_extended (with \
            file, line and output of each scenario), perhaps to a file; may be given several times.
            """, valueName: "format[:file]"))
    var report: [String] = []

    @Flag(help: "Only show which scenarios there are.")
    var list = false

    @Option(
        help: ArgumentHelp("Write types for editors (LuaCATS) into a folder, and run nothing.", valueName: "folder"))
    var types: String?

    @Flag(help: "With --list: as JSON, one for each line.")
    var json = false

    @Flag(help: "Leave the database of each scenario behind, and say where. With --verbose, those of failures stay.")
    var keepDatabases = false

    @Option(help: ArgumentHelp("The folder of migrations.", valueName: "folder"))
    var migrations: String?

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if let seed, RunSeed(seed) == nil { throw ValidationError("--seed: expected hexadecimal digits, as a run shows them, got \(seed)") }
        for (name, number) in [("--jobs", jobs), ("--max-failures", maxFailures), ("--repeat", rounds), ("--stress", stress)] {
            if let number, number < 1 { throw ValidationError("\(name): expected a number of at least 1, got \(number)") }
        }
        for text in report where ReportSet.Request(text) == nil {
            let names = ScenarioReportFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--report: expected FORMAT or FORMAT:FILE, where FORMAT is one of \(names), got \(text)")
        }
        for text in filter + skip { try Self.check(text) }
        if json, !list { throw ValidationError("--json is for --list") }
        if let coverage, CoverageRequest(coverage) == nil { throw ValidationError("--coverage: expected lcov or lcov:FILE, got \(coverage)") }
        if review, updateSnapshots { throw ValidationError("--review asks for each snapshot; --update-snapshots takes all") }
        if watch, list || review || types != nil {
            throw ValidationError("--watch runs scenarios; --list, --review and --types do not")
        }
    }

    private static func check(_ pattern: String) throws {
        do {
            _ = try ScenarioSelection.Pattern(pattern)
        } catch {
            throw ValidationError("\(pattern) is no regular expression: \(error)")
        }
    }

    func run() async throws {
        let session = try TestSession(makeRequest(), colors: common.outputColors)
        let status = try await session.run()
        // Where a report could not be written that is told already.
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
        if !paths.isEmpty { options.paths = paths.map { ScenarioPath($0) } }
        options.selection.filters = try filter.map { try .init($0) }
        options.selection.skips = try skip.map { try .init($0) }
        options.selection.tags = tag.flatMap { $0.split(separator: ",").map(String.init) }
        options.workers = jobs ?? ProcessInfo.processInfo.activeProcessorCount
        options.order = order == .random ? .random : .file
        if let seed = seed.flatMap(RunSeed.init) { options.seed = seed }
        (options.rounds, options.stress) = (rounds, stress)
        options.bail = bail ? 1 : maxFailures
        if let timeout { options.timeout = timeout }
        options.isCI = !(ProcessInfo.processInfo.environment["CI"] ?? "").isEmpty
        options.removesObsoleteSnapshots = removeObsoleteSnapshots
        options.snapshots = updateSnapshots ? .replace : .beside
        if let noChecks = ScenarioOptions.NoChecks(rawValue: noChecks.rawValue) { options.noChecks = noChecks }
        options.migrations = migrations
        options.keepsDatabases = keepDatabases
        options.keepsFailedDatabases = common.verbose
        var request = TestRequest(options: options)
        request.reports = report.compactMap { ReportSet.Request($0) }
        request.coverage = coverage.flatMap { CoverageRequest($0) }
        request.options.coversLines = request.coverage != nil
        (request.onlyFailed, request.onlyChanged) = (failed, onlyChanged)
        (request.isWatching, request.isReviewing) = (watch, review)
        request.listing = list ? (json ? .json : .text) : nil
        request.typesFolder = types
        request.isVerbose = common.verbose
        return request
    }
}
