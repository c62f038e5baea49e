internal import CPeriluneSQLite
internal import Foundation
internal import GRDB
internal import PeriluneBindings
internal import PeriluneDependencies

/// A database file that is only read, while other processes may use it.
struct LiveFile {
    let path: String
    /// Called with the part that is copied, now and then.
    var progress: (@Sendable (Double) -> Void)?

    var exists: Bool {
        FileManager.default.fileExists(atPath: path)
    }

    /// The bytes of the file and of its write-ahead log.
    var size: Int {
        Self.size(path) + Self.size(path + "-wal")
    }

    /// Copies one consistent state of the database into the connection of another; one that does not exist counts as empty.
    func copy(into db: Database) throws {
        guard exists else { return }
        try requireFile()
        // Uses no locks and no extra files, which even a reader of a database with a write-ahead log would create.
        if isAtRest {
            if try copyUnlocked({ try copy(into: db, uri: immutableURI, flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI) }) { return }
        } else if hasLeftLog {
            if try copyUnlocked({ try copyWithLog(into: db) }) { return }
        }
        try copy(into: db, uri: path, flags: SQLITE_OPEN_READONLY)
    }

    /// Copies without locks. Returns whether the database was unused in the meantime; otherwise the copy must be repeated, whatever its
    /// outcome.
    private func copyUnlocked(_ copy: () throws -> Void) throws -> Bool {
        let before = state
        let result = Result { try copy() }
        guard state == before else { return false }
        try result.get()
        return true
    }

    /// State that changes when a process opens the database, or writes to it.
    private var state: [FileState] {
        ["", "-wal", "-shm"].map { FileState(path + $0) }
    }

    /// Reading from anything but a regular file may block forever.
    private func requireFile() throws {
        var information = stat()
        guard stat(path, &information) == 0, information.st_mode & S_IFMT != S_IFREG else { return }
        let isFolder = information.st_mode & S_IFMT == S_IFDIR
        throw DatabaseError(resultCode: .SQLITE_CANTOPEN, message: isFolder ? "it is a folder" : "it is not a regular file")
    }

    /// Whether it is a database with a write-ahead log that no process has open.
    private var isAtRest: Bool {
        guard Self.size(path + "-wal") == 0, !isOpened,
            let file = FileHandle(forReadingAtPath: path)
        else { return false }
        defer { try? file.close() }
        let header = (try? file.read(upToCount: 20)) ?? Data()
        return header.count == 20 && header[18] == 2 && header[19] == 2
    }

    /// Whether it has a write-ahead log that a killed program left.
    private var hasLeftLog: Bool { Self.size(path + "-wal") > 0 && !isOpened }

    /// Whether a process has it open, or has not closed it.
    private var isOpened: Bool { FileManager.default.fileExists(atPath: path + "-shm") }

    /// Copies the contents of the file and its log, using copies of both: reading the log creates a file next to it.
    private func copyWithLog(into db: Database) throws {
        let folder = try TemporaryFolder.makeFolder("log")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: (ScriptFile.resolved(path) ?? path) + suffix, toPath: "\(folder)/database\(suffix)")
        }
        try copy(into: db, uri: folder + "/database", flags: SQLITE_OPEN_READWRITE)
    }

    private var immutableURI: String {
        let escaped = path.replacing("%", with: "%25").replacing("?", with: "%3f").replacing("#", with: "%23")
        return "file:\(escaped)?immutable=1"
    }

    private func copy(into db: Database, uri: String, flags: CInt) throws {
        var source: OpaquePointer?
        let code = sqlite3_open_v2(uri, &source, SQLITE_OPEN_NOMUTEX | flags, nil)
        defer { sqlite3_close(source) }
        guard code == SQLITE_OK, let source else { throw Self.error(code, source) }
        psql_keep_log(source)
        sqlite3_busy_timeout(source, 5000)
        // One state from the first page to the last.
        let begun = sqlite3_exec(source, "BEGIN; SELECT COUNT(*) FROM sqlite_master", nil, nil, nil)
        guard begun == SQLITE_OK else { throw Self.error(begun, source) }
        try copyPages(of: source, to: db)
    }

    private func copyPages(of source: OpaquePointer, to db: Database) throws {
        guard let backup = sqlite3_backup_init(db.sqliteConnection, "main", source, "main") else {
            throw Self.error(sqlite3_errcode(db.sqliteConnection), db.sqliteConnection)
        }
        var code = SQLITE_OK
        while code == SQLITE_OK, !Task.isCancelled {
            code = sqlite3_backup_step(backup, 4096)
            let count = Double(max(sqlite3_backup_pagecount(backup), 1))
            progress?(1 - Double(sqlite3_backup_remaining(backup)) / count)
        }
        let finished = sqlite3_backup_finish(backup)
        if code == SQLITE_OK { throw CancellationError() }
        guard code == SQLITE_DONE, finished == SQLITE_OK else {
            throw Self.error(code == SQLITE_DONE ? finished : code, source)
        }
        db.clearSchemaCache()
    }

    private static func error(_ code: CInt, _ connection: OpaquePointer?) -> DatabaseError {
        let extended = connection.map { sqlite3_extended_errcode($0) } ?? code
        let error = DatabaseError(
            resultCode: ResultCode(rawValue: extended & 0xff == code & 0xff ? extended : code),
            message: connection.map { String(cString: sqlite3_errmsg($0)) })
        return DatabaseError(resultCode: error.extendedResultCode, message: error.reason)
    }

    private static func size(_ path: String) -> Int {
        ((try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int) ?? 0
    }
}

/// State that changes when a file is written, created or removed.
private struct FileState: Equatable {
    private var size: Int64 = -1
    private var inode: UInt64 = 0
    private var seconds = 0
    private var nanoseconds = 0

    init(_ path: String) {
        var information = stat()
        guard stat(path, &information) == 0 else { return }
        size = Int64(information.st_size)
        inode = UInt64(information.st_ino)
        seconds = information.st_mtim.tv_sec
        nanoseconds = information.st_mtim.tv_nsec
    }
}
