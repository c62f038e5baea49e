internal import GRDB
internal import PeriluneRecords

/// The migrations of a cluster database. GRDB runs migrations on the local connection and records their names there. These
/// functions also record the names in the cluster, within each migration's transaction.
extension ClusterDatabase {
    func migrating<Result>(
        _ writer: any DatabaseWriter, forget: (Database) throws -> Void, _ body: () throws -> Result
    ) throws -> Result {
        try writer.writeWithoutTransaction { db in
            try forget(db)
            try Self.asDatabaseErrors { try load(into: db) }
        }
        defer { writer.writeWithoutTransaction { _ in endAccess() } }
        return try body()
    }

    /// - Throws: ``ClusterFailure`` of kind `moved` if another client has already run the migration.
    func begin(migration name: String) throws {
        try Self.asDatabaseErrors {
            try session.begin(.immediate)
            let hasTable = try !session.query("SELECT 1 FROM sqlite_schema WHERE name = '\(OwnTables.migrations)'").isEmpty
            let isApplied =
                try hasTable
                && !session.query("SELECT 1 FROM \(OwnTables.migrations) WHERE identifier = \(name.sqlLiteral)").isEmpty
            guard !isApplied, !isOutdated else {
                throw ClusterFailure(.moved, "another client has migrated the database in the meantime; run the migrations again")
            }
        }
    }

    func keep(migration name: String, checksum: String?, merging merges: [String]) throws {
        let names = merges.map(\.sqlLiteral).joined(separator: ", ")
        var sql = ["CREATE TABLE IF NOT EXISTS \(OwnTables.migrations) (identifier TEXT NOT NULL PRIMARY KEY)"]
        if !merges.isEmpty { sql.append("DELETE FROM \(OwnTables.migrations) WHERE identifier IN (\(names))") }
        sql.append("INSERT INTO \(OwnTables.migrations) (identifier) VALUES (\(name.sqlLiteral))")
        if let checksum {
            sql.append(
                "CREATE TABLE IF NOT EXISTS \(OwnTables.checksums) (identifier TEXT NOT NULL PRIMARY KEY, checksum TEXT NOT NULL)"
            )
            if !merges.isEmpty { sql.append("DELETE FROM \(OwnTables.checksums) WHERE identifier IN (\(names))") }
            sql.append("INSERT OR REPLACE INTO \(OwnTables.checksums) VALUES (\(name.sqlLiteral), \(checksum.sqlLiteral))")
        }
        try Self.asDatabaseErrors { try session.execute(sql.joined(separator: "; "), changesSchema: true) }
    }

    /// Checks foreign keys in the cluster, because the local database has no rows.
    ///
    /// - Throws: ``ForeignKeyError``.
    func checkForeignKeys(_ checkHere: () throws -> Void) throws {
        let question = "SELECT \"table\", rowid, parent FROM pragma_foreign_key_check LIMIT 101"
        let found = try Self.asDatabaseErrors { try session.query(question) }.map { row in
            ForeignKeyError.Violation(table: row[0].text ?? "", rowID: row[1].integer, referencedTable: row[2].text ?? "")
        }
        if !found.isEmpty { throw ForeignKeyError(found) }
    }
}

extension String {
    /// The string as an SQL literal.
    fileprivate var sqlLiteral: String { "'" + replacing("'", with: "''") + "'" }
}
