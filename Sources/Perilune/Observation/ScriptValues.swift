internal import PeriluneBindings
internal import PeriluneLua

/// An asynchronous sequence of a script function's results: the current result, and a new result after each transaction that has changed
/// it.
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
/// By default, a value that equals the previous one is omitted. While the loop is busy, only the latest value is kept. The function is
/// called when no script is running in the host. The sequence ends when its task is cancelled, and after the first error. For a loop that
/// continues after an error, use ``ScriptHost/results(of:as:removesDuplicates:)``.
public struct ScriptValues<Value: Decodable & Sendable>: AsyncSequence, Sendable {
    let results: ScriptResults<Value>

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: results.makeAsyncIterator()) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        /// The iterator of the results; `nil` after an error.
        var base: ScriptResults<Value>.AsyncIterator?

        /// Waits for the next value.
        ///
        /// - Throws: The function's error, or `LuaError` with code `conversion` for a value of a different type. Later calls return
        ///   `nil`.
        public mutating func next() async throws -> Value? {
            do {
                return try await base?.next()?.get()
            } catch {
                base = nil
                throw error
            }
        }
    }
}

/// An asynchronous sequence of a script function's results and failures.
///
/// A failure is a `LuaError`: the function's error, or an error with code `conversion` for a value of a different type. The sequence
/// continues after a failure. If the function does not exist, this error is the only element.
public struct ScriptResults<Value: Decodable & Sendable>: AsyncSequence, Sendable {
    let host: ScriptHost
    let function: String
    let removesDuplicates: Bool

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(host: host, function: function, removesDuplicates: removesDuplicates)
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        let host: ScriptHost
        let function: String
        let removesDuplicates: Bool
        private var observed: (any ObservedFunction)?
        private var isAtEnd = false

        init(host: ScriptHost, function: String, removesDuplicates: Bool) {
            (self.host, self.function, self.removesDuplicates) = (host, function, removesDuplicates)
        }

        /// Waits for the next value or failure.
        public mutating func next() async -> Result<Value, LuaError>? {
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

extension LuaError {
    /// Returns a `LuaError` unchanged, and wraps any other error in a `LuaError` with code `host`.
    init(wrapping error: any Error) {
        self = error as? LuaError ?? LuaError(.host, "\(error)")
        if !(error is LuaError) { underlying = error }
    }
}

extension ScriptHost {
    /// Returns a sequence of the results of a global script function, which receives a handle of the default database and no other
    /// argument.
    ///
    /// - Parameter function: The name of the function, not source text, such as `open_orders` or `reports.open_orders`.
    /// - Parameter type: The type of the decoded values.
    /// - Parameter removesDuplicates: Whether a value that equals the previous one is omitted.
    public nonisolated func values<Value: Decodable & Sendable>(
        of function: String, as type: Value.Type = Value.self, removesDuplicates: Bool = true
    ) -> ScriptValues<Value> {
        ScriptValues(results: results(of: function, removesDuplicates: removesDuplicates))
    }

    /// Returns a sequence of the results and failures of a global script function, which continues after a failure.
    ///
    /// The parameters have the same meaning as for ``values(of:as:removesDuplicates:)``.
    public nonisolated func results<Value: Decodable & Sendable>(
        of function: String, as type: Value.Type = Value.self, removesDuplicates: Bool = true
    ) -> ScriptResults<Value> {
        ScriptResults(host: self, function: function, removesDuplicates: removesDuplicates)
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
