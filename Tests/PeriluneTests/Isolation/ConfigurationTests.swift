import GRDB
import Logging
import Perilune
import PeriluneDependencies
import PeriluneLua
import PeriluneTestSupport
import PeriluneTestTools
import Synchronization
import Testing

/// A database configuration applies both in the host's process and in an isolated process, or the host refuses it when it is
/// created.
@Suite(.patience) struct ConfigurationTests {
    private func values(
        _ source: String, _ place: ScriptPlace, _ database: DatabaseSource, quota: Int? = nil
    ) async throws -> [ScriptValue] {
        var configuration = place.configuration(ScriptHost.Configuration(database: database))
        configuration.diskQuota = quota
        return try await ScriptHost(configuration).run(source: source)
    }

    private static let probe = """
        local function outcome(sql)
          local ok, result = pcall(db.fetch_value, db, sql)
          return ok and result or result.kind
        end
        local is_written, failure = pcall(db.execute, db, "CREATE TABLE IF NOT EXISTS t (a)")
        return {
          outcome("PRAGMA foreign_keys"), outcome("PRAGMA journal_mode"), outcome('SELECT "text"'),
          is_written and "written" or failure.kind,
        }
        """

    /// One change for each field of the GRDB configuration that scripts can observe.
    private static let changes: [(name: String, change: @Sendable (inout Configuration) -> Void)] = [
        ("nothing", { _ in }),
        ("foreignKeysEnabled", { $0.foreignKeysEnabled = false }),
        ("readonly", { $0.readonly = true }),
        ("label", { $0.label = "shop" }),
        ("acceptsDoubleQuotedStringLiterals", { $0.acceptsDoubleQuotedStringLiterals = true }),
        ("observesSuspensionNotifications", { $0.observesSuspensionNotifications = true }),
        ("publicStatementArguments", { $0.publicStatementArguments = true }),
        ("allowsUnsafeTransactions", { $0.allowsUnsafeTransactions = true }),
        ("journalMode", { $0.journalMode = .wal }),
        ("busyMode", { $0.busyMode = .timeout(0.2) }),
        ("maximumReaderCount", { $0.maximumReaderCount = 2 }),
        ("qos", { $0.qos = .background }),
        ("persistentReadOnlyConnections", { $0.persistentReadOnlyConnections = true }),
    ]

    @Test(arguments: changes.indices) func `each configuration field has the same effect with and without isolation`(_ index: Int)
        async throws
    {
        var found: [[ScriptValue]] = []
        for place in ScriptPlace.allCases {
            try await withTemporaryFolder { folder in
                let path = "\(folder)/shop.sqlite"
                try await DatabaseQueue(path: path).write { db in try db.execute(sql: "CREATE TABLE t (a)") }
                var configuration = Configuration()
                Self.changes[index].change(&configuration)
                found.append(
                    try await values(Self.probe, place, .existing(DatabaseQueue(path: path, configuration: configuration))))
            }
        }
        #expect(found[0] == found[1], "\(Self.changes[index].name)")
    }

    @Test func `the tests cover every configuration field`() {
        let known = Set(Self.changes.map(\.name)).union([
            // Refused by isolated hosts.
            "setups", "schemaSource",
            // Visible to Swift only.
            "transactionClock", "_readQoS", "_writeQoS", "readQoS", "writeQoS", "targetQueue", "writeTargetQueue", "_targetQueue",
            "_writeTargetQueue", "readonlyBusyMode", "threadingMode", "SQLiteConnectionDidOpen", "SQLiteConnectionWillClose",
            "SQLiteConnectionDidClose",
        ])
        let fields = Mirror(reflecting: Configuration()).children.compactMap(\.label)
        #expect(fields.contains("setups"))
        #expect(Set(fields).subtracting(known) == [])
    }

