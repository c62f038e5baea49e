internal import CPeriluneSQLite

/// Statements that Perilune executes to prepare a connection for limits, which no trace shows.
package enum OwnSQL {
    package static func contains(_ sql: String) -> Bool { sql.hasPrefix(PSQL_OWN_SQL) }
}
