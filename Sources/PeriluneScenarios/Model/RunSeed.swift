/// The seed that determines the order of a run and all its random values, as in `options.seed = 7`.
public struct RunSeed: Codable, Sendable, Equatable, CustomStringConvertible {
    /// The seed as a number.
    public let value: UInt64

    /// Creates a seed from a number.
    public init(_ value: UInt64) {
        self.value = value
    }

    /// Returns a random seed of 16 bits, which has a short text.
    public static func random() -> RunSeed {
        RunSeed(.random(in: 0..<0x10000))
    }

    /// Parses the hexadecimal digits of ``description``.
    public init?(_ text: String) {
        guard let value = UInt64(text, radix: 16) else { return nil }
        self.init(value)
    }

    public var description: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    /// Returns the seed of a scenario, which does not depend on the other scenarios of the run.
    ///
    /// - Parameter name: The identifier of the scenario.
    func seed(of name: String) -> UInt64 {
        Self.hash(name) ^ (value &* 0x9E37_79B9_7F4A_7C15)
    }

    /// Returns the FNV-1a hash of a text.
    fileprivate static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }
}

extension RunSeed: ExpressibleByIntegerLiteral {
    public init(integerLiteral value: UInt64) {
        self.init(value)
    }
}

extension Scenario {
    /// Returns the seed of the scenario's random values: its own seed, or else one derived from the run's seed.
    func seed(in run: RunSeed) -> UInt64 {
        guard let seed else { return run.seed(of: localID) }
        return Int64(seed).map { UInt64(bitPattern: $0) } ?? RunSeed.hash(seed)
    }

    /// Returns the seed that the scenario sees. It is never negative, unless the scenario has set a negative seed.
    func shownSeed(in run: RunSeed) -> Int64 {
        seed.flatMap { Int64($0) } ?? Int64(bitPattern: seed(in: run) >> 1)
    }
}
