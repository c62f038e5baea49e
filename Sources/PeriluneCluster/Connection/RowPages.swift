internal import CPeriluneCluster
internal import PeriluneRecords

/// The rows of a running statement, in the pages that the node sends.
final class RowPages: RemoteRows {
    let columnCount: Int
    /// The page that is being read.
    private var current: MessageBody
    /// Pages that were received early, because a request had to be sent before the rows were read.
    private var ahead: ArraySlice<MessageBody> = []
    /// Whether the last page has arrived.
    private(set) var isComplete: Bool
    /// Whether the remaining rows are no longer wanted.
    var isAbandoned = false
    var insertedRowID: Int64?
    /// The failure that ended the rows, if any.
    var failure: ClusterFailure?
    /// The session that can receive further pages.
    weak var receiver: (any RowPageReceiver)?

    init(first: MessageBody) throws {
        isComplete = try first.isLastPage()
        columnCount = try first.beginRows()
        current = first
        try checkProgress(first)
    }

    static let tooLong = ClusterFailure(
        .refused,
        "a row may have \(mostMessageBytes) bytes at most in a cluster; fetch the value in parts: substr(column, first, count)")

    /// Rejects a page without rows, unless it is the last. Each page repeats the column names. If they fill the page, the node
    /// would send pages without rows forever.
    private func checkProgress(_ page: MessageBody) throws {
        guard !isComplete, !page.hasRows else { return }
        throw ConnectionFailure.refused(
            ClusterFailure(
                .refused,
                "the names of \(columnCount) columns are too long for a page of a cluster's answer; select fewer, or name them shorter"
            ))
    }

    /// Appends a received page.
    func add(_ page: MessageBody) throws {
        isComplete = try page.isLastPage()
        guard try page.beginRows() == columnCount else {
            throw ConnectionFailure.lost("the node has sent pages of different columns")
        }
        try checkProgress(page)
        if !isAbandoned { ahead.append(page) }
    }

    /// Moves to the next page if it was already received. Returns whether it was.
    private func takeNext() -> Bool {
        guard let next = ahead.popFirst() else { return false }
        current = next
        return true
    }

    /// Returns the values of all rows, for the library's internal queries. All pages must have been received.
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
        } while takeNext()
        return rows
    }

    // MARK: - For carriers

    func show(in rows: inout pcl_rows) {
        rows.page = current.reader
        rows.next_row = pcl_next_row
    }

    func advance() throws {
        if takeNext() { return }
        if let failure { throw failure }
        guard let receiver else { throw ClusterFailure(.moved, "the rows are of a connection that has ended") }
        try receiver.receivePage(of: self)
        _ = takeNext()
    }

    func end() { isAbandoned = true }
}

/// The owner of the connection on which the pages of rows arrive.
protocol RowPageReceiver: AnyObject {
    /// Receives the next page, and adds it to the rows.
    func receivePage(of rows: RowPages) throws
}
