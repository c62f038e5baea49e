internal import Foundation

/// A call of a function with external effects, recorded instead of executed.
public struct PreviewEffect: Codable, Sendable, Equatable {
    /// The name of the called function, for example `mail.send`.
    public let name: String
    /// The arguments of the call, as text for people.
    public let arguments: [String]

    /// Creates the record of a call.
    package init(name: String, arguments: [String] = []) {
        self.name = name
        self.arguments = arguments
    }
}

/// A thread-safe recorder for calls of functions with external effects.
///
/// If the host's configuration has a recorder, functions that are registered as external record their calls there instead of executing
/// them.
public final class EffectRecorder: Sendable {
    private let lock = NSLock()
    /// Guarded by `lock`, which makes `nonisolated(unsafe)` safe.
    private nonisolated(unsafe) var recorded: [PreviewEffect] = []

    /// Creates an empty recorder.
    public init() {}

    /// Records a call.
    package func record(_ effect: PreviewEffect) {
        lock.withLock { recorded.append(effect) }
    }

    /// The recorded calls, in order.
    public var effects: [PreviewEffect] {
        lock.withLock { recorded }
    }
}
