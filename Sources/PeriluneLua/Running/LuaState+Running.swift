internal import CPeriluneShim

// Functions for libraries that drive a state. Package-internal: programs that embed Lua use `callAsync`, limits and cancellation.
extension LuaState {
    /// The thread of the state, if its owner has set it.
    package var thread: LuaThread? {
        get { core.thread }
        set { core.thread = newValue }
    }

    /// The suspendable run that is using the thread.
    package var currentRun: LuaRun? { core.currentRun }

    /// Whether the run is ending. No script can prevent this.
    package var isRunEnding: Bool { core.cancelReason != .none }

    /// Checks the limits and returns whether the run must end. For Swift functions that take a long time without calling Lua.
    package func hasToEnd() -> Bool { plua_poll(core.context) != 0 }

    /// The identity of the state, for any thread.
    package var identity: LuaStateIdentity { LuaStateIdentity(ofContext: core.context) }

    /// The position of the calling script, skipping library functions: the full and the shortened name of the chunk, and the
    /// line.
    package var callingPlace: (chunk: String, shortChunk: String, line: Int)? {
        var activation = lua_Debug()
        guard plua_find_position(core.L, &activation), let source = activation.source else { return nil }
        let short = withUnsafeBytes(of: activation.short_src) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return (String(cString: source), short, Int(activation.currentline))
    }

    /// Passes a function and its argument to a closure. The function writes the script's position, and can be called in a signal
    /// handler on the thread of the state while the state is open.
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

/// The identity of a state, which stays valid after the state has closed. Usable on any thread.
package struct LuaStateIdentity: Hashable, Sendable {
    /// The address of the context. Another state may reuse it later.
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
    /// Whether scripts see the text of an error that is neither ``LuaError`` nor ``LuaErrorDescribing``; `nil`: always.
    package var disclosesText: ((any Error) -> Bool)? {
        get { core.disclosesText }
        set { core.disclosesText = newValue }
    }

    /// The message of a Swift error whose text scripts do not see.
    package static let withheldMessage = "a function of the program failed; the program does not show the reason to scripts"
}

extension LuaRun {
    /// Runs an operation with the task-local values that a task has outside of any run.
    package static func withoutRun(_ operation: () -> Void) {
        LuaRun.$waiting.withValue(nil) { LuaMeter.$current.withValue(nil) { operation() } }
    }

    package convenience init(of state: LuaState, isCountingOn: Bool = false) {
        self.init(of: state.core, isCountingOn: isCountingOn)
    }

    /// Passes the `lua_State` to C functions that do not use its stack, if the state is open.
    package func withUnsafeState(_ body: (_ L: OpaquePointer) -> Void) {
        if core.isOpen { body(core.main) }
    }

    /// Ends the run. Callable from any thread.
    package func cancel() { core.cancel(self) }

    /// Ends the current or next wait with an error of kind `cancelled`, which the script may handle. Callable from any thread.
    package func interrupt() { core.interrupt(self) }
}
