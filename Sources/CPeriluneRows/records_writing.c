/* Writing one record: what a prepared statement with named arguments would do, at its cost. */
#include "records_chunks.h"

/* Takes the plan for the table as it is now. */
static void renew_plan(lua_State *L, perilune_work *work) {
    int top = lua_gettop(L);
    lua_getiuservalue(L, work->plan, PLAN_MODEL);
    work->block = perilune_push_plan(L, lua_gettop(L), work->call.access);
    lua_replace(L, work->plan);
    lua_settop(L, top);
}

perilune_work perilune_begin_work(lua_State *L, perilune_database *database, perilune_access *access, const char *verb,
                                  int record) {
    perilune_work work = {.call = {.rows = database->rows, .database = database, .access = access}, .verb = verb,
                          .record = record, .values = record, .shape = lua_gettop(L)};
    luaL_checkstack(L, LUA_MINSTACK * 2, NULL);
    work.call.arguments.verb = verb;
    work.shape_block = lua_touserdata(L, work.shape);
    work.plan = work.shape + 1;
    work.block = work.shape_block->plan;
    lua_getiuservalue(L, work.shape, SHAPE_PLAN);
    if (work.block->database != database->id || work.block->generation != database->schema_generation) renew_plan(L, &work);
    return work;
}

/* Whether the fields of the record are columns of the table. With `raises`, raises if they are not. */
static bool has_known_fields(lua_State *L, perilune_work *work, bool raises) {
    perilune_push_record_function(L, "check_fields");
    lua_pushvalue(L, work->record);
    lua_getiuservalue(L, work->plan, PLAN_SCHEMA);
    lua_pushboolean(L, raises);
    lua_call(L, 3, 1);
    bool are_known = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return are_known;
}

/* A record that was made for other columns than the table has in this database: its fields must be columns of it. */
void perilune_check_fields(lua_State *L, perilune_work *work) {
    if (work->shape_block->plan == work->block || has_known_fields(L, work, false)) return;
    /* Somebody else may have changed the table. */
    perilune_touch_schema(work->call.database);
    renew_plan(L, work);
    if (work->shape_block->plan != work->block) has_known_fields(L, work, true);
}

/* Pushes the values of the key; returns false, and pushes nothing, if one of them is nil or null. */
static bool push_key(lua_State *L, perilune_work *work) {
    int top = lua_gettop(L);
    luaL_checkstack(L, work->block->key_count + LUA_MINSTACK, NULL);
    lua_getiuservalue(L, work->plan, PLAN_NAMES);
    for (int i = 0; i < work->block->key_count; i++) {
        lua_rawgeti(L, top + 1, work->block->keys[i] + 1);
        lua_rawget(L, work->values);
        if (!lua_isnil(L, -1) && !perilune_is_null(L, -1)) continue;
        lua_settop(L, top);
        return false;
    }
    lua_remove(L, top + 1);
    return true;
}

/* Raises that the table has no key, or that the record has none. */
static int raise_no_key(lua_State *L, perilune_work *work) {
    perilune_push_record_function(L, "raise_no_key");
    lua_pushstring(L, work->verb);
    lua_getiuservalue(L, work->plan, PLAN_SCHEMA);
    lua_pushvalue(L, work->record);
    lua_call(L, 3, 0);
    return perilune_raise(L, "argument", "%s: there is no key", work->verb);
}

int perilune_raise_row_not_found(lua_State *L, perilune_work *work) {
    perilune_push_record_function(L, "raise_not_found");
    lua_getiuservalue(L, work->plan, PLAN_SCHEMA);
    lua_pushvalue(L, work->values);
    lua_call(L, 2, 0);
    return 0;
}

/* The record now is what its row is. After an insert, it has all columns; after an update, those that it had and that were written,
** which the Lua part finds out where they are not all. */
void perilune_keep_snapshot(lua_State *L, perilune_work *work, bool has_all) {
    bool is_whole = work->shape_block->plan == work->block && work->shape_block->count == work->block->column_count;
    int top = lua_gettop(L), shape = work->shape;
    if (!is_whole && !has_all) {
        perilune_push_record_function(L, "widen");
        lua_pushvalue(L, work->record);
        lua_pushvalue(L, work->plan);
        lua_pushvalue(L, work->values);
        lua_call(L, 3, 0);
        return;
    }
    if (!is_whole) {
        lua_getiuservalue(L, work->plan, PLAN_SHAPE);
        shape = top + 1;
        lua_getiuservalue(L, shape, SHAPE_METATABLE);
        lua_setmetatable(L, work->record);
    }
    if (work->block->model->tracks_changes) perilune_take_snapshot(L, shape, work->record, work->values);
    lua_settop(L, top);
}

