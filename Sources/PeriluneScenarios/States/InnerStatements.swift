internal import CPeriluneRows
internal import Foundation
internal import GRDB

/// Recognition of inner statements, which virtual tables run on a script's connection as part of the script's statement, mainly for
/// full-text search.
///
/// The script itself runs no statements at that time, because its functions have no database access while SQLite calls them.
enum InnerStatements {
    /// Returns whether a starting statement is an inner statement.
    ///
    /// - Parameter text: The text with which SQLite reports the statement to the trace.
    static func include(_ statement: OpaquePointer, reportedAs text: UnsafeMutableRawPointer?) -> Bool {
        guard let text, let sql = sqlite3_sql(statement) else { return false }
        return isReportedAsInner(text.assumingMemoryBound(to: CChar.self), sql) || isRead(whileConnecting: sql)
    }

    /// Returns whether SQLite reports the statement as a comment, which marks a nested statement. Triggers are also reported as
    /// comments, but by their name.
    private static func isReportedAsInner(_ text: UnsafePointer<CChar>, _ sql: UnsafePointer<CChar>) -> Bool {
        strncmp(text, "-- ", 3) == 0 && strcmp(text + 3, sql) == 0
    }

    /// Returns whether a full-text table runs the statement to read its settings. SQLite does this while it compiles another statement, so
    /// the inner statement is not reported as nested.
    private static func isRead(whileConnecting sql: UnsafePointer<CChar>) -> Bool {
        strncmp(sql, "SELECT k, v FROM '", 18) == 0
    }
}
