internal import CPeriluneShim

/// A Lua state, which contains global variables, loaded code and all values that scripts create.
///
/// A state and its handles belong to one thread at a time, or to one actor. Other threads may use only ``LuaState/Cancellation``.
/// Errors of scripts, including exceeded memory and time limits, are thrown as Swift errors; scripts cannot end the process.
///
/// ```swift
/// let state = try LuaState()
/// let sum = try state.load("local a, b = ...; return a + b", named: "sum.lua")
/// let result: Int = try sum(1, 2)
/// ```
public final class LuaState {
    package let core: LuaCore
    /// The limits of this state's scripts.
    public let limits: LuaLimits
    /// The standard functions available to scripts.
    package let libraries: LuaLibraries
    let modules = ModuleRegistry()
    /// The userdata types by Swift type. They retain the core, not the state.
    var userdataTypes: [ObjectIdentifier: AnyObject] = [:]
    /// Objects that libraries store with the state, by type.
    package var attachments: [ObjectIdentifier: AnyObject] = [:]

    /// Creates a state.
    ///
    /// - Parameters:
    ///   - libraries: The standard functions available to scripts.
    ///   - limits: The limits of one run.
    ///   - isDeterministic: Whether scripts behave identically in every process: `pairs` and `next` visit keys in a fixed order,
    ///     object numbers replace addresses in text, and `table.sort` does not use the clock to choose pivots.
    /// - Throws: ``LuaError`` with code `memory` if there is not enough memory.
    public init(libraries: LuaLibraries = .sandboxed, limits: LuaLimits = .none, isDeterministic: Bool = false) throws(LuaError) {
        core = try LuaCore(isDeterministic: isDeterministic)
        self.limits = limits
        self.libraries = libraries
        core.limits = limits
        core.state = self
        plua_begin_loading(core.L)
        defer { plua_end_loading(core.L) }
        try core.run { plua_open_libraries($0, libraries.rawValue) }
        if libraries.contains(.os) { try installExit() }
        if limits.isLimited { try core.run(plua_open_limits) }
        limits.install(in: core.context)
    }

    /// Runs a closure that loads permanent values, with garbage collection paused. Afterwards the collector continues as it would
    /// after a full collection. Do not run scripts in the closure.
    package func loading<Result>(_ load: () throws -> Result) throws -> Result {
        try core.prepare()
        plua_begin_loading(core.L)
        defer { if core.isOpen { plua_end_loading(core.L) } }
        return try load()
    }

    deinit {
        core.close()
    }

    /// Changes the time limit of future runs. The state must have a time limit.
    package func limitTime(to time: Duration) {
        if core.limits.time != nil { core.limits.time = time }
    }

    /// Closes the state and releases its values. If a script is running, the state closes when the script ends. Handles of a closed
    /// state throw errors with code `usage`.
    public func close() {
        core.close()
    }

    // MARK: - Running

    /// Compiles source text into a function. Bytecode is rejected; a first line that begins with `#` is skipped.
    ///
    /// - Parameters:
    ///   - source: The text.
    ///   - name: The name of the chunk in errors and tracebacks, such as a file name.
    ///   - environment: The globals of the chunk; `nil` means the state's globals.
    /// - Throws: ``LuaError`` with code `syntax`.
    public func load(
        _ source: LuaString, named name: String = "script", environment: LuaTable? = nil
    ) throws(LuaError) -> LuaFunction {
        try load(source, chunkName: "@" + name, environment: environment)
    }

    /// Compiles a chunk of the host's own library. An error raised in the chunk has the position of the calling script.
    ///
    /// - Parameters:
    ///   - source: The text.
    ///   - name: The name of the chunk in tracebacks, such as a file name.
    ///   - environment: The globals of the chunk; `nil` means the state's globals.
    /// - Throws: ``LuaError`` with code `syntax`.
    public func loadLibrary(
        _ source: String, named name: String, environment: LuaTable? = nil
    ) throws(LuaError) -> LuaFunction {
        try load(LuaString(source), chunkName: PLUA_LIBRARY_CHUNK + name, environment: environment)
    }

    private func load(
        _ source: LuaString, chunkName name: String, environment: LuaTable?
    ) throws(LuaError) -> LuaFunction {
        try core.prepare()
        if core.context.pointee.limited, source.bytes.count > Int(PLUA_SOURCE_LIMIT) {
            throw LuaError(.memory, "the source text \(name.dropFirst()) is longer than \(PLUA_SOURCE_LIMIT) bytes")
        }
        if let environment { try core.checkOwnership(of: .table(environment)) }
        let compile = { L in
            withSkippedShebang(source.bytes) { bytes, count in plua_load(L, bytes, count, name) }
        }
        return try core.run(compile) { takeChunk(environment) }
    }

    /// Pops the chunk on top of the stack and returns it. An environment replaces the chunk's globals.
    func takeChunk(_ environment: LuaTable?) -> LuaFunction {
        if let environment {
            environment.reference.push(on: core.L)
            _ = lua_setupvalue(core.L, -2, 1)
        }
        return LuaFunction(LuaReference(takingTopOf: core))
    }

    /// Compiles source text into a function.
    ///
    /// - Throws: ``LuaError`` with code `syntax` if the text does not compile.
    public func load(
        _ source: String, named name: String = "script", environment: LuaTable? = nil
    ) throws(LuaError) -> LuaFunction {
        try load(LuaString(source), named: name, environment: environment)
    }

