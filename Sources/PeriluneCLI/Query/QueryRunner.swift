internal import Foundation
internal import GRDB
internal import GRDBSQLite
internal import Perilune
internal import PeriluneBindings
internal import PeriluneRecords
internal import Synchronization

/// A runner that executes one SQL statement and writes its rows.
struct QueryRunner {
    let sql: String
    /// The database; `nil` for a private one in memory.
    let database: String?
    let parameters: [QueryParameter]
    /// The paths of SQLite extensions.
    var extensions: [String] = []
    /// Whether the statement may change the database.
    var isWriting = false
    /// Whether error reports show the bound values.
    var showsArguments = false
    /// Receives messages other than the rows.
    var note: (String) -> Void = { _ in }
    /// Receives the formatted output.
    var sink: ([UInt8]) throws -> Void = StandardStreams.write

    init(sql: String, database: String?, parameters: [QueryParameter]) {
        self.sql = sql
        self.database = database
        self.parameters = parameters
    }

    /// Runs the statement.
    ///
    /// - Parameter makeFormatter: Creates a formatter for the column names.
    /// - Returns: The number of changed rows if the statement returns no rows.
    /// - Throws: ``CommandFailure``.
    func run(_ makeFormatter: ([String]) -> any ResultFormatter) throws -> Int? {
        guard !sql.utf8.contains(0) else {
            throw CommandFailure(ErrorReport("the SQL contains a NUL character", kind: "sql"))
        }
        if !isWriting, SQLScreening(text: sql).writesFile {
            // SQLite runs it on a read-only connection, too, because the database itself does not change.
            var report = ErrorReport("VACUUM INTO writes a file", kind: "readonly")
            report.help = "pass --write to let the statement write it"
            report.sql = sql
            throw CommandFailure(report, status: ExitStatus.failure)
        }
        let queue = try open()
        let isInterrupted = Flag()
        Interrupts.onFirst {
            isInterrupted.set()
            queue.interrupt()
        }
        if !isWriting, let database, let remark = try DatabaseFile.remarkOnEmpty(queue, database) { note(remark) }
        let place = DatabasePlaces.of(queue)
        // Close explicitly, because the signal handler keeps the queue alive.
        defer { try? queue.close() }
        return try queue.writeWithoutTransaction { db in
            do {
                return try place.using(isCancelled: { isInterrupted.isSet }) { try run(at: place, db, makeFormatter) }
            } catch let error as DatabaseError {
                throw CommandFailure(report(error, db))
            } catch let failure as ClusterFailure {
                throw CommandFailure(ErrorReport(failure.message, kind: failure.kind.rawValue))
            }
        }
    }

    private func run(at place: any DatabasePlace, _ db: Database, _ makeFormatter: ([String]) -> any ResultFormatter) throws
        -> Int?
    {
        let prepared = try place.prepare(sql, in: db), statement = prepared.statement
        return try withExtendedLifetime(prepared) {
            let arguments = StatementArguments(try Self.values(of: parameters, for: statement))
            if statement.columnCount == 0 {
                try prepared.execute(arguments)
                if db.isInsideTransaction { note("the transaction was rolled back, because query runs only one statement") }
                return place.changesCount(of: db)
            }
            try write(statement, arguments, makeFormatter(statement.columnNames))
            return nil
        }
    }

    private func open() throws -> DatabaseQueue {
        if let database { try DatabaseFile.requireExisting(database) }
        if let database, DatabaseFile.isCluster(database) { return try DatabaseFile.open(database, isReadonly: !isWriting) }
        var configuration = Configuration()
        configuration.readonly = !isWriting
        configuration.busyMode = .standard
        // Without this, GRDB crashes the process after statements such as BEGIN. Closing the connection rolls back their transaction.
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { db in DatabaseFile.prepare(db) }
        SQLiteExtensions(extensions).install(in: &configuration)
        do {
            guard let database else { return try DatabaseQueue(configuration: configuration) }
            return try DatabaseFile.queue(database, configuration)
        } catch {
            throw CommandFailure(ErrorReport(opening: database, error: error))
        }
    }

    private func write(
        _ statement: Statement, _ arguments: StatementArguments, _ formatter: any ResultFormatter
    ) throws {
        var formatter = formatter
        var output: [UInt8] = []
        let booleans = (0..<statement.columnCount).map { Self.isBoolean(statement, column: CInt($0)) }
        formatter.begin(&output)
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        while try rows.next() != nil {
            formatter.write(Self.cells(of: statement, booleans), to: &output)
            guard output.count >= 64 << 10 else { continue }
            try sink(output)
            output.removeAll(keepingCapacity: true)
        }
        formatter.end(&output)
        try sink(output)
    }

    // MARK: - Reading

    private static func isBoolean(_ statement: Statement, column: CInt) -> Bool {
        guard let type = sqlite3_column_decltype(statement.sqliteStatement, column) else { return false }
        return DeclaredType(String(cString: type)).content == .boolean
    }

