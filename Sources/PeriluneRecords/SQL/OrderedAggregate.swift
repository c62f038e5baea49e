internal import GRDBSQLite

/// Aggregates that take their rows in an order: `group_concat(name, ', ' ORDER BY born DESC)`.
///
/// SQLite has them from 3.44 on. Before, the SQL function ``functionName`` stands in: it is given the directions of the order, the text,
/// the separator, and the values to order by; it keeps all rows of a group, and puts them in order at last.
package enum OrderedAggregate {
    static let names: Set<String> = ["group_concat", "json_group_array"]
    static let isBuiltIn = sqlite3_libversion_number() >= 3_044_000
    static let functionName = "perilune_ordered_concat"

    /// Defines the function for a connection.
    package static func install(on connection: OpaquePointer) {
        if isBuiltIn { return }
        _ = sqlite3_create_function_v2(
            connection, functionName, -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, nil, nil,
            { OrderedAggregate.step($0, $1, $2) }, { OrderedAggregate.finish($0) }, nil)
    }

    // MARK: - The order

    /// Three letters for each term: the direction, where NULLs come, and the collation.
    static func directions(of orders: [Ordering]) throws -> String {
        try orders.map { order in
            let nullsFirst = order.nullsFirst ?? !order.isDescending
            let collation = order.expression.collationName
            guard let letter = collations[collation.uppercased()] else {
                throw RequestError.argument("before SQLite 3.44 an aggregate cannot take its rows in the order of the collation `\(collation)`")
            }
            return (order.isDescending ? "d" : "a") + (nullsFirst ? "f" : "l") + letter
        }.joined()
    }

    private static let collations = ["BINARY": "b", "NOCASE": "n", "RTRIM": "r"]

    private struct Term {
        let isDescending: Bool
        let nullsFirst: Bool
        let collation: UInt8
    }

    private enum Key {
        case null
        case integer(Int64)
        case real(Double)
        case text([UInt8])
        case blob([UInt8])
    }

    // MARK: - Rows

    /// What is known of a group so far.
    private final class Group {
        var terms: [Term] = []
        var rows: [(text: [UInt8], separator: [UInt8], keys: [Key])] = []
    }

    private static func step(
        _ context: OpaquePointer?, _ count: CInt, _ values: UnsafeMutablePointer<OpaquePointer?>?
    ) {
        // The memory is SQLite's, which gives it zeroed for a new group, and takes it back after `finish`.
        guard let values, count >= 4, let memory = sqlite3_aggregate_context(context, CInt(MemoryLayout<UnsafeRawPointer?>.size))
        else { return sqlite3_result_error_nomem(context) }
        let slot = memory.assumingMemoryBound(to: UnsafeRawPointer?.self)
        let group: Group
        if let known = slot.pointee {
            group = Unmanaged<Group>.fromOpaque(known).takeUnretainedValue()
        } else {
            group = Group()
            group.terms = terms(text(values[0]))
            slot.pointee = UnsafeRawPointer(Unmanaged.passRetained(group).toOpaque())
        }
        if sqlite3_value_type(values[1]) == SQLITE_NULL { return }
        group.rows.append((text(values[1]), text(values[2]), (3..<Int(count)).map { key(values[$0], group.terms, $0 - 3) }))
    }

    private static func finish(_ context: OpaquePointer?) {
        guard let slot = sqlite3_aggregate_context(context, 0)?.assumingMemoryBound(to: UnsafeRawPointer?.self),
            let known = slot.pointee
        else { return sqlite3_result_null(context) }
        let group = Unmanaged<Group>.fromOpaque(known).takeRetainedValue()
        slot.pointee = nil
        if group.rows.isEmpty { return sqlite3_result_null(context) }
        // Rows that are equal in the order stay as they came.
        let order = group.rows.indices.sorted { a, b in
            let result = compare(group.rows[a].keys, group.rows[b].keys, group.terms)
            return result == 0 ? a < b : result < 0
        }
        var result: [UInt8] = []
        for (index, row) in order.enumerated() {
            if index > 0 { result += group.rows[row].separator }
            result += group.rows[row].text
        }
        result.withUnsafeBytes { bytes in
            sqlite3_result_text64(
                context, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), UInt64(bytes.count),
                unsafeBitCast(-1, to: sqlite3_destructor_type.self), UInt8(SQLITE_UTF8))
        }
    }

    private static func terms(_ letters: [UInt8]) -> [Term] {
        stride(from: 0, to: letters.count - 2, by: 3).map {
            Term(
                isDescending: letters[$0] == UInt8(ascii: "d"), nullsFirst: letters[$0 + 1] == UInt8(ascii: "f"),
                collation: letters[$0 + 2])
        }
    }

    // MARK: - Values

    private static func text(_ value: OpaquePointer?) -> [UInt8] {
        guard let start = sqlite3_value_text(value) else { return [] }
        return Array(UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(value))))
    }

    private static func key(_ value: OpaquePointer?, _ terms: [Term], _ index: Int) -> Key {
        switch sqlite3_value_type(value) {
        case SQLITE_NULL: return .null
        case SQLITE_INTEGER: return .integer(sqlite3_value_int64(value))
        case SQLITE_FLOAT: return .real(sqlite3_value_double(value))
        case SQLITE_TEXT: return .text(collated(text(value), index < terms.count ? terms[index].collation : 0))
        default:
            guard let start = sqlite3_value_blob(value) else { return .blob([]) }
            return .blob(Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))))
        }
    }

    /// A text whose bytes compare as the collation compares the text.
    private static func collated(_ text: [UInt8], _ collation: UInt8) -> [UInt8] {
        switch collation {
        case UInt8(ascii: "n"): text.map { $0 &- 0x41 < 26 ? $0 | 0x20 : $0 }
        case UInt8(ascii: "r"): Array(text[..<((text.lastIndex { $0 != 0x20 } ?? -1) + 1)])
        default: text
        }
    }

    private static func compare(_ a: [Key], _ b: [Key], _ terms: [Term]) -> Int {
        for (index, term) in terms.enumerated() {
            switch (a[index], b[index]) {
            case (.null, .null): continue
            case (.null, _): return term.nullsFirst ? -1 : 1
            case (_, .null): return term.nullsFirst ? 1 : -1
            case (let left, let right):
                let result = compare(left, right)
                if result != 0 { return term.isDescending ? -result : result }
            }
        }
        return 0
    }

    private static func compare(_ a: Key, _ b: Key) -> Int {
        switch (a, b) {
        case (.integer(let a), .integer(let b)): order(a, b)
        case (.real(let a), .real(let b)): order(a, b)
        case (.integer(let a), .real(let b)): -compare(b, a)
        case (.real(let a), .integer(let b)): compare(a, b)
        case (.text(let a), .text(let b)), (.blob(let a), .blob(let b)):
            a.lexicographicallyPrecedes(b) ? -1 : b.lexicographicallyPrecedes(a) ? 1 : 0
        default: order(rank(a), rank(b))
        }
    }

    /// Exactly, also where the integer is none that a floating-point number can be.
    private static func compare(_ a: Double, _ b: Int64) -> Int {
        if a < -0x1p63 { return -1 }
        if a >= 0x1p63 { return 1 }
        let whole = Int64(a)
        return whole == b ? order(a, Double(whole)) : order(whole, b)
    }

    private static func order<Value: Comparable>(_ a: Value, _ b: Value) -> Int { a < b ? -1 : a > b ? 1 : 0 }

    private static func rank(_ key: Key) -> Int {
        switch key {
        case .null: 0
        case .integer, .real: 1
        case .text: 2
        case .blob: 3
        }
    }
}

extension Expression {
    /// The collation that it is ordered by.
    fileprivate var collationName: String {
        switch unbound.kind {
        case .collation(_, let name): name
        case .column(let table, let position, _): table.collation(of: position)
        default: "BINARY"
        }
    }
}
