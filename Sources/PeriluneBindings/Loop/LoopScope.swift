internal import PeriluneLua

/// A scope for all sources that one version of a file has started. They end together when another version replaces the file.
///
/// A source belongs to the scope in which it is added. Its calls run in this scope, and sources that they add belong to it. Scope 0
/// belongs to the host and never ends.
package enum LoopScope {
    @TaskLocal package static var current = 0
}

extension ScriptLoop {
    /// Creates a scope. Callers activate it with ``LoopScope/current``.
    package func makeScope() -> Int {
        scopeCount += 1
        liveScopes.insert(scopeCount)
        return scopeCount
    }

    /// Ends all sources and running calls of a scope. If a task is waiting, its wait raises an error of kind `cancelled`; the task
    /// may then clean up, but it cannot wait again. Other calls are cancelled.
    package func endScope(_ scope: Int) {
        liveScopes.remove(scope)
        errorHandlers[scope] = nil
        for source in sources.values.filter({ $0.scope == scope }).sorted(by: { $0.id < $1.id }) {
            end(source)
            if let run = source.run { run.interrupt() } else { source.task?.cancel() }
        }
    }

    /// Waits until the calls that were running when their scopes ended are over. Returns early if the task is cancelled.
    nonisolated(nonsending) package func endCallsOfEndedScopes() async {
        while callCounts.keys.contains(where: { !isLive($0) }), await change() {}
    }

    /// Returns whether a scope is still active. Scope 0 is always active.
    func isLive(_ scope: Int) -> Bool { scope == 0 || liveScopes.contains(scope) }

    /// The scope in which the current call runs.
    var currentScope: Int {
        assertThread()
        return enteredScope ?? LoopScope.current
    }

    /// Throws if a scope has ended.
    func requireLive(_ scope: Int) throws {
        guard isLive(scope) else {
            throw BindingError("cancelled", "the file was reloaded, and everything that its previous version started was stopped")
        }
    }
}
