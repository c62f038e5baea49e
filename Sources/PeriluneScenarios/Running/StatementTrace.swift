internal import CPeriluneSQLite
internal import GRDB

/// What statements the database of a scenario has run. Used on the thread that runs the scenario.
final class StatementTrace {
    /// Lives as long as this object, which must live longer than the connections. Immutable.
    private let trace: OpaquePointer
    private let clock: ScenarioClock
    private var collections: [Collection] = []

    /// Statements that are kept from some moment on.
    final class Collection {
        fileprivate(set) var statements: [StatementRecord] = []
    }

    init(clock: ScenarioClock) throws {
        self.clock = clock
        let pointer = Unmanaged.passUnretained(clock).toOpaque()
        let trace = psql_trace_make({ Unmanaged<ScenarioClock>.fromOpaque($0!).takeUnretainedValue().forgetReading() }, pointer)
        guard let trace else { throw DatabaseError(resultCode: .SQLITE_NOMEM) }
        self.trace = trace
    }

    deinit {
        psql_trace_free(trace)
    }

    /// Has every connection that is opened with a configuration traced.
    func install(in configuration: inout Configuration) {
        // Connections are opened and used on the thread of the scenario.
        nonisolated(unsafe) let trace = trace
        configuration.prepareDatabase { db in
            let code = psql_trace_connection(trace, db.sqliteConnection)
            guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        }
    }

    /// How many statements have run.
    var count: Int { Int(psql_trace_count(trace)) }

    /// The last one.
    var last: StatementRecord? { psql_trace_last(trace).map { StatementRecord($0.pointee) } }

    /// Runs a closure whose statements are not those of the scenario.
    func pausing<Result>(_ body: () throws -> Result) rethrows -> Result {
        psql_trace_pause(trace, true)
        defer { psql_trace_pause(trace, false) }
        return try body()
    }

    /// Keeps statements from now on, until ``end(_:)``. Several may, one beside the other.
    func collect() -> Collection {
        let collection = Collection()
        collections.append(collection)
        guard collections.count == 1 else { return collection }
        psql_trace_tell(
            trace,
            { context, statement in
                let trace = Unmanaged<StatementTrace>.fromOpaque(context!).takeUnretainedValue()
                let record = StatementRecord(statement!.pointee)
                for collection in trace.collections { collection.statements.append(record) }
            }, Unmanaged.passUnretained(self).toOpaque())
        return collection
    }

    /// Keeps no more.
    func end(_ collection: Collection) {
        collections.removeAll { $0 === collection }
        if collections.isEmpty { psql_trace_tell(trace, nil, nil) }
    }
}

extension StatementRecord {
    init(_ traced: psql_traced) {
        sql = String(cString: traced.sql)
        if let expanded = traced.expanded {
            arguments = BoundValues.values(in: String(cString: expanded), of: sql)
        }
        duration = .nanoseconds(Int64(clamping: traced.nanoseconds))
        rows = Int(traced.rows)
        file = traced.file.map { String(cString: $0) }
        line = traced.file == nil ? nil : Int(traced.line)
        isWriting = traced.is_writing
    }
}
