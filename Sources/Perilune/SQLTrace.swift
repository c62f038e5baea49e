internal import GRDB

/// What a program is told of the SQL that runs on the default database of its scripts.
public struct SQLTrace: Sendable {
    /// When it is told.
    public enum Detail: Sendable {
        /// As each statement begins.
        case statements
        /// As each statement ends, with the time that it took.
        case profile
    }

    /// A statement that begins, or has ended.
    public struct Event: Sendable {
        public let sql: String
        /// The time from its first step to its last; `nil` as it begins.
        public let duration: Duration?
    }

    public var detail: Detail
    /// Whether the bound values stand in the SQL. They may be secret.
    public var showsValues: Bool
    /// Is called on the thread that runs the statement.
    public var receive: @Sendable (Event) -> Void

    /// Makes a trace without bound values.
    public init(_ detail: Detail = .statements, showsValues: Bool = false, _ receive: @escaping @Sendable (Event) -> Void) {
        self.detail = detail
        self.showsValues = showsValues
        self.receive = receive
    }
}

extension SQLTrace {
    /// GRDB looks into the schema when it opens a database: no statement of a script's.
    private static let openingSQL = "SELECT * FROM sqlite_master LIMIT 1"

    /// Has every connection of a configuration tell.
    func install(in configuration: inout GRDB.Configuration) {
        let options: Database.TracingOptions = detail == .profile ? .profile : .statement
        configuration.prepareDatabase { db in
            db.trace(options: options) { event in report(event) }
        }
    }

    private func report(_ event: Database.TraceEvent) {
        switch event {
        case .statement(let statement):
            tell(showsValues ? statement.expandedSQL : statement.sql, nil)
        case .profile(let statement, let seconds):
            tell(showsValues ? statement.expandedSQL : statement.sql, .nanoseconds(Int64(seconds * 1e9)))
        }
    }

    private func tell(_ sql: String, _ duration: Duration?) {
        if sql != Self.openingSQL { receive(Event(sql: sql, duration: duration)) }
    }
}
