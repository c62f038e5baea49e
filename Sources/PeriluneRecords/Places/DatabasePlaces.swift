package import GRDB
internal import Synchronization

/// A connector that opens databases in clusters. PeriluneCluster contains the only implementation, which a program must
/// register.
package protocol ClusterConnector: Sendable {
    /// Connects to a database and reads its schema.
    ///
    /// - Parameters:
    ///   - timeout: The time limit for the first connection, and later for each statement, start of a transaction, and commit.
    ///   - configuration: The configuration of the local database. If it is read-only, writes are rejected.
    ///   - isCancelled: Returns whether the script that waits should end.
    /// - Returns: A local database that represents the one in the cluster. ``DatabasePlaces`` returns its place.
    /// - Throws: ``ClusterFailure``.
    func open(
        _ address: ClusterAddress, timeout: Duration, configuration: Configuration, isCancelled: @escaping () -> Bool
    ) throws -> DatabaseQueue
}

/// The places of the databases of this process.
package enum DatabasePlaces {
    private static let registry = Mutex(Registry())
    private static let connector = Mutex<(any ClusterConnector)?>(nil)
    /// Whether any database is in a cluster. If not, lookups return immediately.
    private static let hasAny = Atomic<Bool>(false)

    /// Returns the place of a database.
    package static func of(_ writer: any DatabaseWriter) -> any DatabasePlace {
        guard hasAny.load(ordering: .relaxed), let queue = writer as? DatabaseQueue else { return here }
        return registry.withLock { $0.elsewhere.first { $0.queue === queue }?.place } ?? here
    }

    /// Returns the place of a connection.
    package static func of(_ db: Database) -> any DatabasePlace {
        guard hasAny.load(ordering: .relaxed) else { return here }
        let identity = ObjectIdentifier(db)
        return registry.withLock { $0.elsewhere.first { $0.connection.map(ObjectIdentifier.init) == identity }?.place } ?? here
    }

    /// Registers a place other than this process. The registry refers to it weakly.
    package static func add(_ place: any DatabasePlace, of queue: DatabaseQueue, _ connection: Database) {
        let entry = Registry.Entry(place: place, queue: queue, connection: connection)
        registry.withLock { registry in
            registry.elsewhere.removeAll { $0.place == nil }
            registry.elsewhere.append(entry)
        }
        hasAny.store(true, ordering: .relaxed)
    }

    private struct Registry {
        var elsewhere: [Entry] = []

        struct Entry: Sendable {
            weak var place: (any DatabasePlace)?
            weak var queue: DatabaseQueue?
            /// A reference that is only compared, never accessed.
            nonisolated(unsafe) weak var connection: Database?
        }
    }

    // MARK: - Clusters

    /// Enables clusters in this process.
    package static func register(_ connector: any ClusterConnector) { self.connector.withLock { $0 = connector } }

    /// Opens a database in a cluster.
    ///
    /// - Throws: ``ClusterFailure``.
    package static func open(
        _ address: ClusterAddress, timeout: Duration, configuration: Configuration,
        isCancelled: @escaping () -> Bool = { false }
    ) throws -> DatabaseQueue {
        guard let connector = connector.withLock({ $0 }) else {
            throw ClusterFailure(
                .unreachable,
                "this program was built without clusters; add the product PeriluneCluster to it, and call Clusters.enable() "
                    + "when it starts"
            )
        }
        return try connector.open(address, timeout: timeout, configuration: configuration, isCancelled: isCancelled)
    }

    /// Opens the cluster database at a URL.
    ///
    /// - Throws: ``ClusterFailure``.
    package static func open(url: String, configuration: Configuration = Configuration()) throws -> DatabaseQueue {
        let address = try ClusterAddress(url: url)
        return try open(address, timeout: address.timeout ?? ClusterAddress.usualTimeout, configuration: configuration)
    }

    /// Copies the whole cluster database at a URL into another database.
    ///
    /// - Throws: ``ClusterFailure``; a GRDB error.
    package static func copy(of url: String, into target: any DatabaseWriter) throws {
        let queue = try open(url: url)
        try of(queue).withContents(of: queue) { try $0.backup(to: target) }
    }
}
