/// A table key, ordered as in deterministic states: first numbers, then strings in byte order, booleans, and objects in order of
/// creation.
///
/// The C counterpart is `Order/traversal.c`.
enum KeyOrder: Comparable {
    case number(LuaValue)
    case string(LuaString)
    case boolean(Bool)
    case object(UInt64)

    init(_ key: LuaValue, number: UInt64) {
        switch key {
        case .integer, .number: self = .number(key)
        case .string(let text): self = .string(text)
        case .boolean(let value): self = .boolean(value)
        default: self = .object(number)
        }
    }

    static func < (left: KeyOrder, right: KeyOrder) -> Bool {
        switch (left, right) {
        case (.number(let left), .number(let right)): isLess(left, right)
        case (.string(let left), .string(let right)): left.bytes.lexicographicallyPrecedes(right.bytes)
        case (.boolean(let left), .boolean(let right)): !left && right
        case (.object(let left), .object(let right)): left < right
        default: left.rank < right.rank
        }
    }

    static func == (left: KeyOrder, right: KeyOrder) -> Bool { !(left < right) && !(right < left) }

    private var rank: Int {
        switch self {
        case .number: 0
        case .string: 1
        case .boolean: 2
        case .object: 3
        }
    }

    /// Compares two numbers without rounding. Lua stores integral float keys as integers, so a float key is never equal to an
    /// integer key.
    private static func isLess(_ left: LuaValue, _ right: LuaValue) -> Bool {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): left < right
        case (.number(let left), .number(let right)): left < right
        case (.integer(let left), .number(let right)): right >= 0x1p63 || right >= -0x1p63 && left <= Int64(right.rounded(.down))
        case (.number(let left), .integer(let right)): left < -0x1p63 || left < 0x1p63 && Int64(left.rounded(.down)) < right
        default: false
        }
    }
}
