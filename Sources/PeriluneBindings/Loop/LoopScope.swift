internal import PeriluneLua

/// What one version of a file has started: it ends as a whole when another version takes its place.
///
/// A source belongs to the scope in which it is added; what it calls is in that scope too, and so is what that adds. 0 is the scope of
/// the host, which does not end.
package enum LoopScope {
    @TaskLocal package static var current = 0
}

extension ScriptLoop {
    /// Begins a scope. It is current where ``LoopScope/current`` says so.
    package func makeScope() -> Int {
        scopeCount += 1
        liveScopes.insert(scopeCount)
        return scopeCount
    }

    /// Ends all sources of a scope, and the calls that go on: what a task waits for raises an error of kind `cancelled`, after which it
    /// may clean up, but not wait; the others are cancelled.
    package func endScope(_ scope: Int) {
        liveScopes.remove(scope)
        errorHandlers[scope] = nil
        for source in sources.values.filter({ $0.scope == scope }).sorted(by: { $0.id < $1.id }) {
            end(source)
            if let run = source.run { run.interrupt() } else { source.task?.cancel() }
        }
    }

    /// Whether a scope has not ended; that of scripts, 0, never does.
    func isLive(_ scope: Int) -> Bool { scope == 0 || liveScopes.contains(scope) }

    /// The scope of what is called now.
    var currentScope: Int {
        assertThread()
        return enteredScope ?? LoopScope.current
    }

    /// Raises in what an ended scope has left.
    func requireLive(_ scope: Int) throws {
        guard isLive(scope) else {
            throw BindingError("cancelled", "the file was reloaded, and everything that its previous version started was stopped")
        }
    }
}
