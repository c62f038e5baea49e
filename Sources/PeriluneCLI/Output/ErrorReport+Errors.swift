internal import GRDB
internal import Perilune
internal import PeriluneBindings
internal import PeriluneLua
internal import PeriluneRecords

/// Reports for the errors that end a command.
extension ErrorReport {
    /// Creates a report of an SQLite error.
    init(_ error: DatabaseError) {
        let code = error.extendedResultCode
        self.init(error.reason, kind: Self.kind(of: error.resultCode))
        self.code = Int(code.rawValue)
        sql = error.sql
    }

    /// Creates a report of a failure to open a database.
    init(opening path: String?, error: any Error) {
        if let error = error as? LuaError {
            // The library could not be loaded for lack of memory.
            self.init(error)
            return
        }
        guard let error = error as? DatabaseError else {
            self.init("\(error)", kind: (error as? any LuaErrorDescribing)?.luaKind ?? "host")
            return
        }
        self.init(error)
        sql = nil
        let place = "cannot open the database \(path ?? ":memory:"): "
        // The file is the cause, whatever SQLite tried to do with it.
        if kind == "readonly" { kind = "cannot_open" }
        if !message.hasPrefix(place) {
            let cause = error.resultCode == .SQLITE_CANTOPEN ? path.flatMap(DatabaseError.missingPermission) : nil
            message = place + (cause ?? message)
        }
        if let path, DatabaseFile.isFolder(path) { message = place + "it is a folder" }
        if let path, let reason = UnwritableFolder.obstacle(to: path) { help = reason }
        if let folder = path.flatMap(DatabaseFile.missingFolder) { help = "the folder `\(folder)` does not exist" }
        if isLock { addHelp(forLockOf: path) }
    }

    /// Whether another connection holds a lock that the statement needs.
    var isLock: Bool { kind.hasPrefix("busy") || kind.hasPrefix("locked") }

    /// Adds the processes that hold the lock, if they are visible to this user.
    mutating func addHelp(forLockOf path: String?) {
        help = "another program or connection is writing to the database, or has a transaction open; try again when it has ended"
        guard let path, !DatabaseFile.isCluster(path) else { return }
        let users = DatabaseUsers(path: path), lockers = users.lockers, all = lockers.isEmpty ? users.all : []
        if !lockers.isEmpty {
            help = "locked by \(lockers.joined(separator: ", ")); try again when it has ended its transaction"
        } else if !all.isEmpty {
            help = "\(help ?? ""). It is open in \(all.joined(separator: ", "))"
        }
    }

    private static func kind(of code: ResultCode) -> String {
        switch code {
        case .SQLITE_BUSY: "busy"
        case .SQLITE_LOCKED: "locked"
        case .SQLITE_READONLY: "readonly"
        case .SQLITE_INTERRUPT: "interrupt"
        case .SQLITE_IOERR: "ioerr"
        case .SQLITE_CORRUPT: "corrupt"
        case .SQLITE_FULL: "full"
        case .SQLITE_CANTOPEN: "cannot_open"
        case .SQLITE_CONSTRAINT: "constraint"
        case .SQLITE_NOTADB: "notadb"
        default: "sql"
        }
    }

    /// Suggests `--database` if a table is missing in the default database, which is empty.
    mutating func addHelpForEmptyDatabase(_ path: String?, _ schema: SchemaNames) {
        guard help == nil, path == nil, schema.tables.isEmpty, message.hasPrefix("no such table: ") || kind == "unknown_table"
        else { return }
        help = "the database is empty and in memory; use --database PATH to open a file"
    }
}

extension ErrorReport {
    /// Returns the report as lines, each ending with a line feed.
    ///
    /// - Parameter width: The width of the terminal; `nil` for unlimited lines.
    func text(colors: Colors, width: Int? = nil) -> String {
        let text = text(width: width) { part, text in
            switch part {
            case .error, .caret: colors.red(text)
            case .place: colors.cyan(text)
            case .help: colors.green(text)
            case .trace: colors.dim(text)
            }
        }
        return WordWrap.wrapped(text, to: width)
    }
}
