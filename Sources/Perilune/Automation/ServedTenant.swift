internal import Foundation
internal import GRDB
internal import PeriluneBindings

/// A tenant of an ``AutomationServer``, to whose actor it belongs.
final class ServedTenant {
    /// The database of a tenant.
    enum Database {
        /// A file that each host opens.
        case file
        /// A database that the server has opened and keeps, because tests would get another one next time.
        case opened(any DatabaseWriter)
        /// A database of the program.
        case existing
    }

    let name: String
    let number: Int
    var file: String
    var configuration: ScriptHost.Configuration
    var prepare: @Sendable (ScriptHost) async throws -> Void
    /// Protects the host and the state while they change.
    let lock = FIFOLock()

    var database = Database.existing
    /// The path of the database file without symbolic links; `nil` without one.
    var path: String?
    /// Whether writes to the file are reported.
    var isWatched = false
    /// The claim on the automations, which lasts while the tenant is parked.
    var claim: AutomationClaim?
    /// The state of the database file since the tenant was parked.
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
    /// Whether a task is about to wake the tenant.
    var isCalled = false
    /// Whether the tenant is counted as being woken.
    var hasTurn = false

    /// The timer of the next check, due time or retry.
    var timer: (timers: LoopTimers, number: Int)?
    /// Changes with each new timer.
    var generation = 0
    /// The interval of the last check.
    var interval = Duration.zero
    /// The number of failures in a row, and of times in a row that the file changed while the tenant was parked.
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
