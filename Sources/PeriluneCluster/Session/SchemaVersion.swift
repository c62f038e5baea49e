/// The version of the local schema, which shows whether another client has changed the cluster's schema.
final class SchemaVersion {
    static let question = "PRAGMA schema_version"

    private var known: Int64?
    /// Whether another client has changed the schema since the local schema was loaded.
    private(set) var isOutdated = false
    /// The time of the next check.
    private var check = Deadline(after: .zero)

    /// Whether a check of the cluster's schema version is due.
    var isDue: Bool { check.isOver }

    /// Records the version that the cluster reported.
    func note(_ version: Int64?) {
        isOutdated = version != known
        check = Deadline(after: .seconds(1))
    }

    /// Records that the local schema now has this version.
    func didLoad(_ version: Int64?) {
        known = version
        note(version)
    }

    /// Records that this client changed the schema both locally and in the cluster.
    func didChange(_ version: Int64?, from former: Int64?) { if former == known { known = version } }

    func didChange(_ version: Int64?) { known = version }

    /// Records that a statement's result did not match the local schema.
    func suspect() { (isOutdated, known) = (true, nil) }
}
