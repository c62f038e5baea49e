/// The options of `migrate`.
struct MigrationRequest: Sendable {
    var folder: String
    /// The database file.
    var database: String
    /// The paths of SQLite extensions.
    var extensions: [String] = []
    /// The last migration to run; `nil` to run all. When undoing, the last migration to keep; `nil` to undo only one.
    var target: String?
    /// Whether to undo migrations.
    var isDown = false
    /// Whether to migrate a temporary copy.
    var isDryRun = false
    /// The format of a report on the changes, which are then made to a copy; `nil` for no report.
    var preview: PreviewFormat?
    /// Whether to back up the database first.
    var makesBackup = true
    /// Advice if the folder does not exist.
    var helpOnMissingFolder: String?
}
