internal import PeriluneBindings
internal import PeriluneLua

/// A job queue in the default database of a host, see `perilune.jobs`.
public struct JobQueue: Sendable {
    let host: ScriptHost
    /// The name of the queue.
    public let name: String

    init(host: ScriptHost, name: String) {
        self.host = host
        self.name = name
    }

    /// The reaction to an unfinished job with the same key.
    public enum KeyConflict: String, Sendable {
        /// Adds no job, replaces the earlier job, or throws an error.
        case ignore, replace, raise
    }

    /// Adds a job in a separate transaction.
    ///
    /// - Parameters:
    ///   - payload: The value passed to the handler, which must be representable in JSON.
    ///   - key: A key that is unique among the unfinished jobs of the queue.
    ///   - onKey: The reaction to an unfinished job with the same key.
    ///   - orderBy: An ordering key. Jobs with the same ordering key run one at a time.
    ///   - delay: The minimum time before the job runs.
    ///   - priority: The priority. Jobs with higher numbers run first.
    /// - Returns: The number of the job, or of an unfinished job with the same key.
    /// - Throws: `LuaError` if an option or the payload is invalid, or the database fails.
    @discardableResult
    public func enqueue(
        _ payload: some Encodable & Sendable, key: String? = nil, onKey: KeyConflict = .ignore, orderBy: String? = nil,
        delay: Duration? = nil, priority: Int = 0
    ) async throws -> Int64 {
        try await host.callJobs("enqueue", name) { host in
            let table = try host.state.makeTable()
            if let key { try table.set("key", .string(LuaString(key))) }
            try table.set("on_key", .string(LuaString(onKey.rawValue)))
            if let orderBy { try table.set("order_by", .string(LuaString(orderBy))) }
            if let delay { try table.set("delay", .number(delay / .seconds(1))) }
            try table.set("priority", .integer(Int64(priority)))
            return [try host.state.encode(payload), .table(table)]
        }
    }

    /// The number of jobs in each state.
    public struct Counts: Decodable, Sendable, Equatable {
        /// The jobs that a handler can start.
        public var ready: Int
        /// The jobs whose delay or pause has not passed.
        public var delayed: Int
        /// The jobs that wait for an earlier job with the same ordering key.
        public var blocked: Int
        /// The jobs that a handler has started.
        public var running: Int
        /// The jobs that have succeeded, unless they were deleted in the meantime.
        public var done: Int
        /// The jobs whose attempts have all failed.
        public var dead: Int
        /// The jobs that were cancelled.
        public var cancelled: Int
    }

    /// Returns the number of jobs in each state.
    ///
    /// - Throws: `LuaError` if the database fails.
    public func counts() async throws -> Counts {
        try await host.callJobs("counts", name) { _ in [] }
    }

    /// Makes a dead or cancelled job ready again.
    ///
    /// - Returns: Whether a job with this number exists.
    /// - Throws: `LuaError` if the database fails.
    @discardableResult
    public func retry(_ id: Int64) async throws -> Bool {
        try await host.callJobs("retry", name) { _ in [.integer(id)] }
    }

    /// Cancels a job that is not finished.
    ///
    /// - Returns: Whether a job with this number exists.
    /// - Throws: `LuaError` if the database fails.
    @discardableResult
    public func cancel(_ id: Int64) async throws -> Bool {
        try await host.callJobs("cancel", name) { _ in [.integer(id)] }
    }
}

extension ScriptHost {
    /// Returns a job queue in the default database. Jobs are handled in Lua with `perilune.jobs(name):handle(f)`, or in Swift with
    /// ``JobQueue/handle(_:attempts:backoff:concurrency:rate:timeout:keep:_:)``.
    public nonisolated func jobs(_ name: String) -> JobQueue { JobQueue(host: self, name: name) }

    fileprivate nonisolated func callJobs<Result: Decodable & Sendable>(
        _ method: String, _ queue: String, _ arguments: @Sendable (isolated ScriptHost) throws -> [LuaValue]
    ) async throws -> Result {
        try await callJobBridge("call") { host in [.string(LuaString(queue)), .string(LuaString(method))] + (try arguments(host))
        }
    }

    /// Calls a function of the Lua module that provides job queues to Swift.
    nonisolated func callJobBridge<Result: Decodable & Sendable>(
        _ name: String, _ arguments: @Sendable (isolated ScriptHost) throws -> [LuaValue]
    ) async throws -> Result {
        try await exclusively { host in
            try LuaDecoder().decode(from: await host.backend.callLibrary(.jobs, name, { _ in try arguments(host) }, in: host))
        }
    }
}
