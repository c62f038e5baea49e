internal import Foundation
internal import GRDB
package import PeriluneBindings
package import PeriluneLua

/// The native Lua module `perilune.native.changesets`. In Lua, a changeset is a string of bytes, which a script may have forged. Therefore
/// each function validates the bytes before SQLite reads them.
enum ChangesetBinding {
    static func install(in loader: LibraryLoader) {
        loader.provide(native: "changesets", makeFunctions)
    }

    private static func makeFunctions(in state: LuaState) throws -> LuaTable {
        let table = try state.makeTable(fieldCount: 6)
        // (handle, function, ...): calls the function with the remaining arguments. Returns the bytes of the changeset and the function's
        // results.
        try table.setFunction("record") { arguments in
            let db = try connection(arguments)
            let function: LuaFunction = try arguments.get(2)
            let values = Array(arguments.values.dropFirst(2))
            let (changeset, results) = try Changeset.recording(in: db) { try function.call(values) }
            return [bytes(of: changeset)] + results
        }
        try table.setFunction("check") { arguments in
            _ = try changeset(arguments[1])
            return []
        }
        try table.setFunction("invert") { arguments in [bytes(of: try changeset(arguments[1]).inverted())] }
        try table.setFunction("concat") { arguments in
            let (first, second) = (try changeset(arguments[1]), try changeset(arguments[2]))
            do {
                return [bytes(of: try first.followed(by: second))]
            } catch let error as DatabaseError where error.resultCode == .SQLITE_SCHEMA {
                throw ChangesetError(
                    .schema, "the changesets cannot be joined: a table has other columns or another key in the second one")
            }
        }
        // (handle, bytes): returns a list of tables, one for each change.
        try table.setFunction("rows") { arguments in
            let state = try arguments.state
            let changeset = try changeset(arguments[2])
            let handle = try DatabaseHandle(arguments, 1, for: "changeset:rows: argument 1")
            let names = try handle.withConnection { db in try ColumnNames(of: changeset, in: db) }
            let list = try state.makeTable()
            var count: Int64 = 0
            // Converts one change at a time, so only the Lua list, which counts towards the memory limit, grows with the changeset.
            try changeset.forEach { change in
                count += 1
                try list.rawSet(.integer(count), .table(names.table(of: ChangesetRow(change), in: state)))
            }
            return [.table(list)]
        }
        // (handle, bytes, function or nil, list of tables or nil): applies the changes. Returns the number of applied changes,
        // the number of skipped changes, and the names of the tables in the changeset.
        try table.setFunction("apply") { arguments in
            let (state, changeset, db) = (try arguments.state, try changeset(arguments[2]), try connection(arguments))
            let resolve = try arguments.get(3, as: LuaFunction?.self)
            let names = try resolve.map { _ in try ColumnNames(of: changeset, in: db) }
            let tables = try arguments.get(4, as: [String]?.self)
            let (applied, omitted) = try changeset.apply(to: db, tables: tables.map { Set($0) }) { conflict in
                guard let resolve, let names else { return .abort }
                let table = try names.table(of: conflict, in: state)
                return try resolution(of: DatabaseHandle.calling(resolve, [.table(table)], at: .conflict, in: state))
            }
            var touched: [String] = []
            try changeset.forEach { change in if touched.last != change.table { touched.append(change.table) } }
            return [.integer(Int64(applied)), .integer(Int64(omitted)), try touched.toLua(in: state)]
        }
        return table
    }

    private static func changeset(_ value: LuaValue) throws -> Changeset {
        guard case .string(let string) = value else {
            throw BindingError("argument", "expected the bytes of a changeset, got \(value.shortDescription)")
        }
        return try Changeset(validating: Data(string.bytes))
    }

    private static func bytes(of changeset: Changeset) -> LuaValue { .string(LuaString(changeset.bytes)) }

    /// Returns the GRDB connection of the database handle at position 1, which must be in a writable transaction.
    private static func connection(_ arguments: LuaArguments) throws -> Database {
        let handle = try DatabaseHandle(arguments, 1, for: "changesets")
        try handle.database.refuseInCluster(
            "changesets are recorded and applied in files and in memory, not in a cluster; write the statements of a change instead"
        )
        guard let db = handle.connection else {
            throw BindingError("usage", "changesets are recorded and applied in a transaction")
        }
        guard !handle.isReadonly else { throw BindingError("readonly", "this block may only read; use db:write") }
        return db
    }

    /// Converts the result of a conflict resolver, which the Lua module has validated.
    private static func resolution(of results: [LuaValue]) throws -> Changeset.Resolution {
        switch try String.fromLua(results.first ?? .nil) {
        case "omit": .omit
        case "replace": .replace
        default: .abort
        }
    }
}

/// The current column names of the tables in a changeset.
private struct ColumnNames {
    private var names: [String: [String]] = [:]

    init(of changeset: Changeset, in db: Database) throws {
        try changeset.forEach { change in
            guard names[change.table] == nil else { return }
            names[change.table] = try String.fetchAll(
                db, sql: "SELECT name FROM pragma_table_info(?, 'main') ORDER BY cid", arguments: [change.table])
        }
    }

    /// Returns a change as a Lua table. If the database table is missing or has a different number of columns, the values are indexed by
    /// column position instead of name.
    func table(of row: ChangesetRow, in state: LuaState) throws -> LuaTable {
        let table = try state.makeTable(fieldCount: 5)
        try table.rawSet("table", .string(LuaString(row.table)))
        try table.rawSet("operation", .string(LuaString(row.operation.rawValue)))
        let keyTable = try state.makeTable()
        for (place, value) in zip(row.keyColumns, row.key) {
            try keyTable.rawSet(name(place, of: row), luaValue(value, in: state))
        }
        try table.rawSet("key", .table(keyTable))
        if !row.old.isEmpty { try table.rawSet("old", values(row.old, of: row, in: state)) }
        if !row.new.isEmpty { try table.rawSet("new", values(row.new, of: row, in: state)) }
        return table
    }

    func table(of conflict: ChangesetConflict, in state: LuaState) throws -> LuaTable {
        let table = try table(of: conflict.change, in: state)
        try table.rawSet("kind", .string(LuaString(conflict.kind.rawValue)))
        if let found = conflict.found { try table.rawSet("found", values(found, of: conflict.change, in: state)) }
        return table
    }

    private func values(_ values: [StoredValue?], of row: ChangesetRow, in state: LuaState) throws -> LuaValue {
        let table = try state.makeTable()
        for (place, value) in values.enumerated() {
            if let value { try table.rawSet(name(place, of: row), luaValue(value, in: state)) }
        }
        return .table(table)
    }

    private func name(_ place: Int, of row: ChangesetRow) -> LuaValue {
        guard let names = names[row.table], names.count == row.columnCount else { return .integer(Int64(place + 1)) }
        return .string(LuaString(names[place]))
    }

    private func luaValue(_ value: StoredValue, in state: LuaState) throws -> LuaValue {
        switch value {
        case .null: try state.makeNull()
        case .integer(let value): .integer(value)
        case .real(let value): .number(value)
        case .text(let bytes): .string(LuaString(bytes))
        case .blob(let bytes): try state.makeBlob(bytes)
        }
    }
}

extension ScriptSetup {
    /// Installs the Lua library, including the changeset module.
    @discardableResult
    package func installWithChangesets(in state: LuaState) throws -> LibraryLoader {
        var setup = self
        setup.extending = { [extending] loader, state in
            ChangesetBinding.install(in: loader)
            try extending?(loader, state)
        }
        return try setup.install(in: state)
    }
}
