internal import CPeriluneRows
internal import GRDB

/// The contents of a database as bytes, which are copied for each scenario.
final class DatabaseImage: Sendable {
    let bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Creates the image of an open database. The image of an empty database has no bytes.
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

    /// Whether the image is empty or an SQLite database.
    var isDatabase: Bool { bytes.isEmpty || bytes.starts(with: Array("SQLite format 3\0".utf8)) }

    /// Copies the image into an empty database in memory.
    func copy(into db: Database) throws {
        guard !bytes.isEmpty else { return }
        guard let copy = sqlite3_malloc64(UInt64(bytes.count))?.assumingMemoryBound(to: UInt8.self) else {
            throw DatabaseError(resultCode: .SQLITE_NOMEM)
        }
        copy.initialize(from: bytes, count: bytes.count)
        // A database in memory has no write-ahead log, even if its header requests one.
        if bytes.count >= 20 { (copy[18], copy[19]) = (1, 1) }
        let count = Int64(bytes.count)
        let flags = UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE)
        let code = sqlite3_deserialize(db.sqliteConnection, "main", copy, count, count, flags)
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }
}