/* Sets a field of the record, and of the table that its values were taken from, by the position of the column. The value is on top
** of the stack. [-1, +0] */
static void set_column(lua_State *L, perilune_work *work, int names, int column) {
    if (work->block->columns[column].is_boolean && lua_isinteger(L, -1)) {
        lua_pushboolean(L, lua_tointeger(L, -1) != 0);
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

/* Fields that are perilune.null become nil, as they are when they are fetched. */
static void drop_nulls(lua_State *L, perilune_work *work, int names, const perilune_write *write, int first_value) {
    for (int i = 0; i < write->parameter_count; i++) {
        if (!perilune_is_null(L, first_value + i)) continue;
        lua_pushnil(L);
        set_column(L, work, names, write->parameters[i]);
    }
}

/* MARK: - insert */

/* The snapshot of a record that is inserted, packed as its values are read. */
typedef struct {
    perilune_packer packer;
    int metatable; /* on the stack, 0 if nothing is packed */
    char *rowid;   /* where the row id is to be, or NULL */
} insertion_packing;

/* Pushes the metatable and the chunk for a record of the usual kind, and begins to pack it; pushes two values in any case. */
static insertion_packing begin_packing(lua_State *L, perilune_work *work) {
    insertion_packing packing = {.metatable = 0};
    bool is_usual = work->block->model->tracks_changes && work->shape_block->plan == work->block && work->shape_block->has_all &&
                    work->values == work->record;
    if (is_usual) {
        perilune_push_open_chunk(L, work->shape, &packing.packer);
        packing.metatable = lua_gettop(L) - 1;
    } else {
        lua_pushnil(L);
        lua_pushnil(L);
    }
    return packing;
}

static void drop_packing(insertion_packing *packing) {
    if (packing->metatable) perilune_drop_packing(&packing->packer);
    packing->metatable = 0;
}

/* Packs the value on top of the stack. What has to be converted, or comes from the database, ends it. */
static inline void pack_present(lua_State *L, const perilune_plan *plan, int column, int type, insertion_packing *packing) {
    if (packing->metatable == 0) return;
    bool is_rowid = column == plan->rowid;
    if (is_rowid && type == LUA_TNIL) {
        packing->rowid = packing->packer.next;
        perilune_pack_integer(&packing->packer, 0);
        return;
    }
    bool is_filled = plan->columns[column].is_generated || (type == LUA_TNIL && plan->columns[column].has_default) ||
                     (is_rowid && !lua_isinteger(L, -1));
    if (is_filled || !perilune_pack_value(L, &packing->packer, type)) drop_packing(packing);
}

/* Pushes the values that the record has, and marks their columns. */
static void push_present(lua_State *L, perilune_work *work, int names, perilune_mask *mask, insertion_packing *packing) {
    perilune_plan *plan = work->block;
    luaL_checkstack(L, plan->column_count * 2 + LUA_MINSTACK, "too many columns");
    perilune_begin_mask(mask, plan->column_count);
    for (int i = 0; i < plan->column_count; i++) {
        lua_rawgeti(L, names, i + 1);
        int type = plan->columns[i].is_generated ? LUA_TNIL : lua_rawget(L, work->values);
        pack_present(L, plan, i, type, packing);
        if (type == LUA_TNIL) {
            lua_pop(L, 1);
            continue;
        }
        if (type == LUA_TUSERDATA || type == LUA_TTABLE) work->has_objects = true;
        perilune_add_to_mask(mask, i);
    }
}

/* The record is what its row is. */
static void keep_packed(lua_State *L, perilune_work *work, insertion_packing *packing) {
    if (packing->metatable == 0) {
        perilune_keep_snapshot(L, work, true);
        return;
    }
    if (packing->rowid) {
        perilune_packer rowid = {.next = packing->rowid};
        perilune_pack_integer(&rowid, sqlite3_last_insert_rowid(work->call.access->connection->handle));
    }
    perilune_end_packing(&packing->packer, lua_topointer(L, work->record));
    lua_pushvalue(L, packing->metatable);
    lua_setmetatable(L, work->record);
}

/* Takes what the database has put in: the row id, and the columns of RETURNING, whose list is on top of the stack, if any. */
static void take_inserted(lua_State *L, perilune_work *work, int names, const perilune_write *write, int rows) {
    perilune_plan *plan = work->block;
    if (plan->rowid >= 0 && work->call.has_inserted) {
        lua_rawgeti(L, names, plan->rowid + 1);
        int type = lua_rawget(L, work->record);
        bool has_key = type != LUA_TNIL && !perilune_is_null(L, -1), has_integer = type == LUA_TNUMBER && lua_isinteger(L, -1);
        lua_pop(L, 1);
        if (!has_key || (work->values == work->record && !has_integer)) {
            lua_pushinteger(L, sqlite3_last_insert_rowid(work->call.access->connection->handle));
            set_column(L, work, names, plan->rowid);
        }
    }
    if (rows == 0) return;
    lua_rawgeti(L, rows, 1);
    int row = lua_gettop(L);
    for (int i = 0; lua_istable(L, row) && i < write->returning_count; i++) {
        lua_rawgeti(L, row, i + 1);
        set_column(L, work, names, write->returning[i]);
    }
}

/* Inserts the values; returns the number of rows changed. `conflict` is the stack index of a clause, or 0. */
lua_Integer perilune_insert_row(lua_State *L, perilune_work *work, int conflict) {
    perilune_check_fields(L, work);
    int names = lua_gettop(L) + 1, slot = names + 1, first_value = slot + 3;
    perilune_mask mask;
    lua_getiuservalue(L, work->plan, PLAN_NAMES);
    lua_pushnil(L);
    insertion_packing packing = begin_packing(L, work);
    push_present(L, work, names, &mask, &packing);
    perilune_write *write = perilune_push_write(L, work, &mask, "i", conflict, PLAN_LAST_INSERT, 1);
    lua_replace(L, slot);
    perilune_statement *statement = perilune_compile_kept(L, work->call.access, slot, WRITE_SQL, WRITE_STATEMENT);
    perilune_begin_write(L, work, statement);
    for (int i = 0; i < write->parameter_count; i++) perilune_bind_column(L, work, i + 1, write->parameters[i], first_value + i);
    perilune_mark_rowid(statement);
    bool has_rows = write->returning_count > 0;
    perilune_run_write(L, work, has_rows ? PERILUNE_TUPLES : PERILUNE_DISCARD, 1);
    if (has_rows || work->call.changes == 0 || (packing.rowid && !work->call.has_inserted)) drop_packing(&packing);
    if (work->call.changes == 0) return work->block->is_view;
    int rows = has_rows ? lua_gettop(L) : 0;
    if (work->has_objects) drop_nulls(L, work, names, write, first_value);
    bool is_as_written = packing.metatable && packing.rowid == NULL;
    if (!is_as_written) take_inserted(L, work, names, write, rows);
    keep_packed(L, work, &packing);
    return work->call.changes;
}

/* MARK: - update */

/* The columns to be written: those of the list at `columns`, or all that the record has. */
static void mark_columns(lua_State *L, perilune_work *work, int names, int columns, perilune_mask *mask) {
    perilune_plan *plan = work->block;
    perilune_begin_mask(mask, plan->column_count);
    if (columns) {
        lua_getiuservalue(L, work->plan, PLAN_POSITIONS);
        lua_Integer count = (lua_Integer)lua_rawlen(L, columns);
        for (lua_Integer i = 1; i <= count; i++) {
            lua_rawgeti(L, columns, i);
            lua_rawget(L, -2);
            int column = (int)lua_tointeger(L, -1) - 1;
            lua_pop(L, 1);
            if (column >= 0 && !plan->columns[column].is_generated && !perilune_is_in_mask(mask, column)) perilune_add_to_mask(mask, column);
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
            if (column >= 0 && !plan->columns[column].is_generated && !plan->columns[column].is_key) perilune_add_to_mask(mask, column);
        }
        lua_pop(L, 3);
    }
    for (int i = 0; i < plan->column_count; i++) {
        if (plan->columns[i].is_generated || plan->columns[i].is_key || perilune_is_in_mask(mask, i)) continue;
        if (!has_all) {
            lua_rawgeti(L, names, i + 1);
            bool is_set = lua_rawget(L, work->values) != LUA_TNIL;
            lua_pop(L, 1);
            if (!is_set) continue;
        }
        perilune_add_to_mask(mask, i);
    }
}

/* Takes what the database has put into the row that was updated: the columns of RETURNING, whose list is on top of the stack. */
static void take_updated(lua_State *L, perilune_work *work, int names, const perilune_write *write) {
    lua_rawgeti(L, -1, 1);
    int row = lua_gettop(L);
    for (int i = 0; lua_istable(L, row) && i < write->returning_count; i++) {
        lua_rawgeti(L, row, i + 1);
        set_column(L, work, names, write->returning[i]);
    }
}

bool perilune_update_columns(lua_State *L, perilune_work *work, const perilune_mask *mask, int conflict) {
    int names = lua_gettop(L) + 1, slot = names + 1, key = slot + 1, key_count = work->block->key_count;
    lua_getiuservalue(L, work->plan, PLAN_NAMES);
    lua_pushnil(L);
    if (key_count == 0 || !push_key(L, work)) raise_no_key(L, work);
    if (mask->count == 0) {
        lua_settop(L, names - 1);
        return perilune_row_exists(L, work);
    }
    luaL_checkstack(L, mask->count * 2 + key_count * 2 + LUA_MINSTACK, "too many columns");
    perilune_write *write = perilune_push_write(L, work, mask, "u", conflict, PLAN_LAST_UPDATE, 1);
    lua_replace(L, slot);
    perilune_begin_write(L, work, perilune_compile_kept(L, work->call.access, slot, WRITE_SQL, WRITE_STATEMENT));
    int first_value = lua_gettop(L) + 1;
    for (int i = 0; i < mask->count; i++) {
        lua_rawgeti(L, names, write->parameters[i] + 1);
        if (lua_rawget(L, work->values) == LUA_TUSERDATA) work->has_objects = true;
    }
    for (int i = 0; i < key_count; i++) lua_pushvalue(L, key + i);
    for (int i = 0; i < write->parameter_count; i++) perilune_bind_column(L, work, i + 1, write->parameters[i], first_value + i);
    work->has_rows = write->returning_count > 0;
    perilune_run_write(L, work, work->has_rows ? PERILUNE_TUPLES : PERILUNE_DISCARD, 1);
    if (work->call.changes == 0 && !work->block->is_view) return false;
    int rows = lua_gettop(L);
    if (work->has_objects) drop_nulls(L, work, names, write, first_value);
    lua_settop(L, rows);
    if (work->has_rows) take_updated(L, work, names, write);
    return true;
}

/* Updates the row of the record; returns whether there is one. `columns` is the stack index of a list of names, or 0 for all;
** `conflict` that of a clause, or 0. */
bool perilune_update_row(lua_State *L, perilune_work *work, int columns, int conflict) {
    perilune_check_fields(L, work);
    int names = lua_gettop(L) + 1;
    perilune_mask mask;
    lua_getiuservalue(L, work->plan, PLAN_NAMES);
    mark_columns(L, work, names, columns, &mask);
    bool is_written = perilune_update_columns(L, work, &mask, conflict);
    if (is_written && columns == 0 && mask.count > 0) perilune_keep_snapshot(L, work, false);
    return is_written;
}

/* MARK: - By key */

/* Binds the values of the key, which begin at `first`, and marks nothing: only rows of that key are read or changed. */
void perilune_begin_by_key(lua_State *L, perilune_work *work, int first, int sql_value, int kept_value) {
    luaL_checkstack(L, work->block->key_count + LUA_MINSTACK, NULL);
    perilune_begin_write(L, work, perilune_compile_kept(L, work->call.access, work->plan, sql_value, kept_value));
    for (int i = 0; i < work->block->key_count; i++) perilune_bind_column(L, work, i + 1, work->block->keys[i], first + i);
    if (work->call.rows->is_recording && work->call.statement->is_direct) perilune_record_read(L, &work->call);
}

bool perilune_row_exists(lua_State *L, perilune_work *work) {
    int top = lua_gettop(L);
    if (work->block->key_count == 0) raise_no_key(L, work);
    if (!push_key(L, work)) return false;
    perilune_begin_by_key(L, work, top + 1, PLAN_EXISTS_SQL, PLAN_EXISTS);
    bool is_there = perilune_step(L, &work->call);
    if (is_there) perilune_check_columns(work->call.statement);
    perilune_end_run(work->call.statement);
    lua_settop(L, top);
    return is_there;
}

bool perilune_delete_row(lua_State *L, perilune_work *work) {
    int top = lua_gettop(L);
    if (work->block->key_count == 0 || !push_key(L, work)) raise_no_key(L, work);
    perilune_begin_by_key(L, work, top + 1, PLAN_DELETE_SQL, PLAN_DELETE);
    perilune_run_write(L, work, PERILUNE_DISCARD, 0);
    lua_settop(L, top);
    return work->call.changes > 0 || work->block->is_view;
}

/* The record stands for no row any more. */
void perilune_forget_row(lua_State *L, perilune_work *work) {
    lua_getiuservalue(L, work->shape, SHAPE_METATABLE);
    lua_setmetatable(L, work->record);
}

/* Updates, or inserts where there is no key or no row. */
bool perilune_save_row(lua_State *L, perilune_work *work) {
    int top = lua_gettop(L);
    bool has_key = work->block->key_count > 0 && push_key(L, work);
    lua_settop(L, top);
    if (has_key) {
        if (perilune_update_row(L, work, 0, 0)) return true;
        lua_settop(L, top);
        if (perilune_row_exists(L, work)) return false;
        lua_settop(L, top);
    }
    return perilune_insert_row(L, work, 0) > 0;
}

