package import GRDB
public import Perilune
internal import PeriluneBindings

/// The selection of scenarios, and the options of the run.
public struct ScenarioOptions: Sendable {
    /// The order in which scenarios run.
    public enum Order: String, Sendable, CaseIterable {
        /// Random by the seed of the run, or as the files have them.
        case random, file
    }

    /// How to handle snapshots that are new or differ.
    public enum Snapshots: String, Sendable {
        /// Nothing is written.
        case none = "no"
        /// They are written next to the snapshot, as `NAME.snap.new`.
        case beside = "new"
        /// They replace the existing snapshots.
        case replace = "all"
    }

    /// How to handle a scenario that passes without any check.
    public enum NoChecks: String, Codable, Sendable, CaseIterable {
        /// It passes, it passes with a warning, or it fails.
        case allow, warn, fail
    }

    /// Files and folders, perhaps with the line of a scenario.
    public var paths: [ScenarioPath] = [ScenarioPath("scenarios")]
    /// Which scenarios are run.
    public var selection = ScenarioSelection()
    /// How many run at once.
    public var workers = 1
    /// The order in which they run.
    public var order = Order.random
    /// The seed of their order and of their random numbers.
    public var seed = RunSeed.random()
    /// How often all are run.
    public var rounds = 1
    /// Whether the rounds of a scenario are compared: with one seed each has to go the same way.
    var comparesRounds: Bool { rounds > 1 }
    /// How often each is run, with another seed each time.
    public var stress = 1
    /// After how many failures no more are begun.
    public var bail: Int?
    /// The crash points at which scenarios with the option `crash` are tried, each in a run of its own.
    public var crashes = CrashSelection.none
    /// The greatest number of points to try in one scenario; the seed chooses them.
    public var crashPoints = 200
    /// The greatest number of crashes in one run: 2 also tries pairs of points.
    public var crashDepth = 1
    /// For scenarios that do not say.
    public var timeout = Duration.seconds(10)
    /// How long after its time is up a scenario may still run before its worker is given up.
    var grace = Duration.seconds(5)
    /// For each Lua state.
    public var memoryInBytes = 512 << 20
    /// How to handle snapshots that are new or differ.
    public var snapshots = Snapshots.beside
    /// Whether snapshots are removed that nothing compares any more.
    public var removesObsoleteSnapshots = false
    /// For scenarios that do not say.
    public var noChecks = NoChecks.warn
    /// Whether the run is unattended: then `scenario.only` is an error at once, and snapshots are not written.
    public var isCI = false

    /// How snapshots are actually handled.
    var writtenSnapshots: Snapshots { isCI ? .none : snapshots }

    /// The folder of migrations; `nil`: `migrations` next to the folder of scenarios.
    public var migrations: String?
    /// The paths of SQLite extensions that migrations and scripts need; all databases of scenarios load them.
    public var extensions: [String] = []
    /// Whether the databases of all scenarios stay when they have ended.
    public var keepsDatabases = false
    /// Whether the databases of failed scenarios stay.
    public var keepsFailedDatabases = false
    /// Whether results have the statements and the changed rows of scenarios: reports of format `html` show them.
    public var keepsDetails = false
    /// Whether it is noted which lines of Lua have run.
    public var coversLines = false
    /// Swift modules for scenarios and their scripts.
    public private(set) var modules: [RegisteredModule] = []
    /// How a scenario is run again, for reports; the place and the seed follow.
    public var command = "perilune test"

    /// Makes the database of each scenario from its initial contents, if it is not in memory or in a file.
    package var databaseMaker: (@Sendable (_ contents: DatabaseQueue, Configuration) throws -> DatabaseQueue)?

    /// The default options.
    public init() {}

    var loadedExtensions: SQLiteExtensions { SQLiteExtensions(extensions) }

    /// Offers Swift functions to scenarios and to the scripts that they run, which get them by `require`; like
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
        modules.append(RegisteredModule(name: name, documentation: documentation, functions: module.functions))
    }
}
