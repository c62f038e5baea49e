/* Writes of single records: code shared by the methods, and the methods that use only the key. */
#include "CPeriluneRecords/Writing/writing.h"

/* Uses the current table layout of the database. */
static void renew_table_layout(lua_State *L, prec_record_write *work) {
    int top = lua_gettop(L);
    lua_getiuservalue(L, work->layout_index, TABLE_LAYOUT_MODEL);
    work->layout = prec_push_table_layout(L, lua_gettop(L), work->call.access);
    lua_replace(L, work->layout_index);
    lua_settop(L, top);
}

prec_record_write prec_begin_work(lua_State *L, pdb_database *database, pdb_access *access, const char *verb,
                                  int record) {
    prec_record_write work = {.call = {.rows = database->rows, .database = database, .access = access}, .verb = verb,
                          .record = record, .values = record, .column_set = lua_gettop(L)};
    luaL_checkstack(L, LUA_MINSTACK * 2, NULL);
    work.call.arguments.verb = verb;
    work.set = lua_touserdata(L, work.column_set);
    work.layout_index = work.column_set + 1;
    work.layout = work.set->layout;
    lua_getiuservalue(L, work.column_set, COLUMN_SET_LAYOUT);
    if (work.layout->database != database->id || work.layout->generation != database->schema_generation) renew_table_layout(L, &work);
    return work;
}

/* Returns whether all fields of the record are columns of the table. If `raises`, raises otherwise. */
static bool has_known_fields(lua_State *L, prec_record_write *work, bool raises) {
    prec_push_callback(L, PREC_CALL_check_fields);
    lua_pushvalue(L, work->record);
    lua_getiuservalue(L, work->layout_index, TABLE_LAYOUT_SCHEMA);
    lua_pushboolean(L, raises);
    lua_call(L, 3, 1);
    bool are_known = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return are_known;
}

/* Returns whether the record may have columns that the table lacks in this database, because the record was created with a different table
** layout. */
static bool may_have_others(const prec_record_write *work) {
    return work->set->layout != work->layout || work->layout->model->has_differing_columns;
}

/* Raises if a field of the record is not a column of the table in this database. */
void prec_check_fields(lua_State *L, prec_record_write *work) {
    if (!may_have_others(work) || has_known_fields(L, work, false)) return;
    /* Another connection may have changed the table. */
    pdb_touch_schema(work->call.database);
    renew_table_layout(L, work);
    if (may_have_others(work)) has_known_fields(L, work, true);
}

bool prec_push_key_of(lua_State *L, prec_record_write *work) {
    int top = lua_gettop(L);
    luaL_checkstack(L, work->layout->key_count + LUA_MINSTACK, NULL);
    lua_getiuservalue(L, work->layout_index, TABLE_LAYOUT_NAMES);
    for (int i = 0; i < work->layout->key_count; i++) {
        lua_rawgeti(L, top + 1, work->layout->keys[i] + 1);
        lua_rawget(L, work->key_values ? work->key_values : work->values);
        if (!lua_isnil(L, -1) && !pdb_is_null(L, -1)) continue;
        lua_settop(L, top);
        return false;
    }
    lua_remove(L, top + 1);
    return true;
}

void prec_check_key(lua_State *L, prec_record_write *work) {
    if (prec_keeps_key(L, work->record, work->values, work->set, work->layout, work->layout_index)) return;
    /* The key may be the same in a different form. The Lua part decides this by the types of the columns. */
    prec_push_callback(L, PREC_CALL_check_kept_key);
    lua_pushstring(L, work->verb);
    lua_getiuservalue(L, work->layout_index, TABLE_LAYOUT_SCHEMA);
    lua_pushvalue(L, work->record);
    lua_call(L, 3, 0);
}

bool prec_has_key(const prec_record_write *work, const prec_mask *mask) {
    bool has_key = false;
    for (int i = 0; i < work->layout->key_count; i++) has_key = has_key || prec_is_in_mask(mask, work->layout->keys[i]);
    return has_key;
}

