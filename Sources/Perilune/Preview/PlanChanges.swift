/// The row changes of a plan.
struct PlanChanges: Sendable {
    let changeset: ChangesetStream
    /// The unchanged columns of the updated rows, which the changeset omits.
    let seen: SeenRows
    /// The number of changes of each table.
    let outline: ChangesetOutline
}
