internal import Foundation

/// Something that a script would have done outside of the database.
public struct PreviewEffect: Codable, Sendable, Equatable {
    /// The function that would have done it: `mail.send`.
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
/// A function that a host registers as external asks its configuration for a recorder, and if there is one, records and
/// performs nothing.
public final class EffectRecorder: Sendable {
    private let lock = NSLock()
    /// Guarded by the lock.
    private nonisolated(unsafe) var recorded: [PreviewEffect] = []

    /// Makes a recorder that has recorded nothing.
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
