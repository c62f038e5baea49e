internal import CPeriluneRows
internal import GRDB
internal import PeriluneLua
internal import PeriluneRecords

/// How scripts see that a migration has failed: by the error that it raised, with the name of the migration.
enum MigrationFailure {
    /// Adds to the error object on top of the stack which migration it is from; and where in it, if that is a text of SQL.
    static func annotate(_ L: OpaquePointer, _ migration: ScriptMigration) {
        guard plua_is_error(L, -1), lua_checkstack(L, 10) != 0 else { return }
        set("migration", .string(LuaString(migration.name)), L)
        guard let sql = migration.sql else { return }
        if let file = migration.file {
            set("file", .string(LuaString(file)), L)
            set("line", .integer(Int64(line(of: L, in: sql))), L)
        } else if case .string(let message)? = field("message", L) {
            set("message", .string(LuaString("migration `\(migration.name)`: \(message)")), L)
        }
    }

    private static func set(_ name: String, _ value: LuaValue, _ L: OpaquePointer) {
        LuaCore.of(L).push(value)
        plua_set_error_field(L, name)
    }

    private static func field(_ name: String, _ L: OpaquePointer) -> LuaValue? {
        plua_push_error_fields(L, -1)
        lua_pushstring(L, name)
        lua_rawget(L, -2)
        let value = LuaCore.of(L).takeValues(2)[1]
        return value.isNil ? Optional.none : .some(value)
    }

    /// The line in which the statement that has failed begins, or in which SQLite found the mistake.
    private static func line(of L: OpaquePointer, in sql: LuaString) -> Int {
        let start = min(pdb_statement_start(L), sql.bytes.count)
        var offset = 0
        if case .integer(let position)? = field("offset", L) {
            offset = Int(position) - 1
        } else {
            offset = sql.bytes[start...].withUnsafeBufferPointer(SQLScreening.blankLength)
        }
        return 1 + sql.bytes.prefix(start + offset).count { $0 == UInt8(ascii: "\n") }
    }

    /// Leaves the error that a script is to see on the stack, and nothing else.
    ///
    /// - Parameter migration: The one that was being run.
    static func push(_ error: any Error, migration: String?, on core: LuaCore) {
        lua_settop(core.L, 0)
        switch error {
        case let error as LuaError where error.kind == "host" && error.underlying is DatabaseError:
            // That of the check of foreign keys, which runs below a call of Lua.
            push(error.underlying!, migration: migration, on: core)
        case let error as LuaError: push(error, migration, core)
        case let error as DatabaseError:
            core.pushDatabaseError(error)
            plua_add_position(core.L)
        default:
            core.push(error)
        }
        guard let migration, !isCancelled(core) else { return }
        if lua_type(core.L, -1) == LUA_TTABLE {
            addField("migration", migration, core)
        } else if plua_is_error(core.L, -1), !has("migration", core.L) {
            set("migration", .string(LuaString(migration)), core.L)
        }
    }

    /// Adds a field to the table on top of the stack, which a script has raised, unless it has one of that name.
    private static func addField(_ name: String, _ value: String, _ core: LuaCore) {
        core.push(.string(LuaString(name)))
        let isThere = lua_rawget(core.L, -2) != LUA_TNIL
        lua_settop(core.L, -2)
        guard !isThere else { return }
        core.push(.string(LuaString(name)))
        core.push(.string(LuaString(value)))
        lua_rawset(core.L, -3)
    }

    private static func has(_ name: String, _ L: OpaquePointer) -> Bool {
        if case .none = field(name, L) { false } else { true }
    }

    private static func isCancelled(_ core: LuaCore) -> Bool {
        plua_cancel_reason_of(plua_context_of(core.L)) != LuaCancelReason.none.rawValue
    }

    private static func push(_ error: LuaError, _ migration: String?, _ core: LuaCore) {
        if let violations = error.underlying as? ForeignKeyError {
            core.push(BrokenReferences(migration: migration ?? "", error: violations))
            pushList(of: violations, core)
            plua_set_error_field(core.L, "violations")
            return
        }
        core.push(error)
        guard lua_type(core.L, -1) == LUA_TSTRING else { return }
        // `error("text")`: an object can tell more.
        lua_settop(core.L, 0)
        core.push(MessageError(error: error))
        guard let traceback = error.traceback else { return }
        core.push(.string(LuaString(traceback)))
        core.push(error.file.map { .string(LuaString($0)) } ?? .nil)
        core.push(error.line.map { .integer(Int64($0)) } ?? .nil)
        plua_restore_failure(core.L)
    }

    private static func pushList(of error: ForeignKeyError, _ core: LuaCore) {
        lua_createtable(core.L, CInt(error.violations.count), 0)
        for (index, violation) in error.violations.enumerated() {
            lua_createtable(core.L, 0, 3)
            for (name, value) in [
                ("table", .string(LuaString(violation.table))),
                ("rowid", violation.rowID.map { .integer($0) } ?? .nil),
                ("referenced_table", .string(LuaString(violation.referencedTable))),
            ] as [(String, LuaValue)] {
                core.push(value)
                lua_setfield(core.L, -2, name)
            }
            lua_rawseti(core.L, -2, lua_Integer(index + 1))
        }
    }
}

/// A message that a migration has raised.
private struct MessageError: LuaErrorDescribing {
    let error: LuaError

    var luaKind: String { error.code.description }
    var luaMessage: String { error.message }
    var luaFields: [String: LuaScalar] {
        var fields: [String: LuaScalar] = [:]
        if let file = error.file { fields["file"] = .string(LuaString(file)) }
        if let line = error.line { fields["line"] = .integer(Int64(line)) }
        return fields
    }
}

/// A migration that leaves rows which refer to nothing.
private struct BrokenReferences: LuaErrorDescribing {
    let migration: String
    let error: ForeignKeyError

    var luaKind: String { "constraint_foreign_key" }
    var luaMessage: String {
        "the migration `\(migration)` leaves rows that refer to missing rows: \(error.summary)"
            + (error.hasMore ? "; and more" : "")
    }
    var luaFields: [String: LuaScalar] {
        ["code": .integer(19), "extended_code": .integer(787), "name": "SQLITE_CONSTRAINT_FOREIGNKEY"]
    }
}
