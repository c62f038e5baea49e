public import Foundation

/// A source of new UUIDs.
public struct UUIDSource: Sendable {
    private let make: @Sendable () -> UUID
    /// Whether the UUIDs are random, in which case any process can generate them independently.
    package let isRandom: Bool

    /// Creates a source that calls a closure.
    public init(_ make: @escaping @Sendable () -> UUID) {
        self.init(isRandom: false, make)
    }

    private init(isRandom: Bool, _ make: @escaping @Sendable () -> UUID) {
        self.isRandom = isRandom
        self.make = make
    }

    /// Returns a new UUID.
    public func callAsFunction() -> UUID { make() }

    /// Random UUIDs. The default outside of tests.
    public static let random = UUIDSource(isRandom: true) { UUID() }

    /// Returns a source that always returns the same UUID.
    public static func constant(_ uuid: UUID) -> UUIDSource {
        UUIDSource { uuid }
    }

    /// A source whose UUIDs count up from `00000000-0000-0000-0000-000000000000`. The default in tests.
    public static var counting: UUIDSource {
        let count = Counter()
        return UUIDSource { UUID(number: count.next()) }
    }
}

extension UUID {
    /// Creates a UUID whose last eight bytes are a number.
    fileprivate init(number: UInt64) {
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
        self.init(
            uuid: (
                0, 0, 0, 0, 0, 0, 0, 0, bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]
            ))
    }
}
