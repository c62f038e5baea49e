internal import CPeriluneShim
internal import CPeriluneSQLite
internal import Foundation
internal import GRDB
internal import PeriluneLua
internal import Synchronization

/// A fair queue of scripts that wait for the connections of a shared database.
///
/// GRDB makes threads wait in libdispatch queues, and neither time limits nor cancellation can end that wait. A script therefore
/// enters such a queue only when the queue is free. Until then it waits here, in line with other scripts, and uses an asynchronous
/// block to wait until Swift code leaves the queue.
final class ConnectionTurns: Sendable {
    /// The connection that an access needs.
    enum Use {
        /// A connection that no other access uses.
        case none
        /// A reader connection.
        case reading
        /// The writer connection.
        case writing
        /// The writer connection, while no reader is in use.
        case alone
    }

    private let queue: AccessQueue?
    private let readers: PoolReaders?
    private let writing = Line()
    private let reading = Line()

    private init(of writer: any DatabaseWriter) {
        queue = AccessQueue(of: writer)
        readers = (writer as? DatabasePool).flatMap { PoolReaders(of: $0) }
    }

    private struct Known: Sendable {
        weak var turns: ConnectionTurns?
    }

    private static let known = Mutex<[ObjectIdentifier: Known]>([:])

    /// Returns the object shared by all users of a database. It exists as long as a user retains the writer and the object.
    static func of(_ writer: any DatabaseWriter) -> ConnectionTurns {
        known.withLock { known in
            let key = ObjectIdentifier(writer)
            if let turns = known[key]?.turns { return turns }
            known = known.filter { $0.value.turns != nil }
            let turns = ConnectionTurns(of: writer)
            known[key] = Known(turns: turns)
            return turns
        }
    }

    /// Whether the writer is free.
    var isFree: Bool { queue?.isFree != false && !writing.isTaken }

    /// Waits until a connection is free, and then runs a closure that enters the connection's queue.
    ///
    /// - Throws: `DatabaseError` with code `SQLITE_INTERRUPT` if the thread's run must end before the connection is free.
    func taking<Result>(_ use: Use, in writer: any DatabaseWriter, _ body: () throws -> Result) throws -> Result {
        switch use {
        case .none: return try body()
        case .reading where writer is DatabasePool:
            try reading.enter()
            defer { endWaitForReader() }
            try waitForReaders { readers, moment in readers.waitForOne(moment) }
            return try body()
        case .reading, .writing, .alone:
            let isOutermost = try writing.enter()
            defer { if isOutermost { writing.leave() } }
            try waitForQueue(of: writer)
            if case .alone = use { try waitForReaders { readers, moment in readers.waitForAll(moment) } }
            return try body()
        }
    }

    /// Lets the next script wait for a reader. An access calls this as soon as it has a reader.
    func endWaitForReader() { reading.leave() }

    private func waitForReaders(_ wait: (PoolReaders, DispatchTime) -> Bool) throws {
        guard let readers, !wait(readers, .now()) else { return }
        while !wait(readers, .now() + .milliseconds(10)) { try Self.checkRun() }
    }

    private func waitForQueue(of writer: any DatabaseWriter) throws {
        guard let queue else { return }
        // If the queue is still busy after eight turns, other threads use it continuously in short accesses, so entering it cannot
        // take long.
        for _ in 0..<8 where !queue.isFree {
            let turn = DispatchSemaphore(value: 0)
            writer.asyncWriteWithoutTransaction { _ in turn.signal() }
            while turn.wait(timeout: .now() + .milliseconds(10)) == .timedOut { try Self.checkRun() }
            // Wait until the thread that ran the block leaves the queue.
            for _ in 0..<200 where !queue.isFree { sched_yield() }
        }
    }

    fileprivate static func checkRun() throws {
        if plua_is_run_cancelled() { throw DatabaseError(resultCode: .SQLITE_INTERRUPT, message: "interrupted") }
    }
}

/// A fair lock that threads acquire in the order of their arrival.
private final class Line: Sendable {
    private let condition = NSCondition()
    /// The condition guards all three variables.
    private nonisolated(unsafe) var owner: UInt32 = 0
    private nonisolated(unsafe) var waiting: [Int] = []
    private nonisolated(unsafe) var count = 0

    var isTaken: Bool { condition.withLock { owner != 0 && owner != psql_thread_number() } }

    /// Waits until this thread acquires the lock. Returns `false` if the thread already holds it.
    ///
    /// - Throws: `DatabaseError` if the thread's run must end first.
    @discardableResult
    func enter() throws -> Bool {
        try condition.withLock {
            let thread = psql_thread_number()
            if owner == thread { return false }
            if owner == 0, waiting.isEmpty {
                owner = thread
                return true
            }
            count += 1
            let number = count
            waiting.append(number)
            defer { waiting.removeAll { $0 == number } }
            while owner != 0 || waiting.first != number {
                do {
                    try ConnectionTurns.checkRun()
                } catch {
                    condition.broadcast()
                    throw error
                }
                _ = condition.wait(until: Date(timeIntervalSinceNow: 0.02))
            }
            owner = thread
            return true
        }
    }

    /// Releases the lock if this thread holds it.
    func leave() {
        condition.withLock {
            guard owner == psql_thread_number() else { return }
            owner = 0
            if !waiting.isEmpty { condition.broadcast() }
        }
    }
}
