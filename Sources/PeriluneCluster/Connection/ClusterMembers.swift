internal import PeriluneRecords
/// The known nodes of a cluster and the last known leader.
struct ClusterMembers {
    private let database: ClusterAddress
    private let client = UInt64.random(in: 1...UInt64(Int64.max))
    /// The leader that the last search found.
    private(set) var leader: ServerAddress?
    /// The nodes that the last leader reported, voters first. They are needed because the servers that the program specified may
    /// all have been removed from the cluster.
    private var known: [ServerAddress] = []
    /// The time of the next request for the list of nodes.
    private var nextLook = Deadline(after: .zero)
    private static let lookInterval = Duration.seconds(60)

    init(_ database: ClusterAddress) { self.database = database }

    /// Connects to the leader.
    ///
    /// - Throws: ``ConnectionFailure``.
    mutating func connect(until deadline: Deadline, _ isCancelled: @escaping () -> Bool) throws -> NodeConnection {
        let search = LeaderSearch(database: database, client: client, isCancelled: isCancelled)
        let (found, reason) = try search.connect(trying: (leader.map { [$0] } ?? []) + database.servers + known, until: deadline)
        guard let found else { throw ConnectionFailure.lost(reason) }
        leader = found.address
        try look(on: found, until: deadline)
        return found
    }

    /// Asks the leader for the list of nodes if the last list is old, because nodes join and leave the cluster.
    mutating func refresh(on connection: NodeConnection, until deadline: Deadline) throws {
        if nextLook.isOver { try look(on: connection, until: deadline) }
    }

    private mutating func look(on connection: NodeConnection, until deadline: Deadline) throws {
        nextLook = Deadline(after: Self.lookInterval)
        let found: [(id: UInt64, name: String, role: UInt64)]
        do { found = try connection.servers(until: deadline) } catch is RemoteError { return }
        known = found.sorted { ($0.role, $0.name) < ($1.role, $1.name) }.compactMap { database.server(named: $0.name) }
    }
}
