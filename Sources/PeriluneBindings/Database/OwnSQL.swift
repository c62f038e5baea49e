internal import CPeriluneSQLite
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Statements that Perilune executes to prepare a connection for limits. They are hidden from traces.
package enum OwnSQL {
    /// Returns the statement with the mark that identifies it.
    package static func marked(_ sql: String) -> String { PSQL_OWN_SQL + sql }

    package static func contains(_ sql: String) -> Bool { sql.hasPrefix(PSQL_OWN_SQL) }

    /// - Parameter sql: A NUL-terminated statement.
    package static func contains(_ sql: UnsafePointer<CChar>) -> Bool { strncmp(sql, PSQL_OWN_SQL, PSQL_OWN_SQL.utf8.count) == 0 }
}
