/// What is kept of a statement for a connection to a node: how often it has run there, and what the node calls it once it is prepared.
final class PreparedStatement {
    private weak var connection: LeaderConnection?
    private(set) var runs = 0
    var id: UInt32?

    private init(_ connection: LeaderConnection) { self.connection = connection }

    deinit {
        if let id { connection?.finalizeLater(id) }
    }

    /// Finds what is kept of a statement for a connection, or begins to keep it.
    static func of(_ statement: RemoteStatement, on connection: LeaderConnection) -> PreparedStatement {
        if let kept = statement.preparation as? PreparedStatement, kept.connection === connection { return kept }
        let new = PreparedStatement(connection)
        statement.preparation = new
        return new
    }

    /// To be called when it is about to run.
    func noteRun() { runs += 1 }
}