int prec_raise_no_key(lua_State *L, prec_record_write *work) {
    prec_push_callback(L, PREC_CALL_raise_no_key);
    lua_pushstring(L, work->verb);
    lua_getiuservalue(L, work->layout_index, TABLE_LAYOUT_SCHEMA);
    lua_pushvalue(L, work->record);
    lua_call(L, 3, 0);
    return plua_raise(L, "argument", "%s: the key is missing", work->verb);
}

int prec_raise_row_not_found(lua_State *L, prec_record_write *work) {
    prec_push_callback(L, PREC_CALL_raise_not_found);
    lua_getiuservalue(L, work->layout_index, TABLE_LAYOUT_SCHEMA);
    lua_pushvalue(L, work->values);
    lua_call(L, 2, 0);
    return 0;
}

/* Without change tracking, records that a script has created cannot be distinguished from others. */
bool prec_is_made(lua_State *L, const prec_record_write *work) {
    return work->layout->model->tracks_changes && !prec_has_snapshot(L, work->record);
}

/* Returns whether the column set of the record contains all table columns for which the record has a value. */
static bool has_columns_of_set(lua_State *L, prec_record_write *work) {
    const prec_column_set *set = work->set;
    if (set->layout != work->layout || set->count == work->layout->column_count) return set->layout == work->layout;
    prec_mask mask;
    prec_begin_mask(&mask, work->layout->column_count);
    for (int i = 0; i < set->count; i++) prec_add_to_mask(&mask, set->order[i]);
    lua_getiuservalue(L, work->layout_index, TABLE_LAYOUT_NAMES);
    bool has_other = false;
    for (int i = 0; i < work->layout->column_count && !has_other; i++) {
        if (prec_is_in_mask(&mask, i)) continue;
        lua_rawgeti(L, -1, i + 1);
        has_other = lua_rawget(L, work->record) != LUA_TNIL;
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return !has_other;
}

/* Stores the current values as the record's snapshot. After an insert, the snapshot has all columns; after an update, the previous columns
** and the written ones. If columns were added, the Lua part determines them. */
void prec_keep_snapshot(lua_State *L, prec_record_write *work, bool has_all) {
    bool is_whole = work->set->layout == work->layout && work->set->count == work->layout->column_count;
    int top = lua_gettop(L), column_set = work->column_set;
    if (!has_all && (prec_is_made(L, work) || !has_columns_of_set(L, work))) {
        prec_push_callback(L, PREC_CALL_widen);
        lua_pushvalue(L, work->record);
        lua_pushvalue(L, work->layout_index);
        lua_pushvalue(L, work->values);
        lua_call(L, 3, 0);
        return;
    }
    prec_forget_nulls(L, work->record);
    if (!is_whole && has_all) {
        lua_getiuservalue(L, work->layout_index, TABLE_LAYOUT_COLUMN_SET);
        column_set = top + 1;
        lua_getiuservalue(L, column_set, COLUMN_SET_METATABLE);
        lua_setmetatable(L, work->record);
    }
    if (work->layout->model->tracks_changes) prec_take_snapshot(L, column_set, work->record, work->values);
    lua_settop(L, top);
}

void prec_set_column(lua_State *L, prec_record_write *work, int names, int column) {
    if (work->layout->columns[column].is_boolean && lua_isinteger(L, -1)) {
        lua_pushboolean(L, lua_tointeger(L, -1) != 0);
        lua_replace(L, -2);
    }
    if (work->layout->columns[column].is_real && lua_isinteger(L, -1)) {
        lua_pushnumber(L, (lua_Number)lua_tointeger(L, -1));
        lua_replace(L, -2);
    }
    lua_rawgeti(L, names, column + 1);
    lua_insert(L, -2);
    if (work->values != work->record) {
        lua_pushvalue(L, -2);
        lua_pushvalue(L, -2);
        lua_rawset(L, work->values);
    }
    lua_rawset(L, work->record);
}

void prec_take_returned(lua_State *L, prec_record_write *work, int names, const prec_write *write) {
    lua_rawgeti(L, -1, 1);
    int row = lua_gettop(L);
    for (int i = 0; lua_istable(L, row) && i < write->returning_count; i++) {
        int column = write->returning[i];
        lua_rawgeti(L, row, i + 1);
        if (!work->layout->columns[column].keeps_blobs && pdb_is_blob(L, -1)) pdb_unwrap_blob(L);
        prec_set_column(L, work, names, column);
    }
}

void prec_drop_nulls(lua_State *L, prec_record_write *work, int names, const prec_write *write, int first_value) {
    for (int i = 0; i < write->parameter_count; i++) {
        if (!pdb_is_null(L, first_value + i)) continue;
        lua_pushnil(L);
        prec_set_column(L, work, names, write->parameters[i]);
    }
}

/* MARK: - By key */

/* Binds the values of the key, whose stack indices start at `first`. Does not set the pending write, because the statement only reads or
** changes rows with this key. */
void prec_begin_by_key(lua_State *L, prec_record_write *work, int first, int sql_value, int kept_value) {
    luaL_checkstack(L, work->layout->key_count + LUA_MINSTACK, NULL);
    prec_begin_write(L, work, prec_compile_kept(L, work->call.access, work->layout_index, sql_value, kept_value));
    for (int i = 0; i < work->layout->key_count; i++) prec_bind_column(L, work, i + 1, work->layout->keys[i], first + i);
    if (work->call.rows->is_recording && work->call.statement->is_direct) pdb_record_read(L, &work->call);
}

bool prec_row_exists(lua_State *L, prec_record_write *work) {
    int top = lua_gettop(L);
    if (work->layout->key_count == 0) prec_raise_no_key(L, work);
    if (!prec_push_key_of(L, work)) return false;
    prec_begin_by_key(L, work, top + 1, TABLE_LAYOUT_EXISTS_SQL, TABLE_LAYOUT_EXISTS);
    bool is_there = pdb_step(L, &work->call);
    if (is_there) pdb_check_columns(work->call.statement);
    pdb_end_run(work->call.statement);
    lua_settop(L, top);
    return is_there;
}

/* Deletes the row with the key at the stack index `key`, and sets the fields of the record to the values of the deleted row. */
static void delete_returning(lua_State *L, prec_record_write *work, int key, int clause) {
    prec_mask mask;
    prec_begin_mask(&mask, work->layout->column_count);
    prec_write *write = prec_push_write(L, work, &mask, "d", clause, 0, 1);
    int holder = lua_gettop(L), names = holder + 1;
    lua_getiuservalue(L, work->layout_index, TABLE_LAYOUT_NAMES);
    prec_begin_write(L, work, prec_compile_kept(L, work->call.access, holder, WRITE_SQL, WRITE_STATEMENT));
    for (int i = 0; i < write->parameter_count; i++) prec_bind_column(L, work, i + 1, write->parameters[i], key + i);
    bool has_rows = write->returning_count > 0;
    prec_run_write(L, work, has_rows ? &pdb_exact_tuples_form : NULL, 1);
    if (has_rows) prec_take_returned(L, work, names, write);
}

bool prec_delete_row(lua_State *L, prec_record_write *work, int clause) {
    int top = lua_gettop(L);
    if (work->layout->key_count == 0 || !prec_push_key_of(L, work)) prec_raise_no_key(L, work);
    if (clause) {
        delete_returning(L, work, top + 1, clause);
    } else {
        prec_begin_by_key(L, work, top + 1, TABLE_LAYOUT_DELETE_SQL, TABLE_LAYOUT_DELETE);
        prec_run_write(L, work, NULL, 0);
    }
    lua_settop(L, top);
    return work->call.changes > 0 || work->layout->is_view;
}

/* Detaches the record from its row: removes its snapshot. */
void prec_forget_row(lua_State *L, prec_record_write *work) {
    lua_getiuservalue(L, work->column_set, COLUMN_SET_METATABLE);
    lua_setmetatable(L, work->record);
}

bool prec_save_row(lua_State *L, prec_record_write *work, int conflict, int insert_conflict) {
    int top = lua_gettop(L);
    bool has_key = work->layout->key_count > 0 && prec_push_key_of(L, work);
    lua_settop(L, top);
    if (has_key) {
        prec_outcome outcome = prec_update_row(L, work, 0, conflict);
        if (outcome != PREC_NO_ROW) return outcome == PREC_WRITTEN;
        lua_settop(L, top);
    }
    return prec_insert_row(L, work, insert_conflict) > 0;
}
