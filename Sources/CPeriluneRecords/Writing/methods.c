/* The methods of records and classes that run without Lua in the common case. */
#include "CPeriluneRecords/Model/prefetch.h"
#include "CPeriluneRecords/Writing/writing.h"

/* MARK: - Methods of records */

/*
** A method runs here if its arguments have a common form and the Lua part has no reason to see the record. There are two forms: a record,
** alone or with a database, and a class, with a table of columns as the last argument. Other calls are passed to the Lua function of the
** same name, which may call back for each record.
*/
typedef struct {
    const char *name;
    prec_callback callback;
    int (*run)(lua_State *L, prec_record_write *work); /* runs in an access */
    bool is_read;
    bool takes_fields; /* can also be called on a class with a table of columns */
} record_verb;

/* Runs a body in the open access or in a new one. Uses a guard if a script's collation may fail. */
static int run_in_access(lua_State *L, pdb_database *database, pdb_access *access, bool is_read,
                         int (*body)(lua_State *, pdb_access *, void *), const void *context) {
    pdb_task task = {.database = database, .access = access, .is_read = is_read, .body = body, .context = (void *)context,
                     .is_guarded = !is_read && pdb_needs_guard(L, database)};
    return pdb_run_task(L, &task);
}

/* Stack: record, optional database, column set. */
static int run_record_verb(lua_State *L, pdb_access *access, void *context) {
    const record_verb *verb = context;
    if (access->mode == PDB_GUARD) access->is_taken = true;
    prec_record_write work = prec_begin_work(L, access->database, access, verb->name, 1);
    return verb->run(L, &work);
}

/* Replaces a class, an optional database and a table of columns by a record. Returns false and leaves the stack unchanged if the Lua part
** is needed. */
static bool make_target(lua_State *L, int count) {
    int model_index = count + 1, record = count + 2;
    prec_model *model = prec_push_model(L, 1);
    pdb_handle *handle = count == 3 ? pdb_to_userdata(L, 2, pdb_state_of(L)->database_metatable) : NULL;
    bool is_made = model && model->is_described && !prec_writes_in_lua(model) && !prec_reads_in_lua(model) &&
                   (count == 2 || handle) && prec_are_fields(L, count) &&
                   prec_push_made(L, model_index, handle ? handle->database : NULL, count);
    if (is_made) {
        prec_push_column_set_of(L, record);
        is_made = !prec_has_parent(L, record, record + 1);
    }
    if (is_made) lua_copy(L, record, 1);
    lua_settop(L, is_made ? count - 1 : count);
    return is_made;
}

/* Runs a verb after its checks. `database_index` is the stack index of the database, or 0 for the default one. Stack: record, optional
** database, column set. */
static int begin_record_verb(lua_State *L, const record_verb *verb, int database_index) {
    pdb_access *access;
    pdb_database *database = pdb_resolve_database(L, database_index, verb->name, &access);
    return run_in_access(L, database, access, verb->is_read, run_record_verb, verb);
}

static int call_record_verb(lua_State *L, const record_verb *verb) {
    int count = lua_gettop(L);
    if (verb->takes_fields && (count == 2 || count == 3) && make_target(L, count)) count--;
    prec_column_set *column_set = count == 1 || count == 2 ? prec_push_column_set_of(L, 1) : NULL;
    if (column_set) prec_prefetch_fields(lua_topointer(L, 1));
    bool is_fast = column_set && column_set->layout->model->is_described && !prec_writes_in_lua(column_set->layout->model) &&
                   (count == 1 || lua_isnil(L, 2) || pdb_to_userdata(L, 2, pdb_state_of(L)->database_metatable)) &&
                   !prec_has_parent(L, 1, count + 1);
    if (!is_fast) {
        lua_settop(L, count);
        return prec_call_in_lua(L, verb->callback);
    }
    return begin_record_verb(L, verb, count == 2 ? 2 : 0);
}

/* Pushes the record, or false if a conflict clause of the table has prevented the write. */
static int push_written(lua_State *L, bool is_written) {
    lua_settop(L, 1);
    if (!is_written) lua_pushboolean(L, false);
    return 1;
}

static int run_insert(lua_State *L, prec_record_write *work) {
    return push_written(L, prec_insert_row(L, work, 0) > 0);
}

static int run_update(lua_State *L, prec_record_write *work) {
    prec_check_key(L, work);
    prec_outcome outcome = prec_update_row(L, work, 0, 0);
    if (outcome == PREC_NO_ROW) prec_raise_row_not_found(L, work);
    return push_written(L, outcome == PREC_WRITTEN);
}

static int run_save(lua_State *L, prec_record_write *work) {
    prec_check_key(L, work);
    return push_written(L, prec_save_row(L, work, 0, 0));
}

