internal import CPeriluneShim

/// A reference in the Lua registry, which keeps a Lua value alive for a Swift handle.
///
/// `@unchecked Sendable`: a reference is immutable. The deinitializer may run on any thread, but it only adds the id to a list
/// under a lock. Only ``LuaCore`` accesses the value, on the state's thread.
final class LuaReference: @unchecked Sendable {
    let core: LuaCore
    private let id: CInt

    /// Pops the value on top of the stack and creates a reference to it.
    init(takingTopOf core: LuaCore) {
        self.core = core
        id = plua_reference(core.L)
    }

    deinit {
        core.releaseLater(id)
    }

    /// Pushes the value. The caller ensures that the state is open.
    func push(on L: OpaquePointer) {
        plua_push_reference(L, id)
    }

    func isSame(as other: LuaReference) -> Bool {
        guard core === other.core, core.isOpen, lua_checkstack(core.L, 2) != 0 else { return false }
        push(on: core.L)
        other.push(on: core.L)
        defer { plua_pop(core.L, 2) }
        return lua_rawequal(core.L, -1, -2) != 0
    }
}
