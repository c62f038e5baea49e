internal import CPeriluneShim

// What a library that drives a state asks of it. Of the package: a program that embeds Lua has `callAsync`, limits and cancellation.
extension LuaState {
    /// The thread to which the state belongs, once its owner has said so.
    package var thread: LuaThread? {
        get { core.thread }
        set { core.thread = newValue }
    }

    /// The run that can be suspended and has the thread now.
    package var currentRun: LuaRun? { core.currentRun }

    /// Whether the run is being ended: no script can catch that.
    package var isRunEnding: Bool { core.cancelReason != .none }

    /// Whether the run has to end, now that its limits are looked at: for Swift functions that take long without calling Lua.
    package func hasToEnd() -> Bool { plua_poll(core.context) != 0 }

    /// Which state it is, for any thread.
    package var identity: LuaStateIdentity { LuaStateIdentity(ofContext: core.context) }

    /// Where the script is that calls, perhaps through a library: the name of the chunk as Lua has it, also shortened, and the line.
    package var callingPlace: (chunk: String, shortChunk: String, line: Int)? {
        var activation = lua_Debug()
        guard plua_find_position(core.L, &activation), let source = activation.source else { return nil }
        let short = withUnsafeBytes(of: activation.short_src) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return (String(cString: source), short, Int(activation.currentline))
    }

    /// Gives what writes where the script is, from a signal handler on the thread of the state, and on what it does so: as long as the
    /// state is open.
    package func withPlaceDescriber(
        _ body: (@convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<CChar>?, Int) -> Void, UnsafeMutableRawPointer) -> Void
    ) {
        body(plua_describe_place, UnsafeMutableRawPointer(core.context))
    }

    /// What a userdata of a library stands for where Swift wants a plain value: `nil`, or a string; `nil` for others.
    package var plainMeaning: ((LuaValue) -> LuaValue?)? {
        get { core.plainMeaning }
        set { core.plainMeaning = newValue }
    }
}

/// Which state something belongs to, also when the state is gone. For any thread.
package struct LuaStateIdentity: Hashable, Sendable {
    /// The address of the context. Another state may get it when the state is gone.
    private let context: UInt

    fileprivate init(ofContext context: UnsafeMutablePointer<plua_context>) {
        self.context = UInt(bitPattern: context)
    }

    /// - Parameter L: Of the state, or of one of its coroutines.
    package init(of L: OpaquePointer) {
        self.init(ofContext: plua_context_of(L))
    }

    /// Whether the state runs Lua code on the calling thread.
    package var isRunningHere: Bool { UInt(bitPattern: plua_running_context()) == context }
}

extension LuaRun {
    package convenience init(of state: LuaState, isCountingOn: Bool = false) { self.init(of: state.core, isCountingOn: isCountingOn) }

    /// Gives the `lua_State` to functions in C that do not look at its stack, if the state is still open.
    package func withUnsafeState(_ body: (_ L: OpaquePointer) -> Void) {
        if core.isOpen { body(core.main) }
    }

    /// Ends it, from any thread.
    package func cancel() { core.cancel(self) }

    /// Ends what it waits for, or will wait for next: the script gets an error of kind `cancelled`, which it may handle. From any thread.
    package func interrupt() { core.interrupt(self) }
}
