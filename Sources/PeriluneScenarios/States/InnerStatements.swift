internal import CPeriluneRows
internal import Foundation
internal import GRDB

/// Statements that virtual tables, mainly for full-text search, run on a script's connection as part of its own statement.
///
/// The script runs no statements in the meantime: its functions have no database while SQLite calls them.
enum InnerStatements {
    /// Whether a statement that begins is one.
    ///
    /// - Parameter text: What SQLite reports it as.
    static func include(_ statement: OpaquePointer, reportedAs text: UnsafeMutableRawPointer?) -> Bool {
        guard let text, let sql = sqlite3_sql(statement) else { return false }
        return isReportedAsInner(text.assumingMemoryBound(to: CChar.self), sql) || isRead(whileConnecting: sql)
    }

    /// SQLite reports nested statements as comments. It also reports triggers so, but by name.
    private static func isReportedAsInner(_ text: UnsafePointer<CChar>, _ sql: UnsafePointer<CChar>) -> Bool {
        strncmp(text, "-- ", 3) == 0 && strcmp(text + 3, sql) == 0
    }

    /// A table of full-text search reads its settings when SQLite connects it, which is while a statement is compiled: inside of none.
    private static func isRead(whileConnecting sql: UnsafePointer<CChar>) -> Bool {
        strncmp(sql, "SELECT k, v FROM '", 18) == 0
    }
}
