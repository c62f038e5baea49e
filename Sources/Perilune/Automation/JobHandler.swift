public import Foundation
internal import PeriluneBindings
internal import PeriluneLua
internal import Synchronization

/// A job with its decoded payload, as passed to a handler.
public struct Job<Payload: Decodable & Sendable>: Decodable, Sendable {
    /// The number of the job.
    public let id: Int64
    /// The key that the job was added with.
    public let key: String?
    /// The number of the attempt, from 1.
    public let attempt: Int
    /// The time at which the job was added.
    public let enqueuedAt: Date
    /// The decoded payload.
    public let payload: Payload

    /// Whether a previous attempt failed or was interrupted, so parts of the job may already have been done.
    public var isRepeat: Bool { attempt > 1 }

    private enum CodingKeys: String, CodingKey {
        case id, key, attempt, payload
        case enqueuedAt = "enqueued_at"
    }
}

/// The outcome of one attempt to run a job.
public struct JobOutcome: Decodable, Sendable, Equatable {
    /// The state of the job after the attempt.
    public enum State: String, Decodable, Sendable {
        /// The attempt succeeded.
        case done
        /// The attempt failed, and the job will be tried again.
        case failed
        /// The last attempt failed.
        case dead
    }

    /// The number of the job.
    public let id: Int64
    /// The key that the job was added with.
    public let key: String?
    /// The number of the attempt, from 1.
    public let attempt: Int
    /// The state of the job after the attempt.
    public let state: State
    /// The error of a failed attempt.
    public let error: String?
    /// The time of the next attempt.
    public let nextAttempt: Date?

    private enum CodingKeys: String, CodingKey {
        case id, key, attempt, state, error
        case nextAttempt = "next_attempt"
    }
}

/// A registered Swift function that runs the jobs of a queue, see ``JobQueue/handle(_:attempts:backoff:concurrency:rate:timeout:keep:_:)``.
public final class JobHandler: Sendable {
    /// A stream of the outcomes of attempts since the handler was created. Each outcome is sent after it is recorded in the database. The
    /// stream ends when the handler is stopped or the host is released. It supports one consumer, and buffers 10,000 outcomes before it
    /// drops the oldest.
    public let outcomes: AsyncStream<JobOutcome>
    private let host: ScriptHost
    private let number: Int
    private let relay: OutcomeRelay

    fileprivate init(host: ScriptHost, number: Int, outcomes: AsyncStream<JobOutcome>, relay: OutcomeRelay) {
        (self.host, self.number, self.outcomes, self.relay) = (host, number, outcomes, relay)
    }

    /// Stops starting jobs. Active jobs continue until they end.
    ///
    /// - Throws: `LuaError` if the database fails.
    public func stop() async throws {
        let _: Bool = try await host.callJobBridge("stop") { _ in [.integer(Int64(self.number))] }
        relay.finish()
    }

    /// Waits until this process runs no job of the queue and can start none. After ``stop()``, waits for active jobs only.
    ///
    /// - Throws: `LuaError` if the database fails, or with code `cancelled` after `ScriptHost.cancel()`; `CancellationError` if the task is
    ///   cancelled.
    public func waitUntilIdle() async throws {
        try await host.waitUntilIdle(handler: number)
    }
}

extension ScriptHost {
    /// Waits until a job handler is idle. Between two checks, its jobs can use the host.
    fileprivate func waitUntilIdle(handler number: Int) async throws {
        guard let backend = backend as? LocalBackend else { return }
        try await backend.wait(in: self) { host in
            try await host.callJobBridge("is_idle") { _ in [.integer(Int64(number))] }
        }
    }
}

/// A bridge that passes outcomes from Lua to a stream, and finishes the stream when it is released.
private final class OutcomeRelay: Sendable {
    private let continuation: AsyncStream<JobOutcome>.Continuation

    init(_ continuation: AsyncStream<JobOutcome>.Continuation) {
        self.continuation = continuation
    }

    deinit { finish() }

    func pass(_ outcome: JobOutcome) { continuation.yield(outcome) }
    func finish() { continuation.finish() }
}

