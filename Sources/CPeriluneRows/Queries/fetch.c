/* Fetching all rows of a statement as a list, or the first row. */
#include "CPeriluneRows/Queries/queries.h"

/* The number of rows after which the garbage collector is stopped. A loop that only builds rows has no garbage to collect until its end. */
enum { rows_before_pause = 100 };

int pdb_raise_null(lua_State *L, pdb_call *call, lua_Integer row) {
    const char *column = sqlite3_column_name(call->statement->handle, 0);
    lua_pushstring(L, column ? column : "");
    pdb_end_run(call->statement);
    return plua_raise(L, "null", "%s: the value of `%s` in row %I is NULL; exclude such rows in the SQL, or use "
                          "fetch_optional_values, which returns perilune.null for them", call->arguments.verb,
                          lua_tostring(L, -1), row);
}

typedef struct {
    pdb_row_loop rows;
    const pdb_row_form *form;
    lua_Integer count;
    bool is_done;
} loop;

/* Appends rows to the list at 1 until no row is left or the list has `limit` rows. The source is at 2. */
static void take_rows(lua_State *L, loop *loop, lua_Integer limit) {
    pdb_call *call = loop->rows.call;
    int top = lua_gettop(L);
    loop->rows.source = 2;
    loop->form->begin(L, &loop->rows);
    while (loop->count < limit) {
        loop->count++;
        if (!loop->form->push_next(L, &loop->rows)) pdb_raise_null(L, call, loop->count);
        lua_rawseti(L, 1, loop->count);
        pdb_check_limits(L, call, loop->count);
        if (!pdb_step(L, call)) {
            loop->is_done = true;
            break;
        }
    }
    lua_settop(L, top);
}

/* Arguments: list, source, loop. */
static int take_all_rows(lua_State *L) {
    loop *loop = lua_touserdata(L, 3);
    lua_settop(L, 2);
    take_rows(L, loop, LUA_MAXINTEGER);
    return 0;
}

/* Like take_all_rows, but pauses the collector and restarts it even after an error. Does not pause it if the state has a memory limit,
** because the limit requires garbage collection. */
static void take_all_rows_paused(lua_State *L, loop *loop, int list) {
    bool is_running = lua_gc(L, LUA_GCISRUNNING) && loop->rows.call->rows->context->limit == 0;
    lua_pushcfunction(L, take_all_rows);
    lua_pushvalue(L, list);
    lua_pushvalue(L, list + 1);
    lua_pushlightuserdata(L, loop);
    if (is_running) lua_gc(L, LUA_GCSTOP);
    int status = plua_pcall(L, 3, 0);
    if (is_running) lua_gc(L, LUA_GCRESTART);
    if (status != LUA_OK) {
        pdb_end_run(loop->rows.call->statement);
        plua_throw(L);
    }
}

/* Arguments: list, source, loop. */
static int take_first_rows(lua_State *L) {
    loop *loop = lua_touserdata(L, 3);
    lua_settop(L, 2);
    take_rows(L, loop, rows_before_pause);
    return 0;
}

/* Pushes the list of all rows of a statement that is stepped here. */
static void fetch_direct(lua_State *L, pdb_call *call, const pdb_row_form *form) {
    pdb_start(L, call, &call->access->active);
    loop loop = {.rows = {.call = call}, .form = form};
    bool has_row = pdb_step(L, call);
    lua_newtable(L);
    pdb_mark_list(L);
    if (has_row) {
        int list = lua_gettop(L);
        pdb_check_columns(call->statement);
        form->push_source(L, call);
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

void pdb_fetch(lua_State *L, pdb_call *call, const pdb_row_form *form, lua_Integer limit) {
    if (call->statement->is_direct) fetch_direct(L, call, form);
    else pdb_run_through_grdb(L, call, form, limit);
}

void pdb_fetch_first(lua_State *L, pdb_call *call, const pdb_row_form *form) {
    if (!call->statement->is_direct) {
        pdb_run_through_grdb(L, call, form, 1);
        lua_rawgeti(L, -1, 1);
        return;
    }
    if (pdb_step_once(L, call)) {
        pdb_check_columns(call->statement);
        form->push_source(L, call);
        form->push(L, call->statement, lua_gettop(L));
        if (call->rows->has_pending_error) pdb_raise_failure(L, call->statement);
    } else {
        lua_pushnil(L);
    }
    pdb_end_run(call->statement);
}
