/* Prepared statements, for repeated execution. */
#include "reference.h"

static const char statement_type[] = "reference.statement";

reference_statement *reference_push_statement(lua_State *L, sqlite3 *connection) {
    size_t length;
    const char *sql = luaL_checklstring(L, 2, &length);
    sqlite3_stmt *handle = NULL;
    if (sqlite3_prepare_v3(connection, sql, (int)length, SQLITE_PREPARE_PERSISTENT, &handle, NULL) != SQLITE_OK) {
        reference_raise(L, connection);
    }
    int column_count = sqlite3_column_count(handle);
    reference_statement *statement = lua_newuserdatauv(L, sizeof *statement, column_count + 1);
    *statement = (reference_statement){handle, connection, column_count};
    luaL_setmetatable(L, statement_type);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, column_count + 1);
    return statement;
}

int reference_prepare(lua_State *L) {
    reference_statement *statement = reference_push_statement(L, reference_check_database(L));
    for (int i = 0; i < statement->column_count; i++) {
        lua_pushstring(L, sqlite3_column_name(statement->handle, i));
        lua_setiuservalue(L, -2, i + 1);
    }
    return 1;
}

/* Returns the statement at argument 1. The metatable is an upvalue, which saves luaL_checkudata's lookup by name. */
static reference_statement *check_statement(lua_State *L) {
    void *statement = lua_touserdata(L, 1);
    if (statement == NULL || !lua_getmetatable(L, 1) || !lua_rawequal(L, -1, lua_upvalueindex(1))) {
        luaL_typeerror(L, 1, statement_type);
    }
    lua_pop(L, 1);
    return statement;
}

/* Binds the value at `index`. Strings are not copied: they stay on the stack while the statement runs. */
static int bind(lua_State *L, sqlite3_stmt *statement, int parameter, int index) {
    switch (lua_type(L, index)) {
    case LUA_TNUMBER:
        if (lua_isinteger(L, index)) return sqlite3_bind_int64(statement, parameter, lua_tointeger(L, index));
        return sqlite3_bind_double(statement, parameter, lua_tonumber(L, index));
    case LUA_TSTRING: {
        size_t length;
        const char *bytes = lua_tolstring(L, index, &length);
        return sqlite3_bind_text(statement, parameter, bytes, (int)length, SQLITE_STATIC);
    }
    case LUA_TNIL:
        return sqlite3_bind_null(statement, parameter);
    default:
        return luaL_typeerror(L, index, "number, string or nil");
    }
}

static void bind_all(lua_State *L, const reference_statement *statement) {
    int count = lua_gettop(L);
    for (int index = 2; index <= count; index++) {
        if (bind(L, statement->handle, index - 1, index) != SQLITE_OK) reference_raise(L, statement->connection);
    }
}

/* statement:fetch_one(...): returns the first row as a table, or nil. */
static int fetch_one(lua_State *L) {
    reference_statement *statement = check_statement(L);
    bind_all(L, statement);
    int code = sqlite3_step(statement->handle);
    if (code == SQLITE_ROW) {
        lua_createtable(L, 0, statement->column_count);
        for (int i = 0; i < statement->column_count; i++) {
            if (sqlite3_column_type(statement->handle, i) == SQLITE_NULL) continue;
            lua_getiuservalue(L, 1, i + 1);
            reference_push_column(L, statement->handle, i);
            lua_rawset(L, -3);
        }
    }
    if (sqlite3_reset(statement->handle) != SQLITE_OK) reference_raise(L, statement->connection);
    return code == SQLITE_ROW ? 1 : 0;
}

/* statement:execute(...): returns the number of changed rows. */
static int execute(lua_State *L) {
    reference_statement *statement = check_statement(L);
    bind_all(L, statement);
    sqlite3_step(statement->handle);
    if (sqlite3_reset(statement->handle) != SQLITE_OK) reference_raise(L, statement->connection);
    lua_pushinteger(L, sqlite3_changes(statement->connection));
    return 1;
}

static int finalize(lua_State *L) {
    reference_statement *statement = check_statement(L);
    sqlite3_finalize(statement->handle);
    statement->handle = NULL;
    return 0;
}

void reference_open_statements(lua_State *L) {
    static const luaL_Reg methods[] = {
        {"fetch_one", fetch_one},
        {"execute", execute},
        {"__gc", finalize},
        {NULL, NULL},
    };
    luaL_newmetatable(L, statement_type);
    lua_pushvalue(L, -1);
    luaL_setfuncs(L, methods, 1);
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}
