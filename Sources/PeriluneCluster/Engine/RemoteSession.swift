internal import PeriluneRecords
/// A connection to a remote database that a ``ClusterDatabase`` represents locally. The only implementation is ``ClusterSession``,
/// for dqlite.
protocol RemoteSession: RemoteEngine {
    var local: LocalConnection { get set }
    /// Returns whether the waiting script must end.
    var isCancelled: () -> Bool { get set }
    /// Called with the reason for a failure, in addition to SQLite's error.
    var onFailure: (ClusterFailure) -> Void { get set }

    /// Runs a query without parameters.
    func query(_ sql: String) throws -> [[RemoteValue]]
    /// Runs SQL without parameters, such as schema changes and savepoints, in the open transaction or else in a separate one.
    func execute(_ sql: String, changesSchema: Bool) throws

    // Functions for statements that are sent ahead.

    /// The number of rows that the last statement changed. The row path reads it.
    var changes: UnsafeMutablePointer<Int64> { get }
    /// The number of statements sent ahead that failed. The row path reads it.
    var failuresAhead: UnsafeMutablePointer<Int64> { get }
    /// Allows the next statement to be sent ahead, without waiting for its response, if it inserts rows in a transaction.
    ///
    /// - Parameter changes: The expected number of changed rows. With 0, the statement is not sent ahead.
    func expect(changes: Int64, rowID: Int64?)
    /// Receives all outstanding responses to statements sent ahead.
    ///
    /// - Throws: ``ClusterFailure`` if the transaction is lost.
    func settleAhead() throws

    // Functions for the schema.

    /// Whether another client is known to have changed the schema since it was loaded.
    var isSchemaOutdated: Bool { get }
    /// Whether a check for schema changes by other clients is due.
    var wantsSchemaCheck: Bool { get }
    /// Checks whether another client has changed the schema.
    func checkSchema() throws
    func schemaVersion() throws -> Int64?
    /// Records that the local schema was loaded.
    ///
    /// - Parameters:
    ///   - version: The schema version, which must have been read before the schema.
    ///   - objects: The names of all objects in the schema.
    func didLoadSchema(_ version: Int64?, objects: Set<String>)

    // Functions for the whole database.

    /// Returns the SQLite files of the database: the database and its write-ahead log.
    func dump() throws -> [(name: String, bytes: [UInt8])]
    /// The name of the last known leader.
    var leader: String? { get }
    /// Returns the nodes of the cluster.
    func servers() throws -> [(id: UInt64, name: String, role: UInt64)]
}
