internal import PeriluneRecords
/// A search for the cluster's leader.
struct LeaderSearch {
    let database: ClusterAddress
    let client: UInt64
    let isCancelled: () -> Bool
    /// The time limit for one node. A stopped node still accepts connections but never answers.
    static let patience = Duration.seconds(1)

    /// Connects to the leader. Tries the candidates in order, and the leaders that they name.
    ///
    /// - Parameter candidates: The addresses of nodes, the most likely leader first.
    /// - Returns: The connection, or `nil` and the reason if no leader was found.
    /// - Throws: ``ConnectionFailure`` if the deadline passes or the script must end.
    func connect(trying candidates: [ServerAddress], until deadline: Deadline) throws -> (NodeConnection?, reason: String) {
        var tried: Set<String> = [], queue = candidates, reason = "no node answers"
        while !queue.isEmpty {
            let address = queue.removeFirst()
            guard tried.insert(address.name).inserted else { continue }
            do {
                let connection = try NodeConnection(
                    address, until: Deadline(after: Self.patience).earlier(deadline), isCancelled: isCancelled)
                switch try connection.open(database.name, client: client, until: Deadline(after: Self.patience).earlier(deadline))
                {
                case .opened: return (connection, "")
                case .elsewhere(let leader?):
                    if let next = database.server(named: leader), !tried.contains(leader) { queue.insert(next, at: 0) }
                case .elsewhere(nil): reason = "the nodes are choosing a leader"
                }
            } catch ConnectionFailure.cancelled {
                throw ConnectionFailure.cancelled
            } catch let error as RemoteError {
                reason = "\(address): \(error.message)"
            } catch ConnectionFailure.lost(let text) {
                reason = "\(address): \(text)"
            } catch ConnectionFailure.deadline {
                if deadline.isOver { throw ConnectionFailure.deadline }
                reason = "\(address): it does not answer"
            }
        }
        return (nil, reason)
    }
}
