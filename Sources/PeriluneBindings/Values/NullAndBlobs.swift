internal import CPeriluneRows
package import PeriluneLua

/// Access to `perilune.null` and `perilune.blob` values from Swift.
extension LuaValue {
    /// Whether this is `perilune.null`.
    package var isNull: Bool { onStack { L, index in pdb_is_null(L, index) } ?? false }

    /// The bytes of a `perilune.blob` value; `nil` for other values.
    package var blobBytes: [UInt8]? {
        onStack { L, index in
            var count = 0
            guard let bytes = pdb_blob_bytes(L, index, &count) else { return nil }
            return Array(UnsafeRawBufferPointer(start: bytes, count: count))
        }
    }

    private func onStack<Result>(_ look: (OpaquePointer, Int32) -> Result?) -> Result? {
        // States without databases have neither null nor blobs.
        guard case .userdata(let userdata) = self, let state = userdata.state, state.libraryValues != nil else { return nil }
        return try? state.withUnsafeStack([self], look)
    }
}

extension LuaState {
    /// Returns `perilune.null`, or Lua's `nil` in states without databases.
    package func makeNull() throws(LuaError) -> LuaValue {
        guard libraryValues != nil else { return .nil }
        return try makeValue(c: pdb_push_null)
    }

    /// Returns a `perilune.blob` value with the bytes. The state must have databases.
    package func makeBlob(_ bytes: [UInt8]) throws(LuaError) -> LuaValue {
        try makeValue { L in
            bytes.withUnsafeBytes { bytes in
                pdb_push_blob(L, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
            }
        }
    }
}
