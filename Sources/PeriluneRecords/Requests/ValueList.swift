/// The values of an IN condition. In a long list, values that JSON represents exactly (integers and texts) share one parameter. Every other
/// value has a separate parameter.
package struct ValueList: Sendable {
    /// The JSON array; `nil` if all values have separate parameters.
    let json: [UInt8]?
    /// The values with separate parameters.
    let singles: [Value]

    /// The minimum number of values for which JSON is used, which makes the SQL independent of the list's length.
    static let jsonThreshold = 17
    /// The maximum number of separate parameters. Debian's SQLite allows 250,000 per statement.
    static let mostSingles = 200_000

    package init(_ values: [Value]) throws {
        for value in values { try Self.check(value) }
        let carried = values.count < Self.jsonThreshold ? 0 : values.count { Self.isCarriedByJSON($0) }
        if carried >= Self.jsonThreshold {
            json = Self.jsonArray(values.lazy.filter(Self.isCarriedByJSON))
            singles = carried == values.count ? [] : values.filter { !Self.isCarriedByJSON($0) }
        } else {
            json = nil
            singles = values
        }
        guard singles.count <= Self.mostSingles else {
            throw RequestError.argument(
                "a list contains \(singles.count) floats, blobs or texts that are not UTF-8; at most \(Self.mostSingles) are allowed"
            )
        }
    }

    private static func check(_ value: Value) throws {
        if value.isNull {
            throw RequestError.argument(
                "a list of values cannot contain null, which never compares equal; use `column:is_in(list) | column:is_null()`")
        }
        if case .real(let number) = value, number.isNaN { throw RequestError.argument(Expression.nanMessage) }
    }

    var isEmpty: Bool { json == nil && singles.isEmpty }

    // MARK: - JSON

    /// Returns whether JSON represents a value exactly. It may alter floats, and texts that contain NUL bytes or are not UTF-8.
    static func isCarriedByJSON(_ value: Value) -> Bool {
        switch value {
        case .integer, .boolean: true
        case .text(let bytes): Value.isPlain(bytes)
        case .null, .real, .blob: false
        }
    }

    static func jsonArray(_ values: some Sequence<Value>) -> [UInt8] {
        var json: [UInt8] = []
        JSONText.append("[", values, "]", to: &json, append)
        return json
    }

    /// Returns a JSON array of arrays, for keys with several columns.
    static func jsonArray(rows: some Sequence<[Value]>) -> [UInt8] {
        var json: [UInt8] = []
        JSONText.append("[", rows, "]", to: &json) { row, json in JSONText.append("[", row, "]", to: &json, append) }
        return json
    }

    private static func append(_ value: Value, to json: inout [UInt8]) {
        switch value {
        case .integer(let number): json += "\(number)".utf8
        case .boolean(let flag): json.append(flag ? UInt8(ascii: "1") : UInt8(ascii: "0"))
        case .text(let bytes): JSONText.append(text: bytes, to: &json)
        case .null, .real, .blob: json += "null".utf8
        }
    }
}
