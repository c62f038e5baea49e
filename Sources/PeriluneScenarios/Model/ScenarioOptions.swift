/// What is run, and how.
public struct ScenarioOptions: Sendable {
    public enum Order: String, Sendable, CaseIterable {
        case random, file
    }

    /// What becomes of snapshots that are new or differ.
    public enum Snapshots: String, Sendable {
        /// Nothing is written.
        case none = "no"
        /// They are written beside, as `NAME.snap.new`.
        case beside = "new"
        /// They take the place of what was there.
        case replace = "all"
    }

    /// Files and folders, perhaps with the line of a scenario.
    public var paths: [ScenarioPath] = [ScenarioPath("scenarios")]
    public var selection = ScenarioSelection()
    /// How many run at once.
    public var workers = 1
    public var order = Order.random
    public var seed = RunSeed.random()
    /// How often all are run.
    public var rounds = 1
    /// How often each is run, with another seed each time.
    public var stress = 1
    /// After how many failures no more are begun.
    public var bail: Int?
    /// For scenarios that do not say.
    public var timeout = Duration.seconds(10)
    /// How long after its time is up a scenario may still run before its worker is given up.
    var grace = Duration.seconds(5)
    /// For each Lua state.
    public var memoryInBytes = 512 << 20
    public var snapshots = Snapshots.beside
    /// Whether nobody watches: then `scenario.only` is an error at once, and snapshots are not written.
    public var isCI = false
    /// The folder of migrations; `nil`: `migrations` beside the folder of scenarios.
    public var migrations: String?
    /// Whether the databases of all scenarios stay when they have ended.
    public var keepsDatabases = false
    /// Whether those of failures do.
    public var keepsFailedDatabases = false
    /// Whether it is noted which lines of Lua have run.
    public var coversLines = false
    /// How a scenario is run again, for reports; the place and the seed follow.
    public var command = "perilune test"

    public init() {}
}