static int run_delete(lua_State *L, prec_record_write *work) {
    prec_check_key(L, work);
    lua_pushboolean(L, prec_delete_row(L, work, 0));
    prec_forget_row(L, work);
    return 1;
}

static int run_exists(lua_State *L, prec_record_write *work) {
    lua_pushboolean(L, prec_row_exists(L, work));
    return 1;
}

/* Writes the changed columns of a record with a snapshot. Pushes whether there were any. */
static int run_write_changes(lua_State *L, prec_record_write *work) {
    prec_mask mask;
    prec_patch patch;
    if (!prec_mark_changed(L, work->record, work->set, work->layout_index, &mask, &patch) || prec_has_key(work, &mask)) {
        lua_settop(L, 1);
        return prec_call_in_lua(L, PREC_CALL_write_changes);
    }
    bool is_written = false;
    if (mask.count > 0) {
        prec_outcome outcome = prec_update_columns(L, work, &mask, 0);
        if (outcome == PREC_NO_ROW) prec_raise_row_not_found(L, work);
        is_written = outcome == PREC_WRITTEN;
        bool is_other = work->has_rows || work->has_replaced;
        if (is_written && (is_other || !prec_apply_patch(L, &patch))) prec_keep_snapshot(L, work, false);
    }
    prec_forget_nulls(L, 1);
    lua_pushboolean(L, is_written);
    return 1;
}

/* MARK: - A single write for the Lua part, which converts values before and afterwards */

/* Stack indices. All values except the record may be nil: the database; a table of values, used instead of the fields; a clause of the
** statement; the names of the columns to update; a table of key values, used instead of the record's key; an additional argument. */
enum { RAW_RECORD = 1, RAW_DATABASE, RAW_VALUES, RAW_CLAUSE, RAW_COLUMNS, RAW_KEY, RAW_DETAIL };

typedef struct {
    const char *name;
    int (*run)(lua_State *L, prec_record_write *work, int conflict, int columns); /* the indices of missing arguments are 0 */
    bool is_read;
} raw_verb;

static int text_at(lua_State *L, int index) { return lua_type(L, index) == LUA_TSTRING ? index : 0; }
static int table_at(lua_State *L, int index) { return lua_istable(L, index) ? index : 0; }

/* Stack: the arguments, column set. */
static int run_raw_verb(lua_State *L, pdb_access *access, void *context) {
    const raw_verb *verb = context;
    if (access->mode == PDB_GUARD) access->is_taken = true;
    prec_record_write work = prec_begin_work(L, access->database, access, verb->name, RAW_RECORD);
    if (table_at(L, RAW_VALUES)) work.values = RAW_VALUES;
    work.key_values = table_at(L, RAW_KEY);
    return verb->run(L, &work, text_at(L, RAW_CLAUSE), table_at(L, RAW_COLUMNS));
}

static int call_raw_verb(lua_State *L, const raw_verb *verb) {
    lua_settop(L, RAW_DETAIL);
    pdb_access *access;
    pdb_database *database = pdb_resolve_database(L, RAW_DATABASE, verb->name, &access);
    if (prec_push_column_set_of(L, RAW_RECORD) == NULL) return plua_argument_error(L, verb->name, 1, "a record", RAW_RECORD);
    return run_in_access(L, database, access, verb->is_read, run_raw_verb, verb);
}

/* Pushes true if the row was written, false if a clause has left it unchanged, and nil if no row has the key. */
static int push_outcome(lua_State *L, prec_outcome outcome) {
    if (outcome == PREC_NO_ROW) lua_pushnil(L);
    else lua_pushboolean(L, outcome == PREC_WRITTEN);
    return 1;
}

static int run_raw_insert(lua_State *L, prec_record_write *work, int conflict, int columns) {
    (void)columns;
    return push_outcome(L, prec_insert_row(L, work, conflict) > 0 ? PREC_WRITTEN : PREC_KEPT);
}

static int run_raw_update(lua_State *L, prec_record_write *work, int conflict, int columns) {
    if (work->key_values == 0) prec_check_key(L, work);
    return push_outcome(L, prec_update_row(L, work, columns, conflict));
}

/* Saves the record. The additional argument is the clause of the INSERT; the other clause belongs to the UPDATE. */
static int run_raw_save(lua_State *L, prec_record_write *work, int conflict, int columns) {
    (void)columns;
    prec_check_key(L, work);
    return push_outcome(L, prec_save_row(L, work, conflict, text_at(L, RAW_DETAIL)) ? PREC_WRITTEN : PREC_KEPT);
}

