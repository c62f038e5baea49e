internal import PeriluneBindings
internal import PeriluneIsolation
internal import PeriluneLua

/// Methods that run scripts and call their functions.
extension ScriptHost {
    /// Runs a file and decodes its result.
    ///
    /// ```swift
    /// let report: MonthReport = try await host.run(
    ///     file: "close_month.lua", arguments: Month(year: 2026, month: 3))
    /// ```
    ///
    /// - Parameters:
    ///   - path: The path of the file; a first line that starts with `#` is skipped.
    ///   - argument: The arguments, which the script receives as `...`, encoded: structures as tables, dates as `perilune.date`.
    ///   - type: The type of the decoded result, unless the context determines it. Without a type, the result is ignored.
    /// - Throws: `LuaError`, with code `conversion` if an argument or the result cannot be converted; `CancellationError` if the task is
    ///   cancelled; ``ScriptFileError`` if the file cannot be read.
    public nonisolated func run<each Argument: Encodable & Sendable, Result: Decodable & Sendable>(
        file path: String, arguments argument: repeat each Argument, as type: Result.Type = Result.self
    ) async throws -> Result {
        let source = try ScriptFile.read(path)
        return try await exclusively(.script(path)) { host in
            try host.decode(await host.start(source, named: path) { try $0.encode(repeat each argument, for: path) }, of: path)
        }
    }

    /// Runs a file and ignores its result.
    ///
    /// - Throws: `LuaError` if the file does not compile, raises, or exceeds a limit; `CancellationError` if the task is cancelled;
    ///   ``ScriptFileError`` if the file cannot be read.
    public nonisolated func run<each Argument: Encodable & Sendable>(
        file path: String, arguments argument: repeat each Argument
    ) async throws {
        let source = try ScriptFile.read(path)
        try await exclusively(.script(path)) { host in
            _ = try await host.start(source, named: path) { try $0.encode(repeat each argument, for: path) }
        }
    }

    /// Runs source text and decodes its result.
    ///
    /// - Parameter name: The name of the script in errors.
    /// - Parameter source: The text of the script.
    /// - Parameter argument: The arguments that the script sees as `...`.
    /// - Parameter type: The type of the result.
    /// - Throws: `LuaError` if the text does not compile, raises, exceeds a limit, or its result does not decode as `Result`;
    ///   `CancellationError` if the task is cancelled.
    public nonisolated func run<each Argument: Encodable & Sendable, Result: Decodable & Sendable>(
        source: String, named name: String = "script", arguments argument: repeat each Argument,
        as type: Result.Type = Result.self
    ) async throws -> Result {
        try await exclusively(.script(name)) { host in
            try host.decode(
                await host.start(Array(source.utf8), named: name) { try $0.encode(repeat each argument, for: name) }, of: name)
        }
    }

    /// Runs source text and ignores its result.
    ///
    /// - Throws: `LuaError` if the text does not compile, raises, or exceeds a limit; `CancellationError` if the task
    ///   is cancelled.
    public nonisolated func run<each Argument: Encodable & Sendable>(
        source: String, named name: String = "script", arguments argument: repeat each Argument
    ) async throws {
        try await exclusively(.script(name)) { host in
            _ = try await host.start(Array(source.utf8), named: name) { try $0.encode(repeat each argument, for: name) }
        }
    }

    /// Calls a function in a script's global variable, and decodes its first result.
    ///
    /// ```swift
    /// let total: Double = try await host.call("orders.total", 42)
    /// let label: String = try await host.call("Sale:label_of", 1)
    /// ```
    ///
    /// - Parameter function: The name, with dots for fields of tables; with a colon before the last part, a method of the preceding object.
    /// - Parameter argument: The arguments of the function.
    /// - Parameter type: The type of the result.
    /// - Throws: `LuaError` if the function does not exist, raises an error, exceeds a limit, or its result does not decode as `Result`;
    ///   `CancellationError` if the task is cancelled.
    public nonisolated func call<each Argument: Encodable & Sendable, Result: Decodable & Sendable>(
        _ function: String, _ argument: repeat each Argument, as type: Result.Type = Result.self
    ) async throws -> Result {
        try await exclusively(.call(function)) { host in
            try host.decode(await host.invoke(function) { try $0.encode(repeat each argument, for: function) }, of: function)
        }
    }

