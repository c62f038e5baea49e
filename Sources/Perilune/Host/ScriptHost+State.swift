package import PeriluneBindings
package import PeriluneLua

// Access to a host's Lua state between runs.

extension ScriptHost {
    /// Runs an operation with the host's Lua state while no script is running, for example to inspect globals.
    ///
    /// - Parameter operation: A closure that receives the host, its Lua state, and the loader of the library's modules. The closure must
    ///   not keep any of these, or any Lua value.
    /// - Throws: `LuaError` with the same details from the database and the source texts as an error of a script.
    package nonisolated func withState<Result: Sendable>(
        _ operation: @Sendable (isolated ScriptHost, LuaState, LibraryLoader) async throws -> Result
    ) async throws -> Result {
        try await exclusively { host in
            try host.requireOwnState(for: "what looks into their state")
            return try await operation(host, host.state, host.library)
        }
    }

    /// Stores the source text of a chunk, which error reports can quote.
    package func keepSourceText(_ bytes: [UInt8], named name: String) {
        sourceTexts.add(bytes, named: name)
    }
}