extension JobQueue {
    /// Runs the jobs of the queue with a Swift function.
    ///
    /// ```swift
    /// let handler = try await host.jobs("mail").handle(Mail.self) { job in
    ///     try await mailer.send(job.payload, idempotencyKey: job.key)
    /// }
    /// for await outcome in handler.outcomes where outcome.state == .dead { report(outcome) }
    /// ```
    ///
    /// Each job runs at least once: if the process ends during an attempt, the job is tried again. If the function throws an error, the
    /// attempt fails, and the job is tried again after a pause.
    ///
    /// - Parameters:
    ///   - type: The type of the payload. A job whose payload cannot be decoded fails.
    ///   - attempts: The maximum number of attempts for each job.
    ///   - backoff: The minimum and the maximum pause between attempts. The first pause is the minimum; each further pause is twice as
    ///     long, up to the maximum.
    ///   - concurrency: The maximum number of jobs of the queue that run simultaneously, across all processes.
    ///   - rate: The maximum rate of jobs, such as "100/minute".
    ///   - timeout: The time limit of an attempt.
    ///   - keep: The time for which completed jobs are kept in the database.
    ///   - body: A closure that runs a job, in a separate task.
    /// - Returns: The handler, which runs jobs until it is stopped or the host is released.
    /// - Throws: `LuaError` if an option is invalid, the database fails, or the scripts of the host run in another process. In an isolated
    ///   host, let a script handle the jobs and call a registered function.
    public func handle<Payload: Decodable & Sendable>(
        _ type: Payload.Type = Payload.self, attempts: Int = 5,
        backoff: ClosedRange<Duration> = .seconds(1)...(.seconds(3600)), concurrency: Int = 1, rate: String? = nil,
        timeout: Duration? = nil, keep: Duration = .seconds(86400),
        _ body: @escaping @Sendable (Job<Payload>) async throws -> Void
    ) async throws -> JobHandler {
        let (outcomes, continuation) = AsyncStream.makeStream(of: JobOutcome.self, bufferingPolicy: .bufferingNewest(10_000))
        let relay = OutcomeRelay(continuation)
        let options = HandlerOptions(
            attempts: attempts, backoff: backoff, concurrency: concurrency, rate: rate, timeout: timeout, keep: keep)
        let name = name
        let number: Int = try await host.callJobBridge("handle") { [weak relay] host in
            guard host.backend.usesHostState else {
                throw LuaError(
                    .usage,
                    "scripts in a process of their own cannot have job handlers in Swift; let a script handle the jobs, and call a registered function there"
                )
            }
            let function = try host.state.makeCodedAsyncFunction("job handler") { (job: Job<Payload>) async throws in
                try await body(job)
            }
            let report = try host.state.makeCodedFunction("job outcome") { (outcome: JobOutcome) in relay?.pass(outcome) }
            return [.string(LuaString(name)), .table(try options.table(in: host.state)), .function(function), .function(report)]
        }
        return JobHandler(host: host, number: number, outcomes: outcomes, relay: relay)
    }
}

/// The options of a job handler.
private struct HandlerOptions: Sendable {
    let attempts: Int
    let backoff: ClosedRange<Duration>
    let concurrency: Int
    let rate: String?
    let timeout: Duration?
    let keep: Duration

    /// The options as the Lua library expects them.
    func table(in state: LuaState) throws -> LuaTable {
        let table = try state.makeTable(), pauses = try state.makeTable()
        for (index, pause) in [backoff.lowerBound, backoff.upperBound].enumerated() {
            try pauses.set(.integer(Int64(index + 1)), .number(pause / .seconds(1)))
        }
        try table.set("attempts", .integer(Int64(attempts)))
        try table.set("backoff", .table(pauses))
        try table.set("concurrency", .integer(Int64(concurrency)))
        if let rate { try table.set("rate", .string(LuaString(rate))) }
        if let timeout { try table.set("timeout", .number(timeout / .seconds(1))) }
        try table.set("keep", .number(keep / .seconds(1)))
        return table
    }
}
