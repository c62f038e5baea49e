internal import Foundation
internal import GRDB
internal import GRDBSQLite
internal import PeriluneRecords

/// A copy of the cluster's schema in the local shadow, whose tables stay empty except for the records of migrations.
struct ShadowSchema {
    let session: any RemoteSession

    /// Replaces the local schema with the cluster's schema. The connection must have no running statement.
    func load(into db: Database) throws {
        let version = try session.schemaVersion()
        let objects = try session.query(Self.question)
        let fresh = try DatabaseQueue()
        defer { try? fresh.close() }
        try fresh.writeWithoutTransaction { scratch in
            try scratch.execute(sql: "PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON")
            // Skip objects that cannot be created locally, such as virtual tables of a missing module.
            for object in objects { if let sql = object[1].text { try? scratch.execute(sql: sql) } }
            for name in [OwnTables.migrations, OwnTables.checksums] where objects.contains(where: { $0[0].text == name }) {
                try copyRows(of: name, into: scratch)
            }
            try Self.copy(scratch, to: db)
        }
        db.clearSchemaCache()
        session.didLoadSchema(version, objects: Set(objects.compactMap { $0[0].text }))
    }

    /// The query for the names and SQL of all schema objects in the order of their creation: tables, indexes, views, triggers.
    /// Leaves out the shadow tables of virtual tables.
    private static let question = """
        SELECT name, sql FROM sqlite_schema
        WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite@_%' ESCAPE '@'
        AND name NOT IN (SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'shadow')
        ORDER BY CASE type WHEN 'table' THEN 1 WHEN 'index' THEN 2 WHEN 'view' THEN 3 ELSE 4 END, rowid
        """

    /// Copies the rows of a table that records migrations, because GRDB reads the applied migrations from the shadow.
    private func copyRows(of table: String, into db: Database) throws {
        for row in try session.query("SELECT * FROM \(table)") {
            let places = row.map { _ in "?" }.joined(separator: ", ")
            try db.execute(
                sql: "INSERT INTO \(table) VALUES (\(places))", arguments: StatementArguments(row.map(\.databaseValue)))
        }
    }

    private static func copy(_ source: Database, to target: Database) throws {
        guard let backup = sqlite3_backup_init(target.sqliteConnection, "main", source.sqliteConnection, "main") else {
            throw DatabaseError(resultCode: ResultCode(rawValue: sqlite3_errcode(target.sqliteConnection)))
        }
        let code = sqlite3_backup_step(backup, -1), end = sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE, end == SQLITE_OK else {
            throw DatabaseError(resultCode: ResultCode(rawValue: code == SQLITE_DONE ? end : code))
        }
    }
}

extension RemoteValue {
    fileprivate var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let value): value.databaseValue
        case .number(let value): value.databaseValue
        case .text(let value): value.databaseValue
        case .blob(let bytes): Data(bytes).databaseValue
        }
    }
}
