internal import GRDB
internal import PeriluneBindings
internal import PeriluneLua

/// A limit on the size of a database.
extension DatabaseWriter {
    /// Limits the size of the database for all writes through this object. A database that is already larger cannot grow.
    ///
    /// - Throws: `LuaError` with code `usage` if the limit is smaller than a page, or a GRDB error.
    func limitSize(toBytes bytes: Int) throws {
        try unsafeReentrantWrite { db in
            let pageSize = try Int.fetchOne(db, sql: OwnSQL.marked("PRAGMA page_size")) ?? 4096
            guard bytes >= pageSize else {
                throw LuaError(.usage, "diskQuota: expected at least a page of the database, \(pageSize) bytes, got \(bytes)")
            }
            // SQLite stores the number of pages in 32 bits.
            let pages = Swift.min(bytes / pageSize, Int(Int32.max) - 1)
            _ = try Int.fetchOne(db, sql: OwnSQL.marked("PRAGMA max_page_count = \(pages)"))
        }
    }
}
