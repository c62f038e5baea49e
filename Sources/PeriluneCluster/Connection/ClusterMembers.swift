/// The nodes of a cluster, as far as they are known, and which of them leads.
struct ClusterMembers {
    private let database: ClusterAddress
    private let client = UInt64.random(in: 1...UInt64(Int64.max))
    /// The node that led when it was last looked for.
    private(set) var leader: ServerAddress?
    /// Voters first, as the last leader has named them: those that the program has named may all be gone one day.
    private var known: [ServerAddress] = []
    /// When the leader is asked for them again.
    private var nextLook = Deadline(after: .zero)
    private static let lookInterval = Duration.seconds(60)

    init(_ database: ClusterAddress) { self.database = database }

    /// Connects to the node that leads.
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

    /// Asks the leader for the nodes now and then, because they come and go while it leads.
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
