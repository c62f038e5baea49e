/// The changes of rows that a plan makes.
struct PlanChanges: Sendable {
    let changeset: ChangesetStream
    /// The seen values of these rows, in addition to the changes.
    let seen: SeenRows
    /// An outline of the changeset.
    let outline: ChangesetOutline
}