/* Upserts the record. The additional argument is the list of values that the clause binds. */
static int run_raw_upsert(lua_State *L, prec_record_write *work, int conflict, int columns) {
    prec_check_key(L, work);
    work->clause_values = table_at(L, RAW_DETAIL);
    return run_raw_insert(L, work, conflict, columns);
}

static int run_raw_delete(lua_State *L, prec_record_write *work, int conflict, int columns) {
    (void)columns;
    prec_check_key(L, work);
    lua_pushboolean(L, prec_delete_row(L, work, conflict));
    prec_forget_row(L, work);
    return 1;
}

/* Pushes the names of the columns that an INSERT writes. */
static int run_raw_inserted_columns(lua_State *L, prec_record_write *work, int conflict, int columns) {
    (void)conflict, (void)columns;
    prec_mask mask;
    prec_mark_inserted(L, work, &mask);
    prec_push_names(L, work, &mask);
    return 1;
}

/* Pushes the names of the columns that an UPDATE writes. A true argument RAW_VALUES includes the key. */
static int run_raw_updated_columns(lua_State *L, prec_record_write *work, int conflict, int columns) {
    (void)conflict, (void)columns;
    prec_mask mask;
    prec_mark_updated(L, work, lua_toboolean(L, RAW_VALUES), &mask);
    prec_push_names(L, work, &mask);
    return 1;
}

static int run_raw_exists(lua_State *L, prec_record_write *work, int conflict, int columns) {
    (void)conflict, (void)columns;
    lua_pushboolean(L, prec_row_exists(L, work));
    return 1;
}

/* MARK: - find and fetch_one by key */

typedef struct {
    const char *name;
    prec_callback callback;
    bool is_required; /* raises if there is no row */
} find_verb;

/* The key of a row to find. Stack: the class, optional database, the key, the model of the class. */
typedef struct {
    const find_verb *verb;
    int key, model;
} sought_key;

/* Calls the Lua part after no row with the key was found. The Lua part raises or returns nil. If `looks_again`, it first searches for the
** row itself. */
static int find_in_lua(lua_State *L, const sought_key *sought, bool looks_again) {
    int top = lua_gettop(L);
    prec_push_callback(L, PREC_CALL_key_missed);
    lua_pushstring(L, sought->verb->name);
    lua_pushvalue(L, 1);
    if (sought->key > 2) lua_pushvalue(L, 2);
    else lua_pushnil(L);
    lua_pushvalue(L, sought->key);
    lua_pushboolean(L, looks_again);
    lua_call(L, 5, 1);
    return lua_gettop(L) - top;
}

/* Finds a row by its key. The Lua part handles keys of several columns, and dates, which may be stored in a different format. */
static int run_find(lua_State *L, pdb_access *access, void *context) {
    const sought_key *sought = context;
    const char *verb = sought->verb->name;
    pdb_database *database = access->database;
    prec_record_write work = {.call = {.rows = database->rows, .database = database, .access = access, .class_index = 1}, .verb = verb};
    work.call.arguments.verb = verb;
    luaL_checkstack(L, LUA_MINSTACK * 2, NULL);
    work.layout = prec_push_table_layout(L, sought->model, access);
    work.layout_index = lua_gettop(L);
    if (work.layout->key_count != 1) return find_in_lua(L, sought, true);
    prec_begin_by_key(L, &work, sought->key, TABLE_LAYOUT_FIND_SQL, TABLE_LAYOUT_FIND);
    bool is_there = pdb_step(L, &work.call);
    if (is_there) {
        pdb_check_columns(work.call.statement);
        prec_push_row_layout(L, &work.call);
        prec_push_record(L, work.call.statement, lua_gettop(L));
        if (work.call.rows->has_pending_error) pdb_raise_failure(L, work.call.statement);
    }
    pdb_end_run(work.call.statement);
    if (is_there) {
        prec_check_types(L, work.call.rows);
        return 1;
    }
    if (!sought->verb->is_required && lua_type(L, sought->key) == LUA_TNUMBER) {
        lua_pushnil(L);
        return 1;
    }
    return find_in_lua(L, sought, work.layout->columns[work.layout->keys[0]].is_date);
}

/* Stack: class, key; or class, database, key. */
static int call_find(lua_State *L, const find_verb *verb) {
    int count = lua_gettop(L);
    prec_model *model = count == 2 || count == 3 ? prec_push_model(L, 1) : NULL;
    int type = model ? lua_type(L, count) : LUA_TNONE;
    bool is_fast = (type == LUA_TNUMBER || type == LUA_TSTRING) && model->is_described && !prec_decodes_in_lua(model) &&
                   (count == 2 || pdb_to_userdata(L, 2, pdb_state_of(L)->database_metatable));
    if (!is_fast) {
        lua_settop(L, count);
        return prec_call_in_lua(L, verb->callback);
    }
    sought_key sought = {verb, count, count + 1};
    pdb_access *access;
    pdb_database *database = pdb_resolve_database(L, count == 3 ? 2 : 0, verb->name, &access);
    return run_in_access(L, database, access, true, run_find, &sought);
}

