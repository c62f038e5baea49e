/// What `migrate` is asked to do.
struct MigrationRequest: Sendable {
    var folder: String
    /// The file of the database.
    var database: String
    /// The last migration to run; `nil` for all.
    var target: String?
    /// Whether a copy is migrated, which is thrown away.
    var isDryRun = false
    /// How the report is written of what would change, on a copy as well; `nil`: no report is asked for.
    var preview: PreviewFormat?
    /// Whether the database is copied before it is changed.
    var makesBackup = true
}
