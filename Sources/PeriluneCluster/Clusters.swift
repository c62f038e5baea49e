internal import GRDB
internal import PeriluneRecords

/// Support for databases in clusters of dqlite nodes.
///
/// A program that depends on the product PeriluneCluster enables this support when it starts. A program without the product
/// contains no code for sockets or the wire protocol, and cannot open such databases.
///
/// ```swift
/// import PeriluneCluster
///
/// Clusters.enable()
/// ```
public enum Clusters {
    /// Makes cluster databases available to all hosts and scripts in this process. Repeated calls have no effect.
    public static func enable() { DatabasePlaces.register(DqliteConnector()) }
}

/// The connector that opens cluster databases through dqlite.
private struct DqliteConnector: ClusterConnector {
    func open(
        _ address: ClusterAddress, timeout: Duration, configuration: Configuration, isCancelled: @escaping () -> Bool
    ) throws -> DatabaseQueue {
        try ClusterDatabase.asDatabaseErrors {
            try ClusterDatabase.open(address, timeout: timeout, configuration: configuration, isCancelled: isCancelled)
        }
    }
}
