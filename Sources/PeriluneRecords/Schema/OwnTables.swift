/// The tables in which Perilune and GRDB keep what they do, beside those of scripts. What is written there sets nothing off: an automation
/// would be triggered by the record of its own run.
package enum OwnTables {
    /// Which migrations a database has seen, by GRDB.
    package static let migrations = "grdb_migrations"
    /// The checksums of those that came from files.
    package static let checksums = "perilune_migration"
    package static let automationRuns = "perilune_automation_run"
    /// The last commit of each client of a cluster, and which program has which right there.
    private static let commits = "perilune_commit", leases = "perilune_lease"

    private static let names: Set<String> = [migrations, checksums, automationRuns, commits, leases]

    package static func contain(_ table: String) -> Bool {
        names.contains(table.foldedName)
    }
}
