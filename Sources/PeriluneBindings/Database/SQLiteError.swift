internal import CPeriluneRows
internal import GRDB
internal import PeriluneLua

/// An error of SQLite that scripts see as that of a statement: with its codes, its SQL, and what it is about.
struct SQLiteError: LuaErrorPushing {
    let error: DatabaseError
    /// Where in the text SQLite has found the mistake; -1 if it does not know.
    var offset: CInt = -1

    var underlying: any Error { error }

    func pushErrorObject(on L: OpaquePointer) {
        pdb_push_sqlite_error(
            L, error.extendedResultCode.rawValue, error.messageOfCode, error.sql, offset)
    }

    /// Runs a closure whose errors of SQLite scripts see so.
    static func telling<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError {
            throw SQLiteError(error: error)
        }
    }
}
