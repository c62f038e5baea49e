/* Updating one record: the columns that are written, and what the database puts in. */
#include "CPeriluneRecords/Writing/writing.h"

/* The columns to be written: those of the list at `columns`, or all that the record has. */
static void mark_columns(lua_State *L, prec_record_write *work, int names, int columns, prec_mask *mask) {
    prec_plan *plan = work->block;
    prec_begin_mask(mask, plan->column_count);
    if (columns) {
        lua_getiuservalue(L, work->plan, PLAN_POSITIONS);
        lua_Integer count = (lua_Integer)lua_rawlen(L, columns);
        for (lua_Integer i = 1; i <= count; i++) {
            lua_rawgeti(L, columns, i);
            lua_rawget(L, -2);
            int column = (int)lua_tointeger(L, -1) - 1;
            lua_pop(L, 1);
            if (column >= 0 && !plan->columns[column].is_generated && !prec_is_in_mask(mask, column)) prec_add_to_mask(mask, column);
        }
        lua_pop(L, 1);
        return;
    }
    bool has_all = work->shape_block->plan == plan && work->shape_block->has_all;
    if (!has_all) {
        /* Columns that it has never seen are only written if they have been set since. */
        lua_getiuservalue(L, work->shape, SHAPE_PLAN);
        lua_getiuservalue(L, -1, PLAN_NAMES);
        lua_getiuservalue(L, work->plan, PLAN_POSITIONS);
        for (int i = 0; i < work->shape_block->count; i++) {
            lua_rawgeti(L, -2, work->shape_block->order[i] + 1);
            lua_rawget(L, -2);
            int column = (int)lua_tointeger(L, -1) - 1;
            lua_pop(L, 1);
            if (column >= 0 && !plan->columns[column].is_generated && !plan->columns[column].is_key) prec_add_to_mask(mask, column);
        }
        lua_pop(L, 3);
    }
    int nulls = !has_all && prec_push_nulls(L, work->record) ? lua_gettop(L) : 0;
    for (int i = 0; i < plan->column_count; i++) {
        if (plan->columns[i].is_generated || plan->columns[i].is_key || prec_is_in_mask(mask, i)) continue;
        if (!has_all) {
            lua_rawgeti(L, names, i + 1);
            bool is_set = nulls && prec_is_noted(L, nulls, lua_gettop(L));
            is_set = lua_rawget(L, work->values) != LUA_TNIL || is_set;
            lua_pop(L, 1);
            if (!is_set) continue;
        }
        prec_add_to_mask(mask, i);
    }
    if (nulls) lua_remove(L, nulls);
}

/* Takes what the database has put into the row that was updated: the columns of RETURNING, whose list is on top of the stack. */
static void take_updated(lua_State *L, prec_record_write *work, int names, const prec_write *write) {
    lua_rawgeti(L, -1, 1);
    int row = lua_gettop(L);
    for (int i = 0; lua_istable(L, row) && i < write->returning_count; i++) {
        lua_rawgeti(L, row, i + 1);
        prec_set_column(L, work, names, write->returning[i]);
    }
}

bool prec_update_columns(lua_State *L, prec_record_write *work, const prec_mask *mask, int conflict) {
    int names = lua_gettop(L) + 1, slot = names + 1, key = slot + 1, key_count = work->block->key_count;
    lua_getiuservalue(L, work->plan, PLAN_NAMES);
    lua_pushnil(L);
    if (key_count == 0 || !prec_push_key_of(L, work)) prec_raise_no_key(L, work);
    if (mask->count == 0) {
        lua_settop(L, names - 1);
        return prec_row_exists(L, work);
    }
    luaL_checkstack(L, mask->count * 2 + key_count * 2 + LUA_MINSTACK, "too many columns");
    prec_write *write = prec_push_write(L, work, mask, "u", conflict, PLAN_LAST_UPDATE, 1);
    lua_replace(L, slot);
    prec_begin_write(L, work, prec_compile_kept(L, work->call.access, slot, WRITE_SQL, WRITE_STATEMENT));
    int first_value = lua_gettop(L) + 1;
    for (int i = 0; i < mask->count; i++) {
        lua_rawgeti(L, names, write->parameters[i] + 1);
        if (lua_rawget(L, work->values) == LUA_TUSERDATA) work->has_objects = true;
    }
    for (int i = 0; i < key_count; i++) lua_pushvalue(L, key + i);
    for (int i = 0; i < write->parameter_count; i++) prec_bind_column(L, work, i + 1, write->parameters[i], first_value + i);
    work->has_rows = write->returning_count > 0;
    prec_run_write(L, work, work->has_rows ? &pdb_tuples_form : NULL, 1);
    if (work->call.changes == 0 && !work->block->is_view) return false;
    int rows = lua_gettop(L);
    if (work->has_objects) prec_drop_nulls(L, work, names, write, first_value);
    lua_settop(L, rows);
    if (work->has_rows) take_updated(L, work, names, write);
    return true;
}

/* Updates the row of the record; returns whether there is one. `columns` is the stack index of a list of names, or 0 for all;
** `conflict` that of a clause, or 0. */
bool prec_update_row(lua_State *L, prec_record_write *work, int columns, int conflict) {
    prec_check_fields(L, work);
    int names = lua_gettop(L) + 1;
    prec_mask mask;
    lua_getiuservalue(L, work->plan, PLAN_NAMES);
    mark_columns(L, work, names, columns, &mask);
    bool is_written = prec_update_columns(L, work, &mask, conflict);
    if (is_written && columns == 0 && mask.count > 0) prec_keep_snapshot(L, work, false);
    return is_written;
}
