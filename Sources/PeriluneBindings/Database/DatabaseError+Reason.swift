internal import CPeriluneRows
package import GRDB
internal import GRDBSQLite

/// Descriptions of SQLite errors.
extension DatabaseError {
    /// SQLite's message, or a cause and a solution if a database cannot be read without writing to its files.
    package var reason: String {
        pdb_readonly_reason(extendedResultCode.rawValue).map { String(cString: $0) } ?? messageOfCode
    }

    /// SQLite's message. A failed step of a copy leaves none on the connection; then it is the message of the code.
    var messageOfCode: String {
        if let message, message != "not an error" { return message }
        return sqlite3_errstr(extendedResultCode.rawValue).map { String(cString: $0) } ?? "\(resultCode)"
    }

    /// Returns the error of opening a file, with the path in its message.
    func opening(_ path: String?) -> DatabaseError {
        DatabaseError(
            resultCode: extendedResultCode, message: "cannot open the database \(path ?? ":memory:"): \(reason)", sql: nil,
            arguments: nil)
    }
}
