/// The internal tables of Perilune and GRDB. Changes to them do not trigger automations: otherwise recording an automation's run would
/// trigger the automation again.
package enum OwnTables {
    /// The table in which GRDB records applied migrations.
    package static let migrations = "grdb_migrations"
    /// The table of checksums of migration files.
    package static let checksums = "perilune_migration"
    /// The table of the transactions of histories, whose rows are never deleted.
    package static let transactions = "perilune_transaction"
    package static let automationRuns = "perilune_automation_run"
    /// The table of row changes that trigger durable automations.
    package static let changes = "perilune_change"
    /// The tables of the last commit of each cluster client, and of the leases of programs.
    private static let commits = "perilune_commit", leases = "perilune_lease"

    /// The tables of durable automations and jobs, except the table of runs.
    private static let durable: Set<String> = [
        "perilune_schedule", "perilune_owner", "perilune_job", "perilune_job_queue", "perilune_once", "perilune_step",
        "perilune_signal",
        changes, "perilune_change_reader", "perilune_change_match",
    ]

    private static let names: Set<String> = durable.union([migrations, checksums, automationRuns, commits, leases])

    /// The tables in which the library records triggers, schedules and processes for its own use.
    private static let progress: Set<String> = [
        changes, "perilune_change_reader", "perilune_change_match", "perilune_owner", "perilune_schedule", commits,
        leases,
    ]

    /// The name prefix of triggers that record changes for durable automations.
    package static let triggerPrefix = "perilune_change_of_"

    /// Returns whether a schema object is internal, or belongs to an internal table.
    package static func own(_ name: String, of table: String) -> Bool {
        contain(table) || name.foldedName.hasPrefix(triggerPrefix)
    }

    /// Returns whether a table contains only the library's records of its progress, which reports of changes omit. Jobs, signals and runs
    /// are not omitted, because they are effects of scripts.
    package static func recordsProgress(_ table: String) -> Bool {
        progress.contains(table.foldedName)
    }

    package static func contain(_ table: String) -> Bool {
        names.contains(table.foldedName)
    }
}
