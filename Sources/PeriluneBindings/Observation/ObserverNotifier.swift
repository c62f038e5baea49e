internal import CPeriluneRows
internal import PeriluneLua

/// A thread-safe signal which informs a state that its observers must be notified about other users' transactions.
final class ObserverNotifier: Sendable {
    private let signal: @Sendable () -> Void

    init(_ signal: @escaping @Sendable () -> Void) {
        self.signal = signal
    }

    /// Makes all observers that are added to a state later use this notifier. Each observer retains it.
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

/// A container for the loop source that delivers a state's notifications.
final class NotificationSource {
    weak var source: LoopSource?
}
