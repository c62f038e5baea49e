internal import CPeriluneRows
internal import CPeriluneSQLite
package import GRDB
internal import PeriluneLua
internal import PeriluneRecords
internal import Synchronization

/// The options in the second argument of `perilune.queue` and `perilune.pool`.
struct DatabaseOptions {
    var configuration = Configuration()
    var journal = FileJournal.standard
    /// The observer that is passed to `observe_transactions` as soon as the database is open.
    var observer = LuaValue.nil
    /// A function that is called with a handle of each connection, before the script first uses the connection.
    var preparation: LuaFunction?

    /// The names of the options that scripts can set.
    static let names = [
        "busy_timeout", "double_quoted_strings", "foreign_keys", "journal_mode", "label", "observer", "prepare", "reader_count",
        "readonly", "synchronous",
        "trace",
    ]

    /// Returns the configuration of a database queue for a file, or for an in-memory database if the path is `nil`.
    func queueConfiguration(for path: String?) -> Configuration {
        var configuration = configuration
        journal.install(in: &configuration, for: path)
        return configuration
    }

    /// Reads the table of options, and rejects values with which GRDB would crash the process.
    ///
    /// - Parameter function: The name of the called function in error messages.
    init(_ value: LuaValue, for function: String, state: LuaState) throws {
        guard !value.isNil else { return }
        guard case .table(let table) = value else {
            throw BindingError("argument", "\(function): argument 2: expected a table of options, got \(value.shortDescription)")
        }
        let pairs = try table.pairs().map { key, value in
            guard case .string(let name) = key else {
                throw BindingError("argument", "\(function): expected options with names, got \(key.shortDescription)")
            }
            return (name: name.description, value: value)
        }
        for (name, value) in pairs.sorted(by: { $0.name < $1.name }) {
            do {
                try read(name, value, in: state)
            } catch let error as LuaError where error.code == .conversion {
                throw BindingError("argument", "\(function): option \(name): \(error.message)")
            } catch let error as BindingError {
                throw BindingError(error.luaKind, "\(function): \(error.luaMessage)", fields: error.luaFields)
            }
        }
    }

    private mutating func read(_ name: String, _ value: LuaValue, in state: LuaState) throws {
        switch name {
        case "readonly": configuration.readonly = try Bool.fromLua(value)
        case "foreign_keys": configuration.foreignKeysEnabled = try Bool.fromLua(value)
        case "busy_timeout": configuration.busyMode = try Self.busyMode(Self.seconds(value))
        case "double_quoted_strings":
            guard try !Bool.fromLua(value) else { break }
            configuration.prepareDatabase { db in DoubleQuotedStrings.refuse(on: db) }
        case "journal_mode":
            journal.mode = try Self.choice(name, value)
            journal.switchesExisting = true
        case "label": configuration.label = try String.fromLua(value)
        case "reader_count": configuration.maximumReaderCount = try Self.readerCount(Int.fromLua(value))
        case "observer": observer = value
        case "synchronous": journal.synchronous = try Self.choice(name, value)
        case "prepare": preparation = try LuaFunction.fromLua(value)
        case "trace": try Trace(value, in: state).install(in: &configuration)
        default: throw BindingError.unknown("option", name, among: Self.names)
        }
    }

    private static func seconds(_ value: LuaValue) throws -> Double {
        if case .string(let text) = value, let duration = DurationText.read(text.description) { return duration / .seconds(1) }
        let seconds = try Double.fromLua(value)
        // Other libraries expect milliseconds, so a large number is probably a mistake. Text with a unit is not limited.
        guard !(1000...2_000_000).contains(seconds) else {
            throw BindingError(
                "argument",
                "option busy_timeout: expected less than 1000 seconds, got \(value.shortDescription); use \"\(Int(seconds))ms\" for "
                    + "milliseconds, or text such as \"20m\" for a longer time")
        }
        return seconds
    }

    /// Returns the busy mode for a timeout. SQLite stores the timeout in milliseconds as a 32-bit number.
    private static func busyMode(_ seconds: Double) throws -> Database.BusyMode {
        guard seconds.isFinite, seconds >= 0, seconds <= 2_000_000 else {
            throw BindingError("argument", "option busy_timeout: expected seconds from 0 to 2000000, got \(seconds)")
        }
        return seconds > 0 ? .waiting(seconds: seconds) : .immediateError
    }

    /// Returns the enumeration case with the given name.
    private static func choice<Choice: CaseIterable & RawRepresentable<String>>(_ option: String, _ value: LuaValue) throws
        -> Choice
    {
        let name = try String.fromLua(value)
        if let choice = Choice(rawValue: name) { return choice }
        let names = Choice.allCases.map { "\"\($0.rawValue)\"" }
        throw BindingError(
            "argument",
            "option \(option): expected \(names.dropLast().joined(separator: ", ")) or \(names.last ?? ""), got \"\(name)\"")
    }

