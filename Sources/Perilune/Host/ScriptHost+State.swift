package import PeriluneBindings
package import PeriluneLua

// Access to the state of a host, for programs that inspect it between runs.

extension ScriptHost {
    /// Runs an operation with the state while no script is running, for programs that inspect values of scripts.
    ///
    /// - Parameter operation: Receives the host, its state, and the loader of the library's modules. It must not keep them or any Lua
    ///   values.
    /// - Throws: `LuaError` with details from the database and the source texts, as when running a script.
    package nonisolated func withState<Result: Sendable>(
        _ operation: @Sendable (isolated ScriptHost, LuaState, LibraryLoader) async throws -> Result
    ) async throws -> Result {
        try await exclusively { host in
            try host.requireOwnState(for: "what looks into their state")
            return try await operation(host, host.state, host.library)
        }
    }

    /// Keeps the text of a chunk, which reports of errors quote.
    package func keepSourceText(_ bytes: [UInt8], named name: String) {
        sourceTexts.add(bytes, named: name)
    }
}
