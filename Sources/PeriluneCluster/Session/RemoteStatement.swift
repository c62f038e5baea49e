internal import CPeriluneCluster
internal import GRDBSQLite

/// A statement that runs in a cluster.
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
    weak var session: ClusterSession?

    /// The number of the connection for which `id` stands, and how often it has run there.
    var generation: UInt64 = 0
    var runs = 0
    /// What the node calls it, once it is prepared there.
    var id: UInt32?

    /// The same statement, if it inserts given rows and does nothing else, with a condition: where that is false, it inserts none.
    func inserting(where condition: String) -> RemoteStatement? {
        if let conditional { return conditional }
        guard let (before, rows) = StatementScan(sql).insertedRows else { return nil }
        conditional = RemoteStatement(
            sql: "\(before) SELECT * FROM (\(rows)) WHERE \(condition)", source: source, columnCount: 0, parameterCount: parameterCount,
            isReading: false, insertion: insertion, session: session)
        return conditional
    }

    private var conditional: RemoteStatement?

    enum Insertion {
        case none
        /// If it has changed a row, it has inserted one that has an id.
        case always
        /// It may have updated a row instead, or inserted one that has no id.
        case perhaps
    }

    init(sql: String, source: String, columnCount: Int, parameterCount: Int, isReading: Bool, insertion: Insertion, session: ClusterSession?) {
        (self.sql, self.source, self.columnCount, self.parameterCount) = (sql, source, columnCount, parameterCount)
        (self.isReading, self.insertion, self.session) = (isReading, insertion, session)
    }

    deinit {
        if let id { session?.finalizeLater(id, generation: generation) }
    }
}
