internal import CPeriluneSQLite
internal import Foundation
internal import GRDB
internal import PeriluneBindings
internal import PeriluneDependencies

/// A database file that is copied while other processes may be using it. The file is never written.
struct LiveFile {
    let path: String
    /// A closure that receives the progress, as a fraction from 0 to 1.
    var progress: (@Sendable (Double) -> Void)?

    var exists: Bool {
        FileManager.default.fileExists(atPath: path)
    }

    /// The size of the file and its write-ahead log, in bytes.
    var size: Int {
        Self.size(path) + Self.size(path + "-wal")
    }

    /// Copies a consistent snapshot of the database into another database. A missing file counts as an empty database.
    func copy(into db: Database) throws {
        guard exists else { return }
        try requireFile()
        // First tries to copy without locks, because opening a database with a write-ahead log would create files next to it.
        if isAtRest {
            if try copyUnlocked({ try copy(into: db, uri: immutableURI, flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI) }) {
                return
            }
        } else if hasLeftLog {
            if try copyUnlocked({ try copyWithLog(into: db) }) { return }
        }
        try copy(into: db, uri: path, flags: SQLITE_OPEN_READONLY)
    }

    /// Copies without locks. Returns `false` if a process used the database during the copy, in which case errors are ignored and the
    /// caller must copy again.
    private func copyUnlocked(_ copy: () throws -> Void) throws -> Bool {
        let before = state
        let result = Result { try copy() }
        guard state == before else { return false }
        try result.get()
        return true
    }

    /// The metadata of the files, which changes when a process opens the database or writes to it.
    private var state: [FileState] {
        ["", "-wal", "-shm"].map { FileState(path + $0) }
    }

    /// Throws an error if the path is a folder, a pipe or a device. Reading from a pipe or a device may block forever.
    private func requireFile() throws {
        var information = stat()
        guard stat(path, &information) == 0, information.st_mode & S_IFMT != S_IFREG else { return }
        let isFolder = information.st_mode & S_IFMT == S_IFDIR
        throw DatabaseError(resultCode: .SQLITE_CANTOPEN, message: isFolder ? "it is a folder" : "it is not a regular file")
    }

    /// Whether the file is a database in WAL mode that no process has open, with an empty log.
    private var isAtRest: Bool {
        guard Self.size(path + "-wal") == 0, !isOpened,
            let file = FileHandle(forReadingAtPath: path)
        else { return false }
        defer { try? file.close() }
        let header = (try? file.read(upToCount: 20)) ?? Data()
        return header.count == 20 && header[18] == 2 && header[19] == 2
    }

    /// Whether a killed program has left a write-ahead log.
    private var hasLeftLog: Bool { Self.size(path + "-wal") > 0 && !isOpened }

    /// Whether the shared-memory file exists, which indicates that a process has the database open.
    private var isOpened: Bool { FileManager.default.fileExists(atPath: path + "-shm") }

    /// Copies the contents of the file and its log. First copies both files to a temporary folder, because reading a log creates a file
    /// next to it.
    private func copyWithLog(into db: Database) throws {
        let folder = try TemporaryFolder.makeFolder("log")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(
                atPath: (ScriptFile.resolved(path) ?? path) + suffix, toPath: "\(folder)/database\(suffix)")
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
        sqlite3_busy_timeout(source, CInt(Database.BusyMode.standardSeconds * 1000))
        // The transaction makes all pages come from the same snapshot.
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

/// The metadata of a file, which changes when the file is written, created or removed.
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
