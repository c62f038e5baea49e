internal import Synchronization

/// The operating system signals that scripts handle. Thread-safe.
package final class LoopSignals: Sendable {
    private struct State {
        /// The names of signals that the program forwards to scripts.
        var names: [String] = []
        /// Called with the names of the signals that scripts handle, whenever they change.
        var didChange: (@Sendable ([String]) -> Void)?
        var sources: [String: [Int: @Sendable () -> Void]] = [:]
    }

    private let state = Mutex(State())

    /// The names of signals that the program forwards to scripts, without "SIG". Empty by default.
    package var names: [String] {
        get { state.withLock { $0.names } }
        set { state.withLock { $0.names = newValue } }
    }

    /// Sets a closure that is called whenever the set of handled signals changes. It receives their names.
    package func onChange(_ body: @escaping @Sendable ([String]) -> Void) {
        state.withLock { $0.didChange = body }
    }

    private func announce() {
        let (didChange, names) = state.withLock { state in
            (state.didChange, state.sources.filter { !$0.value.isEmpty }.map(\.key))
        }
        didChange?(names)
    }

    func add(_ source: LoopSource, for name: String) {
        let (id, signaller) = (source.id, source.signaller)
        state.withLock { $0.sources[name, default: [:]][id] = signaller }
        announce()
        source.onEnd = { [weak self] in self?.remove(id, for: name) }
    }

    private func remove(_ id: Int, for name: String) {
        state.withLock { _ = $0.sources[name]?.removeValue(forKey: id) }
        announce()
    }

    /// Signals the sources that handle a signal. Returns whether any exist.
    package func deliver(_ name: String) -> Bool {
        let signallers = state.withLock { $0.sources[name]?.sorted { $0.key < $1.key }.map(\.value) ?? [] }
        for signaller in signallers { signaller() }
        return !signallers.isEmpty
    }
}
