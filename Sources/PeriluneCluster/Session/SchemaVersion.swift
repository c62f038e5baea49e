/// The version of the schema that is known here, and what the cluster has said of it.
final class SchemaVersion {
    static let question = "PRAGMA schema_version"

    private var known: Int64?
    /// Whether another client has changed the schema since.
    private(set) var isOutdated = false
    /// When it was last found to be current.
    private var check = Deadline(after: .zero)

    /// Whether it is time to ask for it.
    var isDue: Bool { check.isOver }

    /// To be called with what the cluster has answered.
    func note(_ version: Int64?) {
        isOutdated = version != known
        check = Deadline(after: .seconds(1))
    }

    /// To be called when the schema here is that of a version.
    func didLoad(_ version: Int64?) {
        known = version
        note(version)
    }

    /// To be called when this client has changed the schema, here and in the cluster.
    func didChange(_ version: Int64?, from former: Int64?) { if former == known { known = version } }

    func didChange(_ version: Int64?) { known = version }

    /// To be called when a statement has found something else than the schema here says.
    func suspect() { (isOutdated, known) = (true, nil) }
}
