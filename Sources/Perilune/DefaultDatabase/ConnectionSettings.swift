internal import GRDB
internal import PeriluneBindings
internal import PeriluneIsolation
internal import PeriluneLua

/// Settings that connections in another process share with the host's: the part of GRDB's configuration that is plain data.
///
/// Leaves out settings that only Swift uses: the label, `publicStatementArguments`, `transactionClock`, `allowsUnsafeTransactions`,
/// queues and their priorities, readers of pools (a process has one connection), and settings for other systems.
struct ConnectionSettings: Equatable, Sendable {
    var foreignKeysEnabled = true
    var isReadonly = false
    var acceptsDoubleQuotedStringLiterals = false
    /// Whether triggers and views may not contain double-quoted strings either, as in the host's process.
    var refusesDoubleQuotedStrings = DoubleQuotedStrings.areRefused
    /// Whether the file is put into write-ahead mode.
    var usesLog = false
    /// How long to wait for locks of others, in seconds; `nil`: not at all.
    var busyTimeout: Double? = 5

    /// The settings of databases that hosts open themselves.
    init() {}

    /// Copies the settings of a database's configuration.
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

    /// Configures connections so.
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
            ("busy", busyTimeout.map { WireValue(Duration.seconds($0)) }),
        ])
    }

    init(_ value: WireValue) {
        foreignKeysEnabled = value["foreign_keys"]?.booleanValue != false
        isReadonly = value["readonly"]?.booleanValue == true
        acceptsDoubleQuotedStringLiterals = value["double_quotes"]?.booleanValue == true
        refusesDoubleQuotedStrings = value["refuses_double_quotes"]?.booleanValue == true
        usesLog = value["wal"]?.booleanValue == true
        busyTimeout = value["busy"]?.duration.map { $0 / .seconds(1) }
    }
}

extension GRDB.Configuration {
    /// How many closures prepare each connection, not counting Perilune's own. Read from the private field `setups`.
    var preparationCount: Int {
        let setups = Mirror(reflecting: self).children.first { $0.label == "setups" }
        return setups.map { Mirror(reflecting: $0.value).children.count } ?? 0
    }
}
