package import PeriluneIsolation

/// A generator of numbers, values and frames that a test can repeat.
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(state: UInt64) {
        self.state = state
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }

    package mutating func value(depth: Int = 0) -> WireValue {
        switch Int.random(in: 0..<(depth < 4 ? 12 : 10), using: &self) {
        case 0: return .nil
        case 1: return .null
        case 2: return .boolean(.random(using: &self))
        case 3: return .integer(Int64(bitPattern: next()))
        case 4: return .number(Double(bitPattern: next() & 0x7FEF_FFFF_FFFF_FFFF))
        case 5, 6: return .string(bytes())
        case 7: return .blob(bytes())
        case 8: return .date(Int64(bitPattern: next()))
        case 9: return .opaque("a function")
        case 10: return .list(values(depth: depth + 1))
        default: return .table(values(depth: depth + 1).map { WireValue.Pair(.integer(Int64(bitPattern: next())), $0) })
        }
    }

    package mutating func values(depth: Int = 0) -> [WireValue] {
        (0..<Int.random(in: 0..<5, using: &self)).map { _ in value(depth: depth) }
    }

    package mutating func bytes(upTo count: Int = 40) -> [UInt8] {
        (0..<Int.random(in: 0...count, using: &self)).map { _ in .random(in: 0...255, using: &self) }
    }

    package mutating func frame() -> Frame {
        Frame(kind: .random(in: 0...255, using: &self), request: UInt32(truncatingIfNeeded: next()), values: values())
    }
}
