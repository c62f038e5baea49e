package import GRDB
internal import Synchronization

/// A reporter of slow statements and their query plans.
///
/// The plan is read later in a separate database access, because the access of a statement is still active when the statement ends.
final class SlowStatements: Sendable {
    private struct Database: Sendable {
        weak var writer: (any DatabaseWriter)?
        /// The active `EXPLAIN` statements of this object, which are not reported.
        var explanations: Set<String> = []
    }

    private let limit: Duration
    private let report: @Sendable (SQLTrace.Event, _ plan: [String]) -> Void
    private let database = Mutex(Database())

    init(limit: Duration, _ report: @escaping @Sendable (SQLTrace.Event, _ plan: [String]) -> Void) {
        self.limit = limit
        self.report = report
    }

    /// Sets the database that is queried for query plans.
    func begin(with writer: any DatabaseWriter) {
        database.withLock { $0.writer = writer }
    }

    /// Returns whether an event was caused by an `EXPLAIN` statement of this object.
    func isExplanation(_ event: SQLTrace.Event) -> Bool {
        database.withLock { $0.explanations.contains(event.sql) }
    }

    func take(_ event: SQLTrace.Event) {
        guard let duration = event.duration, duration >= limit else { return }
        guard let writer = database.withLock(\.writer) else { return report(event, []) }
        Task { report(event, await plan(of: event.sql, in: writer) ?? []) }
    }

    private func plan(of sql: String, in writer: any DatabaseWriter) async -> [String]? {
        let explanation = QueryPlan.sql(of: sql)
        database.withLock { _ = $0.explanations.insert(explanation) }
        defer { database.withLock { _ = $0.explanations.remove(explanation) } }
        return try? await writer.read { db in try QueryPlan.lines(of: sql, in: db) }
    }
}

/// Access to SQLite's query plans.
package enum QueryPlan {
    static func sql(of sql: String) -> String { "EXPLAIN QUERY PLAN " + sql }

    /// Returns the query plan of a statement, one line per step, indented by depth.
    package static func lines(of sql: String, in db: GRDB.Database) throws -> [String] {
        let statement = try db.makeStatement(sql: Self.sql(of: sql))
        // The arguments are irrelevant, because SQLite makes the plan without reading rows.
        statement.setUncheckedArguments([])
        var depths: [Int: Int] = [:]
        return try Row.fetchAll(statement).map { row in
            let depth = (depths[row[1]] ?? -1) + 1
            depths[row[0]] = depth
            return String(repeating: "  ", count: depth) + (row[3] as String)
        }
    }
}
