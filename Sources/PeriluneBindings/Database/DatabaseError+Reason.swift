internal import CPeriluneRows
package import GRDB
internal import GRDBSQLite

/// Descriptions of SQLite errors.
extension DatabaseError {
    /// SQLite's message. If the database cannot be opened read-only, an explanation with a solution.
    package var reason: String {
        pdb_readonly_reason(extendedResultCode.rawValue).map { String(cString: $0) } ?? messageOfCode
    }

    /// SQLite's message, or the generic message of the error code if the connection has no message, for example after a failed
    /// backup step.
    var messageOfCode: String {
        if let message, message != "not an error" { return message }
        return sqlite3_errstr(extendedResultCode.rawValue).map { String(cString: $0) } ?? "\(resultCode)"
    }

    /// Returns this error with the path of the opened file added to its message.
    func opening(_ path: String?) -> DatabaseError {
        DatabaseError(
            resultCode: extendedResultCode, message: "cannot open the database \(path ?? ":memory:"): \(reason)", sql: nil,
            arguments: nil)
    }
}