/* MARK: - Functions */

#define RECORD_VERB(name, is_read, takes_fields)                                                         \
    static const record_verb name##_verb = {#name, PREC_CALL_##name, run_##name, is_read, takes_fields}; \
    static int record_##name(lua_State *L) { return call_record_verb(L, &name##_verb); }

#define RAW_VERB(name, is_read)                                                      \
    static const raw_verb name##_raw_verb = {#name, run_raw_##name, is_read};            \
    static int raw_##name(lua_State *L) { return call_raw_verb(L, &name##_raw_verb); }

RECORD_VERB(insert, false, true)
RECORD_VERB(update, false, true)
RECORD_VERB(save, false, true)
RECORD_VERB(delete, false, true)
RECORD_VERB(exists, true, false)
RECORD_VERB(write_changes, false, false)
RAW_VERB(insert, false)
RAW_VERB(update, false)
RAW_VERB(save, false)
RAW_VERB(upsert, false)
RAW_VERB(delete, false)
RAW_VERB(exists, true)
RAW_VERB(inserted_columns, true)
RAW_VERB(updated_columns, true)

/* MARK: - update_changes with a table of columns, or without arguments */

/* Returns whether all keys of the table at 2 are fields of the record, whose column set is at `column_set`. Leaves the stack unchanged. */
static bool are_fields(lua_State *L, int column_set) {
    lua_getiuservalue(L, column_set, COLUMN_SET_LAYOUT);
    lua_getiuservalue(L, -1, TABLE_LAYOUT_MODEL);
    lua_getiuservalue(L, -1, MODEL_KNOWN);
    int known = lua_gettop(L);
    bool are_known = true;
    for (lua_pushnil(L); are_known && lua_next(L, 2);) {
        lua_pop(L, 1);
        lua_pushvalue(L, -1);
        are_known = lua_rawget(L, known) != LUA_TNIL;
        lua_pop(L, 1);
    }
    lua_settop(L, column_set);
    return are_known;
}

/* Sets the fields of the table at 2 in the record at 1. */
static void set_fields(lua_State *L) {
    int top = lua_gettop(L);
    for (lua_pushnil(L); lua_next(L, 2);) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        if (pdb_is_null(L, -1)) {
            lua_pop(L, 1);
            lua_pushnil(L);
            lua_pushvalue(L, -2);
            prec_note_null(L, 1);
        }
        lua_rawset(L, 1);
    }
    lua_settop(L, top);
}

/* record:update_changes(change). The Lua part handles uncommon arguments. Stack: record, change. */
static int record_update_changes(lua_State *L) {
    int count = lua_gettop(L), type = lua_type(L, 2);
    prec_column_set *column_set = count == 1 || count == 2 ? prec_push_column_set_of(L, 1) : NULL;
    bool is_fast = column_set && column_set->layout->model->is_described && !prec_writes_in_lua(column_set->layout->model) &&
                   prec_has_snapshot(L, 1) && !prec_has_parent(L, 1, count + 1) &&
                   (count == 1 || type == LUA_TNIL || (type == LUA_TTABLE && are_fields(L, count + 1)));
    if (!is_fast) {
        lua_settop(L, count);
        return prec_call_in_lua(L, PREC_CALL_update_changes);
    }
    if (type == LUA_TTABLE) set_fields(L);
    lua_settop(L, count + 1);
    if (count == 2) lua_remove(L, 2);
    return begin_record_verb(L, &write_changes_verb, 0);
}

static int class_find(lua_State *L) { return call_find(L, &(find_verb){"find", PREC_CALL_find, true}); }
static int class_fetch_one(lua_State *L) { return call_find(L, &(find_verb){"fetch_one", PREC_CALL_fetch_one, false}); }

const luaL_Reg prec_record_writes[] = {
    {"record_insert", record_insert},
    {"record_update", record_update},
    {"record_save", record_save},
    {"record_delete", record_delete},
    {"record_exists", record_exists},
    {"write_changes", record_write_changes},
    {"record_update_changes", record_update_changes},
    {"class_find", class_find},
    {"class_fetch_one", class_fetch_one},
    {"raw_insert", raw_insert},
    {"raw_update", raw_update},
    {"raw_save", raw_save},
    {"raw_upsert", raw_upsert},
    {"raw_delete", raw_delete},
    {"raw_exists", raw_exists},
    {"inserted_columns", raw_inserted_columns},
    {"updated_columns", raw_updated_columns},
    {NULL, NULL},
};
