internal import CPeriluneCluster

/// The rows of a running statement, one page at a time.
protocol RemoteRows: AnyObject {
    /// The row id of the row that the statement inserted, if any.
    var insertedRowID: Int64? { get }
    /// Sets the current page and its row reader. The bytes are valid until ``advance()`` or ``end()`` is called.
    func show(in rows: inout pcl_rows)
    /// Moves to the next page, and receives it if necessary.
    func advance() throws
    /// Releases the rows, even if some are unread.
    func end()
}

/// A value from a remote database.
enum RemoteValue: Equatable, Sendable {
    case null, integer(Int64), number(Double), text(String), blob([UInt8])

    init(_ value: pcl_value) {
        let bytes = UnsafeBufferPointer(start: value.bytes, count: value.length)
        self =
            switch CInt(value.type) {
            case CInt(PCL_INTEGER): .integer(value.integer)
            case CInt(PCL_FLOAT): .number(value.number)
            case CInt(PCL_TEXT): .text(String(decoding: bytes, as: UTF8.self))
            case CInt(PCL_BLOB): .blob(Array(bytes))
            default: .null
            }
    }

    var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    var text: String? { if case .text(let value) = self { value } else { nil } }
}
