internal import Synchronization

/// The signals of the system that scripts want to hear of. Used from any thread.
package final class LoopSignals: Sendable {
    private struct State {
        /// The names that scripts may use; none in programs that do not pass signals on.
        var names: [String] = []
        /// Hears which signals scripts want to hear of.
        var didChange: (@Sendable ([String]) -> Void)?
        var sources: [String: [Int: @Sendable () -> Void]] = [:]
    }

    private let state = Mutex(State())

    /// The names that scripts may use, without "SIG".
    package var names: [String] {
        get { state.withLock { $0.names } }
        set { state.withLock { $0.names = newValue } }
    }

    /// Calls a closure with the names of the signals that scripts want to hear of, whenever they change.
    package func onChange(_ body: @escaping @Sendable ([String]) -> Void) {
        state.withLock { $0.didChange = body }
    }

    private func announce() {
        let (didChange, names) = state.withLock { state in (state.didChange, state.sources.filter { !$0.value.isEmpty }.map(\.key)) }
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

    /// Has those called who want to hear of a signal. Returns whether anybody does.
    package func deliver(_ name: String) -> Bool {
        let signallers = state.withLock { $0.sources[name]?.sorted { $0.key < $1.key }.map(\.value) ?? [] }
        for signaller in signallers { signaller() }
        return !signallers.isEmpty
    }
}
