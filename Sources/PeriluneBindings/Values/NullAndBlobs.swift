internal import CPeriluneRows
package import PeriluneLua

/// What scripts write for NULL and for bytes, in the hands of Swift.
extension LuaValue {
    /// Whether this is `perilune.null`.
    package var isNull: Bool {
        onStack { pdb_is_null($0.L, lua_gettop($0.L)) } ?? false
    }

    /// The bytes of a blob of `perilune.blob`; `nil` for other values.
    package var blobBytes: [UInt8]? {
        onStack { core in
            var count = 0
            guard let bytes = pdb_blob_bytes(core.L, lua_gettop(core.L), &count) else { return nil }
            return Array(UnsafeRawBufferPointer(start: bytes, count: count))
        } ?? nil
    }

    private func onStack<Result>(_ look: (LuaCore) -> Result) -> Result? {
        // Other states know neither.
        guard case .userdata(let userdata) = self, let core = userdata.state?.core, core.plainMeaning != nil,
            lua_checkstack(core.L, 2) != 0
        else { return nil }
        core.push(self)
        defer { lua_settop(core.L, -2) }
        return look(core)
    }
}

extension LuaState {
    /// `perilune.null`; `nil` in states without databases.
    package func makeNull() throws(LuaError) -> LuaValue {
        guard core.plainMeaning != nil else { return .nil }
        try core.prepare()
        pdb_push_null(core.L)
        return core.takeValues(1)[0]
    }
}
