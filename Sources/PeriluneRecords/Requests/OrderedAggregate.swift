internal import GRDBSQLite

/// The replacement for aggregates with an order, such as `group_concat(name, ', ' ORDER BY born DESC)`, in SQLite before 3.44.
///
/// The SQL function ``functionName`` takes the sort directions, the text, the separator, and the values to sort by. It stores
/// all rows of a group, and sorts them when the group ends.
package enum OrderedAggregate {
    static let names: Set<String> = ["group_concat", "json_group_array"]
    static let isBuiltIn = sqlite3_libversion_number() >= 3_044_000
    static let functionName = "perilune_ordered_concat"

    /// Defines the replacement function on a connection, if SQLite needs it.
    package static func install(on connection: OpaquePointer) {
        if isBuiltIn { return }
        _ = sqlite3_create_function_v2(
            connection, functionName, -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, nil, nil,
            { OrderedAggregate.step($0, $1, $2) }, { OrderedAggregate.finish($0) }, nil)
    }

    // MARK: - The order

    /// Returns three letters for each ordering term: direction, position of NULLs, and collation.
    static func directions(of orders: [Ordering]) throws -> String {
        try orders.map { order in
            let nullsFirst = order.nullsFirst ?? !order.isDescending
            let collation = order.expression.collationName
            guard let letter = collations[collation.uppercased()] else {
                throw RequestError.argument(
                    "before SQLite 3.44 an aggregate cannot take its rows in the order of the collation `\(collation)`")
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

    // MARK: - Rows

    /// The rows of a group so far. SQLite allocates the copies, so they count toward the script's memory limit.
    private final class Group {
        let terms: [Term]
        /// The values of all rows, row by row: the text, the separator, and the values to sort by.
        var values: [OpaquePointer] = []
        let width: Int

        init(terms: [Term], width: Int) {
            // A direct call of the function in SQL may pass fewer values than directions.
            self.terms = Array(terms.prefix(width - 2))
            self.width = width
        }

        deinit {
            for value in values { sqlite3_value_free(value) }
        }

        var rowCount: Int { values.count / width }

        /// Appends a row. Returns `false` if memory allocation fails.
        func append(_ row: UnsafeBufferPointer<OpaquePointer?>) -> Bool {
            let former = values.count
            for value in row {
                guard let copy = sqlite3_value_dup(value) else {
                    while values.count > former { sqlite3_value_free(values.removeLast()) }
                    return false
                }
                values.append(copy)
            }
            return true
        }
    }

    private static func step(
        _ context: OpaquePointer?, _ count: CInt, _ values: UnsafeMutablePointer<OpaquePointer?>?
    ) {
        // SQLite owns this memory: it is zeroed for a new group and freed after `finish`.
        guard let values, count >= 4, let memory = sqlite3_aggregate_context(context, CInt(MemoryLayout<UnsafeRawPointer?>.size))
        else { return sqlite3_result_error_nomem(context) }
        let slot = memory.assumingMemoryBound(to: UnsafeRawPointer?.self)
        let group: Group
        if let known = slot.pointee {
            group = Unmanaged<Group>.fromOpaque(known).takeUnretainedValue()
        } else {
            group = Group(terms: terms(text(values[0])), width: Int(count) - 1)
            slot.pointee = UnsafeRawPointer(Unmanaged.passRetained(group).toOpaque())
        }
        if sqlite3_value_type(values[1]) == SQLITE_NULL { return }
        let row = UnsafeBufferPointer(start: UnsafePointer(values) + 1, count: Int(count) - 1)
        if !group.append(row) { sqlite3_result_error_nomem(context) }
    }

    private static func finish(_ context: OpaquePointer?) {
        guard let slot = sqlite3_aggregate_context(context, 0)?.assumingMemoryBound(to: UnsafeRawPointer?.self),
            let known = slot.pointee
        else { return sqlite3_result_null(context) }
        let group = Unmanaged<Group>.fromOpaque(known).takeRetainedValue()
        slot.pointee = nil
        if group.rowCount == 0 { return sqlite3_result_null(context) }
        // The sort is stable: rows with equal sort values keep their order.
        let rows = (0..<group.rowCount).sorted { a, b in
            let result = compare(a, b, in: group)
            return result == 0 ? a < b : result < 0
        }
        // Allocates the result as a single block with SQLite's allocator, which then owns it.
        let length = rows.dropFirst().reduce(bytes(group.values[rows[0] * group.width]).count) { length, row in
            length + bytes(group.values[row * group.width]).count + bytes(group.values[row * group.width + 1]).count
        }
        guard let memory = sqlite3_malloc64(UInt64(max(length, 1))) else { return sqlite3_result_error_nomem(context) }
        var result = UnsafeMutableRawBufferPointer(start: memory, count: length)[...]
        func append(_ value: OpaquePointer) {
            let bytes = bytes(value)
            UnsafeMutableRawBufferPointer(rebasing: result).copyMemory(from: bytes)
            result = result.dropFirst(bytes.count)
        }
        for (index, row) in rows.enumerated() {
            if index > 0 { append(group.values[row * group.width + 1]) }
            append(group.values[row * group.width])
        }
        sqlite3_result_text64(
            context, memory.assumingMemoryBound(to: CChar.self), UInt64(length), { sqlite3_free($0) }, UInt8(SQLITE_UTF8))
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

    /// Returns the bytes of a value as text or BLOB, valid until the value is freed or converted.
    private static func bytes(_ value: OpaquePointer) -> UnsafeRawBufferPointer {
        let start: UnsafeRawPointer? =
            sqlite3_value_type(value) == SQLITE_BLOB ? sqlite3_value_blob(value) : UnsafeRawPointer(sqlite3_value_text(value))
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(value)))
    }

    private static func compare(_ a: Int, _ b: Int, in group: Group) -> Int {
        for (index, term) in group.terms.enumerated() {
            let left = group.values[a * group.width + 2 + index], right = group.values[b * group.width + 2 + index]
            switch (sqlite3_value_type(left), sqlite3_value_type(right)) {
            case (SQLITE_NULL, SQLITE_NULL): continue
            case (SQLITE_NULL, _): return term.nullsFirst ? -1 : 1
            case (_, SQLITE_NULL): return term.nullsFirst ? 1 : -1
            case (let leftType, let rightType):
                let result = compare(left, leftType, right, rightType, collation: term.collation)
                if result != 0 { return term.isDescending ? -result : result }
            }
        }
        return 0
    }

    private static func compare(_ a: OpaquePointer, _ typeOfA: CInt, _ b: OpaquePointer, _ typeOfB: CInt, collation: UInt8) -> Int
    {
        switch (typeOfA, typeOfB) {
        case (SQLITE_INTEGER, SQLITE_INTEGER): return order(sqlite3_value_int64(a), sqlite3_value_int64(b))
        case (SQLITE_FLOAT, SQLITE_FLOAT): return order(sqlite3_value_double(a), sqlite3_value_double(b))
        case (SQLITE_INTEGER, SQLITE_FLOAT): return -compare(sqlite3_value_double(b), sqlite3_value_int64(a))
        case (SQLITE_FLOAT, SQLITE_INTEGER): return compare(sqlite3_value_double(a), sqlite3_value_int64(b))
        case (SQLITE_TEXT, SQLITE_TEXT): return compare(bytes(a), bytes(b), collation: collation)
        case (SQLITE_BLOB, SQLITE_BLOB): return compare(bytes(a), bytes(b), collation: 0)
        default: return order(rank(typeOfA), rank(typeOfB))
        }
    }

    private static func compare(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer, collation: UInt8) -> Int {
        var (a, b) = (a[...], b[...])
        if collation == UInt8(ascii: "r") {
            a = a[..<((a.lastIndex { $0 != 0x20 } ?? -1) + 1)]
            b = b[..<((b.lastIndex { $0 != 0x20 } ?? -1) + 1)]
        }
        let isFolded = collation == UInt8(ascii: "n")
        for (left, right) in zip(a, b) where left != right {
            let (left, right) = isFolded ? (folded(left), folded(right)) : (left, right)
            if left != right { return left < right ? -1 : 1 }
        }
        return order(a.count, b.count)
    }

    private static func folded(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }

    /// Compares without rounding, even if no floating-point number equals the integer.
    private static func compare(_ a: Double, _ b: Int64) -> Int {
        if a < -0x1p63 { return -1 }
        if a >= 0x1p63 { return 1 }
        let whole = Int64(a)
        return whole == b ? order(a, Double(whole)) : order(whole, b)
    }

    private static func order<Value: Comparable>(_ a: Value, _ b: Value) -> Int { a < b ? -1 : a > b ? 1 : 0 }

    private static func rank(_ type: CInt) -> Int {
        switch type {
        case SQLITE_NULL: 0
        case SQLITE_INTEGER, SQLITE_FLOAT: 1
        case SQLITE_TEXT: 2
        default: 3
        }
    }
}

extension Expression {
    /// The collation that SQLite uses to sort by the expression.
    fileprivate var collationName: String {
        switch unbound.kind {
        case .collation(_, let name): name
        case .column(let table, let position, _): table.collation(of: position)
        default: "BINARY"
        }
    }
}
