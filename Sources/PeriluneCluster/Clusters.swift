internal import GRDB
internal import PeriluneRecords

/// Databases in clusters of dqlite nodes.
///
/// A program that depends on the product PeriluneCluster makes them available when it starts. A program without the product contains
/// neither sockets nor the protocol, and opening such a database fails.
///
/// ```swift
/// import PeriluneCluster
///
/// Clusters.enable()
/// ```
public enum Clusters {
    /// Makes databases in clusters available to all hosts and scripts of this process. May be called several times.
    public static func enable() { DatabasePlaces.register(DqliteConnector()) }
}

/// The opener of databases in clusters.
private struct DqliteConnector: ClusterConnector {
    func open(
        _ address: ClusterAddress, timeout: Duration, configuration: Configuration, isCancelled: @escaping () -> Bool
    ) throws -> DatabaseQueue {
        try ClusterDatabase.asDatabaseErrors {
            try ClusterDatabase.open(address, timeout: timeout, configuration: configuration, isCancelled: isCancelled)
        }
    }
}
