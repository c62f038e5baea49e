package import GRDB

/// The checksums of migration files at the time when they ran, which reveal later edits. They are stored in a separate table, because the
/// table of applied migrations belongs to GRDB.
package enum MigrationChecksums {
    /// Returns the checksum of a file's contents.
    package static func checksum(of contents: some Sequence<UInt8>) -> String {
        SHA256.hash(contents)
    }

    /// Stores the checksum of a migration, in the transaction in which it runs.
    ///
    /// - Parameter merges: The names of the migrations that this one replaces.
    package static func keep(_ checksum: String, of name: String, merging merges: [String], in db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS main.\(OwnTables.checksums) (
                  identifier TEXT NOT NULL PRIMARY KEY, checksum TEXT NOT NULL)
                """)
        for merged in merges {
            try db.execute(sql: "DELETE FROM main.\(OwnTables.checksums) WHERE identifier = ?", arguments: [merged])
        }
        try db.execute(sql: "INSERT OR REPLACE INTO main.\(OwnTables.checksums) VALUES (?, ?)", arguments: [name, checksum])
    }
}
