package import GRDB

/// What the files of migrations were when they ran, so that it is noticed when one is edited afterwards. Beside the table in which GRDB
/// keeps the names, and not in it, which is GRDB's.
package enum MigrationChecksums {
    /// The checksum of a file's contents.
    package static func checksum(of contents: some Sequence<UInt8>) -> String {
        SHA256.hash(contents)
    }

    /// Keeps the checksum of a migration, in the transaction in which it runs.
    ///
    /// - Parameter merges: The migrations that it replaces.
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
