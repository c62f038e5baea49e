/// The changes of rows that a plan makes.
struct PlanChanges: Sendable {
    let changeset: ChangesetStream
    /// What is in these rows beside what changes.
    let seen: SeenRows
    /// What the changeset changes.
    let outline: ChangesetOutline
}
