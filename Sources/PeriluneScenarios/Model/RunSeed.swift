/// The seed that determines the order of a run and all its random values.
public struct RunSeed: Codable, Sendable, Equatable, CustomStringConvertible {
    /// The number.
    public let value: UInt64

    /// Makes a seed of a number.
    public init(_ value: UInt64) {
        self.value = value
    }

    /// A random short one.
    public static func random() -> RunSeed {
        RunSeed(.random(in: 0..<0x10000))
    }

    /// Reads the text of ``description``: hexadecimal digits.
    public init?(_ text: String) {
        guard let value = UInt64(text, radix: 16) else { return nil }
        self.init(value)
    }

    public var description: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    /// The seed of a scenario, which does not depend on the other scenarios of the run.
    ///
    /// - Parameter name: Its identifier.
    func seed(of name: String) -> UInt64 {
        Self.hash(name) ^ (value &* 0x9E37_79B9_7F4A_7C15)
    }

    /// FNV-1a.
    fileprivate static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }
}

extension Scenario {
    /// The seed of its random values: its own seed, or else one derived from the run's.
    func seed(in run: RunSeed) -> UInt64 {
        guard let seed else { return run.seed(of: localID) }
        return Int64(seed).map { UInt64(bitPattern: $0) } ?? RunSeed.hash(seed)
    }

    /// The seed as scenarios see it: never negative, unless they set it so.
    func shownSeed(in run: RunSeed) -> Int64 {
        seed.flatMap { Int64($0) } ?? Int64(bitPattern: seed(in: run) >> 1)
    }
}
