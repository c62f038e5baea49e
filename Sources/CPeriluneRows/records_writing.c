/* Writing records, and finding them by key: what a prepared statement with named arguments would do, at its cost. */
#include "verbs.h"

/* What a script does with one record, or with a key. */
typedef struct {
    perilune_call call;
    const char *verb;
    int record, values; /* on the stack: the record, and the table that its values are taken from */
    int shape, plan;    /* on the stack */
    perilune_plan *block;
    perilune_shape *shape_block;
} work;

/* MARK: - Statements by columns */

/* An INSERT or UPDATE of some columns. */
typedef struct {
    int parameter_count, returning_count;
    size_t mask_size;
    int *parameters, *returning; /* positions of columns */
    unsigned char *mask;         /* the columns that are written, a bit for each */
} write;

enum { WRITE_SQL = 1, WRITE_STATEMENT, WRITE_VALUES = WRITE_STATEMENT };

enum { most_columns = 32768 };

typedef struct {
    unsigned char bits[most_columns / 8];
    size_t size; /* in bytes */
    int count;
} mask;

static void begin_mask(mask *mask, int column_count) {
    mask->size = ((size_t)column_count + 7) / 8;
    mask->count = 0;
    memset(mask->bits, 0, mask->size);
}

static inline void add_to_mask(mask *mask, int column) {
    mask->bits[column / 8] |= (unsigned char)(1 << column % 8);
    mask->count++;
}

static inline bool is_in_mask(const mask *mask, int column) { return mask->bits[column / 8] >> column % 8 & 1; }

/* Pushes the list of the names of the columns in the mask. */
static void push_masked_names(lua_State *L, const work *work, const mask *mask) {
    lua_createtable(L, mask->count, 0);
    lua_getiuservalue(L, work->plan, PLAN_NAMES);
    lua_Integer count = 0;
    for (int i = 0; i < work->block->column_count; i++) {
        if (!is_in_mask(mask, i)) continue;
        lua_rawgeti(L, -1, i + 1);
        lua_rawseti(L, -3, ++count);
    }
    lua_pop(L, 1);
}

static void fill_parameters(const work *work, write *write, const mask *mask, bool is_update) {
    int count = 0;
    for (int i = 0; i < work->block->column_count; i++) {
        if (is_in_mask(mask, i)) write->parameters[count++] = i;
    }
    for (int i = 0; is_update && i < work->block->key_count; i++) write->parameters[count++] = work->block->keys[i];
}

/* Makes the statement for the mask: its text comes from the Lua part. Pushes it. */
static write *make_write(lua_State *L, work *work, const mask *mask, const char *kind, int conflict) {
    bool is_update = *kind == 'u';
    int top = lua_gettop(L), sql = top + 1, returning = top + 2;
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    perilune_push_record_function(L, "write_sql");
    lua_getiuservalue(L, work->plan, PLAN_SCHEMA);
    lua_pushstring(L, kind);
    push_masked_names(L, work, mask);
    if (conflict) lua_pushvalue(L, conflict);
    else lua_pushnil(L);
    lua_call(L, 4, 2);
    int returning_count = lua_istable(L, returning) ? (int)lua_rawlen(L, returning) : 0;
    int parameter_count = mask->count + (is_update ? work->block->key_count : 0);
    size_t lists = (size_t)(parameter_count + returning_count) * sizeof(int);
    write *result = lua_newuserdatauv(L, sizeof *result + lists + mask->size, WRITE_VALUES);
    result->parameter_count = parameter_count;
    result->returning_count = returning_count;
    result->mask_size = mask->size;
    result->parameters = (int *)(result + 1);
    result->returning = result->parameters + parameter_count;
    result->mask = (unsigned char *)(result->returning + returning_count);
    memcpy(result->mask, mask->bits, mask->size);
    fill_parameters(work, result, mask, is_update);
    for (int i = 0; i < returning_count; i++) {
        lua_rawgeti(L, returning, i + 1);
        result->returning[i] = (int)lua_tointeger(L, -1) - 1;
        lua_pop(L, 1);
    }
    lua_rawgetp(L, LUA_REGISTRYINDEX, &perilune_write_metatable_key);
    lua_setmetatable(L, -2);
    lua_pushvalue(L, sql);
    lua_setiuservalue(L, -2, WRITE_SQL);
    lua_replace(L, sql);
    lua_settop(L, sql);
    return result;
}

