internal import CPeriluneCluster

/// The rows of one run, a page at a time.
protocol RemoteRows: AnyObject {
    /// The id of the row that the statement has inserted, if it has.
    var insertedRowID: Int64? { get }
    /// Sets the page, and what reads rows from it. Its bytes stay where they are until the next page, or the end.
    func show(in rows: inout pcl_rows)
    /// Goes on to the next page, and has it come if it is not here.
    func advance() throws
    /// Lets go of the rows, whether or not all were read.
    func end()
}

/// A value that came from elsewhere.
package enum RemoteValue: Equatable, Sendable {
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

    package var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    package var text: String? { if case .text(let value) = self { value } else { nil } }
}
