internal import CPeriluneIsolation
internal import Glibc

/// A restriction that the operating system enforces on a process that runs untrusted scripts. More may be added.
public struct IsolationLayer: Hashable, Sendable, CaseIterable, CustomStringConvertible {
    private enum Value: String {
        case limits, privileges, files = "landlock", calls = "seccomp"
    }

    private let value: Value

    /// Resource limits: memory, file descriptors, no core dumps.
    public static let limits = IsolationLayer(value: .limits)
    /// Protection against privilege escalation: the process cannot gain privileges, and the user's other processes cannot read its memory.
    public static let privileges = IsolationLayer(value: .privileges)
    /// Landlock: the process can access only the database's folder and files that libraries read, and no network.
    public static let landlock = IsolationLayer(value: .files)
    /// seccomp: the process cannot start programs or open sockets, and can use only the system calls that libraries need.
    public static let seccomp = IsolationLayer(value: .calls)

    public static let allCases: [IsolationLayer] = [.limits, .privileges, .landlock, .seccomp]

    public var description: String { value.rawValue }

    /// Returns the names of layers for a message.
    package static func names(of layers: some Collection<IsolationLayer>) -> String {
        layers.map(\.description).sorted().joined(separator: ", ")
    }

    /// Returns the layer with this ``description``, or `nil` for an unknown name.
    public init?(_ name: String) {
        guard let value = Value(rawValue: name) else { return nil }
        self.value = value
    }

    private init(value: Value) {
        self.value = value
    }

    /// Whether the kernel supports the layer. A container may still forbid it, so each worker reports which layers are active.
    public var isAvailable: Bool {
        switch value {
        case .limits, .privileges: true
        case .files: piso_landlock_version() > 0
        case .calls: piso_can_filter_calls()
        }
    }
}