    /// Reads the current row. Calls SQLite's C functions, which return the exact bytes of text.
    private static func cells(of statement: Statement, _ booleans: [Bool]) -> [Cell] {
        let handle = statement.sqliteStatement
        return booleans.indices.map { index in
            let column = CInt(index)
            switch sqlite3_column_type(handle, column) {
            case SQLITE_INTEGER:
                let value = sqlite3_column_int64(handle, column)
                return booleans[index] && (value == 0 || value == 1) ? .boolean(value == 1) : .integer(value)
            case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, column))
            case SQLITE_TEXT: return .text(bytes(sqlite3_column_text(handle, column), handle, column))
            case SQLITE_BLOB:
                let start = sqlite3_column_blob(handle, column)?.assumingMemoryBound(to: UInt8.self)
                return .blob(bytes(start, handle, column))
            default: return .null
            }
        }
    }

    /// Copies the bytes of a value. SQLite requires that the address is requested before the byte count.
    private static func bytes(_ start: UnsafePointer<UInt8>?, _ handle: OpaquePointer, _ column: CInt) -> [UInt8] {
        Array(UnsafeBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(handle, column))))
    }

    // MARK: - Parameters

    /// Returns a value for each parameter of the statement in order; fails if one is missing.
    private static func values(of parameters: [QueryParameter], for statement: Statement) throws -> [DatabaseValue] {
        let names = names(ofParametersOf: statement)
        for (index, parameter) in parameters.enumerated() {
            guard names.contains(parameter.name) else { throw unknown(parameter.name, among: names) }
            if parameters[..<index].contains(where: { $0.name == parameter.name }) {
                throw usage("the parameter \(parameter.name) is given twice")
            }
        }
        return try names.map { name in
            guard let name else { return .null }
            guard let parameter = parameters.first(where: { $0.name == name }) else {
                throw usage("the parameter \(name) has no value", help: "pass one with -p \(name)=VALUE")
            }
            return parameter.value.databaseValue
        }
    }

    /// Returns the parameter names without prefix characters: a number for `?`, and `nil` for numbers that the statement skips.
    private static func names(ofParametersOf statement: Statement) -> [String?] {
        let handle = statement.sqliteStatement
        let names = (0..<sqlite3_bind_parameter_count(handle)).map { index in
            sqlite3_bind_parameter_name(handle, index + 1).map { String(cString: $0).dropFirst() }.map(String.init)
        }
        // After ?5, parameters 1 to 4 may be unused and also have no names.
        let hasNumbers = names.contains { $0.flatMap(Int.init) != nil }
        return names.enumerated().map { index, name in name ?? (hasNumbers ? nil : "\(index + 1)") }
    }

    private static func unknown(_ name: String, among names: [String?]) -> CommandFailure {
        let names = names.compactMap { $0 }
        let nearest = nearestName(to: name, among: names)
        let help = nearest.map { "did you mean `\($0)`?" } ?? "available: \(names.joined(separator: ", "))"
        return usage("the statement has no parameter \(name)", help: names.isEmpty ? nil : help)
    }

    private static func usage(_ message: String, help: String? = nil) -> CommandFailure {
        CommandFailure(ErrorReport(message, kind: "usage", help: help))
    }

    // MARK: - Errors

    private func report(_ error: DatabaseError, _ db: Database) -> ErrorReport {
        // Read the error offset before another call on the connection resets it.
        let offset = Int(sqlite3_error_offset(db.sqliteConnection))
        var report = ErrorReport(error)
        // GRDB reports these errors for several statements and for an empty one.
        if error.resultCode == .SQLITE_MISUSE || error.message == "empty statement" {
            report = ErrorReport("expected one SQL statement", kind: "sql")
            report.help = "to run several, use perilune run -e 'db:execute[[...]]'; for a dump, perilune restore FILE"
        }
        report.sql = sql
        report.sqlOffset = offset >= 0 ? offset : nil
        if showsArguments { report.arguments = parameters.map { "\($0.name) = \($0.value.displayText)" } }
        switch error.resultCode {
        case .SQLITE_READONLY where !isWriting: report.help = "pass --write to let the statement change the database"
        case .SQLITE_INTERRUPT: report.message = "interrupted"
        case .SQLITE_ERROR: addSuggestion(to: &report, db)
        default: break
        }
        return report
    }

    private func addSuggestion(to report: inout ErrorReport, _ db: Database) {
        guard let names = try? SchemaNames(of: db) else { return }
        report.addSuggestion(from: names)
        report.addHelpForEmptyDatabase(database, names)
    }
}

extension Cell {
    fileprivate var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let value): value.databaseValue
        case .real(let value): value.databaseValue
        case .boolean(let value): value.databaseValue
        case .text(let bytes): String(decoding: bytes, as: UTF8.self).databaseValue
        case .blob(let bytes): Data(bytes).databaseValue
        }
    }
}

/// A flag that a signal sets to end the statement.
private final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .relaxed) }

    func set() { value.store(true, ordering: .relaxed) }
}
