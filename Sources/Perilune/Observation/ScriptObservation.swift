internal import PeriluneBindings
public import PeriluneLua
internal import Synchronization

/// An observation of a script function's results, shared by any number of loops. A program can pause the observation or change the
/// function.
///
/// ```swift
/// let observation = host.observation(of: "low_stock", as: [String].self)
/// let showing = Task { for try await names in observation.values { await display.show(names) } }
/// let counting = Task { for try await names in observation.values { await display.show(["\(names.count)"]) } }
/// try await observation.pause()
/// try await observation.resume()
/// ```
///
/// The function is called once for all loops, and only while at least one loop is running. A loop that starts later first receives the last
/// value. In all other respects, the observation behaves like ``ScriptHost/values(of:as:removesDuplicates:)``.
public final class ScriptObservation<Value: Decodable & Sendable>: Sendable {
    private typealias Continuation = AsyncStream<Result<Value, LuaError>>.Continuation

    private struct State {
        var continuations: [Int: Continuation] = [:]
        var nextNumber = 0
        var last: Value?
        var function: String
        /// The task that has started the observation in the script; `nil` until the first use.
        var observed: Task<any ObservedFunction, any Error>?
        /// The task that delivers values while at least one loop runs.
        var delivery: Task<Void, Never>?
        /// The previous delivery task, which may still be running.
        var formerDelivery: Task<Void, Never>?
    }

    private let host: ScriptHost
    private let removesDuplicates: Bool
    private let state: Mutex<State>

    init(of function: String, in host: ScriptHost, removesDuplicates: Bool) {
        (self.host, self.removesDuplicates) = (host, removesDuplicates)
        state = Mutex(State(function: function))
    }

    /// A sequence of values for one loop, which ends after the first error. Each loop needs a separate sequence.
    public var values: some AsyncSequence<Value, any Error> & Sendable { SucceedingValues(results: Results(observation: self)) }

    /// A sequence of values and failures for one loop, which continues after a failure. Each loop needs a separate sequence.
    public var results: some AsyncSequence<Result<Value, LuaError>, Never> & Sendable { Results(observation: self) }

    /// Stops calling the function until ``resume()``.
    ///
    /// - Returns: Whether the observation was active before.
    /// - Throws: `LuaError` if the function does not exist.
    @discardableResult
    public func pause() async throws -> Bool { try await host.control(begun(), "pause") }

    /// Resumes calling the function, and delivers the value if it has changed.
    ///
    /// - Returns: Whether the observation was paused before.
    /// - Throws: `LuaError` if the function does not exist.
    @discardableResult
    public func resume() async throws -> Bool { try await host.control(begun(), "resume") }

    /// Replaces the observed function. The first value of the new function is omitted if it equals the last value.
    ///
    /// - Parameter function: The name of the new function.
    /// - Throws: `LuaError` if the function does not exist.
    public func change(to function: String) async throws {
        let observed = state.withLock { state in
            // The observation has not started yet.
            if state.observed == nil { state.function = function }
            return state.observed
        }
        guard let observed else {
            _ = try await begun()
            return
        }
        try await host.control(observed.value, "change", function)
    }

    private func begun() async throws -> any ObservedFunction {
        let task = state.withLock { state in
            if let observed = state.observed { return observed }
            let task = Task { [host, removesDuplicates, function = state.function] in
                try await host.observe(function, removesDuplicates: removesDuplicates)
            }
            state.observed = task
            return task
        }
        do {
            return try await task.value
        } catch {
            state.withLock { if $0.observed == task { $0.observed = nil } }
            throw error
        }
    }

    // MARK: - Loops

    private func begin() -> AsyncStream<Result<Value, LuaError>> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Result<Value, LuaError>.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.nextNumber += 1
            state.continuations[state.nextNumber] = continuation
            if let last = state.last { continuation.yield(.success(last)) }
            if state.delivery == nil {
                let former = state.formerDelivery
                state.delivery = Task {
                    await former?.value
                    await self.deliver(after: former)
                }
            }
            return state.nextNumber
        }
        continuation.onTermination = { _ in self.end(number) }
        return stream
    }

    private func end(_ number: Int) {
        state.withLock { state in
            state.continuations[number] = nil
            guard state.continuations.isEmpty else { return }
            state.delivery?.cancel()
            (state.formerDelivery, state.delivery) = (state.delivery, nil)
        }
    }

    /// - Parameter previous: The previous delivery task, which may have been cancelled after a change and before it delivered the new
    ///   value.
    private func deliver(after previous: Task<Void, Never>?) async {
        let observed: any ObservedFunction
        do {
            observed = try await begun()
        } catch {
            return finish(with: error)
        }
        var mayHaveValue = previous != nil
        while !Task.isCancelled {
            // Continues after a failure, because the next change may result in a value again.
            if mayHaveValue, let result: Result<Value, LuaError> = try? await host.takeResult(of: observed) { send(result) }
            do {
                try await observed.waitForChange()
            } catch {
                return finish(with: error)
            }
            mayHaveValue = true
        }
    }

    private func send(_ result: Result<Value, LuaError>) {
        let continuations = state.withLock { state in
            if case .success(let value) = result { state.last = value }
            return Array(state.continuations.values)
        }
        for continuation in continuations { continuation.yield(result) }
    }

    /// Ends all loops with an error. Ignores cancellation errors, which only mean that the last loop has ended.
    private func finish(with error: any Error) {
        guard !(error is CancellationError) else { return }
        let continuations = state.withLock { state in
            defer { (state.continuations, state.delivery) = ([:], nil) }
            return Array(state.continuations.values)
        }
        for continuation in continuations {
            continuation.yield(.failure(LuaError(wrapping: error)))
            continuation.finish()
        }
    }

    /// The values and failures for one loop.
    private struct Results: AsyncSequence, Sendable {
        let observation: ScriptObservation

        func makeAsyncIterator() -> AsyncStream<Result<Value, LuaError>>.Iterator { observation.begin().makeAsyncIterator() }
    }
}

extension ScriptHost {
    /// Returns an observation of a global script function. Any number of loops can share the values, and the program can pause or change
    /// the observation.
    ///
    /// The function receives a handle of the default database, and no other argument.
    ///
    /// - Parameter function: The name of the function, such as `open_orders` or `reports.open_orders`.
    /// - Parameter type: The type of the decoded values.
    /// - Parameter removesDuplicates: Whether a value that equals the previous one is omitted.
    public nonisolated func observation<Value: Decodable & Sendable>(
        of function: String, as type: Value.Type = Value.self, removesDuplicates: Bool = true
    ) -> ScriptObservation<Value> {
        ScriptObservation(of: function, in: self, removesDuplicates: removesDuplicates)
    }

    /// Calls a method of an observation, and returns its boolean result.
    ///
    /// - Parameter function: The name of the new function, for the method `change`.
    @discardableResult
    fileprivate nonisolated func control(
        _ observed: any ObservedFunction, _ method: String, _ function: String? = nil
    ) async throws -> Bool {
        try await exclusively { host in try await observed.control(method, function, in: host) }
    }
}
