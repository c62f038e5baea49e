internal import CPeriluneRows
internal import PeriluneLua

/// Signals a state, from any thread, that its observers have notifications of the transactions of others.
final class ObserverNotifier: Sendable {
    private let signal: @Sendable () -> Void

    init(_ signal: @escaping @Sendable () -> Void) {
        self.signal = signal
    }

    /// Has the observers of a state that are added from now on use it. Each of them retains it.
    func install(in state: LuaState) throws {
        try state.withUnsafeStack { L, _ in pdb_set_notifier(L, notifier) }
    }

    private var notifier: pdb_notifier {
        pdb_notifier(
            object: Unmanaged.passUnretained(self).toOpaque(),
            signal: { Unmanaged<ObserverNotifier>.fromOpaque($0!).takeUnretainedValue().signal() },
            retain: { Unmanaged<ObserverNotifier>.fromOpaque($0!).retain().toOpaque() },
            release: { Unmanaged<ObserverNotifier>.fromOpaque($0!).release() })
    }
}

/// The source of a loop that reads the notifications of a state.
final class NotificationSource {
    weak var source: LoopSource?
}
