internal import PeriluneBindings
internal import PeriluneLua

/// The results of a script function, now and after each transaction of any writer that has changed them.
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
/// A value that equals the previous one is left out. While the loop is busy, only the latest value is kept. The function is called when
/// no script runs in the host. The sequence ends when its task is cancelled.
public struct ScriptValues<Value: Decodable & Sendable>: AsyncSequence, Sendable {
    let host: ScriptHost
    let function: String
    let duplicates: Bool

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(host: host, function: function, duplicates: duplicates)
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        let host: ScriptHost
        let function: String
        let duplicates: Bool
        private var observed: ObservedFunction?

        init(host: ScriptHost, function: String, duplicates: Bool) {
            (self.host, self.function, self.duplicates) = (host, function, duplicates)
        }

        /// Waits for the next value.
        ///
        /// - Throws: The function's error, or `LuaError` with code `conversion` for a value of another type. The next call continues.
        public mutating func next() async throws -> Value? {
            if observed == nil { observed = try await host.observe(function, duplicates: duplicates) }
            guard let observed else { return nil }
            while true {
                do {
                    try await observed.waitForChange()
                } catch is CancellationError {
                    return nil
                }
                if let value: Value = try await host.takeValue(of: observed) { return value }
            }
        }
    }
}

extension ScriptHost {
    /// The results of a function that a script has stored in a global variable, as a sequence. It receives a handle of the default
    /// database.
    ///
    /// - Parameter function: Its name: `open_orders`, `reports.open_orders`.
    /// - Parameter type: What the values are decoded as.
    /// - Parameter duplicates: Whether values that are equal to the one before are given too.
    public nonisolated func values<Value: Decodable & Sendable>(
        of function: String, as type: Value.Type = Value.self, duplicates: Bool = false
    ) -> ScriptValues<Value> {
        ScriptValues(host: self, function: function, duplicates: duplicates)
    }

    nonisolated func observe(_ function: String, duplicates: Bool) async throws -> ObservedFunction {
        try await exclusively { host in
            try host.requireOwnState(for: "observations by Swift")
            let value = try host.function(host.resolve(function).0, named: function)
            let begin = try host.state.load(
                "local fetch, duplicates = ... return db:observe(fetch, { duplicates = duplicates })", named: "=host")
            guard case .table(let observation)? = try begin.call([.function(value), .boolean(duplicates)]).first else {
                throw LuaError(.usage, "values: \(function) cannot be observed")
            }
            return try ObservedFunction(function, observation, of: host)
        }
    }

    /// The value, if it is a new one.
    nonisolated func takeValue<Value: Decodable & Sendable>(of observed: ObservedFunction) async throws -> Value? {
        try await exclusively { host in
            let take = try host.state.load("local observation = ... return observation:try_next()", named: "=host")
            let results = try await take.callAsync([.table(observed.observation)])
            guard case .boolean(true)? = results.first else { return nil }
            // The explicit type is needed: decoded as an optional, Lua's nil would count as a missing value.
            let value: Value = try host.decode(Array(results.dropFirst()), of: observed.name)
            return value
        }
    }

    fileprivate func end(_ observation: ObservedFunction.Handle) {
        guard case .function(let cancel)? = try? observation.table.get("cancel") else { return }
        _ = try? cancel.call([.table(observation.table)])
    }
}

/// An observation that Swift takes the values of.
final class ObservedFunction: Sendable {
    /// Only touched on the thread of the host.
    struct Handle: @unchecked Sendable {
        let table: LuaTable
    }

    let name: String
    private let handle: Handle
    private let host: ScriptHost
    private let wait: @Sendable () async throws -> Void

    var observation: LuaTable { handle.table }

    init(_ name: String, _ observation: LuaTable, of host: isolated ScriptHost) throws {
        (self.name, self.host) = (name, host)
        handle = Handle(table: observation)
        wait = host.loop.waiting(at: try observation.get("place"))
    }

    deinit {
        Task { [handle, host] in await host.end(handle) }
    }

    /// Waits until there may be a new value.
    func waitForChange() async throws {
        try await wait()
    }
}
