/* Cursors: iterating over rows one at a time. */
#include "CPeriluneRows/Queries/queries.h"

static const char metatable_key; /* a registry key */

typedef struct {
    pdb_database *database;
    pdb_statement *statement; /* NULL if all rows were fetched at once */
    uint32_t run_id;               /* the run of this cursor */
    const pdb_row_form *form;
    bool is_autocommit; /* opened outside of blocks: each step has its own access */
    bool has_columns, is_done;
    lua_Integer position; /* the position in the list of rows */
} cursor;

/* User values. */
enum { CURSOR_SOURCE = 1 /* compiled statement, or list of rows */, CURSOR_MADE_FROM, CURSOR_ARGUMENTS, CURSOR_DATABASE, CURSOR_CLASS };

static bool is_alive(const cursor *cursor) {
    return cursor->statement && cursor->statement->in_use && cursor->statement->run_id == cursor->run_id;
}

/* MARK: - Stepping */

static int finish(cursor *cursor) {
    cursor->is_done = true;
    pdb_end_run(cursor->statement);
    return 0;
}

static int push_tuple(lua_State *L, pdb_statement *statement) {
    int count = statement->column_count;
    luaL_checkstack(L, count, "too many columns");
    for (int i = 0; i < count; i++) pdb_push_value(L, statement, i);
    /* A nil would end the loop. */
    if (lua_isnil(L, -count)) {
        pdb_push_null(L);
        lua_replace(L, -count - 1);
    }
    return count;
}

/* Keeps the value that rows are made from. */
static void keep_source(lua_State *L, cursor *cursor) {
    lua_getiuservalue(L, lua_upvalueindex(1), CURSOR_SOURCE);
    lua_getiuservalue(L, lua_upvalueindex(1), CURSOR_CLASS);
    int top = lua_gettop(L);
    pdb_call call = {.rows = cursor->database->rows, .database = cursor->database, .statement = cursor->statement,
                     .access = pdb_current_access(L, cursor->database), .statement_index = top - 1, .class_index = top};
    call.arguments.verb = "rows";
    cursor->form->push_source(L, &call);
    lua_setiuservalue(L, lua_upvalueindex(1), CURSOR_MADE_FROM);
    lua_settop(L, top - 2);
}

/* Reads the columns at the first row, when they are certain: SQLite may just have recompiled the statement. */
static void check_columns(lua_State *L, cursor *cursor) {
    cursor->has_columns = true;
    pdb_check_columns(cursor->statement);
    if (cursor->form != &pdb_tuples_form) keep_source(L, cursor);
}

/* Raises for an interrupted cursor. Ending an interrupted transaction resets all statements, so the next step would start from
** the beginning. */
static int raise_interrupted(lua_State *L, cursor *cursor) {
    pdb_push_sqlite_error(L, SQLITE_INTERRUPT, "interrupted", cursor->statement->sql, -1);
    cursor->is_done = true;
    return pdb_raise_failure(L, cursor->statement);
}

static int step(lua_State *L, pdb_state *rows, cursor *cursor) {
    pdb_statement *statement = cursor->statement;
    if (cursor->has_columns && !sqlite3_stmt_busy(statement->handle)) return raise_interrupted(L, cursor);
    int code = sqlite3_step(statement->handle);
    if (rows->has_pending_error) {
        cursor->is_done = true;
        return pdb_raise_failure(L, statement);
    }
    if (code == SQLITE_DONE) return finish(cursor);
    if (code != SQLITE_ROW) {
        cursor->is_done = true;
        return pdb_raise_sqlite(L, statement->connection, statement, code);
    }
    rows->context->usage.rows++;
    if (!cursor->has_columns) check_columns(L, cursor);
    if (rows->context->limited) plua_count_work(L, statement->column_count);
    if (cursor->form == &pdb_tuples_form) return push_tuple(L, statement);
    lua_getiuservalue(L, lua_upvalueindex(1), CURSOR_MADE_FROM);
    cursor->form->push(L, statement, lua_gettop(L));
    if (rows->has_pending_error) {
        cursor->is_done = true;
        return pdb_raise_failure(L, statement);
    }
    pdb_end_rows(L, rows, cursor->form);
    return 1;
}

static int next_in_list(lua_State *L, cursor *cursor) {
    lua_settop(L, 0);
    lua_getiuservalue(L, lua_upvalueindex(1), CURSOR_SOURCE);
    if (lua_rawgeti(L, 1, ++cursor->position) == LUA_TNIL) {
        cursor->is_done = true;
        return 0;
    }
    if (cursor->form != &pdb_tuples_form) return 1;
    lua_getfield(L, 2, "n");
    int count = (int)lua_tointeger(L, -1);
    luaL_checkstack(L, count, "too many columns");
    for (int i = 1; i <= count; i++) lua_rawgeti(L, 2, i);
    if (lua_isnil(L, -count)) {
        pdb_push_null(L);
        lua_replace(L, -count - 1);
    }
    return count;
}

static int raise_dead(lua_State *L, const cursor *cursor) {
    if (cursor->is_autocommit) return plua_raise(L, "closed", "this cursor was used after its database was closed");
    return plua_raise(L, "dead_handle", "this cursor was used after its block ended");
}

