/* Fetching: lists of rows, values and records. */
#include "CPeriluneRows/Queries/verbs.h"

/* From so many rows on, the collector waits: nothing that a loop builds can be collected before its end. */
enum { rows_before_pause = 100 };

int pdb_raise_null(lua_State *L, pdb_call *call, lua_Integer row) {
    pdb_end_run(call->statement);
    return plua_raise(L, "null", "%s: the value of row %I is NULL: leave such rows out in SQL, or use "
                          "fetch_optional_values, which gives perilune.null for them", call->arguments.verb, row);
}

typedef struct {
    pdb_call *call;
    pdb_row_form form;
    lua_Integer count;
    bool is_done;
} loop;

/* Pushes the first column. Returns false if it is NULL and may not be. */
static bool push_first(lua_State *L, pdb_call *call) {
    pdb_push_value(L, call->statement, 0);
    if (!lua_isnil(L, -1)) return true;
    if (!call->allows_null) return false;
    lua_pop(L, 1);
    pdb_push_null(L);
    return true;
}

/* Pushes the row that the statement stands on, made from keys on the stack. */
static inline void push_row(lua_State *L, pdb_statement *statement, int first_key, int metatable) {
    int count = statement->column_count;
    lua_createtable(L, 0, count);
    for (int i = 0; i < count; i++) {
        if (sqlite3_column_type(statement->handle, i) == SQLITE_NULL) continue;
        lua_pushvalue(L, first_key + i);
        pdb_push_value(L, statement, i);
        lua_rawset(L, -3);
    }
    lua_pushvalue(L, metatable);
    lua_setmetatable(L, -2);
}

/* The same for records. Index 2: their layout. */
static void take_records(lua_State *L, loop *loop, lua_Integer limit) {
    int top = lua_gettop(L);
    prec_decoder decoder = prec_begin_records(L, 2);
    while (loop->count < limit) {
        prec_decode(L, loop->call->statement, &decoder);
        lua_rawseti(L, 1, ++loop->count);
        pdb_check_limits(L, loop->call, loop->count);
        if (!pdb_step(L, loop->call)) {
            loop->is_done = true;
            break;
        }
    }
    lua_settop(L, top);
}

/* Takes rows into the list at index 1 until there are none, or `limit` are in it. Index 2: the list of keys. */
static void take_rows(lua_State *L, loop *loop, lua_Integer limit) {
    pdb_call *call = loop->call;
    pdb_statement *statement = call->statement;
    if (loop->form == PDB_RECORDS) {
        take_records(L, loop, limit);
        return;
    }
    bool has_rows = loop->form == PDB_ROWS;
    int metatable = lua_gettop(L) + 1, first_key = metatable + 1;
    luaL_checkstack(L, statement->column_count + LUA_MINSTACK, "too many columns");
    if (has_rows) lua_rawgeti(L, 2, 0);
    for (int i = 1; has_rows && i <= statement->column_count; i++) lua_rawgeti(L, 2, i);
    while (loop->count < limit) {
        loop->count++;
        if (has_rows) push_row(L, statement, first_key, metatable);
        else if (!push_first(L, call)) pdb_raise_null(L, call, loop->count);
        lua_rawseti(L, 1, loop->count);
        pdb_check_limits(L, call, loop->count);
        if (!pdb_step(L, call)) {
            loop->is_done = true;
            break;
        }
    }
    lua_settop(L, metatable - 1);
}

/* Arguments: list, list of keys, loop. */
static int take_all_rows(lua_State *L) {
    loop *loop = lua_touserdata(L, 3);
    lua_settop(L, 2);
    take_rows(L, loop, LUA_MAXINTEGER);
    return 0;
}

/* The same with the collector paused; it is started again whatever happens. A state with a memory limit goes without: it
** must be able to collect. */
static void take_all_rows_paused(lua_State *L, loop *loop, int list) {
    bool is_running = lua_gc(L, LUA_GCISRUNNING) && loop->call->rows->context->limit == 0;
    lua_pushcfunction(L, take_all_rows);
    lua_pushvalue(L, list);
    lua_pushvalue(L, list + 1);
    lua_pushlightuserdata(L, loop);
    if (is_running) lua_gc(L, LUA_GCSTOP);
    int status = plua_pcall(L, 3, 0);
    if (is_running) lua_gc(L, LUA_GCRESTART);
    if (status != LUA_OK) {
        pdb_end_run(loop->call->statement);
        lua_error(L);
    }
}

/* Arguments: list, list of keys, loop. */
static int take_first_rows(lua_State *L) {
    loop *loop = lua_touserdata(L, 3);
    lua_settop(L, 2);
    take_rows(L, loop, rows_before_pause);
    return 0;
}

/* Pushes the list of what a direct statement gives. */
static void fetch_direct(lua_State *L, pdb_call *call, pdb_row_form form) {
    pdb_start(L, call, &call->access->active);
    loop loop = {.call = call, .form = form};
    bool has_row = pdb_step(L, call);
    lua_newtable(L);
    if (has_row) {
        int list = lua_gettop(L);
        pdb_check_columns(call->statement);
        if (form == PDB_ROWS) pdb_push_keys(L, call->statement, call->statement_index);
        else if (form == PDB_RECORDS) prec_push_layout(L, call);
        else lua_pushnil(L);
        lua_pushcfunction(L, take_first_rows);
        lua_pushvalue(L, list);
        lua_pushvalue(L, list + 1);
        lua_pushlightuserdata(L, &loop);
        lua_call(L, 3, 0);
        if (!loop.is_done) take_all_rows_paused(L, &loop, list);
        lua_settop(L, list);
    }
    pdb_end_run(call->statement);
}

void pdb_fetch(lua_State *L, pdb_call *call, pdb_row_form form, lua_Integer limit) {
    if (call->statement->is_direct) fetch_direct(L, call, form);
    else pdb_run_through_grdb(L, call, form, limit);
}
