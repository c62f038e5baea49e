package import PeriluneBindings
package import PeriluneLua

// Access to the state of a host, for programs that look into it between runs.

extension ScriptHost {
    /// Runs an operation with the state when no script runs in it: for programs that inspect the scripts' values.
    ///
    /// - Parameter operation: Receives the host, its state, and the loader of the library's modules. It must not keep them, nor any Lua
    ///   values.
    /// - Throws: `LuaError` with details from the database and the source texts, like running a script.
    package nonisolated func withState<Result: Sendable>(
        _ operation: @Sendable (isolated ScriptHost, LuaState, LibraryLoader) async throws -> Result
    ) async throws -> Result {
        try await exclusively { host in
            try host.requireOwnState(for: "what looks into their state")
            return try await operation(host, host.state, host.library)
        }
    }

    /// Keeps the text of a chunk for reports of errors in it.
    package func keepSourceText(_ bytes: [UInt8], named name: String) {
        sourceTexts.add(bytes, named: name)
    }
}
