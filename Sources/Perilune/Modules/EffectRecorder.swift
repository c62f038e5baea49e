internal import Foundation

/// An external effect that a script would have had.
public struct PreviewEffect: Codable, Sendable, Equatable {
    /// The called function: `mail.send`.
    public var name: String
    /// Its arguments, as text for people.
    public var arguments: [String]

    /// Makes the record of a call.
    public init(name: String, arguments: [String] = []) {
        self.name = name
        self.arguments = arguments
    }
}

/// Records the calls of functions with external effects, instead of executing them.
///
/// A function registered as external records its calls in the recorder of its configuration, if there is one, instead of acting.
public final class EffectRecorder: Sendable {
    private let lock = NSLock()
    /// Guarded by the lock.
    private nonisolated(unsafe) var recorded: [PreviewEffect] = []

    /// Creates a recorder without calls.
    public init() {}

    /// Keeps an effect.
    public func record(_ effect: PreviewEffect) {
        lock.withLock { recorded.append(effect) }
    }

    /// The recorded calls, in order.
    public var effects: [PreviewEffect] {
        lock.withLock { recorded }
    }
}