    @Test func `settings that isolation does not support are refused when the host is created`() async throws {
        let changes: [(String, @Sendable (inout Configuration) -> Void)] = [
            ("prepareDatabase", { $0.prepareDatabase { db in try db.execute(sql: "PRAGMA max_page_count = 20") } }),
            ("busy mode", { $0.busyMode = .callback { _ in false } }),
        ]
        for (word, change) in changes {
            try await withTemporaryFolder { folder in
                var configuration = Configuration()
                change(&configuration)
                let pool = try DatabasePool(path: "\(folder)/shop.sqlite", configuration: configuration)
                let open = ScriptPlace.isolated.configuration(ScriptHost.Configuration(database: .existing(pool)))
                let error = await #expect(throws: LuaError.self) { _ = try await ScriptHost(open) }
                #expect(error?.code == .usage && error?.message.contains(word) == true, "\(error?.message ?? "")")
                try await DependencyContainer.with { [configuration] in
                    $0.defaultDatabase = .pool("\(folder)/other.sqlite", configuration: configuration, usesFilesInTests: true)
                } operation: {
                    let error = await #expect(throws: LuaError.self) {
                        _ = try await ScriptHost(ScriptPlace.isolated.configuration())
                    }
                    #expect(error?.message.contains(word) == true)
                }
            }
        }
        let error = await #expect(throws: LuaError.self) {
            _ = try await makeIsolatedHost { $0.sqliteExtensions = ["/nonexistent.so"] }
        }
        #expect(error?.message.contains("extensions") == true)
    }

    @Test(arguments: ScriptPlace.allCases) func `a quota limits the size of the database`(_ place: ScriptPlace) async throws {
        try await withTemporaryFolder { folder in
            let pool = try DatabasePool(path: "\(folder)/shop.sqlite")
            let fill = """
                db:execute("CREATE TABLE t (a)")
                local _, err = pcall(function()
                  for i = 1, 200 do db:execute("INSERT INTO t VALUES (?)", { ("x"):rep(4000) }) end
                end)
                return { err.kind, db:fetch_value("SELECT count(*) FROM t") < 25 }
                """
            for database in [DatabaseSource.existing(pool), .inMemory(), .queue("\(folder)/other.sqlite", inEveryContext: true)] {
                #expect(try await values(fill, place, database, quota: 20 * 4096) == ["full", true])
            }
            var configuration = place.configuration(ScriptHost.Configuration(database: .inMemory()))
            configuration.diskQuota = 100
            await #expect(throws: LuaError.self) { try await ScriptHost(configuration).run(source: "return 1") }
        }
    }

    @Test(arguments: ScriptPlace.allCases) func `an isolated host reports the statements of a traced database`(
        _ place: ScriptPlace
    )
        async throws
    {
        let log = LogLines()
        try await DependencyContainer.with {
            $0.defaultDatabase = .pool("x.sqlite", usesFilesInTests: true, trace: .log(showsValues: true))
            $0.logger = log.logger
        } operation: {
            let host = try await ScriptHost(place.configuration())
            try await host.run(source: "db:fetch_value('SELECT ?', { 42 })")
            #expect(await eventually { log.lines.contains("SELECT 42") })
        }
        let seen = Mutex<[String]>([])
        let trace = SQLTrace(.profile) { event in if event.duration != nil { seen.withLock { $0.append(event.sql) } } }
        let configuration = place.configuration(ScriptHost.Configuration(database: .inMemory(trace: trace)))
        let host = try await ScriptHost(configuration)
        try await host.run(source: "db:fetch_value('SELECT ?', { 42 })")
        #expect(await eventually { seen.withLock { $0.contains("SELECT ?") } })
        withExtendedLifetime(host) {}
    }
}

/// A logger that keeps its messages.
private final class LogLines: Sendable {
    private let kept = Mutex<[String]>([])

    var lines: [String] { kept.withLock { $0 } }

    var logger: Logger {
        var logger = Logger(label: "test") { _ in Handler(lines: self) }
        logger.logLevel = .trace
        return logger
    }

    private struct Handler: LogHandler {
        let lines: LogLines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        init(lines: LogLines) { self.lines = lines }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { lines.kept.withLock { $0.append(event.message.description) } }
    }
}
