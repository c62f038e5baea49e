internal import Foundation
internal import Synchronization

/// A right that one of several programs has: a row in a table of the cluster, which it renews, and which another program takes over when it is not
/// renewed any more.
///
/// A program that could not renew it in time must stop what it does by that right before another one may have it: it has lost the lease, by its
/// own clock, some seconds before the row runs out. The clocks of nodes may differ by less than that.
///
/// `@unchecked Sendable`: one thread uses it after the other, which the lock sees to.
package final class ClusterLease: @unchecked Sendable {
    package static let table = "perilune_lease"
    /// How long the row is valid, and how long the program relies on it.
    private static let length = 15, reliance = Duration.seconds(9)
    /// How often it is renewed, or asked for.
    private static let pause = Duration.seconds(3)

    private let lock = NSLock()
    private let session: ClusterSession
    private let name: String
    private let holder = String(UInt64.random(in: 0...UInt64.max), radix: 16)
    private var isInTransaction = false
    private var end = ContinuousClock.now

    /// - Parameters:
    ///   - url: The database in the cluster.
    ///   - name: What the right is for.
    /// - Throws: ``ClusterFailure`` of kind `argument`.
    package init(url: String, name: String) throws {
        session = try ClusterSession(ClusterAddress(url: url), timeout: .seconds(3))
        self.name = name
        session.local.transaction = { [unowned self] in isInTransaction ? .immediate : nil }
    }

    /// Takes the lease, or renews it.
    ///
    /// - Returns: Whether this program has it.
    /// - Throws: ``ClusterFailure``.
    package func take() throws -> Bool {
        try lock.withLock {
            let start = ContinuousClock.now
            let hasIt = try inTransaction {
                try session.execute(
                    "CREATE TABLE IF NOT EXISTS \(Self.table) (name TEXT NOT NULL PRIMARY KEY, holder TEXT NOT NULL, until INTEGER NOT NULL)",
                    changesSchema: true)
                let row = try session.query(
                    "SELECT holder, until > CAST(strftime('%s') AS INTEGER) FROM \(Self.table) WHERE name = \(Self.literal(name))").first
                if let row, row[0].text != holder, row[1].integer == 1 { return false }
                try session.execute(
                    "INSERT OR REPLACE INTO \(Self.table) VALUES (\(Self.literal(name)), '\(holder)', strftime('%s') + \(Self.length))",
                    changesSchema: false)
                return true
            }
            if hasIt { end = start + Self.reliance }
            return hasIt
        }
    }

    /// Gives the lease up, so that another program need not wait until it has run out.
    package func release() {
        lock.withLock {
            _ = try? inTransaction {
                try session.execute("DELETE FROM \(Self.table) WHERE name = \(Self.literal(name)) AND holder = '\(holder)'", changesSchema: false)
                return true
            }
            session.close()
        }
    }

    /// Waits until this program has the lease.
    ///
    /// - Parameter willWait: Called once, if another program has it.
    package func wait(_ willWait: @Sendable () -> Void) async throws {
        var hasWaited = false
        while try !take() {
            if !hasWaited { willWait() }
            hasWaited = true
            try await Task.sleep(for: Self.pause)
        }
    }

    /// Renews the lease until it is lost, or the task is cancelled.
    package func keep() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.pause)
            if Task.isCancelled { return }
            // Of a failure nothing follows before the time is over.
            if let hasIt = try? take(), !hasIt { return }
            if lock.withLock({ end <= .now }) { return }
        }
    }

    private func inTransaction(_ body: () throws -> Bool) throws -> Bool {
        isInTransaction = true
        defer {
            isInTransaction = false
            session.rollBack()
        }
        try session.begin(.immediate)
        let result = try body()
        if result { try session.commit() }
        return result
    }

    private static func literal(_ text: String) -> String { "'" + text.replacing("'", with: "''") + "'" }
}
