internal import Foundation
internal import GRDB
internal import PeriluneBindings

/// A tenant of an ``AutomationServer``, isolated to the server's actor.
final class ServedTenant {
    /// The owner of a tenant's database.
    enum Database {
        /// Each host opens the database file.
        case file
        /// The server opens the database once and keeps it open, because in tests a second call would create another database.
        case opened(any DatabaseWriter)
        /// The program owns the database.
        case existing
    }

    let name: String
    let number: Int
    var file: String
    var configuration: ScriptHost.Configuration
    var prepare: @Sendable (ScriptHost) async throws -> Void
    /// The lock that serializes changes of the host and the state.
    let lock = FIFOLock()

    var database = Database.existing
    /// The path of the database file, without symbolic links after the first start; `nil` if the database is not a file.
    var path: String?
    /// Whether the file watcher reports writes to the database file.
    var isWatched = false
    /// The claim on the automations, which is kept while the tenant is parked.
    var claim: AutomationClaim?
    /// The file mark recorded when the tenant was parked, which reveals later writes.
    var mark: DatabaseFileMark?

    var host: ScriptHost?
    var state = AutomationServer.Tenant.State.awake
    var reason: String?
    var nextDue: Date?
    var error: (any Error)?
    var wakeCount = 0
    /// The number of operations that use the host.
    var users = 0
    var isRemoved = false
    /// Whether a task that wakes the tenant is pending.
    var isCalled = false
    /// Whether the tenant occupies one of the server's turns to wake.
    var hasTurn = false

    /// The timer of the next check, due time or retry.
    var timer: (timers: LoopTimers, number: Int)?
    /// A counter that changes with each new timer, to recognize outdated timers.
    var generation = 0
    /// The current interval between checks.
    var interval = Duration.zero
    /// The number of consecutive failures to wake the tenant, and of consecutive file changes while it was being parked.
    var failures = 0
    var unrest = 0

    init(
        name: String, number: Int, file: String, configuration: ScriptHost.Configuration,
        prepare: @escaping @Sendable (ScriptHost) async throws -> Void
    ) {
        (self.name, self.number, self.file) = (name, number, file)
        (self.configuration, self.prepare) = (configuration, prepare)
    }

    var description: AutomationServer.Tenant {
        AutomationServer.Tenant(
            name: name, state: state, reason: reason, nextDue: nextDue, error: error, wakeCount: wakeCount)
    }
}
