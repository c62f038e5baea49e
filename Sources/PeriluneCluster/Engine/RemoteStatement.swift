/// A statement that runs elsewhere.
package final class RemoteStatement {
    /// What is sent.
    let sql: String
    /// What the program has written, for messages.
    package let source: String
    /// How many columns its rows have; 0 if it gives none.
    package let columnCount: Int
    package let parameterCount: Int
    /// Whether it changes nothing.
    package let isReading: Bool
    /// Whether it may insert a row whose id is then known.
    let insertion: Insertion
    /// Values that are looked at before they are sent.
    private let watched: WatchedValues?
    private(set) weak var engine: (any RemoteEngine)?
    /// What the engine keeps of it.
    var preparation: AnyObject?

    enum Insertion {
        case none
        /// If it has changed a row, it has inserted one that has an id.
        case always
        /// It may have updated a row instead.
        case perhaps
    }

    init(
        sql: String, source: String, columnCount: Int, parameterCount: Int, isReading: Bool, insertion: Insertion, watched: WatchedValues? = nil,
        engine: (any RemoteEngine)?
    ) {
        (self.sql, self.source, self.columnCount, self.parameterCount) = (sql, source, columnCount, parameterCount)
        (self.isReading, self.insertion, self.watched, self.engine) = (isReading, insertion, watched, engine)
    }

    /// - Throws: ``ClusterFailure`` if a value must not be sent.
    func check(_ call: RemoteCall) throws { try watched?.check(call) }

    /// Whether it has inserted a row that has an id.
    ///
    /// - Parameter former: The last id before it ran.
    func hasInserted(changes: Int64, rowID: Int64, former: Int64?) -> Bool {
        switch insertion {
        case .none: false
        case .always: changes > 0
        case .perhaps: changes > 0 && rowID != former
        }
    }

    private var conditional: RemoteStatement?

    /// The same statement, if it inserts given rows and does nothing else, with a condition: where that is false, it inserts none.
    func inserting(where condition: String) -> RemoteStatement? {
        if let conditional { return conditional }
        guard let (before, rows) = StatementScan(sql).insertedRows else { return nil }
        conditional = RemoteStatement(
            sql: "\(before) SELECT * FROM (\(rows)) WHERE \(condition)", source: source, columnCount: 0, parameterCount: parameterCount,
            isReading: false, insertion: insertion, watched: watched, engine: engine)
        return conditional
    }
}
