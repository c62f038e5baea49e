internal import CPeriluneRows
internal import PeriluneLua

/// A thread-safe signal to a state that its observers have notifications from other users' transactions.
final class ObserverNotifier: Sendable {
    private let signal: @Sendable () -> Void

    init(_ signal: @escaping @Sendable () -> Void) {
        self.signal = signal
    }

    /// Makes observers that are added to a state from now on use this notifier. Each of them retains it.
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

/// The loop source that processes the notifications of a state.
final class NotificationSource {
    weak var source: LoopSource?
}