    /// Calls a function in a script's global variable, and ignores its result.
    ///
    /// - Throws: `LuaError` if the function does not exist, raises, or exceeds a limit; `CancellationError` if the task
    ///   is cancelled.
    public nonisolated func call<each Argument: Encodable & Sendable>(_ function: String, _ argument: repeat each Argument)
        async throws
    {
        try await exclusively(.call(function)) { host in
            _ = try await host.invoke(function) { try $0.encode(repeat each argument, for: function) }
        }
    }

    /// Returns whether a script has defined a function that `call(_:_:)` would call under this name.
    ///
    /// - Throws: `LuaError` if the state is closed.
    public nonisolated func defines(_ function: String) async throws -> Bool {
        try await exclusively { host in
            try await host.backend.defines(function, in: host)
        }
    }

    // MARK: - As a command

    /// Runs a file as the stand-alone interpreter does, with the table `arg`.
    ///
    /// - Parameter arguments: The arguments, which the script receives as `...` and in the table `arg`.
    /// - Parameter path: The path of the file.
    /// - Throws: ``ScriptFileError`` if the file cannot be read; `LuaError` if it does not compile, raises, or exceeds a limit.
    package nonisolated func run(file path: String, commandLine arguments: [String]) async throws {
        try await run(bytes: ScriptFile.read(path), named: path, commandLine: arguments)
    }

    /// Runs source text as the stand-alone interpreter does, with the table `arg`.
    ///
    /// - Throws: `LuaError` if the text does not compile, raises, or exceeds a limit.
    package nonisolated func run(source: String, named name: String = "script", commandLine arguments: [String]) async throws {
        try await run(bytes: Array(source.utf8), named: name, commandLine: arguments)
    }

    /// Runs source text given as bytes.
    ///
    /// - Throws: `LuaError` if the text does not compile, raises, or exceeds a limit.
    package nonisolated func run(bytes: [UInt8], named name: String, commandLine arguments: [String]) async throws {
        try await run(bytes: bytes, named: name, commandLineBytes: arguments.map { Array($0.utf8) })
    }

    /// Runs source text given as bytes, with arguments that may contain invalid UTF-8.
    package nonisolated func run(bytes: [UInt8], named name: String, commandLineBytes arguments: [[UInt8]]) async throws {
        try await exclusively(.script(name)) { host in try await host.startCommand(bytes, named: name, arguments) }
    }

    func startCommand(_ bytes: [UInt8], named name: String, _ arguments: [[UInt8]]) async throws {
        sourceTexts.add(bytes, named: name)
        try await backend.runCommand(bytes, named: name, arguments, in: self)
    }

    /// Makes runs without limits cancellable while they loop.
    ///
    /// - Parameter signal: The signal that interrupts threads in all hosts of the process, instead of `SIGURG`. Its handler is replaced.
    package func listen(for signal: Int32) {
        state.listen(for: signal)
    }

    // MARK: - Steps

    func start(
        _ source: [UInt8], named name: String, _ makeArguments: (LuaState) throws -> [LuaValue]
    ) async throws -> [LuaValue] {
        sourceTexts.add(source, named: name)
        return try await backend.run(source, named: name, makeArguments, in: self)
    }

    func invoke(_ function: String, _ makeArguments: (LuaState) throws -> [LuaValue]) async throws -> [LuaValue] {
        try await backend.call(function, makeArguments, in: self)
    }

    func decode<Result: Decodable>(_ results: [LuaValue], of name: String) throws -> Result {
        do {
            return try LuaDecoder().decode(from: results.first ?? .nil)
        } catch {
            throw error.prefixed("the result of \(name)")
        }
    }
}

extension LuaState {
    /// The arguments of a call.
    func encode<each Argument: Encodable & Sendable>(
        _ argument: repeat each Argument, for name: String
    ) throws -> [LuaValue] {
        var values: [LuaValue] = []
        for argument in repeat each argument {
            do {
                values.append(try encode(argument))
            } catch {
                throw error.prefixed("\(name): argument \(values.count + 1)")
            }
        }
        return values
    }
}

extension LuaError {
    /// The same error with a place before the message.
    func prefixed(_ place: String) -> LuaError {
        var error = LuaError(code, "\(place): \(message)")
        error.fields = fields
        error.file = file
        error.line = line
        error.traceback = traceback
        error.underlying = underlying
        return error
    }
}
