internal import Glibc
package import GRDB
internal import GRDBSQLite

/// Collations that a schema uses but nothing defines, because they belong to an extension or a program.
package enum MissingCollations {
    /// Gives each of them the order of bytes, so that schemas and rows can be read. For connections that write nothing: an index would
    /// get an order that it does not have elsewhere.
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

    /// The names of missing collations that indexes of the main database need.
    package static func names(in db: Database) throws -> [String] {
        let names = try String.fetchAll(
            db,
            sql: """
                SELECT DISTINCT x.coll FROM pragma_table_list AS t, pragma_index_list(t.name) AS i, pragma_index_xinfo(i.name) AS x
                WHERE t.schema = 'main' AND t.type = 'table' ORDER BY 1
                """)
        // The list of collations contains missing ones too.
        return names.filter { (try? db.makeStatement(sql: "SELECT '' = '' COLLATE \($0.quotedName)")) == nil }
    }
}
