internal import CPeriluneRows
internal import GRDB

/// A database as bytes, of which each scenario gets a copy.
final class DatabaseImage: Sendable {
    let bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The bytes of an open database; none if it is empty.
    convenience init(of db: Database) throws {
        var count: Int64 = 0
        guard let start = sqlite3_serialize(db.sqliteConnection, "main", &count, 0) else {
            if count > 0 { throw DatabaseError(resultCode: .SQLITE_NOMEM) }
            self.init(bytes: [])
            return
        }
        defer { sqlite3_free(start) }
        self.init(bytes: Array(UnsafeBufferPointer(start: start, count: Int(count))))
    }

    /// Whether it is a database of SQLite, or nothing.
    var isDatabase: Bool { bytes.isEmpty || bytes.starts(with: Array("SQLite format 3\0".utf8)) }

    /// Makes a database in memory, which is empty, a copy.
    func copy(into db: Database) throws {
        guard !bytes.isEmpty else { return }
        guard let copy = sqlite3_malloc64(UInt64(bytes.count))?.assumingMemoryBound(to: UInt8.self) else {
            throw DatabaseError(resultCode: .SQLITE_NOMEM)
        }
        copy.initialize(from: bytes, count: bytes.count)
        // A database in memory has no write-ahead log, whatever its header says.
        if bytes.count >= 20 { (copy[18], copy[19]) = (1, 1) }
        let count = Int64(bytes.count)
        let flags = UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE)
        let code = sqlite3_deserialize(db.sqliteConnection, "main", copy, count, count, flags)
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }
}
