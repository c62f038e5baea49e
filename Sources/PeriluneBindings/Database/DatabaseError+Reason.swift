internal import CPeriluneRows
internal import Foundation
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
        let cause = path.flatMap { resultCode == .SQLITE_CANTOPEN ? Self.missingFolder(of: $0) : nil } ?? reason
        return DatabaseError(
            resultCode: extendedResultCode, message: "cannot open the database \(path ?? ":memory:"): \(cause)", sql: nil,
            arguments: nil)
    }

    /// Returns an explanation if the folder of a file is missing, for which SQLite has no error code.
    private static func missingFolder(of path: String) -> String? {
        let folder = URL(filePath: path).deletingLastPathComponent().path
        guard !path.hasPrefix("file:"), !FileManager.default.fileExists(atPath: folder) else { return nil }
        return "the folder \(folder) does not exist"
    }
}
