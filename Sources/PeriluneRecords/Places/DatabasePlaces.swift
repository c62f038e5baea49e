package import GRDB
internal import Synchronization

/// Opens databases in clusters. A program that wants clusters registers the only implementation, in PeriluneCluster.
package protocol ClusterConnector: Sendable {
    /// Connects and reads the schema.
    ///
    /// - Parameters:
    ///   - timeout: The time limit of the first connection, a statement, the start of a transaction, or a commit.
    ///   - configuration: The configuration of the local database. A read-only one refuses writes.
    ///   - isCancelled: Whether the waiting script is to end.
    /// - Returns: A local database that represents the one in the cluster; ``DatabasePlaces`` has its place.
    /// - Throws: ``ClusterFailure``.
    func open(
        _ address: ClusterAddress, timeout: Duration, configuration: Configuration, isCancelled: @escaping () -> Bool
    ) throws -> DatabaseQueue
}

/// The places of the databases of this process.
package enum DatabasePlaces {
    private static let registry = Mutex(Registry())
    private static let connector = Mutex<(any ClusterConnector)?>(nil)
    /// Whether a database is elsewhere. If not, lookups return at once.
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

    /// Adds a place other than this process, which is kept as long as something else refers to it.
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
            /// Only its identity is read.
            nonisolated(unsafe) weak var connection: Database?
        }
    }

    // MARK: - Clusters

    /// Makes databases in clusters available to this process.
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

    /// Opens the database of a URL.
    ///
    /// - Throws: ``ClusterFailure``.
    package static func open(url: String, configuration: Configuration = Configuration()) throws -> DatabaseQueue {
        let address = try ClusterAddress(url: url)
        return try open(address, timeout: address.timeout ?? ClusterAddress.usualTimeout, configuration: configuration)
    }

    /// Copies the whole database of a URL into another database.
    ///
    /// - Throws: ``ClusterFailure``; a GRDB error.
    package static func copy(of url: String, into target: any DatabaseWriter) throws {
        let queue = try open(url: url)
        try of(queue).withContents(of: queue) { try $0.backup(to: target) }
    }
}
