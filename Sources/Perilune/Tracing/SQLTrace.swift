public import GRDB
internal import PeriluneBindings
internal import PeriluneRecords

/// A trace that reports the SQL statements executed on the scripts' database, to a closure or to the log.
///
/// ```swift
/// try await DependencyContainer.prepare {
///     $0.defaultDatabase = .pool(
///         "shop.sqlite", trace: .log(.profile, slow: .milliseconds(100)))
/// }
/// ```
public struct SQLTrace: Sendable {
    /// The events that a trace reports.
    public struct Events: OptionSet, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// Reports each statement when it starts.
        public static let statements = Events(rawValue: 1)
        /// Reports each statement when it ends, with its duration.
        public static let profile = Events(rawValue: 2)
    }

    /// The start or the end of a statement.
    public struct Event: Sendable {
        /// The SQL of the statement, without the bound values unless the trace shows values.
        public let sql: String
        /// The time from the first step of the statement to its end; `nil` when the statement starts.
        public let duration: Duration?
    }

    /// The reported events.
    package let events: Events
    /// Whether the SQL contains the bound values, which may be secret.
    package let showsValues: Bool
    var destination: Destination

    /// The receiver of the events.
    enum Destination: Sendable {
        case closure(@Sendable (Event) -> Void)
        /// The environment's logger or, in a preview, standard output, with the minimum duration of slow statements.
        case log(slow: Duration?)
    }

    /// Creates a trace that calls a closure on the thread of the statement.
    ///
    /// - Parameter events: The reported events; by default, the start of each statement.
    /// - Parameter showsValues: Whether the SQL contains the bound values, which may be secret.
    /// - Parameter receive: The closure that receives each event.
    public init(
        _ events: Events = .statements, showsValues: Bool = false, _ receive: @escaping @Sendable (Event) -> Void
    ) {
        self.events = events
        self.showsValues = showsValues
        destination = .closure(receive)
    }

    private init(_ events: Events, showsValues: Bool, _ destination: Destination) {
        self.events = events
        self.showsValues = showsValues
        self.destination = destination
    }

    /// Returns a trace that logs statements to the container's logger with the level `debug`, or in a preview to standard output.
    ///
    /// - Parameters:
    ///   - events: The reported events; by default, the start of each statement.
    ///   - showsValues: Whether the SQL contains the bound values, which may be secret.
    ///   - slow: The minimum duration of statements that are reported as slow, with the level `warning` and their query plans.
    public static func log(_ events: Events = .statements, showsValues: Bool = false, slow: Duration? = nil) -> SQLTrace {
        SQLTrace(events, showsValues: showsValues, .log(slow: slow))
    }
}

extension SQLTrace {
    /// The statement that GRDB executes when it opens a database, which is not reported.
    private static let openingSQL = "SELECT * FROM sqlite_master LIMIT 1"

    /// The tracing options. For durations, both events are needed, because SQLite measures only whole milliseconds.
    private var options: Database.TracingOptions {
        var options: Database.TracingOptions = []
        if !events.isEmpty { options.insert(.statement) }
        if events.contains(.profile) { options.insert(.profile) }
        return options
    }

    /// Adds the trace to the configuration of a database that the program opens itself. Every connection opened with this configuration is
    /// traced.
    public func install(in configuration: inout GRDB.Configuration) {
        _ = install(in: &configuration, .machine)
    }

    /// Starts the trace on a connection whose changes are being recorded.
    func start(onRecorded db: Database) {
        let trace = SQLTrace(events, showsValues: showsValues) { event in
            // Omits the statement with which the recording reads the columns of each changed table.
            if !event.sql.contains(/^(-- )?PRAGMA 'main'\.table_x?info\(/) { receive(event) }
        }
        trace.start(on: db)
    }

    /// Passes an event to the closure. A trace with the destination `log` must first be resolved with `make`.
    package func receive(_ event: Event) {
        if case .closure(let receive) = destination { receive(event) }
    }

    func start(on db: Database) {
        var starts = StatementStarts()
        db.trace(options: options) { event in report(event, &starts) }
    }

    private func report(_ event: Database.TraceEvent, _ starts: inout StatementStarts) {
        switch event {
        case .statement(let statement):
            if events.contains(.profile) { starts.add(statement.sql) }
            if events.contains(.statements) { report(showsValues ? statement.expandedSQL : statement.sql, nil) }
        case .profile(let statement, let seconds):
            let duration = starts.take(statement.sql).map { ContinuousClock.now - $0 } ?? .nanoseconds(Int64(seconds * 1e9))
            report(showsValues ? statement.expandedSQL : statement.sql, duration)
        }
    }

    private func report(_ traced: String, _ duration: Duration?) {
        let sql = CarrierNames.source(of: traced)
        if sql != Self.openingSQL, !OwnSQL.contains(sql) { receive(Event(sql: sql, duration: duration)) }
    }
}

/// The start times of a connection's active statements.
private struct StatementStarts {
    private var started: [(sql: String, instant: ContinuousClock.Instant)] = []
    /// The maximum number of start times. The number is limited, because SQLite may not report the end of a statement that is reset early.
    private static let most = 64

    mutating func add(_ sql: String) {
        // SQLite reports the statements of triggers as comments, and does not report their end.
        if sql.hasPrefix("--"), !started.isEmpty { return }
        if started.count == Self.most { started.removeFirst() }
        started.append((sql, .now))
    }

    /// Removes the last statement with this SQL, and returns its start time.
    mutating func take(_ sql: String) -> ContinuousClock.Instant? {
        started.lastIndex { $0.sql == sql }.map { started.remove(at: $0).instant }
    }
}
