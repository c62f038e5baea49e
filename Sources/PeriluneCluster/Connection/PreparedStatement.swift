/// The preparation state of a statement on a connection: the number of runs, and the id on the node if the statement is prepared.
final class PreparedStatement {
    private weak var connection: LeaderConnection?
    private(set) var runs = 0
    var id: UInt32?

    private init(_ connection: LeaderConnection) { self.connection = connection }

    deinit {
        if let id { connection?.finalizeLater(id) }
    }

    /// Returns the preparation state of a statement on a connection. Creates it on first use.
    static func of(_ statement: RemoteStatement, on connection: LeaderConnection) -> PreparedStatement {
        if let kept = statement.preparation as? PreparedStatement, kept.connection === connection { return kept }
        let new = PreparedStatement(connection)
        statement.preparation = new
        return new
    }

    /// Counts a run. Called before the run starts.
    func noteRun() { runs += 1 }
}
