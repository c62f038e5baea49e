public import GRDB
internal import PeriluneBindings
internal import PeriluneCluster

/// Reports the SQL that runs on the database of scripts, to a closure or to the log.
///
/// ```swift
/// try await DependencyContainer.prepare {
///     $0.defaultDatabase = .pool("shop.sqlite", trace: .log(.profile, slow: .milliseconds(100)))
/// }
/// ```
public struct SQLTrace: Sendable {
    /// When a statement is reported.
    public struct Events: OptionSet, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// Reports each statement when it begins.
        public static let statements = Events(rawValue: 1)
        /// Reports each statement when it ends, with its duration.
        public static let profile = Events(rawValue: 2)
    }

    /// A statement that begins, or has ended.
    public struct Event: Sendable {
        /// The SQL of the statement, without the values bound to it.
        public let sql: String
        /// The time from its first step to its last; `nil` as it begins.
        public let duration: Duration?
    }

    /// Which events are reported.
    public var events: Events
    /// Whether the SQL contains the bound values. They may be secret.
    public var showsValues: Bool
    var destination: Destination

    /// The receiver of the events.
    enum Destination: Sendable {
        case closure(@Sendable (Event) -> Void)
        /// The log of the context, with the duration from which statements are slow.
        case log(slow: Duration?)
    }

    /// Makes a trace that a closure receives, on the thread that runs the statement.
    ///
    /// - Parameter events: When a statement is reported: as it begins, by default.
    /// - Parameter showsValues: Whether the SQL contains the bound values. They may be secret.
    /// - Parameter receive: Receives each event.
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

    /// Makes a trace that goes to the container's log at the level `debug`, and in a preview to standard output.
    ///
    /// - Parameters:
    ///   - events: When a statement is reported: as it begins, by default.
    ///   - showsValues: Whether the SQL contains the bound values. They may be secret.
    ///   - slow: The duration from which a statement is reported as slow, at the level `warning`, with its query plan.
    public static func log(_ events: Events = .statements, showsValues: Bool = false, slow: Duration? = nil) -> SQLTrace {
        SQLTrace(events, showsValues: showsValues, .log(slow: slow))
    }
}

extension SQLTrace {
    /// GRDB looks into the schema when it opens a database: no statement of a script's.
    private static let openingSQL = "SELECT * FROM sqlite_master LIMIT 1"

    /// Durations need both events: SQLite counts whole milliseconds.
    private var options: Database.TracingOptions {
        var options: Database.TracingOptions = []
        if !events.isEmpty { options.insert(.statement) }
        if events.contains(.profile) { options.insert(.profile) }
        return options
    }

    /// Reports the statements of every connection that is opened with a configuration, for a database that the program opens itself.
    public func install(in configuration: inout GRDB.Configuration) {
        _ = install(in: &configuration, .machine)
    }

    /// Reports the statements of a connection whose changes are recorded, from now on.
    func start(onRecorded db: Database) {
        let trace = SQLTrace(events, showsValues: showsValues) { event in
            // The recording asks for the columns of each table that is written to.
            if !event.sql.contains(/^(-- )?PRAGMA 'main'\.table_x?info\(/) { receive(event) }
        }
        trace.start(on: db)
    }

    /// Passes an event to the closure. A trace for the log has none before it is made for its environment.
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

/// When the statements of a connection began that have not ended.
private struct StatementStarts {
    private var started: [(sql: String, instant: ContinuousClock.Instant)] = []
    /// A statement that is reset before its end may be reported as begun only.
    private static let most = 64

    mutating func add(_ sql: String) {
        // SQLite reports the statements of triggers as comments; they never end.
        if sql.hasPrefix("--"), !started.isEmpty { return }
        if started.count == Self.most { started.removeFirst() }
        started.append((sql, .now))
    }

    /// Removes the last statement of that text.
    mutating func take(_ sql: String) -> ContinuousClock.Instant? {
        started.lastIndex { $0.sql == sql }.map { started.remove(at: $0).instant }
    }
}
