/* Methods that read many rows. */
#include <stdbool.h>

#include "reference.h"

void reference_push_column(lua_State *L, sqlite3_stmt *statement, int column) {
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        lua_pushinteger(L, sqlite3_column_int64(statement, column));
        break;
    case SQLITE_FLOAT:
        lua_pushnumber(L, sqlite3_column_double(statement, column));
        break;
    case SQLITE_TEXT: {
        /* Reads the text first, because reading may convert the value, which changes the number of bytes. */
        const char *text = (const char *)sqlite3_column_text(statement, column);
        lua_pushlstring(L, text, (size_t)sqlite3_column_bytes(statement, column));
        break;
    }
    case SQLITE_BLOB: {
        const char *bytes = sqlite3_column_blob(statement, column);
        lua_pushlstring(L, bytes, (size_t)sqlite3_column_bytes(statement, column));
        break;
    }
    default:
        lua_pushnil(L);
    }
}

/* Steps a statement. Returns whether a row is available, and raises an error on failure. */
static bool step(lua_State *L, reference_statement *statement) {
    int code = sqlite3_step(statement->handle);
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) reference_raise(L, statement->connection);
    return false;
}

/* Pushes the names of the columns. [-0, +column_count] */
static void push_names(lua_State *L, const reference_statement *statement) {
    luaL_checkstack(L, statement->column_count + LUA_MINSTACK, "too many columns");
    for (int i = 0; i < statement->column_count; i++) {
        lua_pushstring(L, sqlite3_column_name(statement->handle, i));
    }
}

/* Pushes a table for the current row. The column names are on the stack, starting at `first_name`. [-0, +1] */
static void push_row(lua_State *L, const reference_statement *statement, int first_name) {
    lua_createtable(L, 0, statement->column_count);
    for (int i = 0; i < statement->column_count; i++) {
        if (sqlite3_column_type(statement->handle, i) == SQLITE_NULL) continue;
        lua_pushvalue(L, first_name + i);
        reference_push_column(L, statement->handle, i);
        lua_rawset(L, -3);
    }
}

/* database:fetch_all(sql): interns each column name once, and stops the collector during the loop. */
int reference_fetch_all(lua_State *L) {
    reference_statement *statement = reference_push_statement(L, reference_check_database(L));
    lua_newtable(L);
    int result = lua_gettop(L);
    push_names(L, statement);
    lua_gc(L, LUA_GCSTOP);
    for (lua_Integer i = 1; step(L, statement); i++) {
        push_row(L, statement, result + 1);
        lua_rawseti(L, result, i);
    }
    lua_gc(L, LUA_GCRESTART);
    lua_settop(L, result);
    return 1;
}

/* fetch_all in the style of lsqlite3's nrows: pushes each name for each row, does not presize tables, and leaves the collector running.
** Shows the effect of these optimizations. */
int reference_fetch_all_by_name(lua_State *L) {
    reference_statement *statement = reference_push_statement(L, reference_check_database(L));
    lua_newtable(L);
    for (lua_Integer row = 1; step(L, statement); row++) {
        lua_newtable(L);
        for (int i = 0; i < statement->column_count; i++) {
            lua_pushstring(L, sqlite3_column_name(statement->handle, i));
            reference_push_column(L, statement->handle, i);
            lua_rawset(L, -3);
        }
        lua_rawseti(L, -2, row);
    }
    return 1;
}

static int next_tuple(lua_State *L) {
    reference_statement *statement = lua_touserdata(L, lua_upvalueindex(1));
    if (!step(L, statement)) return 0;
    for (int i = 0; i < statement->column_count; i++) reference_push_column(L, statement->handle, i);
    return statement->column_count;
}

/* database:tuples(sql): an iterator for a generic `for`, with one value per column. */
int reference_tuples(lua_State *L) {
    reference_statement *statement = reference_push_statement(L, reference_check_database(L));
    luaL_argcheck(L, statement->column_count <= LUA_MINSTACK, 2, "too many columns");
    lua_pushcclosure(L, next_tuple, 1);
    return 1;
}

static int next_row(lua_State *L) {
    reference_statement *statement = lua_touserdata(L, lua_upvalueindex(1));
    if (!step(L, statement)) return 0;
    lua_createtable(L, 0, statement->column_count);
    for (int i = 0; i < statement->column_count; i++) {
        if (sqlite3_column_type(statement->handle, i) == SQLITE_NULL) continue;
        lua_pushvalue(L, lua_upvalueindex(2 + i));
        reference_push_column(L, statement->handle, i);
        lua_rawset(L, -3);
    }
    return 1;
}

/* database:rows(sql): an iterator for a generic `for`, with one table per row. The names are upvalues of the iterator. */
int reference_rows(lua_State *L) {
    reference_statement *statement = reference_push_statement(L, reference_check_database(L));
    luaL_argcheck(L, statement->column_count < 200, 2, "too many columns");
    push_names(L, statement);
    lua_pushcclosure(L, next_row, 1 + statement->column_count);
    return 1;
}
