internal import PeriluneLua

/// Access from Swift to the records and requests of scripts.
extension ScriptHost {
    /// Returns a reference to the record of a global class with a key, without fetching the record. Uses of the reference throw an error if
    /// the record does not exist.
    ///
    /// ```swift
    /// let sale = host.record("Sale", key: 1)
    /// let label: String = try await sale.call("label")
    /// let row = try await sale.fetch(as: SaleRow.self)
    /// ```
    ///
    /// - Parameters:
    ///   - className: The global name of the class, with dots for fields of tables.
    ///   - key: The primary key: a value, or a dictionary of column values.
    public nonisolated func record(_ className: String, key: some Encodable & Sendable) -> Record {
        Record(host: self, steps: ScriptSteps(.init(className), isCalling: false).adding(.init("find", key)))
    }

    /// Returns a request that a script function creates, without fetching rows.
    ///
    /// ```swift
    /// let ofVerne = host.request("Sale:of", "Verne").calling("order", "day")
    /// let rows: [SaleRow] = try await ofVerne.fetchAll()
    /// ```
    ///
    /// - Parameter name: The name of the function that returns the request, as in `call(_:_:)`: a method of a class, or any other function.
    /// - Parameter argument: The arguments of the function or method.
    public nonisolated func request<each Argument: Encodable & Sendable>(
        _ name: String, _ argument: repeat each Argument
    ) -> Request {
        Request(host: self, steps: ScriptSteps(.init(name, repeat each argument), isCalling: true))
    }

    /// Returns a request for all records of a global class, or for the records of its default request.
    public nonisolated func records(_ className: String) -> Request {
        Request(host: self, steps: ScriptSteps(.init(className), isCalling: false))
    }

    /// A reference to a record of a script class, by its key. Each use finds the record again.
    public struct Record: Sendable {
        let host: ScriptHost
        let steps: ScriptSteps

        /// Calls a method of the record and decodes its first result.
        ///
        /// - Throws: `LuaError`, with kind `record_not_found` if the record does not exist.
        public func call<each Argument: Encodable & Sendable, Result: Decodable & Sendable>(
            _ method: String, _ argument: repeat each Argument, as type: Result.Type = Result.self
        ) async throws -> Result {
            try await host.value(of: steps.adding(.init(method, repeat each argument)))
        }

        /// Calls a method of the record and ignores its result.
        ///
        /// - Throws: `LuaError` if the record does not exist (kind `record_not_found`), or if the method does not exist or raises an error.
        public func call<each Argument: Encodable & Sendable>(_ method: String, _ argument: repeat each Argument) async throws {
            let steps = steps.adding(.init(method, repeat each argument))
            try await host.exclusively(.call(steps.description)) { host in _ = try await steps.run(in: host) }
        }

        /// Fetches and decodes the record: its columns by name, converted by the `types` of its class.
        ///
        /// - Throws: `LuaError` if the record does not exist (kind `record_not_found`), or if it cannot be decoded as `Value`.
        public func fetch<Value: Decodable & Sendable>(as type: Value.Type = Value.self) async throws -> Value {
            try await host.value(of: steps)
        }

        /// Returns the request of a record's method: an association, or any other method that returns a request.
        public func request<each Argument: Encodable & Sendable>(
            _ method: String, _ argument: repeat each Argument
        ) -> Request {
            Request(host: host, steps: steps.adding(.init(method, repeat each argument)))
        }
    }

    /// A script request from which Swift can derive other requests, and fetch rows.
    public struct Request: Sendable {
        let host: ScriptHost
        let steps: ScriptSteps

        /// Returns the request that a method derives from this request: a named request of the class, or a library method such as `limit`
        /// or `order`.
        public func calling<each Argument: Encodable & Sendable>(
            _ method: String, _ argument: repeat each Argument
        ) -> Request {
            Request(host: host, steps: steps.adding(.init(method, repeat each argument)))
        }

        /// Fetches and decodes all rows.
        ///
        /// - Throws: `LuaError` if the rows cannot be fetched, or cannot be decoded as `Row`.
        public func fetchAll<Row: Decodable & Sendable>(as type: Row.Type = Row.self) async throws -> [Row] {
            try await host.value(of: steps.adding(.init("fetch_all")))
        }

        /// Fetches and decodes the first row; `nil` if the request has no rows.
        ///
        /// - Throws: `LuaError` if the row cannot be fetched, or cannot be decoded as `Row`.
        public func fetchOne<Row: Decodable & Sendable>(as type: Row.Type = Row.self) async throws -> Row? {
            try await host.value(of: steps.adding(.init("fetch_one")))
        }

        /// Counts the rows.
        ///
        /// - Throws: `LuaError` if the rows cannot be counted.
        public func fetchCount() async throws -> Int {
            try await host.value(of: steps.adding(.init("fetch_count")))
        }
    }

    fileprivate nonisolated func value<Value: Decodable & Sendable>(of steps: ScriptSteps) async throws -> Value {
        try await exclusively(.call(steps.description)) { host in
            try host.decode(await steps.run(in: host), of: steps.description)
        }
    }
}
