internal import GRDB
internal import PeriluneLua

/// A poller that detects writes by other processes, for observers that request it.
///
/// Observers with the same database and interval share a poll. Used only on the state's thread.
final class ForeignWrites {
    private struct Key: Hashable {
        let database: ObjectIdentifier
        let seconds: Double
    }

    private final class Poll {
        /// The database, retained to keep its object identifier unique.
        let database: ScriptDatabase
        let source: LoopSource
        /// SQLite's data version, which changes when another connection commits. `nil` before the first poll, which therefore
        /// always counts as a change.
        var version: Int?
        /// Whether reading the data version failed and the observers have been signaled.
        var isBroken = false
        /// Closures that signal the observers. They do not retain the observers, which may be collected before they end.
        var observers: [ObjectIdentifier: () -> Void] = [:]

        init(_ database: ScriptDatabase, _ source: LoopSource) {
            (self.database, self.source) = (database, source)
        }
    }

    private let loop: ScriptLoop
    private var polls: [Key: Poll] = [:]

    init(loop: ScriptLoop) {
        self.loop = loop
    }

    /// Signals an observer whenever another process has written to the database, until the observer ends.
    ///
    /// - Parameter seconds: The polling interval in seconds.
    func look(at database: ScriptDatabase, every seconds: Double, for observer: ValueObserver) throws {
        let key = Key(database: ObjectIdentifier(database), seconds: seconds)
        let poll = try polls[key] ?? begin(database, every: seconds, key)
        let identifier = ObjectIdentifier(observer)
        poll.observers[identifier] = { [weak observer] in observer?.signal() }
        // Reset the version, because the new observer must be signaled at the next poll.
        poll.version = nil
        let onEnd = observer.onEnd
        observer.onEnd = { [weak self] in
            self?.forget(identifier, at: key)
            onEnd?()
        }
    }

    private func begin(_ database: ScriptDatabase, every seconds: Double, _ key: Key) throws -> Poll {
        // The poll belongs to the host's scope, because the observers that share it may have different scopes.
        let source = try loop.addSource("poll", keepsAlive: false, scope: 0, .performing { [weak self] in self?.look(at: key) })
        let timers = loop.timers
        let timer = timers.add(after: seconds, every: seconds, source.signaller)
        source.onEnd = { timers.remove(timer) }
        let poll = Poll(database, source)
        polls[key] = poll
        return poll
    }

    private func look(at key: Key) {
        if let poll = polls[key] { Self.look(poll) }
    }

    private static func look(_ poll: Poll) {
        // Skip a busy database. Polling is not part of a run, so no time limit could end a wait for the database. The next poll
        // tries again.
        guard poll.database.turns.isFree else { return }
        do {
            let version = try poll.database.entering {
                try poll.database.writer.writeWithoutTransaction { db in try Int.fetchOne(db, sql: "PRAGMA data_version") }
            }
            poll.isBroken = false
            guard let version, version != poll.version else { return }
            poll.version = version
        } catch let error as DatabaseError where ![.SQLITE_BUSY, .SQLITE_LOCKED].contains(error.resultCode) {
            // Signal only once. The observations then fail when they fetch, and report the reason.
            guard !poll.isBroken else { return }
            poll.isBroken = true
            poll.version = nil
        } catch {
            // The database is locked. The next poll tries again.
            return
        }
        for signal in poll.observers.values { signal() }
    }

    private func forget(_ observer: ObjectIdentifier, at key: Key) {
        guard let poll = polls[key] else { return }
        poll.observers[observer] = nil
        guard poll.observers.isEmpty else { return }
        polls[key] = nil
        loop.end(poll.source)
    }
}
