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
        let isClosed = resultCode == .SQLITE_CANTOPEN
        let cause = path.flatMap { isClosed ? Self.missingFolder(of: $0) ?? Self.missingPermission(for: $0) : nil } ?? reason
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

    /// Returns an explanation if this user may not read a file, or not create a missing one, for which SQLite has no error code.
    package static func missingPermission(for path: String) -> String? {
        guard !path.hasPrefix("file:") else { return nil }
        if access(path, F_OK) == 0 {
            return access(path, R_OK) == 0 ? nil : "Permission denied: this user may not read the file"
        }
        let folder = URL(filePath: path).deletingLastPathComponent().path
        guard errno == ENOENT, access(folder, F_OK) == 0, access(folder, W_OK) != 0 else { return nil }
        return "Permission denied: this user may not create files in \(folder)"
    }
}
