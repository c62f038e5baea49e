internal import GRDB
internal import PeriluneLua

/// Looks again and again whether another process has written to a database, for the observers that are to hear of it.
///
/// Observers of one database that are to look equally often share their looks. Only touched on the thread of the state.
final class ForeignWrites {
    private struct Key: Hashable {
        let database: ObjectIdentifier
        let seconds: Double
    }

    private final class Poll {
        /// Kept, so that no other database gets its identifier.
        let database: ScriptDatabase
        let source: LoopSource
        /// SQLite's number, which changes when another connection has written. The connection that writes has never read it before
        /// the first look, which therefore counts as a change.
        var version: Int?
        /// Whether it cannot be read at all any more, which the observers know.
        var isBroken = false
        /// Each calls its observer, which may be collected before it ends.
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

    /// Signals an observer whenever another process has written, until it ends.
    ///
    /// - Parameter seconds: The time between two looks.
    func look(at database: ScriptDatabase, every seconds: Double, for observer: ValueObserver) throws {
        let key = Key(database: ObjectIdentifier(database), seconds: seconds)
        let poll = try polls[key] ?? begin(database, every: seconds, key)
        let identifier = ObjectIdentifier(observer)
        poll.observers[identifier] = { [weak observer] in observer?.signal() }
        // It has not looked for this one.
        poll.version = nil
        let onEnd = observer.onEnd
        observer.onEnd = { [weak self] in
            self?.forget(identifier, at: key)
            onEnd?()
        }
    }

    private func begin(_ database: ScriptDatabase, every seconds: Double, _ key: Key) throws -> Poll {
        // Of no scope: those who share it may be of several.
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
        // No run waits for it, which a limit of time could end: the next look may find it free.
        guard poll.database.turns.isFree else { return }
        do {
            let version = try poll.database.entering {
                try poll.database.writer.writeWithoutTransaction { db in try Int.fetchOne(db, sql: "PRAGMA data_version") }
            }
            poll.isBroken = false
            guard let version, version != poll.version else { return }
            poll.version = version
        } catch let error as DatabaseError where ![.SQLITE_BUSY, .SQLITE_LOCKED].contains(error.resultCode) {
            // Once: the observations fail too when they fetch, and report why.
            guard !poll.isBroken else { return }
            poll.isBroken = true
            poll.version = nil
        } catch {
            // A database that is locked now is checked next time.
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
