internal import PeriluneRecords
/// A statement that runs in a remote database.
final class RemoteStatement {
    /// The SQL that is sent to the node.
    let sql: String
    /// The SQL that the program wrote, for error messages.
    let source: String
    /// The number of result columns; 0 if the statement returns no rows.
    let columnCount: Int
    let parameterCount: Int
    /// Whether the statement is read-only.
    let isReading: Bool
    /// Whether the statement inserts rows with row ids.
    let insertion: Insertion
    /// The parameters whose values are checked before they are sent.
    private let watched: WatchedValues?
    private(set) weak var engine: (any RemoteEngine)?
    /// The state that the engine keeps for the statement.
    var preparation: AnyObject?

    enum Insertion {
        case none
        /// If the statement changes rows, it inserts rows with row ids.
        case always
        /// The statement may update a row instead of inserting one.
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

    /// Returns whether a run of the statement inserted a row with a row id.
    ///
    /// - Parameter former: The value of `last_insert_rowid()` before the run.
    func hasInserted(changes: Int64, rowID: Int64, former: Int64?) -> Bool {
        switch insertion {
        case .none: false
        case .always: changes > 0
        case .perhaps: changes > 0 && rowID != former
        }
    }

    private var conditional: RemoteStatement?

    /// Returns a variant of this statement that inserts its rows only if a condition is true. Returns `nil` unless the statement is
    /// an INSERT with VALUES that inserts all of its rows.
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
