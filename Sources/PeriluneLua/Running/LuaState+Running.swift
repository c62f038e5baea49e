internal import CPeriluneShim

// Functions for libraries that control the runs of a state. Package-internal, because programs that embed Lua use `callAsync`,
// limits and cancellation.
extension LuaState {
    /// The thread of the state, if its owner has set it.
    package var thread: LuaThread? {
        get { core.thread }
        set { core.thread = newValue }
    }

    /// The suspendable run that is executing on the state's thread.
    package var currentRun: LuaRun? { core.currentRun }

    /// Whether a limit or a cancellation is ending the current run. Scripts cannot prevent this.
    package var isRunEnding: Bool { core.cancelReason != .none }

    /// Checks the limits and returns whether the run must end. Swift functions that run for a long time without calling Lua should
    /// call this repeatedly.
    package func hasToEnd() -> Bool { plua_poll(core.context) != 0 }

    /// The identity of the state, which any thread may use.
    package var identity: LuaStateIdentity { LuaStateIdentity(ofContext: core.context) }

    /// The position of the calling script: the full and the shortened name of the chunk, and the line. Library functions are
    /// skipped.
    package var callingPlace: (chunk: String, shortChunk: String, line: Int)? {
        var activation = lua_Debug()
        guard plua_find_position(core.L, &activation), let source = activation.source else { return nil }
        let short = withUnsafeBytes(of: activation.short_src) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return (String(cString: source), short, Int(activation.currentline))
    }

    /// Passes a C function and its argument to a closure. The C function writes the script's position. It can be called from a
    /// signal handler on the state's thread while the state is open.
    package func withPlaceDescriber(
        _ body: (@convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<CChar>?, Int) -> Void, UnsafeMutableRawPointer) ->
            Void
    ) {
        body(plua_describe_place, UnsafeMutableRawPointer(core.context))
    }

    /// The functions that convert between the library's userdata and plain values.
    package var libraryValues: LibraryValues? {
        get { core.libraryValues }
        set { core.libraryValues = newValue }
    }
}

/// The identity of a state, usable on any thread and even after the state has closed.
package struct LuaStateIdentity: Hashable, Sendable {
    /// The address of the state's context. After the state closes, another state may have the same address.
    private let context: UInt

    fileprivate init(ofContext context: UnsafeMutablePointer<plua_context>) {
        self.context = UInt(bitPattern: context)
    }

    /// - Parameter L: The main thread of the state, or one of its coroutines.
    package init(of L: OpaquePointer) {
        self.init(ofContext: plua_context_of(L))
    }

    /// Whether the state runs Lua code on the calling thread.
    package var isRunningHere: Bool { UInt(bitPattern: plua_running_context()) == context }
}

extension LuaState {
    /// Decides whether scripts see the text of an error that is neither ``LuaError`` nor ``LuaErrorDescribing``. If `nil`, they
    /// always see it.
    package var disclosesText: ((any Error) -> Bool)? {
        get { core.disclosesText }
        set { core.disclosesText = newValue }
    }

    /// The message that scripts see in place of a withheld Swift error.
    package static let withheldMessage = "a function of the program failed; the program does not show the reason to scripts"
}

extension LuaRun {
    /// Runs an operation with the task-local values that a task has outside any run.
    package static func withoutRun(_ operation: () -> Void) {
        LuaRun.$waiting.withValue(nil) { LuaMeter.$current.withValue(nil) { operation() } }
    }

    package convenience init(of state: LuaState, isCountingOn: Bool = false) {
        self.init(of: state.core, isCountingOn: isCountingOn)
    }

    /// Passes the `lua_State` to a closure if the state is open. The closure may call only C functions that do not use the Lua
    /// stack.
    package func withUnsafeState(_ body: (_ L: OpaquePointer) -> Void) {
        if core.isOpen { body(core.main) }
    }

    /// Ends the run. Callable from any thread.
    package func cancel() { core.cancel(self) }

    /// Ends the run's current or next wait with an error of kind `cancelled`, which the script may catch. Callable from any thread.
    package func interrupt() { core.interrupt(self) }
}
