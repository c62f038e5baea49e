internal import PeriluneBindings
internal import PeriluneIsolation
internal import PeriluneLua

/// Methods that run scripts and call their functions.
extension ScriptHost {
    /// Runs a file and decodes its first result.
    ///
    /// ```swift
    /// let report: MonthReport = try await host.run(
    ///     file: "close_month.lua", arguments: Month(year: 2026, month: 3))
    /// ```
    ///
    /// - Parameters:
    ///   - path: The path of the file. A first line that starts with `#` is skipped.
    ///   - argument: The arguments, separated by commas, which the script receives as `...`. Structures become Lua
    ///     tables, arrays become lists, and dates become `perilune.date` values.
    ///   - type: The type of the decoded result, if the context does not determine it.
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
    /// To decode the result, write its type: `let n: Int = try await ...`, or `as: Int.self`.
    ///
    /// - Throws: `LuaError` if the file does not compile, raises an error, or exceeds a limit; `CancellationError` if the task is
    ///   cancelled; ``ScriptFileError`` if the file cannot be read.
    public nonisolated func run<each Argument: Encodable & Sendable>(
        file path: String, arguments argument: repeat each Argument
    ) async throws {
        let source = try ScriptFile.read(path)
        try await exclusively(.script(path)) { host in
            _ = try await host.start(source, named: path) { try $0.encode(repeat each argument, for: path) }
        }
    }

    /// Runs source text and decodes its first result.
    ///
    /// - Parameter name: The name of the script in errors.
    /// - Parameter source: The text of the script.
    /// - Parameter argument: The arguments that the script receives as `...`, separated by commas. An array is one argument.
    /// - Parameter type: The type of the result.
    /// - Throws: `LuaError` if the text does not compile, raises an error, exceeds a limit, or returns a result that cannot be decoded as
    ///   `Result`; `CancellationError` if the task is cancelled.
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
    /// To decode the result, write its type: `let n: Int = try await ...`, or `as: Int.self`.
    ///
    /// - Throws: `LuaError` if the text does not compile, raises an error, or exceeds a limit; `CancellationError` if the task is
    ///   cancelled.
    public nonisolated func run<each Argument: Encodable & Sendable>(
        source: String, named name: String = "script", arguments argument: repeat each Argument
    ) async throws {
        try await exclusively(.script(name)) { host in
            _ = try await host.start(Array(source.utf8), named: name) { try $0.encode(repeat each argument, for: name) }
        }
    }

    /// Calls a global function of the scripts, and decodes its first result.
    ///
    /// ```swift
    /// let total: Double = try await host.call("orders.total", 42)
    /// let label: String = try await host.call("Sale:label_of", 1)
    /// ```
    ///
    /// - Parameter function: The name of the function. Dots separate table fields; a colon before the last part calls a method.
    /// - Parameter argument: The arguments of the function.
    /// - Parameter type: The type of the result.
    /// - Throws: `LuaError` if the function does not exist, raises an error, exceeds a limit, or returns a result that cannot be decoded as
    ///   `Result`; `CancellationError` if the task is cancelled.
    public nonisolated func call<each Argument: Encodable & Sendable, Result: Decodable & Sendable>(
        _ function: String, _ argument: repeat each Argument, as type: Result.Type = Result.self
    ) async throws -> Result {
        try await exclusively(.call(function)) { host in
            try host.decode(await host.invoke(function) { try $0.encode(repeat each argument, for: function) }, of: function)
        }
    }

    /// Calls a global function of the scripts, and ignores its result.
    ///
    /// To decode the result, write its type: `let n: Int = try await ...`, or `as: Int.self`.
    ///
    /// - Throws: `LuaError` if the function does not exist, raises an error, or exceeds a limit; `CancellationError` if the task is
    ///   cancelled.
    public nonisolated func call<each Argument: Encodable & Sendable>(_ function: String, _ argument: repeat each Argument)
        async throws
    {
        try await exclusively(.call(function)) { host in
            _ = try await host.invoke(function) { try $0.encode(repeat each argument, for: function) }
        }
    }

    /// Returns whether the scripts define a function that `call(_:_:)` can call by this name.
    ///
    /// - Throws: `LuaError` if the host is closed.
    public nonisolated func defines(_ function: String) async throws -> Bool {
        try await exclusively { host in
            try await host.backend.defines(function, in: host)
        }
    }

    // MARK: - As a command

    /// Runs a file like the stand-alone interpreter, with the global table `arg`.
    ///
    /// - Parameter arguments: The arguments, which the script receives as `...` and in the table `arg`.
    /// - Parameter path: The path of the file.
    /// - Throws: ``ScriptFileError`` if the file cannot be read; `LuaError` if the file does not compile, raises an error, or exceeds a
    ///   limit.
    package nonisolated func run(file path: String, commandLine arguments: [String]) async throws {
        try await run(bytes: ScriptFile.read(path), named: path, commandLine: arguments)
    }

    /// Runs source text like the stand-alone interpreter, with the global table `arg`.
    ///
    /// - Throws: `LuaError` if the text does not compile, raises an error, or exceeds a limit.
    package nonisolated func run(source: String, named name: String = "script", commandLine arguments: [String]) async throws {
        try await run(bytes: Array(source.utf8), named: name, commandLine: arguments)
    }

    /// Runs the bytes of a source text like the stand-alone interpreter.
    ///
    /// - Throws: `LuaError` if the text does not compile, raises an error, or exceeds a limit.
    package nonisolated func run(bytes: [UInt8], named name: String, commandLine arguments: [String]) async throws {
        try await run(bytes: bytes, named: name, commandLineBytes: arguments.map { Array($0.utf8) })
    }

    /// Runs the bytes of a source text like the stand-alone interpreter, with arguments that may be invalid UTF-8.
    package nonisolated func run(bytes: [UInt8], named name: String, commandLineBytes arguments: [[UInt8]]) async throws {
        try await exclusively(.script(name)) { host in try await host.startCommand(bytes, named: name, arguments) }
    }

    func startCommand(_ bytes: [UInt8], named name: String, _ arguments: [[UInt8]]) async throws {
        sourceTexts.add(bytes, named: name)
        try await backend.runCommand(bytes, named: name, arguments, in: self)
    }

    /// Makes runs without limits cancellable even while they execute a loop.
    ///
    /// - Parameter signal: The signal that interrupts the threads of all hosts in this process, instead of `SIGURG`. The signal's handler
    ///   is replaced.
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
    /// Encodes the arguments of a call to Lua values.
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
    /// Returns the error with a prefix in its message, such as the function and the argument number.
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
