internal import Perilune
internal import PeriluneLua

/// Queries that the console sends to a database.
extension ConsoleEvaluator {
    /// Returns the tables and views with their columns.
    func tables() async throws -> [ConsoleValue] {
        try await call("schema_rows", [])
    }

    /// Returns the statements that create a table, its indexes and its triggers.
    func definition(of table: String) async throws -> [String] {
        try await values(
            """
            local name = ...
            return db:fetch_values([[
              SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND lower(tbl_name) = lower(?) OR lower(name) = lower(?1) AND sql IS NOT NULL
              ORDER BY type <> 'table', type <> 'view', name]], name)
            """, [.string(table)])
    }

    /// Returns the number of rows of a table.
    func count(of table: String) async throws -> Int {
        let quoted = "\"" + table.replacing("\"", with: "\"\"") + "\""
        let value = try await value("return db:fetch_value(...)", [.string("SELECT count(*) FROM \(quoted)")])
        guard case .integer(let count) = value else { throw LuaError(.host, "the count of rows is not a number") }
        return Int(count)
    }

    /// Returns the tables whose foreign keys reference a table.
    func referrers(of table: String) async throws -> [String] {
        try await values(
            """
            return db:fetch_values([[
              SELECT DISTINCT t.name FROM sqlite_schema AS t, pragma_foreign_key_list(t.name) AS k
              WHERE t.type = 'table' AND lower(k."table") = lower(?) AND lower(t.name) <> lower(k."table") ORDER BY 1]], ...)
            """, [.string(table)])
    }

    /// Returns the record classes of the tables with their associations.
    func modelTable() async throws -> [ConsoleValue] {
        try await call("model_rows", [])
    }

    /// Returns a number that changes after each change of rows or of the schema.
    func changeCount() async throws -> [ConsoleValue] {
        try await call("change_count", [])
    }

    /// Returns whether SQL has started a transaction that is still open.
    func isInTransaction() async throws -> Bool { try await truth("is_in_transaction") }

    /// Rolls back the open transaction, and returns whether one was open.
    func rollBack() async throws -> Bool { try await truth("roll_back") }

    /// Discards the cached schema, so that scripts see changes made by other programs.
    func forgetSchema() async throws { _ = try await truth("forget_schema") }

    /// Returns the query plan of a statement or request.
    func plan(of text: String, isSQL: Bool) async throws -> String {
        if isSQL {
            guard case .string(let plan) = try await value("return tostring(db:explain(...))", [.string(text)]) else { return "" }
            return plan.description
        }
        return try await host.withState { _, state, library in
            let values = try await state.load("return \(text)", named: "console:plan").callAsync([])
            guard case .string(let plan)? = try await Self.function("plan", of: library).callAsync(Array(values.prefix(1))).first
            else { return "" }
            return plan.description
        }
    }

    /// Reloads the modules that were required from files, and returns their names.
    func reload() async throws -> [String] {
        try await host.withState { _, _, library in
            guard case .table(let list)? = try await Self.function("reload", of: library).callAsync([]).first else { return [] }
            return try list.array().compactMap { if case .string(let name) = $0 { name.description } else { nil } }
        }
    }

    // MARK: - Helpers

    /// Calls a function of the `console` module that returns a boolean.
    private func truth(_ name: String) async throws -> Bool {
        try await host.withState { _, _, library in
            try await Self.function(name, of: library).callAsync([]).first == .boolean(true)
        }
    }

    /// Calls a function of the `console` module and describes the values it returns.
    private func call(_ name: String, _ arguments: [ScriptValue]) async throws -> [ConsoleValue] {
        try await host.withState { _, state, library in
            let values = try await Self.function(name, of: library).callAsync(arguments.map { try $0.toLua(in: state) })
            return try await Self.describe(values, .all, in: library)
        }
    }

    /// Runs a chunk and returns its first result if that is an integer or a string.
    private func value(_ source: String, _ arguments: [ScriptValue]) async throws -> ScriptValue? {
        try await host.withState { _, state, _ in
            let value =
                try await state.load(source, named: "console").callAsync(arguments.map { try $0.toLua(in: state) }).first ?? .nil
            switch value {
            case .integer(let value): return .integer(value)
            case .string(let value): return .string(value.description)
            default: return nil
            }
        }
    }

    private func values(_ source: String, _ arguments: [ScriptValue]) async throws -> [String] {
        try await host.withState { _, state, _ in
            guard
                case .table(let list)? = try await state.load(source, named: "console").callAsync(
                    arguments.map { try $0.toLua(in: state) }
                ).first
            else { return [] }
            return try list.array().compactMap { if case .string(let text) = $0 { text.description } else { nil } }
        }
    }
}
