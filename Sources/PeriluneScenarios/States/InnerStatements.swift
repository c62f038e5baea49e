internal import CPeriluneRows
internal import Foundation
internal import GRDB

/// The recognition of statements that virtual tables, mainly for full-text search, run on a script's connection as part of the
/// script's statement.
///
/// The script runs no statements at that time: its functions have no database while SQLite calls them.
enum InnerStatements {
    /// Returns whether a statement that begins is part of another statement.
    ///
    /// - Parameter text: The text by which SQLite reports the statement.
    static func include(_ statement: OpaquePointer, reportedAs text: UnsafeMutableRawPointer?) -> Bool {
        guard let text, let sql = sqlite3_sql(statement) else { return false }
        return isReportedAsInner(text.assumingMemoryBound(to: CChar.self), sql) || isRead(whileConnecting: sql)
    }

    /// Returns whether SQLite reports the statement as a comment, which marks a nested statement. Triggers are also reported as
    /// comments, but by their name.
    private static func isReportedAsInner(_ text: UnsafePointer<CChar>, _ sql: UnsafePointer<CChar>) -> Bool {
        strncmp(text, "-- ", 3) == 0 && strcmp(text + 3, sql) == 0
    }

    /// Returns whether a full-text table runs the statement to read its settings. This happens while another statement is
    /// compiled, so it is not reported as nested.
    private static func isRead(whileConnecting sql: UnsafePointer<CChar>) -> Bool {
        strncmp(sql, "SELECT k, v FROM '", 18) == 0
    }
}
