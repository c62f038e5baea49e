internal import Glibc
package import GRDB
internal import GRDBSQLite

/// The collations that a schema uses but that the connection does not define, because they belong to an extension or a program.
package enum MissingCollations {
    /// Defines every missing collation as a comparison of bytes, so that schemas and rows can be read. Use it only on connections that do
    /// not write: they would sort indexes in an order that is wrong elsewhere.
    package static func substitute(on db: Database) {
        sqlite3_collation_needed(db.sqliteConnection, nil) { _, connection, _, name in
            sqlite3_create_collation_v2(
                connection, name, SQLITE_UTF8, nil,
                { _, count, bytes, otherCount, others in
                    let order = count == 0 || otherCount == 0 ? 0 : memcmp(bytes!, others!, Int(min(count, otherCount)))
                    return order != 0 ? order : count - otherCount
                }, nil)
        }
    }

    /// Returns the missing collations that indexes of the main database use.
    package static func names(in db: Database) throws -> [String] {
        let names = try String.fetchAll(
            db,
            sql: """
                SELECT DISTINCT x.coll FROM pragma_table_list AS t, pragma_index_list(t.name) AS i, pragma_index_xinfo(i.name) AS x
                WHERE t.schema = 'main' AND t.type = 'table' ORDER BY 1
                """)
        // PRAGMA collation_list also contains missing collations, so each name is tested with a statement.
        return names.filter { (try? db.makeStatement(sql: "SELECT '' = '' COLLATE \($0.quotedName)")) == nil }
    }
}
