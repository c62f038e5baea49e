internal import PeriluneBindings
public import PeriluneLua

/// A sequence of a script function's results and failures. If the function does not exist, this error is the only element.
struct ScriptResults<Value: Decodable & Sendable>: AsyncSequence, Sendable {
    let host: ScriptHost
    let function: String
    let removesDuplicates: Bool

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(host: host, function: function, removesDuplicates: removesDuplicates)
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        let host: ScriptHost
        let function: String
        let removesDuplicates: Bool
        private var observed: (any ObservedFunction)?
        private var isAtEnd = false

        init(host: ScriptHost, function: String, removesDuplicates: Bool) {
            (self.host, self.function, self.removesDuplicates) = (host, function, removesDuplicates)
        }

        /// Waits for the next value or failure.
        mutating func next(isolation actor: isolated (any Actor)?) async -> Result<Value, LuaError>? {
            guard !isAtEnd else { return nil }
            do {
                if observed == nil { observed = try await host.observe(function, removesDuplicates: removesDuplicates) }
                guard let observed else { return nil }
                while true {
                    try await observed.waitForChange()
                    if let result: Result<Value, LuaError> = try await host.takeResult(of: observed) { return result }
                }
            } catch {
                (isAtEnd, observed) = (true, nil)
                return error is CancellationError ? nil : .failure(LuaError(wrapping: error))
            }
        }
    }
}

/// The values of a sequence of results. The first failure is thrown and ends the sequence.
struct SucceedingValues<Results: AsyncSequence & Sendable, Value: Sendable>: AsyncSequence, Sendable
where Results.Element == Result<Value, LuaError>, Results.Failure == Never {
    let results: Results

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: results.makeAsyncIterator()) }

    struct AsyncIterator: AsyncIteratorProtocol {
        /// The iterator of the results; `nil` after a failure.
        var base: Results.AsyncIterator?

        /// Waits for the next value.
        mutating func next(isolation actor: isolated (any Actor)?) async throws -> Value? {
            do {
                return try await base?.next(isolation: actor)?.get()
            } catch {
                base = nil
                throw error
            }
        }
    }
}

extension LuaError {
    /// Returns a `LuaError` unchanged, and wraps any other error in a `LuaError` with code `host`.
    init(wrapping error: any Error) {
        self = error as? LuaError ?? LuaError(.host, "\(error)")
        if !(error is LuaError) { underlying = error }
    }
}

extension ScriptHost {
    /// Returns an asynchronous sequence of a global script function's results: the current result, and a new result after each
    /// transaction that has changed it.
    ///
    /// ```swift
    /// try await host.register(module: "supplier") { supplier in
    ///     supplier.function("order", effect: .external) { (product: String) async throws in try await shop.order(product) }
    /// }
    /// try await host.run(file: "stock.lua")
    /// for try await names: [String] in host.values(of: "low_stock") {
    ///     await shop.show(names)
    /// }
    /// ```
    ///
    /// The function receives a handle of the default database and no other argument. It is called when no script is running in the host.
    /// While the loop is busy, only the latest value is kept.
    ///
    /// The sequence ends when its task is cancelled, and after the first error: the function's error, or `LuaError` with code
    /// `conversion` for a value of a different type. For a loop that continues after an error, use
    /// ``results(of:as:removesDuplicates:)``.
    ///
    /// - Parameter function: The name of the function, not source text, such as `open_orders` or `reports.open_orders`.
    /// - Parameter type: The type of the decoded values.
    /// - Parameter removesDuplicates: Whether a value that equals the previous one is omitted.
    public nonisolated func values<Value: Decodable & Sendable>(
        of function: String, as type: Value.Type = Value.self, removesDuplicates: Bool = true
    ) -> some AsyncSequence<Value, any Error> & Sendable {
        SucceedingValues(
            results: ScriptResults<Value>(host: self, function: function, removesDuplicates: removesDuplicates))
    }

    /// Returns an asynchronous sequence of a global script function's results and failures, which continues after a failure.
    ///
    /// A failure is a `LuaError`: the function's error, or an error with code `conversion` for a value of a different type. If the
    /// function does not exist, this error is the only element. The parameters have the same meaning as for
    /// ``values(of:as:removesDuplicates:)``.
    public nonisolated func results<Value: Decodable & Sendable>(
        of function: String, as type: Value.Type = Value.self, removesDuplicates: Bool = true
    ) -> some AsyncSequence<Result<Value, LuaError>, Never> & Sendable {
        ScriptResults<Value>(host: self, function: function, removesDuplicates: removesDuplicates)
    }

    nonisolated func observe(_ function: String, removesDuplicates: Bool) async throws -> any ObservedFunction {
        try await exclusively { host in
            try await host.backend.observe(function, removesDuplicates: removesDuplicates, in: host)
        }
    }

    /// Returns a new value or failure; `nil` if nothing has changed.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    nonisolated func takeResult<Value: Decodable & Sendable>(of observed: any ObservedFunction) async throws
        -> Result<Value, LuaError>?
    {
        do {
            return try await exclusively { host in
                guard let results = try await observed.take(in: host) else { return nil }
                // The type must be explicit. Otherwise, the value would be decoded as an optional, and a Lua nil would count as unchanged.
                let value: Value = try host.decode(results, of: observed.name)
                return .success(value)
            }
        } catch {
            if error is CancellationError || Task.isCancelled { throw CancellationError() }
            return .failure(LuaError(wrapping: error))
        }
    }
}
