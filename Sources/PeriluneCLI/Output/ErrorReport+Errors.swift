internal import GRDB
internal import Perilune
internal import PeriluneBindings
internal import PeriluneLua

/// Reports of the errors that end the command.
extension ErrorReport {
    /// Describes an error of SQLite.
    init(_ error: DatabaseError) {
        let code = error.extendedResultCode
        self.init(error.reason, kind: Self.kind(of: error.resultCode))
        self.code = Int(code.rawValue)
        sql = error.sql
    }

    /// Describes why a database could not be opened.
    init(opening path: String?, error: any Error) {
        if let error = error as? LuaError {
            // There is not even memory for the library.
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
        if !message.hasPrefix(place) { message = place + message }
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
        case .SQLITE_CANTOPEN: "cantopen"
        case .SQLITE_CONSTRAINT: "constraint"
        case .SQLITE_NOTADB: "notadb"
        default: "sql"
        }
    }

    /// Reminds of the option without which the database is an empty one.
    mutating func addHelpForEmptyDatabase(_ path: String?, _ schema: SchemaNames) {
        guard help == nil, path == nil, schema.tables.isEmpty, message.hasPrefix("no such table: ") || kind == "unknown_table" else { return }
        help = "the database is empty and in memory; use --database PATH to open a file"
    }
}

extension ErrorReport {
    /// The report in lines, each ended by a line feed.
    func text(colors: Colors) -> String {
        text { part, text in
            switch part {
            case .error, .caret: colors.red(text)
            case .place: colors.cyan(text)
            case .help: colors.green(text)
            case .trace: colors.dim(text)
            }
        }
    }
}
