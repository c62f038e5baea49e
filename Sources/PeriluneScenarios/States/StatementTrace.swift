internal import CPeriluneRows
internal import Foundation
internal import GRDB
internal import PeriluneBindings
internal import PeriluneRecords

/// The statements that the database of a scenario has run, each with its position in the calling script. Used on the thread that runs the
/// scenario.
///
/// The trace excludes statements that begin and end transactions, PRAGMAs and schema queries, statements that virtual tables run as part of
/// a script's statement, and everything that runs while the trace is paused. It must live longer than the connections that it traces.
final class StatementTrace {
    /// The number of statements that have ended.
    private(set) var count = 0
    private let clock: ScenarioClock
    private var ended: EndedStatement?
    private var active: [ActiveStatement] = []
    /// The active statements of virtual tables.
    private var inner: Set<OpaquePointer> = []
    private var pauses = 0
    private var collections: [Collection] = []

    /// The maximum nesting depth: deeper statements are recorded without their time and rows.
    private static let mostActive = 16

    /// The statements recorded since the collection began.
    final class Collection {
        fileprivate(set) var statements: [StatementRecord] = []
    }

    init(clock: ScenarioClock) {
        self.clock = clock
    }

    /// Traces every connection that is opened with a configuration.
    func install(in configuration: inout Configuration) {
        // Safe, because connections are opened and used only on the scenario's thread.
        nonisolated(unsafe) let trace = self
        configuration.prepareDatabase { db in try trace.install(on: db) }
    }

    private func install(on db: Database) throws {
        let events = CUnsignedInt(SQLITE_TRACE_STMT | SQLITE_TRACE_PROFILE | SQLITE_TRACE_ROW)
        // SQLite does not retain the trace, which must outlive the connections.
        let code = sqlite3_trace_v2(
            db.sqliteConnection, events,
            { event, trace, statement, detail in
                Unmanaged<StatementTrace>.fromOpaque(trace!).takeUnretainedValue().receive(
                    event, OpaquePointer(statement!), detail)
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }

    /// The last statement that has ended.
    var last: StatementRecord? { ended.map(StatementRecord.init) }

    /// Runs a closure whose statements are not recorded.
    func pausing<Result>(_ body: () throws -> Result) rethrows -> Result {
        pauses += 1
        defer { pauses -= 1 }
        return try body()
    }

    /// Collects statements from now on, until ``end(_:)``. Several collections may be active at once.
    func collect() -> Collection {
        let collection = Collection()
        collections.append(collection)
        return collection
    }

    /// Ends a collection.
    func end(_ collection: Collection) {
        collections.removeAll { $0 === collection }
    }

    // MARK: - Events from SQLite

    private func receive(_ event: CUnsignedInt, _ statement: OpaquePointer, _ detail: UnsafeMutableRawPointer?) {
        switch CInt(event) {
        case SQLITE_TRACE_ROW:
            if let index = index(of: statement) { active[index].rows += 1 }
        case SQLITE_TRACE_STMT:
            // Tracing makes SQLite read the time, which must not count as a reading of a clock that advances with each one.
            clock.forgetReading()
            if InnerStatements.include(statement, reportedAs: detail) { inner.insert(statement) } else { begin(statement) }
        default:
            clock.forgetReading()
            if inner.remove(statement) == nil { end(statement) }
        }
    }

    private func index(of statement: OpaquePointer) -> Int? {
        active.firstIndex { $0.statement == statement }
    }

    private func begin(_ statement: OpaquePointer) {
        // SQLite reports the start of a trigger with the statement that fired it.
        guard index(of: statement) == nil, active.count < Self.mostActive else { return }
        let changes = sqlite3_total_changes64(sqlite3_db_handle(statement))
        active.append(ActiveStatement(statement: statement, start: plua_now(), changes: changes))
    }

    private func end(_ statement: OpaquePointer) {
        let former = index(of: statement).map { active.remove(at: $0) }
        guard pauses == 0, let traced = sqlite3_sql(statement) else { return }
        // In a cluster, a statement may run in place of another one, whose text is shown.
        let sql = CarrierNames.source(of: String(cString: traced))
        guard !sql.withCString(SQLScreening.isBookkeeping), !OwnSQL.contains(sql) else { return }
        let ended = EndedStatement(statement, sql: sql, former: former)
        self.ended = ended
        count += 1
        guard !collections.isEmpty else { return }
        let record = StatementRecord(ended)
        for collection in collections { collection.statements.append(record) }
    }
}

private struct ActiveStatement {
    let statement: OpaquePointer
    let start: UInt64
    /// The connection's total number of changes before the statement began.
    let changes: Int64
    var rows: Int64 = 0
}

/// A statement that has ended. It is converted to a record only on demand.
private struct EndedStatement {
    let sql: String
    /// The SQL text that SQLite executed, to which `expanded` corresponds.
    let traced: String
    /// The text with the bound values in place of the parameters; `nil` if it has no parameters, or too many.
    let expanded: String?
    let nanoseconds: UInt64
    let rows: Int64
    let isWriting: Bool
    let place: (file: String, line: Int)?

    /// The maximum number of parameters: with more, writing the values would take longer than the statement.
    private static let mostParameters = 250

    init(_ statement: OpaquePointer, sql: String, former: ActiveStatement?) {
        self.sql = sql
        traced = String(cString: sqlite3_sql(statement))
        isWriting = sqlite3_stmt_readonly(statement) == 0
        nanoseconds = former.map { plua_now() - $0.start } ?? 0
        let db = sqlite3_db_handle(statement)
        let hasChanged = isWriting && former.map { sqlite3_total_changes64(db) != $0.changes } ?? false
        rows = hasChanged ? sqlite3_changes64(db) : former?.rows ?? 0
        expanded = Self.expanded(statement)
        place = plua_running_context().flatMap { StatementTrace.place(of: $0.pointee.running) }
    }

    private static func expanded(_ statement: OpaquePointer) -> String? {
        let count = sqlite3_bind_parameter_count(statement)
        guard count > 0, count <= mostParameters, let text = sqlite3_expanded_sql(statement) else { return nil }
        defer { sqlite3_free(text) }
        return String(cString: text)
    }
}

extension StatementTrace {
    /// Returns the name of the calling chunk in a coroutine, without Lua's prefix, and its line; `nil` if no script has called.
    static func place(of L: OpaquePointer) -> (file: String, line: Int)? {
        var activation = lua_Debug()
        guard plua_find_position(L, &activation), let source = activation.source else { return nil }
        let isNamed = source[0] == CChar(UInt8(ascii: "@")) || source[0] == CChar(UInt8(ascii: "="))
        if isNamed { return (String(cString: source + 1), Int(activation.currentline)) }
        let short = withUnsafeBytes(of: activation.short_src) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return (short, Int(activation.currentline))
    }
}

extension StatementRecord {
    fileprivate init(_ ended: EndedStatement) {
        sql = ended.sql
        if let expanded = ended.expanded { arguments = BoundValues.values(in: expanded, of: ended.traced) }
        duration = .nanoseconds(Int64(clamping: ended.nanoseconds))
        rows = Int(ended.rows)
        file = ended.place?.file
        line = ended.place?.line
        isWriting = ended.isWriting
    }
}
