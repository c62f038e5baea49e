internal import CPeriluneRows
package import GRDB

/// What errors of SQLite tell people.
extension DatabaseError {
    /// What SQLite says; of a database that who only reads cannot read, why, and what to do.
    package var reason: String {
        pdb_readonly_reason(extendedResultCode.rawValue).map { String(cString: $0) } ?? message ?? "\(resultCode)"
    }

    /// The error of opening a file, whose message names it.
    func opening(_ path: String?) -> DatabaseError {
        DatabaseError(
            resultCode: extendedResultCode, message: "cannot open the database \(path ?? ":memory:"): \(reason)", sql: nil, arguments: nil)
    }
}
