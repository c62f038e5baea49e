internal import CPeriluneRows
package import GRDB
internal import GRDBSQLite

/// What errors of SQLite tell people.
extension DatabaseError {
    /// SQLite's message; for a database that cannot be read without writing to its files, the cause and what to do.
    package var reason: String {
        pdb_readonly_reason(extendedResultCode.rawValue).map { String(cString: $0) } ?? messageOfCode
    }

    /// SQLite's message. The step of a copy that fails leaves none on the connection: then it is the one of the code.
    var messageOfCode: String {
        if let message, message != "not an error" { return message }
        return sqlite3_errstr(extendedResultCode.rawValue).map { String(cString: $0) } ?? "\(resultCode)"
    }

    /// The error of opening a file, whose message names it.
    func opening(_ path: String?) -> DatabaseError {
        DatabaseError(
            resultCode: extendedResultCode, message: "cannot open the database \(path ?? ":memory:"): \(reason)", sql: nil, arguments: nil)
    }
}
