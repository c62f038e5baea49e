/* Raises the errors of failed statements after ending their runs. */
#include "CPeriluneRows/Connections/connections.h"

/* The maximum length of a failed statement's text with its bound values. */
enum { longest_expansion = 64 * 1024 };

/* err:expanded() returns the text of the statement with its bound values. */
static int expanded(lua_State *L) {
    lua_pushvalue(L, lua_upvalueindex(1));
    return 1;
}

/* Sets `expanded` in the error object on top of the stack. It is a function, because the values may be secret: a script must call it
** explicitly. */
static void set_expanded(lua_State *L, pdb_statement *statement) {
    int former = sqlite3_limit(statement->connection->handle, SQLITE_LIMIT_LENGTH, longest_expansion);
    char *text = statement->is_carrier ? NULL : sqlite3_expanded_sql(statement->handle);
    sqlite3_limit(statement->connection->handle, SQLITE_LIMIT_LENGTH, former);
    lua_pushstring(L, text ? text : statement->sql);
    sqlite3_free(text);
    lua_pushcclosure(L, expanded, 1);
    plua_set_error_field(L, "expanded");
}

static bool has_field(lua_State *L, const char *name) {
    plua_push_error_fields(L, -1);
    bool is_there = lua_getfield(L, -1, name) != LUA_TNIL;
    lua_pop(L, 2);
    return is_there;
}

/* Marks the schema as possibly changed if a statement has failed because of its text: another connection may have changed the table. */
static void suspect_schema(lua_State *L, pdb_statement *statement) {
    plua_push_error_fields(L, -1);
    bool is_text = lua_getfield(L, -1, "code") != LUA_TNIL && lua_tointeger(L, -1) == SQLITE_ERROR;
    lua_pop(L, 2);
    if (is_text && statement->connection) pdb_touch_schema(statement->connection->database);
}

int pdb_raise_failure(lua_State *L, pdb_statement *statement) {
    pdb_state *rows = pdb_state_of(L);
    if (pdb_is_cancelled(rows)) {
        pdb_drop_pending_error(L);
        if (statement) pdb_end_run(statement);
        return plua_raise_cancellation(L);
    }
    if (rows->has_pending_error) {
        pdb_take_pending_error(L);
        if (statement) pdb_end_run(statement);
        return plua_throw(L);
    }
    if (plua_is_error(L, -1)) {
        if (statement && statement->handle && has_field(L, "extended_code")) {
            if (!has_field(L, "sql")) {
                lua_pushstring(L, statement->sql);
                plua_set_error_field(L, "sql");
            }
            set_expanded(L, statement);
            suspect_schema(L, statement);
        }
        plua_add_position(L);
    }
    if (statement) {
        pdb_end_run(statement);
        if (rows->explain_failure) rows->explain_failure(L, rows, statement);
    }
    return plua_throw(L);
}

int pdb_raise_sqlite(lua_State *L, pdb_connection *connection, pdb_statement *statement, int code) {
    pdb_state *rows = connection->database->rows;
    sqlite3 *handle = connection->handle;
    int extended = sqlite3_extended_errcode(handle);
    if ((extended & 0xFF) != (code & 0xFF)) extended = code;
    if ((code & 0xFF) == SQLITE_ERROR || (code & 0xFF) == SQLITE_SCHEMA) pdb_touch_schema(connection->database);
    const char *sql = statement ? statement->sql : NULL;
    pdb_push_sqlite_error(L, extended, sqlite3_errmsg(handle), sql, sqlite3_error_offset(handle));
    bool may_refuse = pdb_begin_host_call(rows);
    rows->callbacks.attach_error(L, extended, sqlite3_errmsg(handle), sql);
    pdb_end_host_call(rows, may_refuse);
    return pdb_raise_failure(L, statement);
}
