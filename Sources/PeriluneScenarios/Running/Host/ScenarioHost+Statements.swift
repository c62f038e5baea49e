internal import CPeriluneRows
internal import GRDB
internal import Perilune
internal import PeriluneBindings
internal import PeriluneLua

/// The native functions that give the scenario library access to executed statements, such as `query_count` and `last_statement`.
extension ScenarioHost {
    func installStatements() throws {
        try function("query_count") { host, _ in [.integer(Int64(host.stage.trace.count))] }
        try function("display_width") { _, arguments in
            let text: LuaString = try arguments.get(1)
            return [.integer(Int64(DisplayText.width(text.description)))]
        }
        try function("last_statement") { host, arguments in
            [try host.stage.trace.last?.table(in: arguments.state) ?? .nil]
        }
        try function("explain") { host, arguments in
            let lines = try host.plan(of: arguments.get(1), in: arguments.state)
            return [try arguments.state.encode(lines)]
        }
        try function("table_names") { host, arguments in [try arguments.state.encode(host.tableNames)] }
        try function("begin_queries") { host, _ in
            [.integer(Int64(host.recordings.add(.statements(host.stage.trace.collect()))))]
        }
        try function("end_queries") { host, arguments in
            guard case .statements(let collection) = try host.recordings.take(arguments.get(1)) else { return [] }
            host.stage.trace.end(collection)
            return [try host.list(collection.statements, in: arguments.state)]
        }
    }

    /// The names of tables and views, available even inside a database block.
    private var tableNames: [String] {
        stage.trace.pausing {
            let sql = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY name"
            return (try? stage.writer.unsafeReentrantWrite { db in try String.fetchAll(db, sql: sql) }) ?? []
        }
    }

    /// Returns a Lua list of statements for the scenario library.
    func list(_ records: [StatementRecord], in state: LuaState) throws -> LuaValue {
        let list = try state.makeTable(arrayCount: records.count)
        for (index, record) in records.enumerated() {
            try list.rawSet(.integer(Int64(index + 1)), record.table(in: state))
        }
        return .table(list)
    }

    /// Returns SQLite's query plan for a statement: one line per step, indented by depth.
    private func plan(of sql: String, in state: LuaState) throws -> [String] {
        try requireNoAccess(state, "explain")
        return try stage.writer.writeWithoutTransaction { db in try QueryPlan.lines(of: sql, in: db) }
    }

    /// Adds the last statement and its query plan to a failure.
    func complete(_ failure: inout ScenarioFailure) {
        failure.statement = failure.statement ?? stage.trace.last
        guard let sql = failure.statement?.sql else { return }
        failure.statement?.plan = (try? stage.writer.unsafeReentrantWrite { db in try QueryPlan.lines(of: sql, in: db) }) ?? []
    }

    /// Rejects a call inside a database access, for functions that open an access themselves.
    func requireNoAccess(_ state: LuaState, _ name: String) throws {
        let access = try state.withUnsafeStack { L, _ in pdb_current_access(L, nil) }
        guard access == nil else {
            throw BindingError("nested_access", "\(name): cannot be called inside a block of the database")
        }
    }
}

extension StatementRecord {
    func table(in state: LuaState) throws -> LuaValue {
        let table = try state.makeTable(fieldCount: 7)
        try table.rawSet("sql", .string(LuaString(sql)))
        try table.rawSet("arguments", state.encode(arguments))
        try table.rawSet("ms", .number(duration / .milliseconds(1)))
        try table.rawSet("rows", .integer(Int64(rows)))
        try table.rawSet("file", file.map { .string(LuaString($0)) } ?? .nil)
        try table.rawSet("line", line.map { .integer(Int64($0)) } ?? .nil)
        try table.rawSet("is_write", .boolean(isWriting))
        return .table(table)
    }

    init(_ fields: LuaFields) throws {
        sql = try fields.required("sql")
        arguments = try fields.list("arguments")
        duration = .milliseconds(try fields.optional("ms", as: Double.self) ?? 0)
        rows = try fields.optional("rows") ?? 0
        file = try fields.optional("file")
        line = try fields.optional("line")
        isWriting = try fields.flag("is_write")
    }
}
