internal import GRDB
internal import PeriluneBindings
internal import PeriluneIsolation
internal import PeriluneLua

/// The connection settings that a script process copies from the host: the serializable part of a GRDB configuration.
///
/// Omits settings that only Swift code uses: the label, `publicStatementArguments`, `transactionClock`, `allowsUnsafeTransactions`, queues
/// and their priorities, the number of readers (a script process has one connection), and settings for other operating systems.
struct ConnectionSettings: Equatable, Sendable {
    var foreignKeysEnabled = true
    var isReadonly = false
    var acceptsDoubleQuotedStringLiterals = false
    /// Whether double-quoted strings are rejected in triggers and views, too. Copied from the host's process.
    var refusesDoubleQuotedStrings = DoubleQuotedStrings.areRefused
    /// Whether the database file uses a write-ahead log.
    var usesLog = false
    var journal = DatabaseSource.JournalOptions()
    /// The maximum time to wait for locks, in seconds; `nil` to fail immediately.
    var busyTimeout: Double? = Database.BusyMode.standardSeconds

    /// Creates the default settings of databases that hosts open.
    init() {}

    /// Creates the settings from a GRDB configuration.
    ///
    /// - Throws: `LuaError` with code `usage` for settings that another process does not support.
    init(_ configuration: GRDB.Configuration) throws {
        foreignKeysEnabled = configuration.foreignKeysEnabled
        isReadonly = configuration.readonly
        acceptsDoubleQuotedStringLiterals = configuration.acceptsDoubleQuotedStringLiterals
        if case .wal = configuration.journalMode { usesLog = true }
        switch configuration.busyMode {
        case .immediateError: busyTimeout = nil
        case .timeout(let seconds): busyTimeout = seconds
        case .callback: throw Self.refusal("a busy mode that calls Swift: use `.timeout`")
        }
        guard configuration.preparationCount == 0 else {
            throw Self.refusal(
                "what `prepareDatabase` does in Swift: functions, collations and settings of the connection. Limit the size of the database by "
                    + "`diskQuota`, trace its statements by `trace:`, and define functions in Lua")
        }
        guard configuration.schemaSource == nil else { throw Self.refusal("a `schemaSource` of Swift") }
    }

    private static func refusal(_ what: String) -> LuaError {
        LuaError(.usage, "scripts in a process of their own cannot have \(what); or make a host without isolation")
    }

    /// Copies the settings to a GRDB configuration.
    func apply(to configuration: inout GRDB.Configuration) {
        configuration.foreignKeysEnabled = foreignKeysEnabled
        configuration.readonly = isReadonly
        configuration.acceptsDoubleQuotedStringLiterals = acceptsDoubleQuotedStringLiterals
        if refusesDoubleQuotedStrings { DoubleQuotedStrings.areRefused = true }
        if usesLog { configuration.journalMode = .wal }
        configuration.busyMode = busyTimeout.map { .waiting(seconds: $0) } ?? .immediateError
    }

    var value: WireValue {
        .fields([
            ("foreign_keys", .boolean(foreignKeysEnabled)), ("readonly", .boolean(isReadonly)),
            ("double_quotes", .boolean(acceptsDoubleQuotedStringLiterals)), ("wal", .boolean(usesLog)),
            ("refuses_double_quotes", .boolean(refusesDoubleQuotedStrings)),
            ("journal_mode", journal.mode.map { .text($0.rawValue) }),
            ("synchronous", journal.synchronous.map { .text($0.rawValue) }),
            ("busy", busyTimeout.map { WireValue(Duration.seconds($0)) }),
        ])
    }

    init(_ value: WireValue) {
        foreignKeysEnabled = value["foreign_keys"]?.booleanValue != false
        isReadonly = value["readonly"]?.booleanValue == true
        acceptsDoubleQuotedStringLiterals = value["double_quotes"]?.booleanValue == true
        refusesDoubleQuotedStrings = value["refuses_double_quotes"]?.booleanValue == true
        usesLog = value["wal"]?.booleanValue == true
        journal.mode = value["journal_mode"]?.text.flatMap { .init(rawValue: $0) }
        journal.synchronous = value["synchronous"]?.text.flatMap { .init(rawValue: $0) }
        busyTimeout = value["busy"]?.duration.map { $0 / .seconds(1) }
    }
}

extension GRDB.Configuration {
    /// The number of closures that the program has added with `prepareDatabase`, read from GRDB's private property `setups`. Perilune adds
    /// its closures later.
    var preparationCount: Int {
        let setups = Mirror(reflecting: self).children.first { $0.label == "setups" }
        return setups.map { Mirror(reflecting: $0.value).children.count } ?? 0
    }
}
