internal import Synchronization

/// A source of random numbers.
public struct RandomSource: RandomNumberGenerator, Sendable {
    private let make: @Sendable () -> UInt64
    /// Whether the source is the system generator.
    package let isSystem: Bool

    /// Creates a source that calls a closure for 64 random bits.
    public init(_ make: @escaping @Sendable () -> UInt64) {
        self.init(isSystem: false, make)
    }

    private init(isSystem: Bool, _ make: @escaping @Sendable () -> UInt64) {
        self.isSystem = isSystem
        self.make = make
    }

    /// Returns 64 random bits.
    public func next() -> UInt64 { make() }

    /// The system generator, which is cryptographically secure. The default outside of tests.
    public static let system = RandomSource(isSystem: true) {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }

    /// Returns a source whose numbers depend only on the seed. The default in tests, with seed 0.
    ///
    /// - SeeAlso: Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014 (SplitMix64).
    public static func seeded(_ seed: UInt64) -> RandomSource {
        let count = Counter()
        return RandomSource {
            var bits = seed &+ (count.next() &+ 1) &* 0x9E37_79B9_7F4A_7C15
            bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
            bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
            return bits ^ (bits >> 31)
        }
    }
}
