internal import CPeriluneRows
internal import GRDB

/// Access to `sqlite3_value` objects without copying their contents.
enum SQLiteValue {
    /// Returns the bytes of a text or blob. The bytes are valid until the value changes.
    static func bytes(of value: OpaquePointer) -> UnsafeRawBufferPointer {
        let isText = sqlite3_value_type(value) == SQLITE_TEXT
        // Must precede `sqlite3_value_bytes`, because the conversion to UTF-8 changes the number of bytes.
        let start = isText ? UnsafeRawPointer(sqlite3_value_text(value)) : sqlite3_value_blob(value)
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(value)))
    }

    /// Returns whether two values are equal and have the same storage class: 1 and 1.0 are different.
    static func areSame(_ left: OpaquePointer, _ right: OpaquePointer) -> Bool {
        let type = sqlite3_value_type(left)
        guard type == sqlite3_value_type(right) else { return false }
        switch type {
        case SQLITE_INTEGER: return sqlite3_value_int64(left) == sqlite3_value_int64(right)
        case SQLITE_FLOAT: return sqlite3_value_double(left) == sqlite3_value_double(right)
        case SQLITE_NULL: return true
        default:
            return bytes(of: left).hasSameBytes(as: bytes(of: right))
        }
    }
}
