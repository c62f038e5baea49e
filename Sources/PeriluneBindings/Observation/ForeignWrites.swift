internal import GRDB
internal import PeriluneLua

/// Polling for writes of other processes, for observers that request it.
///
/// Observers of the same database with the same interval share a poll. Only used on the thread of the state.
final class ForeignWrites {
    private struct Key: Hashable {
        let database: ObjectIdentifier
        let seconds: Double
    }

    private final class Poll {
        /// Retained, so that its identifier is not reused.
        let database: ScriptDatabase
        let source: LoopSource
        /// SQLite's data version, which changes when another connection has written. The writer has not read it before the first
        /// poll, which therefore counts as a change.
        var version: Int?
        /// Whether reading has failed permanently and the observers have been notified.
        var isBroken = false
        /// Closures that signal the observers, which may be collected before they end.
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

    /// Signals an observer whenever another process has written, until the observer ends.
    ///
    /// - Parameter seconds: The interval.
    func look(at database: ScriptDatabase, every seconds: Double, for observer: ValueObserver) throws {
        let key = Key(database: ObjectIdentifier(database), seconds: seconds)
        let poll = try polls[key] ?? begin(database, every: seconds, key)
        let identifier = ObjectIdentifier(observer)
        poll.observers[identifier] = { [weak observer] in observer?.signal() }
        // The new observer has not been signaled yet.
        poll.version = nil
        let onEnd = observer.onEnd
        observer.onEnd = { [weak self] in
            self?.forget(identifier, at: key)
            onEnd?()
        }
    }

    private func begin(_ database: ScriptDatabase, every seconds: Double, _ key: Key) throws -> Poll {
        // In the host's scope, because its users may have different scopes.
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
        // Skip busy databases: no run waits here that a time limit could end, and the next poll may find the database free.
        guard poll.database.turns.isFree else { return }
        do {
            let version = try poll.database.entering {
                try poll.database.writer.writeWithoutTransaction { db in try Int.fetchOne(db, sql: "PRAGMA data_version") }
            }
            poll.isBroken = false
            guard let version, version != poll.version else { return }
            poll.version = version
        } catch let error as DatabaseError where ![.SQLITE_BUSY, .SQLITE_LOCKED].contains(error.resultCode) {
            // Signal only once: the observations also fail when they fetch, and report the reason.
            guard !poll.isBroken else { return }
            poll.isBroken = true
            poll.version = nil
        } catch {
            // Locked databases are checked again at the next poll.
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
