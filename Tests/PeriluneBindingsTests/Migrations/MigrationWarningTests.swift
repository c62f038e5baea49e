import GRDB
import Logging
import PeriluneBindings
import PeriluneLuaFileTools
import PeriluneLua
import Synchronization
import Testing

/// The warning about an erased database.
@Suite struct MigrationWarningTests {
    /// Keeps all log messages.
    private final class Log: Sendable {
        let lines = Mutex<[String]>([])
    }

    private struct Handler: LogHandler {
        let log: Log
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            log.lines.withLock { $0.append("\(event.level): \(event.message): \(event.metadata?["differences"] ?? "")") }
        }
    }

    @Test func `erasing a database logs a warning that lists the differences`() throws {
        let log = Log()
        var environment = ScriptEnvironment.machine
        environment.logger = Logger(label: "test") { _ in Handler(log: log) }
        let state = try LuaState()
        try ScriptSetup(database: DatabaseQueue(), allowsFiles: false, environment: environment).install(in: state)
        try state.run(
            """
            local function migrate(sql)
              local m = perilune.migrator():register("a", sql)
              m.erase_on_schema_change = true
              m:migrate(db)
            end
            migrate("CREATE TABLE a (x)")
            migrate("CREATE TABLE a (x)")
            migrate("CREATE TABLE a (x, y); CREATE TABLE b (z)")
            """)
        let expected =
            "warning: the schema differed from what the migrations create, so all data was erased: missing: table b; missing: column a.y"
        #expect(log.lines.withLock { $0 } == [expected])
    }
}