    /// Compiles and runs source text, and returns its results.
    ///
    /// - Throws: ``LuaError`` if the text does not compile, raises, or exceeds a limit.
    @discardableResult
    public func run(_ source: String, named name: String = "script") throws(LuaError) -> [LuaValue] {
        try load(source, named: name).call([])
    }

    // MARK: - Values

    /// The table of global variables.
    public var globals: LuaTable {
        get throws(LuaError) {
            try core.prepare()
            lua_rawgeti(core.L, plua_registry_index(), lua_Integer(LUA_RIDX_GLOBALS))
            return LuaTable(LuaReference(takingTopOf: core))
        }
    }

    /// Replaces the table of global variables for code that is loaded afterwards.
    package func replaceGlobals(by table: LuaTable) throws(LuaError) {
        try core.prepare()
        try core.checkOwnership(of: .table(table))
        table.reference.push(on: core.L)
        lua_rawseti(core.L, plua_registry_index(), lua_Integer(LUA_RIDX_GLOBALS))
    }

    /// Raises the memory limit until the caller invokes the returned closure. The closure collects garbage and restores the limit.
    /// Without a limit, nothing happens.
    package func raiseMemoryLimit(byBytes bytes: Int) -> () -> Void {
        guard core.isOpen, core.context.pointee.limit > 0, bytes > 0 else { return {} }
        let (limit, cap) = (core.context.pointee.limit, core.context.pointee.hard_cap)
        core.context.pointee.limit = limit &+ bytes
        if cap > 0 { core.context.pointee.hard_cap = cap &+ bytes }
        return { [self] in
            collectGarbage()
            guard core.isOpen else { return }
            (core.context.pointee.limit, core.context.pointee.hard_cap) = (limit, cap)
        }
    }

    /// Creates an empty table, with room for the given numbers of elements and fields.
    ///
    /// - Throws: ``LuaError`` with code `memory` if there is not enough memory.
    public func makeTable(arrayCount: Int = 0, fieldCount: Int = 0) throws(LuaError) -> LuaTable {
        try core.prepare()
        // The counts are hints that may come from a script, so they are capped to prevent huge allocations.
        lua_createtable(core.L, CInt(min(max(arrayCount, 0), 1 << 20)), CInt(min(max(fieldCount, 0), 1 << 20)))
        return LuaTable(LuaReference(takingTopOf: core))
    }

    /// The memory that Lua uses, in bytes.
    public var memoryInBytes: Int { core.isOpen ? core.context.pointee.used : 0 }

    /// Limits the output of `print` to standard output, in bytes. More output raises an error of kind `output`.
    package func limitOutput(toBytes bytes: Int) throws {
        try core.prepare()
        plua_limit_output(core.L, max(bytes, 0))
    }

    /// Charges output that `print` does not write to the output limit. Returns whether the output may be written.
    package func takeOutput(ofBytes count: Int) -> Bool { plua_take_output(core.L, count) }

    /// Runs a full garbage collection.
    public func collectGarbage() {
        guard core.isOpen else { return }
        core.beginRun()
        _ = plua_collect(core.L)
        core.drain()
        core.endRun()
    }

    // MARK: - Cancelling

    /// A handle that any thread can use to end the runs of a state.
    public struct Cancellation: Sendable {
        let core: LuaCore

        /// Ends the current run with code `cancelled`, or the next run if none is active.
        ///
        /// A script in a loop ends only if its state has a limit, is cancellable (``LuaLimits/isCancellable``), or listens for a
        /// signal.
        public func cancel() {
            core.cancel()
        }

        /// Ends all active and waiting runs. Later runs are not affected.
        public func cancelRuns() {
            core.cancelWaitingRuns()
        }

        /// Whether the current run has exceeded its time limit. It stays true until the run ends.
        package var isOverdue: Bool { core.isOverdue }
    }

    /// A handle that other threads can use to end runs of this state.
    public var cancellation: Cancellation { Cancellation(core: core) }

    /// Makes runs cancellable in the middle of a loop even if the state has no limits.
    ///
    /// - Parameter signal: The signal that interrupts threads in place of `SIGURG`, in every state of the process. An existing
    ///   signal handler is replaced.
    package func listen(for signal: Int32) {
        guard core.isOpen else { return }
        _ = plua_listen(core.context, signal)
    }

    // MARK: - Exit

    /// Replaces `os.exit` with a function that ends the run instead of the process.
    private func installExit() throws(LuaError) {
        let exit = try makeFunction("os.exit") { arguments in
            let status: Int32 =
                switch arguments[1] {
                case .nil, .boolean(true): 0
                case .boolean(false): 1
                case .integer(let status): Int32(truncatingIfNeeded: status)
                default: throw arguments.mismatch(1, expected: "an integer or a boolean")
                }
            arguments.core.exitStatus = status
            arguments.core.cancel(.exit)
            return []
        }
        guard case .table(let os) = try globals.get("os") else { return }
        try os.set("exit", .function(exit))
    }
}

/// Calls `body` with the text, without a first line that begins with `#`. The line break stays, so line numbers remain correct.
private func withSkippedShebang<Result>(
    _ bytes: [UInt8], _ body: (UnsafePointer<CChar>?, Int) -> Result
) -> Result {
    var text = bytes[...]
    if text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
    if text.first == UInt8(ascii: "#") { text = text.drop { $0 != UInt8(ascii: "\n") } }
    return text.withUnsafeBytes { body($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count) }
}
