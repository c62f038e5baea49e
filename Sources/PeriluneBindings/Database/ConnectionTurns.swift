internal import CPeriluneShim
internal import CPeriluneSQLite
internal import Foundation
internal import GRDB
internal import PeriluneLua
internal import Synchronization

/// The queue of scripts that wait for connections of a shared database.
///
/// GRDB makes threads wait in libdispatch queues, where neither time limits nor cancellation reach them. Therefore a script enters
/// such a queue only when it is free. Until then it waits here: in line with other scripts, and for Swift code by adding a block to
/// the queue.
final class ConnectionTurns: Sendable {
    /// The connection that an access needs.
    enum Use {
        /// A separate connection.
        case none
        /// A reader.
        case reading
        /// The writer.
        case writing
        /// The writer, with no reader in use.
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

    /// Returns the object shared by all users of a database. It exists as long as any of them keeps both.
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

    /// Runs a closure that enters the queue of a connection, once it is free.
    ///
    /// - Throws: `DatabaseError` with code `SQLITE_INTERRUPT` if the run on this thread must end first.
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

    /// Lets the next script wait for a reader. Called by an access as soon as it has one.
    func endWaitForReader() { reading.leave() }

    private func waitForReaders(_ wait: (PoolReaders, DispatchTime) -> Bool) throws {
        guard let readers, !wait(readers, .now()) else { return }
        while !wait(readers, .now() + .milliseconds(10)) { try Self.checkRun() }
    }

    private func waitForQueue(of writer: any DatabaseWriter) throws {
        guard let queue else { return }
        // If the queue is still busy after eight turns, others use it continuously, each for only a short time.
        for _ in 0..<8 where !queue.isFree {
            let turn = DispatchSemaphore(value: 0)
            writer.asyncWriteWithoutTransaction { _ in turn.signal() }
            while turn.wait(timeout: .now() + .milliseconds(10)) == .timedOut { try Self.checkRun() }
            // Wait until the thread that had the turn leaves the queue.
            for _ in 0..<200 where !queue.isFree { sched_yield() }
        }
    }

    fileprivate static func checkRun() throws {
        if plua_is_run_cancelled() { throw DatabaseError(resultCode: .SQLITE_INTERRUPT, message: "interrupted") }
    }
}

/// A line of threads that proceed in the order of their arrival.
private final class Line: Sendable {
    private let condition = NSCondition()
    /// All guarded by the condition.
    private nonisolated(unsafe) var owner: UInt32 = 0
    private nonisolated(unsafe) var waiting: [Int] = []
    private nonisolated(unsafe) var count = 0

    var isTaken: Bool { condition.withLock { owner != 0 && owner != psql_thread_number() } }

    /// Waits for the turn of this thread. Returns `false` if it already has the turn.
    ///
    /// - Throws: `DatabaseError` if the run on this thread must end first.
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

    /// Lets the next thread proceed, unless this one has already done so.
    func leave() {
        condition.withLock {
            guard owner == psql_thread_number() else { return }
            owner = 0
            if !waiting.isEmpty { condition.broadcast() }
        }
    }
}
