/// What `migrate` is asked to do.
struct MigrationRequest: Sendable {
    var folder: String
    /// The file of the database.
    var database: String
    /// The paths of SQLite extensions.
    var extensions: [String] = []
    /// The last migration to run; `nil` for all. When migrations are undone, the last one that stays; `nil` for all but one.
    var target: String?
    /// Whether migrations are undone.
    var isDown = false
    /// Whether a copy is migrated, which is thrown away.
    var isDryRun = false
    /// How the report is written of what would change, on a copy as well; `nil`: no report is asked for.
    var preview: PreviewFormat?
    /// Whether the database is copied before it is changed.
    var makesBackup = true
}
