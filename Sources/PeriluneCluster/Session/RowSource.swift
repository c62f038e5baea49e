internal import CPeriluneCluster

/// The rows of one run, page by page as the node sends them.
package final class RowSource {
    let columnCount: Int
    /// The page that is being read.
    private(set) var current: MessageBody
    /// Pages that came before they were asked for, because something else had to be sent.
    private var ahead: ArraySlice<MessageBody> = []
    /// Whether the last page has come.
    private(set) var isComplete: Bool
    /// Whether nothing will be read any more.
    var isAbandoned = false
    /// The id of the row that the statement has inserted, if it has.
    var insertedRowID: Int64?
    /// Why no more will come.
    var failure: ClusterFailure?

    init(first: MessageBody) throws {
        isComplete = try first.isLastPage()
        columnCount = try first.beginRows()
        current = first
    }

    /// Takes a page that has come.
    func add(_ page: MessageBody) throws {
        isComplete = try page.isLastPage()
        guard try page.beginRows() == columnCount else { throw ConnectionFailure.lost("the node has sent pages of different columns") }
        if !isAbandoned { ahead.append(page) }
    }

    /// Goes on to the next page, if it is here.
    func advance() -> Bool {
        guard let next = ahead.popFirst() else { return false }
        current = next
        return true
    }

    /// All rows, for the few statements that are not a script's. Every page must be here.
    func values() throws -> [[RemoteValue]] {
        var rows: [[RemoteValue]] = []
        let values = UnsafeMutablePointer<pcl_value>.allocate(capacity: columnCount)
        values.initialize(repeating: pcl_value(), count: columnCount)
        defer { values.deallocate() }
        repeat {
            var reader = current.reader
            reading: while true {
                switch pcl_next_row(&reader, CInt(columnCount), values) {
                case PCL_ROW: rows.append((0..<columnCount).map { RemoteValue(values[$0]) })
                case PCL_END_OF_PAGE, PCL_END_OF_ROWS: break reading
                default: throw ConnectionFailure.lost("the node has sent rows that cannot be read")
                }
            }
        } while advance()
        return rows
    }
}

/// A value that a node has sent.
package enum RemoteValue: Equatable, Sendable {
    case null, integer(Int64), number(Double), text(String), blob([UInt8])

    init(_ value: pcl_value) {
        let bytes = UnsafeBufferPointer(start: value.bytes, count: value.length)
        self =
            switch CInt(value.type) {
            case CInt(PCL_INTEGER), CInt(PCL_UNIX_TIME), CInt(PCL_BOOLEAN): .integer(value.integer)
            case CInt(PCL_FLOAT): .number(value.number)
            case CInt(PCL_TEXT), CInt(PCL_ISO8601): .text(String(decoding: bytes, as: UTF8.self))
            case CInt(PCL_BLOB): .blob(Array(bytes))
            default: .null
            }
    }

    package var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    package var text: String? { if case .text(let value) = self { value } else { nil } }
}
