internal import CPeriluneSQLite
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// SQL that Perilune executes for internal purposes. A mark hides such statements from traces.
package enum OwnSQL {
    /// Returns the SQL with the mark that identifies internal statements.
    package static func marked(_ sql: String) -> String { PSQL_OWN_SQL + sql }

    /// - Parameter sql: A statement. SQLite reports statements with values that run inside another statement as comments.
    package static func contains(_ sql: String) -> Bool { sql.hasPrefix(PSQL_OWN_SQL) || sql.hasPrefix("-- " + PSQL_OWN_SQL) }

    /// - Parameter sql: A NUL-terminated statement.
    package static func contains(_ sql: UnsafePointer<CChar>) -> Bool { strncmp(sql, PSQL_OWN_SQL, PSQL_OWN_SQL.utf8.count) == 0 }
}