/* Pushes the statement for the mask: the one used last, one that the plan has, or a new one. `last` is the plan's value for it. */
static write *push_write(lua_State *L, work *work, const mask *mask, const char *kind, int conflict, int last) {
    if (conflict == 0) {
        lua_getiuservalue(L, work->plan, last);
        write *result = lua_touserdata(L, -1);
        if (result && memcmp(result->mask, mask->bits, mask->size) == 0) return result;
        lua_pop(L, 1);
    }
    int top = lua_gettop(L), key = top + 1, writes = top + 2;
    luaL_Buffer buffer;
    luaL_buffinit(L, &buffer);
    luaL_addstring(&buffer, kind);
    if (conflict) {
        lua_pushvalue(L, conflict);
        luaL_addvalue(&buffer);
    }
    luaL_addchar(&buffer, '\0');
    luaL_addlstring(&buffer, (const char *)mask->bits, mask->size);
    luaL_pushresult(&buffer);
    lua_getiuservalue(L, work->plan, PLAN_WRITES);
    lua_pushvalue(L, key);
    lua_rawget(L, writes);
    write *result = lua_touserdata(L, -1);
    if (result == NULL) {
        lua_pop(L, 1);
        result = make_write(L, work, mask, kind, conflict);
        lua_pushvalue(L, key);
        lua_pushvalue(L, -2);
        lua_rawset(L, writes);
    }
    lua_replace(L, key);
    lua_settop(L, key);
    if (conflict == 0) {
        lua_pushvalue(L, key);
        lua_setiuservalue(L, work->plan, last);
    }
    return result;
}

/* MARK: - Running */

static bool may_be_boolean(lua_State *L, int index) {
    return lua_isboolean(L, index) || lua_isnil(L, index) || perilune_is_null(L, index);
}

/* Raises that the value at `index` cannot be stored in a column. */
static void raise_value(lua_State *L, work *work, int column, const char *expected, int index) {
    index = lua_absindex(L, index);
    perilune_push_record_function(L, "raise_value");
    lua_getiuservalue(L, work->plan, PLAN_SCHEMA);
    if (work->shape_block) lua_pushvalue(L, work->record);
    else lua_pushnil(L);
    lua_pushinteger(L, column + 1);
    lua_pushstring(L, expected);
    lua_pushvalue(L, index);
    lua_call(L, 5, 0);
}

/* Binds the value at `index` to a parameter, for a column. */
static void bind_column(lua_State *L, work *work, int parameter, int column, int index) {
    sqlite3_stmt *handle = work->call.statement->handle;
    const perilune_record_column *known = &work->block->columns[column];
    bool is_blob = known->is_blob && lua_type(L, index) == LUA_TSTRING;
    const char *expected = known->is_boolean && !may_be_boolean(L, index) ? "true or false"
                           : perilune_bind_plain(L, handle, parameter, index, is_blob);
    if (expected == NULL) return;
    perilune_end_run(work->call.statement);
    if (expected == perilune_conversion_failed) lua_error(L);
    raise_value(L, work, column, expected, index);
}

/* Begins a run of the compiled statement on top of the stack. */
static void begin_run(lua_State *L, work *work, perilune_statement *statement) {
    work->call.statement = statement;
    work->call.statement_index = lua_gettop(L);
    perilune_begin_run(statement, &work->call.access->active);
}

/* Runs the statement; an error of a constraint is told by the record then. */
static void run_write(lua_State *L, work *work, perilune_row_form form, lua_Integer limit) {
    perilune_written *written = &work->call.rows->written;
    *written = (perilune_written){L, work->call.statement, work->record, work->plan};
    perilune_run_bound(L, &work->call, form, limit);
    written->statement = NULL;
}

