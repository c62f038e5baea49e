internal import PeriluneRecords
/// A connection to one database of a remote service, with everything that ``ClusterDatabase`` needs to represent it locally. The only
/// implementation is ``ClusterSession``, for dqlite.
protocol RemoteSession: RemoteEngine {
    var local: LocalConnection { get set }
    /// Whether the waiting script is to end.
    var isCancelled: () -> Bool { get set }
    /// Receives the reason of a failure, in addition to SQLite's error.
    var onFailure: (ClusterFailure) -> Void { get set }

    /// Runs a reading query without values.
    func query(_ sql: String) throws -> [[RemoteValue]]
    /// Runs SQL without values, in the open transaction or in one of its own: schema changes and savepoints.
    func execute(_ sql: String, changesSchema: Bool) throws

    // Statements that are sent ahead.

    /// The number of rows that the last statement has changed, read by the row path.
    var changes: UnsafeMutablePointer<Int64> { get }
    /// The number of failed statements sent ahead, read by the row path.
    var failuresAhead: UnsafeMutablePointer<Int64> { get }
    /// Makes the next statement be sent without waiting for its response, if it inserts rows in a transaction.
    ///
    /// - Parameter changes: The expected number of rows; 0 to wait as usual.
    func expect(changes: Int64, rowID: Int64?)
    /// Receives the responses to statements sent ahead.
    ///
    /// - Throws: ``ClusterFailure`` if the transaction is lost.
    func settleAhead() throws

    // The schema.

    /// Whether the local schema is known to be outdated.
    var isSchemaOutdated: Bool { get }
    /// Whether it is time to check for schema changes by other clients.
    var wantsSchemaCheck: Bool { get }
    /// Checks whether another client has changed the schema.
    func checkSchema() throws
    func schemaVersion() throws -> Int64?
    /// Records that the local schema has been loaded.
    ///
    /// - Parameters:
    ///   - version: The version that was read before the schema.
    ///   - objects: The names of all objects.
    func didLoadSchema(_ version: Int64?, objects: Set<String>)

    // The whole database.

    /// Returns the database and its log as SQLite files.
    func dump() throws -> [(name: String, bytes: [UInt8])]
    /// The name of the last known leader.
    var leader: String? { get }
    /// Returns the nodes of the service.
    func servers() throws -> [(id: UInt64, name: String, role: UInt64)]
}