    private static func readerCount(_ count: Int) throws -> Int {
        guard (1...64).contains(count) else {
            throw BindingError("argument", "option reader_count: expected an integer from 1 to 64, got \(count)")
        }
        return count
    }
}

/// The trace function from the option `trace`.
struct Trace {
    private let callback: LuaFunction
    private let identity: LuaStateIdentity
    private weak var state: LuaState?
    /// The metatable of the tables that describe statements. Its `__tostring` returns the SQL.
    private let metatable: LuaTable
    private var showsDuration = false
    private var showsValues = false

    /// Reads the option, which is a function or a table with the function `call` and the booleans `profile` and `values`.
    init(_ value: LuaValue, in state: LuaState) throws {
        self.state = state
        identity = state.identity
        metatable = try state.makeTable()
        try metatable.setFunction("__tostring") { arguments in [try arguments.get(1, as: LuaTable.self).rawGet("sql")] }
        switch value {
        case .function(let function): callback = function
        case .table(let table):
            callback = try table.get("call")
            showsDuration = try table.get("profile", as: Bool?.self) ?? false
            showsValues = try table.get("values", as: Bool?.self) ?? false
        default:
            throw BindingError(
                "argument", "option trace: expected a function or a table with the function `call`, got \(value.shortDescription)"
            )
        }
    }

    func install(in configuration: inout Configuration) {
        // SQLite calls the trace on the thread that uses the connection. The trace does nothing unless this is the state's thread.
        nonisolated(unsafe) let trace = self
        let options: Database.TracingOptions = showsDuration ? .profile : .statement
        configuration.prepareDatabase { db in
            db.trace(options: options) { event in trace.report(event) }
        }
    }

    private func report(_ event: Database.TraceEvent) {
        guard identity.isRunningHere, let state, !OwnSQL.contains(event.sql) else { return }
        // An SQLite trace callback cannot fail, so the error is stored and raised when the statement ends.
        try? state.withUnsafeStack { L, _ in
            let place = pdb_enter_place(L, PDB_IN_TRACE)
            defer { _ = pdb_enter_place(L, place) }
            do {
                try callback.call([.table(makeFields(event, in: state))])
            } catch {
                try state.withUnsafeStack([state.errorValue(of: error)]) { L, _ in pdb_keep_pending_error(L) }
            }
        }
    }

    private func makeFields(_ event: Database.TraceEvent, in state: LuaState) throws -> LuaTable {
        let fields = try state.makeTable()
        try fields.setMetatable(metatable)
        switch event {
        case .statement(let statement):
            try fields.set(
                "sql", .string(LuaString(CarrierNames.source(of: showsValues ? statement.expandedSQL : statement.sql))))
        case .profile(let statement, let duration):
            try fields.set(
                "sql", .string(LuaString(CarrierNames.source(of: showsValues ? statement.expandedSQL : statement.sql))))
            try fields.set("duration", .number(duration))
        }
        return fields
    }
}

extension Configuration {
    /// Opens a database, and waits for locks while it is being opened, even if the busy mode does not wait. Another process may
    /// hold a lock briefly, because the last connection to a file with a write-ahead log locks the file when it closes.
    func waitingToOpen<Writer>(_ open: (Configuration) throws -> Writer) rethrows -> Writer {
        guard case .immediateError = busyMode else { return try open(self) }
        let isOpening = Atomic(true)
        var configuration = self
        configuration.busyMode = .callback { attempts in
            isOpening.load(ordering: .relaxed)
                && psql_wait_while_busy(CInt(clamping: attempts), Database.BusyMode.standardSeconds, plua_is_run_cancelled)
        }
        defer { isOpening.store(false, ordering: .relaxed) }
        return try open(configuration)
    }
}

extension Database.BusyMode {
    /// The time in seconds for which connections wait for locks by default.
    package static let standardSeconds = 5.0
    package static var standard: Database.BusyMode { .timeout(standardSeconds) }

    /// Returns a busy mode that waits for locks and ends the wait when the run must end. With SQLite's built-in timeout, a script
    /// could exceed its limits.
    package static func waiting(seconds: Double) -> Database.BusyMode {
        .callback { attempts in psql_wait_while_busy(CInt(clamping: attempts), seconds, plua_is_run_cancelled) }
    }
}

extension Database.TraceEvent {
    fileprivate var sql: String {
        switch self {
        case .statement(let statement), .profile(let statement, _): statement.sql
        }
    }
}
