internal import PeriluneRecords
/// A statement that runs in a remote database.
final class RemoteStatement {
    /// The SQL that is sent.
    let sql: String
    /// The SQL that the program has written, for messages.
    let source: String
    /// The number of result columns; 0 if the statement returns no rows.
    let columnCount: Int
    let parameterCount: Int
    /// Whether the statement changes nothing.
    let isReading: Bool
    /// Whether the statement inserts rows with ids.
    let insertion: Insertion
    /// The values that are checked before they are sent.
    private let watched: WatchedValues?
    private(set) weak var engine: (any RemoteEngine)?
    /// State that the engine attaches to the statement.
    var preparation: AnyObject?

    enum Insertion {
        case none
        /// If the statement has changed a row, it has inserted one with an id.
        case always
        /// The statement may have updated a row instead.
        case perhaps
    }

    init(
        sql: String, source: String, columnCount: Int, parameterCount: Int, isReading: Bool, insertion: Insertion,
        watched: WatchedValues? = nil,
        engine: (any RemoteEngine)?
    ) {
        (self.sql, self.source, self.columnCount, self.parameterCount) = (sql, source, columnCount, parameterCount)
        (self.isReading, self.insertion, self.watched, self.engine) = (isReading, insertion, watched, engine)
    }

    /// - Throws: ``ClusterFailure`` if a value must not be sent.
    func check(_ call: RemoteCall) throws { try watched?.check(call) }

    /// Returns whether the statement has inserted a row with an id.
    ///
    /// - Parameter former: The last row id before the run.
    func hasInserted(changes: Int64, rowID: Int64, former: Int64?) -> Bool {
        switch insertion {
        case .none: false
        case .always: changes > 0
        case .perhaps: changes > 0 && rowID != former
        }
    }

    private var conditional: RemoteStatement?

    /// Returns this statement with a condition that must be true for it to insert anything; `nil` unless it only inserts given
    /// rows.
    func inserting(where condition: String) -> RemoteStatement? {
        if let conditional { return conditional }
        guard let (before, rows) = StatementScan(sql).insertedRows else { return nil }
        conditional = RemoteStatement(
            sql: "\(before) SELECT * FROM (\(rows)) WHERE \(condition)", source: source, columnCount: 0,
            parameterCount: parameterCount,
            isReading: false, insertion: insertion, watched: watched, engine: engine)
        return conditional
    }
}