void perilune_explain_failure(lua_State *L, perilune_rows *rows, perilune_statement *statement) {
    perilune_written written = rows->written;
    int error = lua_gettop(L);
    if (written.statement != statement || written.L != L || statement == NULL || error <= written.plan) return;
    rows->written.statement = NULL;
    if (perilune_block_of(L, written.plan, rows->plan_metatable) == NULL || !perilune_shape_at(L, written.record)) return;
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    perilune_push_record_function(L, "explain");
    lua_pushvalue(L, error);
    lua_getiuservalue(L, written.plan, PLAN_SCHEMA);
    lua_pushvalue(L, written.record);
    perilune_pcall(L, 3, 0);
    lua_settop(L, error);
}

/* Prepares to work on the record or key in the database; pushes shape (or nil) and plan. */
static work begin_work(lua_State *L, perilune_database *database, perilune_access *access, const char *verb, int record) {
    work work = {.call = {.rows = database->rows, .database = database, .access = access}, .verb = verb, .record = record,
                 .values = record};
    luaL_checkstack(L, LUA_MINSTACK * 2, NULL);
    work.call.arguments.verb = verb;
    work.shape_block = perilune_push_shape_of(L, record);
    work.shape = lua_gettop(L);
    work.plan = work.shape + 1;
    perilune_plan *plan = work.shape_block->plan;
    lua_getiuservalue(L, work.shape, SHAPE_PLAN);
    if (plan->database != database->id || plan->generation != database->schema_generation) {
        lua_getiuservalue(L, work.plan, PLAN_MODEL);
        plan = perilune_push_plan(L, lua_gettop(L), access);
        lua_replace(L, work.plan);
        lua_settop(L, work.plan);
    }
    work.block = plan;
    return work;
}

/* A record that was made for other columns than the table has in this database: its fields must be columns of it. */
static void check_fields(lua_State *L, work *work) {
    if (work->shape_block->plan == work->block) return;
    perilune_push_record_function(L, "check_fields");
    lua_pushvalue(L, work->record);
    lua_getiuservalue(L, work->plan, PLAN_SCHEMA);
    lua_call(L, 2, 0);
}

