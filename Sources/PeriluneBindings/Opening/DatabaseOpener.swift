internal import GRDB
package import PeriluneLua

/// What a script may open besides the default database.
package struct DatabaseGrants: Sendable {
    /// Databases in files, and SQL that reaches files (`ATTACH`, `VACUUM INTO`).
    package var allowsFiles: Bool
    /// The folder that relative paths start from; `nil` means the process's current one.
    package var folder: String?

    package init(allowsFiles: Bool, folder: String? = nil) {
        self.allowsFiles = allowsFiles
        self.folder = folder
    }
}
