internal import CPeriluneRows
internal import GRDB
internal import PeriluneLua

/// An SQLite error that scripts see as a statement error, with its codes, SQL and details.
struct SQLiteError: LuaErrorPushing {
    let error: DatabaseError
    /// The byte offset of the mistake in the SQL text, or -1 if it is unknown.
    var offset: CInt = -1

    var underlying: any Error { error }

    func pushErrorObject(on L: OpaquePointer) {
        pdb_push_sqlite_error(
            L, error.extendedResultCode.rawValue, error.messageOfCode, error.sql, offset)
    }

    /// Runs a closure, and converts SQLite errors that it throws to this type.
    static func telling<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError {
            throw SQLiteError(error: error)
        }
    }
}
