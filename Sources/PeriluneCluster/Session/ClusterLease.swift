internal import Foundation
internal import PeriluneRecords
internal import Synchronization

/// A lease that at most one of several programs holds. It is a row in a cluster table, which the holder renews and which another
/// program takes over after it expires.
///
/// A holder that cannot renew the lease must stop relying on it before another program can take it. The holder therefore considers
/// the lease lost some seconds before the row expires. The difference between the clocks of two nodes must be smaller than this
/// margin.
///
/// `@unchecked Sendable`: the lock serializes all accesses.
package final class ClusterLease: @unchecked Sendable {
    package static let table = "perilune_lease"
    /// The time in seconds for which the row is valid, and the shorter time for which the holder relies on it.
    private static let length = 15, reliance = Duration.seconds(9)
    /// The interval between renewals, and between attempts to take the lease.
    private static let pause = Duration.seconds(3)

    private let lock = NSLock()
    private let session: ClusterSession
    private let name: String
    private let holder = String(UInt64.random(in: 0...UInt64.max), radix: 16)
    private var isInTransaction = false
    private var end = ContinuousClock.now

    /// - Parameters:
    ///   - url: The URL of the cluster database.
    ///   - name: The name of the lease.
    /// - Throws: ``ClusterFailure`` of kind `argument`.
    package init(url: String, name: String) throws {
        session = try ClusterSession(ClusterAddress(url: url), timeout: .seconds(3))
        self.name = name
        session.local.transaction = { [unowned self] in isInTransaction ? .immediate : nil }
    }

    /// Takes or renews the lease.
    ///
    /// - Returns: Whether this program holds the lease.
    /// - Throws: ``ClusterFailure``.
    package func take() throws -> Bool {
        try lock.withLock {
            let start = ContinuousClock.now
            let hasIt = try inTransaction {
                try session.execute(
                    "CREATE TABLE IF NOT EXISTS \(Self.table) (name TEXT NOT NULL PRIMARY KEY, holder TEXT NOT NULL, until INTEGER NOT NULL)",
                    changesSchema: true)
                let row = try session.query(
                    "SELECT holder, until > CAST(strftime('%s') AS INTEGER) FROM \(Self.table) WHERE name = \(Self.literal(name))"
                ).first
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

    /// Gives up the lease. Other programs can take it immediately instead of waiting until it expires.
    package func release() {
        lock.withLock {
            _ = try? inTransaction {
                try session.execute(
                    "DELETE FROM \(Self.table) WHERE name = \(Self.literal(name)) AND holder = '\(holder)'", changesSchema: false)
                return true
            }
            session.close()
        }
    }

    /// Waits until this program holds the lease.
    ///
    /// - Parameter willWait: Called once, if another program holds the lease.
    package func wait(_ willWait: @Sendable () -> Void) async throws {
        var hasWaited = false
        while try !take() {
            if !hasWaited { willWait() }
            hasWaited = true
            try await Task.sleep(for: Self.pause)
        }
    }

    /// Renews the lease until it is lost or the task is cancelled.
    package func keep() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.pause)
            if Task.isCancelled { return }
            // If a renewal fails with an error, the lease is kept until it expires.
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
