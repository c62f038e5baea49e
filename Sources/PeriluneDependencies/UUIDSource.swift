public import Foundation

/// Where new UUIDs come from.
public struct UUIDSource: Sendable {
    private let make: @Sendable () -> UUID
    /// Whether it makes random ones, as any process can.
    package let isRandom: Bool

    /// Makes a source that asks a closure.
    public init(_ make: @escaping @Sendable () -> UUID) {
        self.init(isRandom: false, make)
    }

    private init(isRandom: Bool, _ make: @escaping @Sendable () -> UUID) {
        self.isRandom = isRandom
        self.make = make
    }

    /// A new UUID.
    public func callAsFunction() -> UUID { make() }

    /// Random ones. The default but in tests.
    public static let random = UUIDSource(isRandom: true) { UUID() }

    /// Always the same one.
    public static func constant(_ uuid: UUID) -> UUIDSource {
        UUIDSource { uuid }
    }

    /// `00000000-0000-0000-0000-000000000000`, then `...0001`, and so on. The default in tests.
    public static var counting: UUIDSource {
        let count = Counter()
        return UUIDSource { UUID(number: count.next()) }
    }
}

extension UUID {
    /// The UUID whose last bytes are a number.
    fileprivate init(number: UInt64) {
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
        self.init(
            uuid: (
                0, 0, 0, 0, 0, 0, 0, 0, bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]
            ))
    }
}
