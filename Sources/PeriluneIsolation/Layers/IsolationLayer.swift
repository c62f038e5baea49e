internal import CPeriluneIsolation
internal import Glibc

/// A wall that the system puts around a process whose script is not trusted. More may be added.
public struct IsolationLayer: Hashable, Sendable, CaseIterable, CustomStringConvertible {
    private enum Value: String {
        case limits, privileges, files = "landlock", calls = "seccomp"
    }

    private let value: Value

    /// Limits of the system: memory, descriptors, no memory dumps.
    public static let limits = IsolationLayer(value: .limits)
    /// No program that it starts has more privileges than it, and no other process of its user reads its memory.
    public static let privileges = IsolationLayer(value: .privileges)
    /// Landlock: the folder of the database and what libraries read, but no other file, and no network.
    public static let landlock = IsolationLayer(value: .files)
    /// seccomp: no program, no socket, no system call but those that libraries need.
    public static let seccomp = IsolationLayer(value: .calls)

    public static let allCases: [IsolationLayer] = [.limits, .privileges, .landlock, .seccomp]

    public var description: String { value.rawValue }

    /// The names of layers, for a message.
    package static func names(of layers: some Collection<IsolationLayer>) -> String {
        layers.map(\.description).sorted().joined(separator: ", ")
    }

    /// The layer of a name, as ``description`` gives it.
    public init?(_ name: String) {
        guard let value = Value(rawValue: name) else { return nil }
        self.value = value
    }

    private init(value: Value) {
        self.value = value
    }

    /// Whether the system has it. A container may forbid it even so: a process reports the layers that it has put on.
    public var isAvailable: Bool {
        switch value {
        case .limits, .privileges: true
        case .files: piso_landlock_version() > 0
        case .calls: piso_can_filter_calls()
        }
    }
}