/* The iterator of a generic `for`. Upvalue: the cursor. */
static int next(lua_State *L) {
    cursor *cursor = lua_touserdata(L, lua_upvalueindex(1));
    if (cursor->is_done) return 0;
    if (cursor->statement == NULL) return next_in_list(L, cursor);
    if (!is_alive(cursor)) return raise_dead(L, cursor);
    pdb_state *rows = cursor->database->rows;
    if (!cursor->is_autocommit && !rows->place) return step(L, rows, cursor);
    pdb_access *access = pdb_find_access(L, rows, cursor->database, 0);
    if (access && access->connection == cursor->statement->connection) return step(L, rows, cursor);
    if (access) {
        return plua_raise(L, "nested_access",
                              "this cursor was opened outside of the block, and cannot be used in a read block");
    }
    lua_settop(L, 0);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushcclosure(L, next, 1);
    return pdb_enter(L, rows, cursor->database, PDB_WRITE_STATEMENT, 0, NULL);
}

/* MARK: - Opening */

/* Keeps the arguments alive as long as the cursor, because SQLite has not copied the bytes of strings. */
static void keep_arguments(lua_State *L, pdb_call *call, int cursor_index) {
    if (call->statement->parameter_count == 0) return;
    int first = call->arguments.first, last = cursor_index - 1;
    lua_createtable(L, last - first + 1, 0);
    for (int i = first; i <= last; i++) {
        lua_pushvalue(L, i);
        lua_rawseti(L, -2, i - first + 1);
    }
    lua_setiuservalue(L, cursor_index, CURSOR_ARGUMENTS);
}

static cursor *push_cursor(lua_State *L, pdb_call *call, const pdb_row_form *form) {
    cursor *result = lua_newuserdatauv(L, sizeof *result, 5);
    *result = (cursor){.database = call->database, .form = form};
    lua_rawgetp(L, LUA_REGISTRYINDEX, &metatable_key);
    lua_setmetatable(L, -2);
    /* The first user value of a handle or prepared statement keeps its database alive. */
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, CURSOR_DATABASE);
    if (call->class_index) {
        lua_pushvalue(L, call->class_index);
        lua_setiuservalue(L, -2, CURSOR_CLASS);
    }
    return result;
}

static int push_iterator(lua_State *L) {
    int cursor_index = lua_gettop(L);
    lua_pushvalue(L, cursor_index);
    lua_pushcclosure(L, next, 1);
    lua_pushnil(L);
    lua_pushnil(L);
    lua_pushvalue(L, cursor_index);
    return 4;
}

int pdb_open_cursor(lua_State *L, pdb_call *call, const pdb_row_form *form) {
    pdb_statement *statement = call->statement;
    if (!statement->is_direct) {
        pdb_fetch(L, call, form, LUA_MAXINTEGER);
        pdb_end_rows(L, call->rows, form);
        int list = lua_gettop(L);
        push_cursor(L, call, form);
        lua_pushvalue(L, list);
        lua_setiuservalue(L, -2, CURSOR_SOURCE);
        return push_iterator(L);
    }
    bool is_statement = call->access->mode == PDB_READ_STATEMENT || call->access->mode == PDB_WRITE_STATEMENT;
    bool is_autocommit = call->token == 0 && is_statement;
    pdb_start(L, call, is_autocommit ? &statement->connection->active : &call->access->active);
    cursor *cursor = push_cursor(L, call, form);
    int cursor_index = lua_gettop(L);
    cursor->is_autocommit = is_autocommit;
    cursor->statement = statement;
    cursor->run_id = statement->run_id;
    lua_pushvalue(L, call->statement_index);
    lua_setiuservalue(L, cursor_index, CURSOR_SOURCE);
    keep_arguments(L, call, cursor_index);
    return push_iterator(L);
}

/* MARK: - Closing */

static void abandon(cursor *cursor) {
    cursor->statement->is_abandoned = true;
    cursor->statement->connection->has_abandoned = true;
}

static int collect(lua_State *L) {
    cursor *cursor = lua_touserdata(L, 1);
    if (is_alive(cursor)) abandon(cursor);
    return 0;
}

/* Runs when a loop ends for any reason. A cursor that cannot be closed here is closed by the next access to the connection. */
static int close(lua_State *L) {
    pdb_state *rows = pdb_state_of(L);
    cursor *cursor = pdb_to_userdata(L, 1, rows->cursor_metatable);
    if (cursor == NULL) return plua_argument_error(L, "close", 1, "a cursor", 1);
    cursor->is_done = true;
    if (!is_alive(cursor)) return 0;
    pdb_access *access = pdb_current_access(L, cursor->database);
    bool is_here = !cursor->is_autocommit || (access && access->connection == cursor->statement->connection);
    if (rows->place || pdb_is_cancelled(rows) || (!is_here && access)) {
        abandon(cursor);
        return 0;
    }
    if (is_here) {
        pdb_end_run(cursor->statement);
        return 0;
    }
    lua_settop(L, 1);
    lua_pushcfunction(L, close);
    lua_insert(L, 1);
    return pdb_enter(L, rows, cursor->database, PDB_WRITE_STATEMENT, 1, NULL);
}

void pdb_open_cursors(lua_State *L) {
    static const luaL_Reg functions[] = {{"__gc", collect}, {"__close", close}, {NULL, NULL}};
    static const luaL_Reg methods[] = {{"close", close}, {NULL, NULL}};
    pdb_state_of(L)->cursor_metatable = pdb_new_metatable(L, &metatable_key, "cursor", functions);
    lua_createtable(L, 0, 1);
    luaL_setfuncs(L, methods, 0);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}
