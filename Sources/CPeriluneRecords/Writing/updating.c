/* Updates of single records: the columns to write, and the values that the database returns. */
#include "CPeriluneRecords/Writing/writing.h"

/* Marks the columns of the list at `columns`. */
static void mark_listed(lua_State *L, prec_record_write *work, int columns, prec_mask *mask) {
    prec_table_layout *layout = work->layout;
    prec_begin_mask(mask, layout->column_count);
    lua_getiuservalue(L, work->layout_index, TABLE_LAYOUT_POSITIONS);
    lua_Integer count = (lua_Integer)lua_rawlen(L, columns);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, columns, i);
        lua_rawget(L, -2);
        int column = (int)lua_tointeger(L, -1) - 1;
        lua_pop(L, 1);
        if (column >= 0 && !layout->columns[column].is_generated && !prec_is_in_mask(mask, column)) prec_add_to_mask(mask, column);
    }
    lua_pop(L, 1);
}

/* Returns whether an UPDATE may write a column. */
static inline bool may_update(const prec_table_layout *layout, int column, bool with_key) {
    return !layout->columns[column].is_generated && (with_key || !layout->columns[column].is_key);
}

void prec_mark_updated(lua_State *L, prec_record_write *work, bool with_key, prec_mask *mask) {
    prec_table_layout *layout = work->layout;
    int top = lua_gettop(L), names = top + 1;
    prec_begin_mask(mask, layout->column_count);
    lua_getiuservalue(L, work->layout_index, TABLE_LAYOUT_NAMES);
    bool is_made = prec_is_made(L, work), has_all = !is_made && work->set->layout == layout && work->set->has_all;
    if (!has_all && !is_made) {
        /* Columns that were not fetched are written only if a script has set them. */
        lua_getiuservalue(L, work->column_set, COLUMN_SET_LAYOUT);
        lua_getiuservalue(L, -1, TABLE_LAYOUT_NAMES);
        lua_getiuservalue(L, work->layout_index, TABLE_LAYOUT_POSITIONS);
        for (int i = 0; i < work->set->count; i++) {
            lua_rawgeti(L, -2, work->set->order[i] + 1);
            lua_rawget(L, -2);
            int column = (int)lua_tointeger(L, -1) - 1;
            lua_pop(L, 1);
            if (column >= 0 && may_update(layout, column, with_key)) prec_add_to_mask(mask, column);
        }
        lua_pop(L, 3);
    }
    int nulls = !has_all && prec_push_nulls(L, work->record) ? lua_gettop(L) : 0;
    for (int i = 0; i < layout->column_count; i++) {
        if (!may_update(layout, i, with_key) || prec_is_in_mask(mask, i)) continue;
        if (!has_all) {
            lua_rawgeti(L, names, i + 1);
            bool is_set = nulls && prec_is_noted(L, nulls, lua_gettop(L));
            is_set = lua_rawget(L, work->values) != LUA_TNIL || is_set;
            lua_pop(L, 1);
            if (!is_set) continue;
        }
        prec_add_to_mask(mask, i);
    }
    lua_settop(L, top);
}

/* Returns why the row was not written: a clause has left it unchanged, or it does not exist. */
static prec_outcome look_for_row(lua_State *L, prec_record_write *work, int top) {
    lua_settop(L, top);
    return prec_row_exists(L, work) ? PREC_KEPT : PREC_NO_ROW;
}

prec_outcome prec_update_columns(lua_State *L, prec_record_write *work, const prec_mask *mask, int conflict) {
    int names = lua_gettop(L) + 1, slot = names + 1, key = slot + 1, key_count = work->layout->key_count;
    lua_getiuservalue(L, work->layout_index, TABLE_LAYOUT_NAMES);
    lua_pushnil(L);
    if (key_count == 0 || !prec_push_key_of(L, work)) prec_raise_no_key(L, work);
    if (mask->count == 0) {
        lua_settop(L, names - 1);
        return prec_row_exists(L, work) ? PREC_WRITTEN : PREC_NO_ROW;
    }
    luaL_checkstack(L, mask->count * 2 + key_count * 2 + LUA_MINSTACK, "too many columns");
    prec_write *write = prec_push_write(L, work, mask, "u", conflict, TABLE_LAYOUT_LAST_UPDATE, 1);
    lua_replace(L, slot);
    prec_begin_write(L, work, prec_compile_kept(L, work->call.access, slot, WRITE_SQL, WRITE_STATEMENT));
    int first_value = lua_gettop(L) + 1;
    for (int i = 0; i < mask->count; i++) {
        lua_rawgeti(L, names, write->parameters[i] + 1);
        if (lua_rawget(L, work->values) == LUA_TUSERDATA) work->has_objects = true;
    }
    for (int i = 0; i < key_count; i++) lua_pushvalue(L, key + i);
    for (int i = 0; i < write->parameter_count; i++) {
        if (i < mask->count) prec_bind_written(L, work, i + 1, write->parameters[i], first_value + i);
        else prec_bind_column(L, work, i + 1, write->parameters[i], first_value + i);
    }
    work->has_rows = write->returning_count > 0;
    prec_run_write(L, work, work->has_rows ? &pdb_exact_tuples_form : NULL, 1);
    if (work->call.changes == 0 && !work->layout->is_view) return look_for_row(L, work, names - 1);
    int rows = lua_gettop(L);
    if (work->has_objects) prec_drop_nulls(L, work, names, write, first_value);
    lua_settop(L, rows);
    if (work->has_rows) prec_take_returned(L, work, names, write);
    return PREC_WRITTEN;
}

prec_outcome prec_update_row(lua_State *L, prec_record_write *work, int columns, int conflict) {
    prec_check_fields(L, work);
    prec_mask mask;
    if (columns) mark_listed(L, work, columns, &mask);
    else prec_mark_updated(L, work, false, &mask);
    prec_outcome outcome = prec_update_columns(L, work, &mask, conflict);
    /* If only listed columns are written, the other columns keep their previous values, which are known only from a snapshot. */
    bool is_known = columns == 0 || prec_has_snapshot(L, work->record);
    if (outcome == PREC_WRITTEN && is_known) prec_keep_snapshot(L, work, false);
    return outcome;
}
