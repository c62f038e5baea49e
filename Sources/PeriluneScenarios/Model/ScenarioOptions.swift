package import GRDB
public import Perilune
internal import PeriluneBindings

/// The options of a run, including the selection of scenarios.
public struct ScenarioOptions: Sendable {
    /// The order in which scenarios run.
    public enum Order: String, Sendable, CaseIterable {
        /// The order given by the seed of the run, or the order of files and lines.
        case random, file
    }

    /// The treatment of new and changed snapshots.
    public enum Snapshots: String, Sendable {
        /// No snapshots are written.
        case none = "no"
        /// New snapshots are written next to the existing ones, as `NAME.snap.new`.
        case beside = "new"
        /// New snapshots replace the existing ones.
        case replace = "all"
    }

    /// The treatment of a scenario that passes without any check.
    public enum NoChecks: String, Codable, Sendable, CaseIterable {
        /// The scenario passes, passes with a warning, or fails.
        case allow, warn, fail
    }

    /// The files and folders, optionally with the line of a scenario.
    public var paths: [ScenarioPath] = [ScenarioPath("scenarios")]
    /// The selection of scenarios to run.
    public var selection = ScenarioSelection()
    /// The number of scenarios that run at the same time.
    public var workers = 1
    /// The order in which scenarios run.
    public var order = Order.random
    /// The seed of the order and of the scenarios' random numbers.
    public var seed = RunSeed.random()
    /// The number of times that all scenarios run.
    public var rounds = 1
    /// Whether the rounds of a scenario are compared. Their seed is the same, so they must execute the same lines.
    var comparesRounds: Bool { rounds > 1 }
    /// The number of times that each scenario runs, each time with a different seed.
    public var stress = 1
    /// The number of failures after which no more scenarios are started.
    public var bail: Int?
    /// The crash points to test in scenarios with the option `crash`, each in a separate run.
    public var crashes = CrashSelection.none
    /// The maximum number of points to test in one scenario; the seed selects them.
    public var crashPoints = 200
    /// The maximum number of crashes in one run: 2 also tests pairs of points.
    public var crashDepth = 1
    /// The time limit of scenarios that do not specify one.
    public var timeout = Duration.seconds(10)
    /// The time that a scenario may run beyond its limit before its worker is abandoned.
    var grace = Duration.seconds(5)
    /// The memory limit of each Lua state.
    public var memoryInBytes = 512 << 20
    /// The treatment of new and changed snapshots.
    public var snapshots = Snapshots.beside
    /// Whether obsolete snapshots, which no scenario uses, are removed.
    public var removesObsoleteSnapshots = false
    /// The treatment of scenarios that pass without a check and specify nothing for this case.
    public var noChecks = NoChecks.warn
    /// Whether the run is unattended: `scenario.only` is then an error, and snapshots are not written.
    public var isCI = false

    /// The treatment of snapshots in this run; an unattended run writes none.
    var writtenSnapshots: Snapshots { isCI ? .none : snapshots }

    /// The folder of migrations; `nil` means `migrations` next to the folder of scenarios.
    public var migrations: String?
    /// The paths of SQLite extensions that migrations and scripts need. The databases of all scenarios load them.
    public var extensions: [String] = []
    /// Whether the databases of all scenarios are kept after the run.
    public var keepsDatabases = false
    /// Whether the databases of failed scenarios are kept after the run.
    public var keepsFailedDatabases = false
    /// Whether results contain the statements and the changed rows of scenarios, for reports in the format `html`.
    public var keepsDetails = false
    /// Whether executed lines of Lua are counted.
    public var coversLines = false
    /// The Swift modules for scenarios and their scripts.
    public private(set) var modules: [RegisteredModule] = []
    /// The command that runs scenarios again, for reports. The place and the seed are appended to it.
    public var command = "perilune test"

    /// The function that creates the database of each scenario from its initial contents. It is not used for databases in memory or in a
    /// file.
    package var databaseMaker: (@Sendable (_ contents: DatabaseQueue, Configuration) throws -> DatabaseQueue)?

    /// Creates the default options.
    public init() {}

    var loadedExtensions: SQLiteExtensions { SQLiteExtensions(extensions) }

    /// Registers a module of Swift functions, which scenarios and their scripts load with `require`; like
    /// `ScriptHost.register(module:_:_:)` for a host.
    ///
    /// ```swift
    /// try Scenarios.all(under: "scenarios") { options in
    ///     options.register(module: "tax") { tax in
    ///         tax.function("of") { (cents: Int) in cents / 5 }
    ///     }
    /// }
    /// ```
    ///
    /// Functions with external effects are not called: their calls are recorded, and the scenario's stubs return results.
    public mutating func register(module name: String, _ documentation: String = "", _ define: (ScriptModule) -> Void) {
        let module = ScriptModule(name)
        define(module)
        precondition(module.failure == nil, module.failure?.message ?? "")
        modules.append(RegisteredModule(name: name, documentation: documentation, functions: module.functions))
    }
}