/* Pushes the values of the key; returns false, and pushes nothing, if one of them is nil or null. */
static bool push_key(lua_State *L, work *work) {
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
static int raise_no_key(lua_State *L, work *work) {
    perilune_push_record_function(L, "raise_no_key");
    lua_pushstring(L, work->verb);
    lua_getiuservalue(L, work->plan, PLAN_SCHEMA);
    lua_pushvalue(L, work->record);
    lua_call(L, 3, 0);
    return perilune_raise(L, "argument", "%s: there is no key", work->verb);
}

static int raise_not_found(lua_State *L, work *work) {
    perilune_push_record_function(L, "raise_not_found");
    lua_getiuservalue(L, work->plan, PLAN_SCHEMA);
    lua_pushvalue(L, work->values);
    lua_call(L, 2, 0);
    return 0;
}

/* The record now is what its row is. After an insert, it has all columns. */
static void keep_snapshot(lua_State *L, work *work, bool has_all) {
    if (!work->block->model->tracks_changes) return;
    bool keeps_shape = work->shape_block->plan == work->block &&
                       (!has_all || work->shape_block->count == work->block->column_count);
    if (keeps_shape) {
        perilune_take_snapshot(L, work->shape, work->record, work->values);
        return;
    }
    lua_getiuservalue(L, work->plan, PLAN_SHAPE);
    perilune_take_snapshot(L, lua_gettop(L), work->record, work->values);
    lua_pop(L, 1);
}

/* Sets a field of the record, and of the table that its values were taken from, by the position of the column. The value is on top
** of the stack. [-1, +0] */
static void set_column(lua_State *L, work *work, int names, int column) {
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
static void drop_nulls(lua_State *L, work *work, int names, const write *write, int first_value) {
    for (int i = 0; i < write->parameter_count; i++) {
        if (!perilune_is_null(L, first_value + i)) continue;
        lua_pushnil(L);
        set_column(L, work, names, write->parameters[i]);
    }
}

/* MARK: - insert */

/* Pushes the values that the record has, and marks their columns. */
static void push_present(lua_State *L, work *work, int names, mask *mask) {
    perilune_plan *plan = work->block;
    luaL_checkstack(L, plan->column_count * 2 + LUA_MINSTACK, "too many columns");
    begin_mask(mask, plan->column_count);
    for (int i = 0; i < plan->column_count; i++) {
        lua_rawgeti(L, names, i + 1);
        if (plan->columns[i].is_generated || lua_rawget(L, work->values) == LUA_TNIL) lua_pop(L, 1);
        else add_to_mask(mask, i);
    }
}

/* Takes what the database has put in: the row id, and the columns of RETURNING, whose list is on top of the stack, if any. */
static void take_inserted(lua_State *L, work *work, int names, const write *write, int rows) {
    perilune_plan *plan = work->block;
    if (plan->rowid >= 0 && work->call.has_inserted) {
        lua_rawgeti(L, names, plan->rowid + 1);
        bool has_key = lua_rawget(L, work->record) != LUA_TNIL && !perilune_is_null(L, -1);
        lua_pop(L, 1);
        if (!has_key || work->values == work->record) {
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
static lua_Integer insert_row(lua_State *L, work *work, int conflict) {
    check_fields(L, work);
    int names = lua_gettop(L) + 1, slot = names + 1, first_value = slot + 1;
    mask mask;
    lua_getiuservalue(L, work->plan, PLAN_NAMES);
    lua_settop(L, first_value - 1);
    push_present(L, work, names, &mask);
    write *write = push_write(L, work, &mask, "i", conflict, PLAN_LAST_INSERT);
    lua_replace(L, slot);
    perilune_statement *statement = perilune_compile_kept(L, work->call.access, slot, WRITE_SQL, WRITE_STATEMENT);
    begin_run(L, work, statement);
    for (int i = 0; i < write->parameter_count; i++) bind_column(L, work, i + 1, write->parameters[i], first_value + i);
    perilune_mark_rowid(statement);
    bool has_rows = write->returning_count > 0;
    run_write(L, work, has_rows ? PERILUNE_TUPLES : PERILUNE_DISCARD, 1);
    if (work->call.changes == 0) return work->block->is_view;
    int rows = has_rows ? lua_gettop(L) : 0;
    drop_nulls(L, work, names, write, first_value);
    take_inserted(L, work, names, write, rows);
    keep_snapshot(L, work, true);
    return work->call.changes;
}

/* MARK: - update */

/* The columns to be written: those of the list at `columns`, or all that the record has. */
static void mark_columns(lua_State *L, work *work, int names, int columns, mask *mask) {
    perilune_plan *plan = work->block;
    begin_mask(mask, plan->column_count);
    if (columns) {
        lua_getiuservalue(L, work->plan, PLAN_POSITIONS);
        lua_Integer count = (lua_Integer)lua_rawlen(L, columns);
        for (lua_Integer i = 1; i <= count; i++) {
            lua_rawgeti(L, columns, i);
            lua_rawget(L, -2);
            int column = (int)lua_tointeger(L, -1) - 1;
            lua_pop(L, 1);
            if (column >= 0 && !plan->columns[column].is_generated && !is_in_mask(mask, column)) add_to_mask(mask, column);
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
            if (column >= 0 && !plan->columns[column].is_generated && !plan->columns[column].is_key) add_to_mask(mask, column);
        }
        lua_pop(L, 3);
    }
    for (int i = 0; i < plan->column_count; i++) {
        if (plan->columns[i].is_generated || plan->columns[i].is_key || is_in_mask(mask, i)) continue;
        if (!has_all) {
            lua_rawgeti(L, names, i + 1);
            bool is_set = lua_rawget(L, work->values) != LUA_TNIL;
            lua_pop(L, 1);
            if (!is_set) continue;
        }
        add_to_mask(mask, i);
    }
}

static bool row_exists(lua_State *L, work *work);

/* Updates the row of the record; returns whether there is one. `columns` is the stack index of a list of names, or 0 for all;
** `conflict` that of a clause, or 0. */
static bool update_row(lua_State *L, work *work, int columns, int conflict) {
    check_fields(L, work);
    int names = lua_gettop(L) + 1, slot = names + 1, first_value = slot + 1, count = 0;
    mask mask;
    lua_getiuservalue(L, work->plan, PLAN_NAMES);
    lua_settop(L, first_value - 1);
    mark_columns(L, work, names, columns, &mask);
    if (work->block->key_count == 0 || !push_key(L, work)) raise_no_key(L, work);
    if (mask.count == 0) {
        lua_settop(L, names - 1);
        return row_exists(L, work);
    }
    int key = first_value;
    luaL_checkstack(L, mask.count * 2 + work->block->key_count * 2 + LUA_MINSTACK, "too many columns");
    write *write = push_write(L, work, &mask, "u", conflict, PLAN_LAST_UPDATE);
    lua_replace(L, slot);
    perilune_statement *statement = perilune_compile_kept(L, work->call.access, slot, WRITE_SQL, WRITE_STATEMENT);
    begin_run(L, work, statement);
    int first_written = lua_gettop(L) + 1;
    for (; count < mask.count; count++) {
        lua_rawgeti(L, names, write->parameters[count] + 1);
        lua_rawget(L, work->values);
    }
    for (int i = 0; i < work->block->key_count; i++) lua_pushvalue(L, key + i);
    for (int i = 0; i < write->parameter_count; i++) bind_column(L, work, i + 1, write->parameters[i], first_written + i);
    bool has_rows = write->returning_count > 0;
    run_write(L, work, has_rows ? PERILUNE_TUPLES : PERILUNE_DISCARD, 1);
    if (work->call.changes == 0 && !work->block->is_view) return false;
    int rows = has_rows ? lua_gettop(L) : 0;
    drop_nulls(L, work, names, write, first_written);
    if (rows) {
        lua_rawgeti(L, rows, 1);
        for (int i = 0, row = lua_gettop(L); lua_istable(L, row) && i < write->returning_count; i++) {
            lua_rawgeti(L, row, i + 1);
            set_column(L, work, names, write->returning[i]);
        }
    }
    if (columns == 0) keep_snapshot(L, work, false);
    return true;
}

/* MARK: - By key */

/* Binds the values of the key, which begin at `first`, and marks nothing: only rows of that key are read or changed. */
static void begin_by_key(lua_State *L, work *work, int first, int sql_value, int kept_value) {
    luaL_checkstack(L, work->block->key_count + LUA_MINSTACK, NULL);
    begin_run(L, work, perilune_compile_kept(L, work->call.access, work->plan, sql_value, kept_value));
    for (int i = 0; i < work->block->key_count; i++) bind_column(L, work, i + 1, work->block->keys[i], first + i);
    if (work->call.rows->is_recording && work->call.statement->is_direct) perilune_record_read(L, &work->call);
}

static bool row_exists(lua_State *L, work *work) {
    int top = lua_gettop(L);
    if (work->block->key_count == 0) raise_no_key(L, work);
    if (!push_key(L, work)) return false;
    begin_by_key(L, work, top + 1, PLAN_EXISTS_SQL, PLAN_EXISTS);
    bool is_there = perilune_step(L, &work->call);
    if (is_there) perilune_check_columns(work->call.statement);
    perilune_end_run(work->call.statement);
    lua_settop(L, top);
    return is_there;
}

static bool delete_row(lua_State *L, work *work) {
    int top = lua_gettop(L);
    if (work->block->key_count == 0 || !push_key(L, work)) raise_no_key(L, work);
    begin_by_key(L, work, top + 1, PLAN_DELETE_SQL, PLAN_DELETE);
    run_write(L, work, PERILUNE_DISCARD, 0);
    lua_settop(L, top);
    return work->call.changes > 0 || work->block->is_view;
}

/* The record stands for no row any more. */
static void forget_row(lua_State *L, work *work) {
    lua_getiuservalue(L, work->shape, SHAPE_METATABLE);
    lua_setmetatable(L, work->record);
}

/* Updates, or inserts where there is no key or no row. */
static bool save_row(lua_State *L, work *work) {
    int top = lua_gettop(L);
    bool has_key = work->block->key_count > 0 && push_key(L, work);
    lua_settop(L, top);
    if (has_key) {
        if (update_row(L, work, 0, 0)) return true;
        lua_settop(L, top);
        if (row_exists(L, work)) return false;
        lua_settop(L, top);
    }
    return insert_row(L, work, 0) > 0;
}

/* MARK: - The verbs of records */

/*
** A verb is fast if it is called on a record alone, or with a database, and the Lua part need not see it: then it is done here.
** Anything else goes to the function of the same name in Lua, which may come back for each record.
*/
typedef struct {
    const char *name;
    lua_CFunction body;
    bool is_read;
} record_verb;

/* Runs the body in the access that is open or in one of its own. Stack: record, database or nothing. */
static int run_record_verb(lua_State *L, const record_verb *verb) {
    perilune_access *access;
    perilune_database *database = perilune_resolve_database(L, 2, verb->name, &access);
    if (!verb->is_read && perilune_needs_guard(L, database)) {
        return perilune_run_guarded(L, database->rows, database, access, verb->body);
    }
    if (access) return verb->body(L);
    return perilune_run_in_access(L, database->rows, database, verb->is_read, verb->body);
}

static int call_in_lua(lua_State *L, const char *name) {
    int count = lua_gettop(L);
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    perilune_push_record_function(L, name);
    lua_insert(L, 1);
    lua_call(L, count, LUA_MULTRET);
    return lua_gettop(L);
}

static int call_record_verb(lua_State *L, const record_verb *verb) {
    int count = lua_gettop(L);
    perilune_shape *shape = count == 1 || count == 2 ? perilune_shape_at(L, 1) : NULL;
    bool is_fast = shape && !perilune_writes_in_lua(shape->plan->model) &&
                   (count == 1 || lua_isnil(L, 2) || perilune_block_of(L, 2, perilune_rows_of(L)->database_metatable));
    if (!is_fast) return call_in_lua(L, verb->name);
    return run_record_verb(L, verb);
}

/* Begins with what run_record_verb has on the stack. */
static work begin_body(lua_State *L, const char *verb) {
    perilune_access *access;
    perilune_database *database = perilune_resolve_database(L, lua_gettop(L) >= 2 ? 2 : 0, verb, &access);
    return begin_work(L, database, access, verb, 1);
}

/* Pushes the record; false if a conflict clause of the table has kept it from being written. */
static int push_written(lua_State *L, bool is_written) {
    lua_settop(L, 1);
    if (!is_written) lua_pushboolean(L, false);
    return 1;
}

static int insert_body(lua_State *L) {
    work work = begin_body(L, "insert");
    return push_written(L, insert_row(L, &work, 0) > 0);
}

static int update_body(lua_State *L) {
    work work = begin_body(L, "update");
    bool is_written = update_row(L, &work, 0, 0);
    if (!is_written && !row_exists(L, &work)) raise_not_found(L, &work);
    return push_written(L, is_written);
}

static int save_body(lua_State *L) {
    work work = begin_body(L, "save");
    return push_written(L, save_row(L, &work));
}

static int delete_body(lua_State *L) {
    work work = begin_body(L, "delete");
    lua_pushboolean(L, delete_row(L, &work));
    forget_row(L, &work);
    return 1;
}

static int exists_body(lua_State *L) {
    work work = begin_body(L, "exists");
    lua_pushboolean(L, row_exists(L, &work));
    return 1;
}

/* MARK: - One write, for the Lua part. Arguments: record, database or nil, values or nil, clause or nil, columns or nil. */

/* Takes the arguments beyond the database. */
static work begin_raw(lua_State *L, const char *verb, int *conflict, int *columns) {
    perilune_access *access;
    lua_settop(L, 5);
    perilune_database *database = perilune_resolve_database(L, 2, verb, &access);
    if (perilune_shape_at(L, 1) == NULL) perilune_argument_error(L, verb, 1, "a record", 1);
    work work = begin_work(L, database, access, verb, 1);
    if (lua_istable(L, 3)) work.values = 3;
    *conflict = lua_type(L, 4) == LUA_TSTRING ? 4 : 0;
    *columns = lua_istable(L, 5) ? 5 : 0;
    return work;
}

static int insert_raw_body(lua_State *L) {
    int conflict, columns;
    work work = begin_raw(L, "insert", &conflict, &columns);
    lua_pushinteger(L, insert_row(L, &work, conflict));
    return 1;
}

static int update_raw_body(lua_State *L) {
    int conflict, columns;
    work work = begin_raw(L, "update", &conflict, &columns);
    lua_pushboolean(L, update_row(L, &work, columns, conflict));
    return 1;
}

static int delete_raw_body(lua_State *L) {
    int conflict, columns;
    work work = begin_raw(L, "delete", &conflict, &columns);
    lua_pushboolean(L, delete_row(L, &work));
    return 1;
}

static int exists_raw_body(lua_State *L) {
    int conflict, columns;
    work work = begin_raw(L, "exists", &conflict, &columns);
    lua_pushboolean(L, row_exists(L, &work));
    return 1;
}

/* MARK: - insert_all */

/* Pushes the record at a position of the list, which may be a plain table: a record is made of it then. */
static void push_element(lua_State *L, lua_Integer position) {
    enum { class = 1, list = 3, result = 4 };
    lua_rawgeti(L, list, position);
    if (perilune_shape_at(L, -1) == NULL || perilune_shape_at(L, -1)->plan->model != perilune_model_at(L, class)) {
        perilune_push_record_function(L, "element");
        lua_insert(L, -2);
        lua_pushvalue(L, class);
        lua_insert(L, -2);
        lua_pushinteger(L, position);
        lua_call(L, 3, 1);
    }
    lua_pushvalue(L, -1);
    lua_rawseti(L, result, position);
}

/* Stack: class, database or nil, list. Returns the list of records. In a transaction or savepoint. */
static int insert_all_body(lua_State *L) {
    perilune_access *access;
    lua_settop(L, 3);
    perilune_database *database = perilune_resolve_database(L, 2, "insert_all", &access);
    lua_Integer count = (lua_Integer)lua_rawlen(L, 3);
    lua_createtable(L, count < INT32_MAX ? (int)count : 0, 0);
    access->is_taken = true; /* the guard is for all that is done in it */
    for (lua_Integer i = 1; i <= count; i++) {
        push_element(L, i);
        work work = begin_work(L, database, access, "insert_all", 5);
        insert_row(L, &work, 0);
        lua_settop(L, 4);
    }
    return 1;
}

static int insert_all(lua_State *L) {
    perilune_access *access;
    lua_settop(L, 3);
    perilune_database *database = perilune_resolve_database(L, 2, "insert_all", &access);
    if (perilune_model_at(L, 1) == NULL || !lua_istable(L, 3)) return perilune_argument_error(L, "insert_all", 1, "a list", 3);
    return perilune_run_guarded(L, database->rows, database, access, insert_all_body);
}

/* MARK: - find and fetch_one by a key */

/* Stack: class, database or nil, key. Tables whose key has several columns are for the Lua part. */
static int find_with(lua_State *L, const char *verb, bool is_required) {
    perilune_access *access;
    perilune_database *database = perilune_resolve_database(L, 2, verb, &access);
    work work = {.call = {.rows = database->rows, .database = database, .access = access, .class_index = 1}, .verb = verb};
    work.call.arguments.verb = verb;
    luaL_checkstack(L, LUA_MINSTACK * 2, NULL);
    perilune_push_model(L, 1);
    work.block = perilune_push_plan(L, lua_gettop(L), access);
    work.plan = lua_gettop(L);
    if (work.block->key_count != 1) {
        lua_settop(L, 3);
        if (lua_isnil(L, 2)) lua_remove(L, 2);
        return call_in_lua(L, verb);
    }
    begin_by_key(L, &work, 3, PLAN_FIND_SQL, PLAN_FIND);
    bool is_there = perilune_step(L, &work.call);
    if (is_there) {
        perilune_check_columns(work.call.statement);
        perilune_push_layout(L, &work.call);
        perilune_push_record(L, work.call.statement, lua_gettop(L));
    }
    perilune_end_run(work.call.statement);
    if (is_there) return 1;
    if (!is_required) return 0;
    perilune_push_record_function(L, "raise_key_not_found");
    lua_getiuservalue(L, work.plan, PLAN_SCHEMA);
    lua_pushvalue(L, 3);
    lua_call(L, 2, 0);
    return 0;
}

static int find_body(lua_State *L) { return find_with(L, "find", true); }
static int fetch_one_body(lua_State *L) { return find_with(L, "fetch_one", false); }

static const record_verb find_verb = {"find", find_body, true}, fetch_one_verb = {"fetch_one", fetch_one_body, true};

/* Stack: class, key; or class, database, key. */
static int call_find(lua_State *L, const record_verb *verb) {
    int count = lua_gettop(L);
    perilune_model *model = count == 2 || count == 3 ? perilune_model_at(L, 1) : NULL;
    int type = model ? lua_type(L, count) : LUA_TNONE;
    bool is_fast = (type == LUA_TNUMBER || type == LUA_TSTRING) && model->is_described && !perilune_awakens(model) &&
                   (count == 2 || perilune_block_of(L, 2, perilune_rows_of(L)->database_metatable));
    if (!is_fast) return call_in_lua(L, verb->name);
    if (count == 2) {
        lua_pushnil(L);
        lua_insert(L, 2);
    }
    return run_record_verb(L, verb);
}

/* MARK: - Functions */

#define RECORD_VERB(name, is_read)                                            \
    static const record_verb name##_verb = {#name, name##_body, is_read};     \
    static int record_##name(lua_State *L) { return call_record_verb(L, &name##_verb); }

#define RAW_VERB(name, is_read)                                                         \
    static const record_verb name##_raw_verb = {#name, name##_raw_body, is_read};       \
    static int raw_##name(lua_State *L) {                                               \
        if (lua_gettop(L) < 2) lua_settop(L, 2);                                        \
        return run_record_verb(L, &name##_raw_verb);                                    \
    }

RECORD_VERB(insert, false)
RECORD_VERB(update, false)
RECORD_VERB(save, false)
RECORD_VERB(delete, false)
RECORD_VERB(exists, true)
RAW_VERB(insert, false)
RAW_VERB(update, false)
RAW_VERB(delete, false)
RAW_VERB(exists, true)

static int class_find(lua_State *L) { return call_find(L, &find_verb); }
static int class_fetch_one(lua_State *L) { return call_find(L, &fetch_one_verb); }

const luaL_Reg perilune_record_writes[] = {
    {"record_insert", record_insert},
    {"record_update", record_update},
    {"record_save", record_save},
    {"record_delete", record_delete},
    {"record_exists", record_exists},
    {"class_find", class_find},
    {"class_fetch_one", class_fetch_one},
    {"raw_insert_all", insert_all},
    {"raw_insert", raw_insert},
    {"raw_update", raw_update},
    {"raw_delete", raw_delete},
    {"raw_exists", raw_exists},
    {NULL, NULL},
};
