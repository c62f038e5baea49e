internal import CPeriluneShim
internal import CPeriluneSQLite
internal import Foundation
internal import GRDB
internal import PeriluneLua
internal import Synchronization

/// The waiting of scripts for the connections of a database that others use too.
///
/// GRDB makes threads wait in queues of libdispatch, where neither a limit of time nor a cancellation reaches them. So a script enters such
/// a queue only when it is free, and waits here until then: for other scripts in line, and for Swift by what it puts into the queue.
final class ConnectionTurns: Sendable {
    /// What an access needs.
    enum Use {
        /// A connection of its own.
        case none
        /// A connection that reads.
        case reading
        /// The connection that writes.
        case writing
        /// The connection that writes, with no reader in use.
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

    /// Those of a database, which all its users share. They last as long as one of these keeps both.
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

    /// Whether the connection that writes is free now.
    var isFree: Bool { queue?.isFree != false && !writing.isTaken }

    /// Runs a closure that enters the queue of a connection, once that is free.
    ///
    /// - Throws: `DatabaseError` with code `SQLITE_INTERRUPT` if the run on this thread is to end before.
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

    /// Lets the next script look for a reader. Called by an access as soon as it has one.
    func endWaitForReader() { reading.leave() }

    private func waitForReaders(_ wait: (PoolReaders, DispatchTime) -> Bool) throws {
        guard let readers, !wait(readers, .now()) else { return }
        while !wait(readers, .now() + .milliseconds(10)) { try Self.checkRun() }
    }

    private func waitForQueue(of writer: any DatabaseWriter) throws {
        guard let queue else { return }
        // After that many turns others use it without pause, each for a short time only.
        for _ in 0..<8 where !queue.isFree {
            let turn = DispatchSemaphore(value: 0)
            writer.asyncWriteWithoutTransaction { _ in turn.signal() }
            while turn.wait(timeout: .now() + .milliseconds(10)) == .timedOut { try Self.checkRun() }
            // The thread that had the turn gives the queue back.
            for _ in 0..<200 where !queue.isFree { sched_yield() }
        }
    }

    fileprivate static func checkRun() throws {
        if plua_is_run_cancelled() { throw DatabaseError(resultCode: .SQLITE_INTERRUPT, message: "interrupted") }
    }
}

/// Threads that wait for each other, in the order in which they came.
private final class Line: Sendable {
    private let condition = NSCondition()
    /// All guarded by the condition.
    private nonisolated(unsafe) var owner: UInt32 = 0
    private nonisolated(unsafe) var waiting: [Int] = []
    private nonisolated(unsafe) var count = 0

    var isTaken: Bool { condition.withLock { owner != 0 && owner != psql_thread_number() } }

    /// Waits. Returns `false` if this thread was first already.
    ///
    /// - Throws: `DatabaseError` if the run on this thread is to end before.
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

    /// Lets the next thread go on, if this one has not done so.
    func leave() {
        condition.withLock {
            guard owner == psql_thread_number() else { return }
            owner = 0
            if !waiting.isEmpty { condition.broadcast() }
        }
    }
}
