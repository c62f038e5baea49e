/// The internal tables of Perilune and GRDB. Changes in these tables trigger nothing: otherwise recording the run of an automation would
/// trigger the automation again.
package enum OwnTables {
    /// The applied migrations, recorded by GRDB.
    package static let migrations = "grdb_migrations"
    /// The checksums of migrations from files.
    package static let checksums = "perilune_migration"
    package static let automationRuns = "perilune_automation_run"
    /// The last commit of each client of a cluster, and the leases of programs.
    private static let commits = "perilune_commit", leases = "perilune_lease"

    /// The tables of automations and jobs, except their runs.
    private static let durable: Set<String> = [
        "perilune_schedule", "perilune_owner", "perilune_job", "perilune_job_queue", "perilune_once", "perilune_step",
        "perilune_signal",
        "perilune_change", "perilune_change_reader", "perilune_change_match",
    ]

    private static let names: Set<String> = durable.union([migrations, checksums, automationRuns, commits, leases])

    /// The name prefix of the triggers that record table changes for durable automations.
    package static let triggerPrefix = "perilune_change_of_"

    /// Returns whether a schema object is one of Perilune's own, or belongs to such a table.
    package static func own(_ name: String, of table: String) -> Bool {
        contain(table) || name.foldedName.hasPrefix(triggerPrefix)
    }

    package static func contain(_ table: String) -> Bool {
        names.contains(table.foldedName)
    }
}
