/* Inserting many records. */
#include "records_writing.h"

/* MARK: - insert_all */

/* On the stack. SAVED: of each record that was inserted by itself the record, a copy of it, and its metatable. BATCHES: a list. */
enum { CLASS = 1, LIST = 3, SAVED, BATCHES, RESULT, TOP = RESULT };

/* Pushes the record at a position of the list, which may be a plain table: a record is made of it then. */
static void push_element(lua_State *L, lua_Integer position) {
    lua_rawgeti(L, LIST, position);
    if (perilune_shape_at(L, -1) == NULL || perilune_shape_at(L, -1)->plan->model != perilune_model_at(L, CLASS)) {
        perilune_push_record_function(L, "element");
        lua_insert(L, -2);
        lua_pushvalue(L, CLASS);
        lua_insert(L, -2);
        lua_pushinteger(L, position);
        lua_call(L, 3, 1);
    }
    lua_pushvalue(L, -1);
    lua_rawseti(L, RESULT, position);
}

/*
** Rows are inserted many at a time, by statements of many rows, where records follow each other that have plain values, and where
** what the database makes of them is known beforehand: NULL for what is absent, and row ids that follow each other. Triggers may
** do anything, and conflict clauses leave rows out, so that tables which have some are written row by row; so are the first rows,
** to see whether ids follow each other.
*/
typedef struct {
    perilune_database *database;
    perilune_access *access;
    lua_Integer count;
    sqlite3_int64 last_rowid;
    int in_sequence; /* so many row ids have followed each other */
} insertion;

/* Where two rows in a sequence were seen, the next ones follow too: SQLite takes ids at random only when there are no more. */
enum { most_rows = 64, least_rows = 8, most_values = 2048, rows_before_batches = 2 };

/* Pushes the record at a position, its shape and its plan. */
static perilune_work begin_element(lua_State *L, insertion *insertion, lua_Integer position) {
    push_element(L, position);
    perilune_push_shape_of(L, -1);
    return perilune_begin_work(L, insertion->database, insertion->access, "insert_all", lua_gettop(L) - 1);
}

/* Whether the record has a value for the column that is the row id. */
static bool has_rowid(lua_State *L, perilune_work *work) {
    if (work->block->rowid < 0) return false;
    lua_getiuservalue(L, work->plan, PLAN_NAMES);
    lua_rawgeti(L, -1, work->block->rowid + 1);
    bool has_rowid = lua_rawget(L, work->record) != LUA_TNIL;
    lua_pop(L, 2);
    return has_rowid;
}

/* Keeps what the record on the stack is, for the case that a later one fails. */
static void save(lua_State *L, int record) {
    lua_Integer count = (lua_Integer)lua_rawlen(L, SAVED);
    lua_pushvalue(L, record);
    lua_rawseti(L, SAVED, count + 1);
    lua_newtable(L);
    for (lua_pushnil(L); lua_next(L, record);) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, -4);
    }
    lua_rawseti(L, SAVED, count + 2);
    lua_getmetatable(L, record);
    lua_rawseti(L, SAVED, count + 3);
}

/* Makes the records in the list at `saved` what they were. */
static void put_back(lua_State *L, int saved) {
    int top = lua_gettop(L), record = top + 1, copy = top + 2, metatable = top + 3;
    for (lua_Integer i = 0, count = (lua_Integer)lua_rawlen(L, saved); i + 3 <= count; i += 3) {
        for (int k = 1; k <= 3; k++) lua_rawgeti(L, saved, i + k);
        for (lua_pushnil(L); lua_next(L, record);) {
            lua_pop(L, 1);
            lua_pushvalue(L, -1);
            lua_pushnil(L);
            lua_rawset(L, record);
        }
        for (lua_pushnil(L); lua_next(L, copy);) {
            lua_pushvalue(L, -2);
            lua_insert(L, -2);
            lua_rawset(L, record);
        }
        lua_settop(L, metatable);
        lua_setmetatable(L, record);
        lua_settop(L, top);
    }
}

static void insert_one(lua_State *L, insertion *insertion, lua_Integer position) {
    perilune_work work = begin_element(L, insertion, position);
    bool has_key = has_rowid(L, &work);
    save(L, work.record);
    perilune_insert_row(L, &work, 0);
    sqlite3_int64 rowid = sqlite3_last_insert_rowid(insertion->access->connection->handle);
    bool is_next = insertion->in_sequence > 0 && rowid == insertion->last_rowid + 1;
    insertion->in_sequence = has_key ? 0 : is_next ? insertion->in_sequence + 1 : 1;
    insertion->last_rowid = rowid;
    lua_settop(L, TOP);
}

/* Rows for one statement. On the stack from TOP on: a first record with its shape and plan, the names of the columns, the
** statement, then the values of all rows. */
typedef struct {
    perilune_work work;
    perilune_mask mask; /* all columns that can be written; the row id only if all records have it */
    int names, slot, first_value;
    int rows, count; /* wanted, and there */
    bool has_key;
} batch;

/* Pushes the values of a record, nil for NULL. Returns false, with anything pushed, if it is for a statement of its own. */
static bool push_row_values(lua_State *L, batch *batch, int record) {
    perilune_plan *plan = batch->work.block;
    for (int i = 0; i < plan->column_count; i++) {
        if (plan->columns[i].is_generated) continue;
        lua_rawgeti(L, batch->names, i + 1);
        int type = lua_rawget(L, record);
        if (type == LUA_TUSERDATA || type == LUA_TTABLE) return false;
        if (type == LUA_TNIL && plan->columns[i].has_default) return false;
        if (i != plan->rowid) continue;
        if (batch->has_key ? !lua_isinteger(L, -1) : type != LUA_TNIL) return false;
        if (!batch->has_key) lua_pop(L, 1);
    }
    return true;
}

/* Pushes the first record, and what the batch needs. Returns false if the record is for a statement of its own. */
static bool begin_batch(lua_State *L, insertion *insertion, batch *batch, lua_Integer position) {
    if (insertion->count - position < least_rows) return false;
    batch->work = begin_element(L, insertion, position);
    perilune_plan *plan = batch->work.block;
    if (!plan->is_batched || batch->work.shape_block->plan != plan) return false;
    batch->names = lua_gettop(L) + 1;
    batch->slot = batch->names + 1;
    batch->first_value = batch->slot + 1;
    batch->count = 0;
    lua_getiuservalue(L, batch->work.plan, PLAN_NAMES);
    batch->has_key = has_rowid(L, &batch->work);
    if (!batch->has_key && plan->rowid >= 0 && insertion->in_sequence < rows_before_batches) return false;
    perilune_begin_mask(&batch->mask, plan->column_count);
    for (int i = 0; i < plan->column_count; i++) {
        if (!plan->columns[i].is_generated && (i != plan->rowid || batch->has_key)) perilune_add_to_mask(&batch->mask, i);
    }
    int most = sqlite3_limit(insertion->access->connection->handle, SQLITE_LIMIT_VARIABLE_NUMBER, -1);
    int values = most < most_values ? most : most_values, columns = batch->mask.count;
    if (columns == 0 || values / columns < 2) return false;
    batch->rows = values / columns < most_rows ? values / columns : most_rows;
    lua_pushnil(L);
    luaL_checkstack(L, batch->rows * columns + plan->column_count + LUA_MINSTACK * 2, "too many values");
    return true;
}

/* Pushes the values of the records from a position on, as far as they can share a statement. */
static void fill_batch(lua_State *L, insertion *insertion, batch *batch, lua_Integer position) {
    perilune_model *model = batch->work.block->model;
    for (lua_Integer i = position; i <= insertion->count && batch->count < batch->rows; i++) {
        int top = lua_gettop(L);
        push_element(L, i);
        perilune_shape *shape = perilune_shape_at(L, -1);
        if (shape != batch->work.shape_block || shape->plan->model != model || !push_row_values(L, batch, top + 1)) {
            lua_settop(L, top);
            return;
        }
        lua_remove(L, top + 1);
        batch->count++;
    }
}

/* Inserts the rows whose values are on the stack, by one statement. */
static void run_batch(lua_State *L, batch *batch) {
    perilune_work *work = &batch->work;
    int columns = batch->mask.count, count = columns * batch->count;
    perilune_write *write = perilune_push_write(L, work, &batch->mask, "i", 0, PLAN_LAST_INSERT, batch->count);
    lua_replace(L, batch->slot);
    perilune_begin_write(L, work, perilune_compile_kept(L, work->call.access, batch->slot, WRITE_SQL, WRITE_STATEMENT));
    for (int i = 0; i < count; i++) {
        perilune_bind_column(L, work, i + 1, write->parameters[i % columns], batch->first_value + i);
    }
    perilune_mark_rowid(work->call.statement);
    perilune_run_bound(L, &work->call, PERILUNE_DISCARD, 0);
}

/* What is to be done with the records of a batch once all have been inserted. */
typedef struct {
    lua_Integer position;
    sqlite3_int64 first_rowid;
    int count;
    bool has_key;
} batch_result;

static void keep_batch(lua_State *L, insertion *insertion, const batch *batch, lua_Integer position) {
    batch_result *result = lua_newuserdatauv(L, sizeof *result, 0);
    *result = (batch_result){position, insertion->last_rowid - batch->count + 1, batch->count, batch->has_key};
    lua_rawseti(L, BATCHES, (lua_Integer)lua_rawlen(L, BATCHES) + 1);
}

/* Gives the records the keys that their rows have, and the snapshots. */
static void take_batch(lua_State *L, insertion *insertion, const batch_result *result) {
    for (int i = 0; i < result->count; i++) {
        lua_rawgeti(L, RESULT, result->position + i);
        perilune_push_shape_of(L, -1);
        int record = lua_gettop(L) - 1;
        perilune_work work = perilune_begin_work(L, insertion->database, insertion->access, "insert_all", record);
        if (!result->has_key && work.block->rowid >= 0) {
            lua_getiuservalue(L, work.plan, PLAN_NAMES);
            lua_rawgeti(L, -1, work.block->rowid + 1);
            lua_pushinteger(L, result->first_rowid + i);
            lua_rawset(L, record);
        }
        perilune_keep_snapshot(L, &work, true);
        lua_settop(L, TOP);
    }
}

static void take_batches(lua_State *L, insertion *insertion) {
    lua_Integer count = (lua_Integer)lua_rawlen(L, BATCHES);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, BATCHES, i);
        batch_result result = *(batch_result *)lua_touserdata(L, -1);
        lua_settop(L, TOP);
        take_batch(L, insertion, &result);
    }
}

/* Whether the row ids of the batch are what they are taken for. */
static void check_batch(lua_State *L, insertion *insertion, batch *batch) {
    sqlite3_int64 rowid = sqlite3_last_insert_rowid(insertion->access->connection->handle);
    bool is_known = batch->has_key || batch->work.block->rowid < 0 || rowid == insertion->last_rowid + batch->count;
    if (batch->work.call.changes != batch->count || !is_known) {
        perilune_raise(L, "constraint", "insert_all: the table has put other rows in than it was given: insert them one by one");
    }
    insertion->last_rowid = rowid;
    if (batch->has_key) insertion->in_sequence = 0;
}

/* Inserts the records from a position on that one statement can take; returns how many. */
static lua_Integer insert_some(lua_State *L, insertion *insertion, lua_Integer position) {
    batch batch;
    bool is_batch = begin_batch(L, insertion, &batch, position);
    if (is_batch) fill_batch(L, insertion, &batch, position);
    /* Few rows go one by one: there is to be one statement of many rows. */
    if (!is_batch || batch.count < batch.rows) {
        lua_settop(L, TOP);
        lua_Integer count = is_batch && batch.count > 1 ? batch.count : 1;
        for (lua_Integer i = 0; i < count; i++) insert_one(L, insertion, position + i);
        return count;
    }
    run_batch(L, &batch);
    check_batch(L, insertion, &batch);
    keep_batch(L, insertion, &batch, position);
    lua_settop(L, TOP);
    return batch.count;
}

/* Stack: class, database or nil, list, saved. Returns the list of records. In a transaction or savepoint. */
static int insert_all_inside(lua_State *L) {
    insertion insertion = {.last_rowid = -1};
    lua_settop(L, SAVED);
    insertion.database = perilune_resolve_database(L, 2, "insert_all", &insertion.access);
    insertion.count = (lua_Integer)lua_rawlen(L, LIST);
    lua_newtable(L);
    lua_createtable(L, insertion.count < INT32_MAX ? (int)insertion.count : 0, 0);
    insertion.access->is_taken = true; /* the guard is for all that is done in it */
    for (lua_Integer i = 1; i <= insertion.count;) i += insert_some(L, &insertion, i);
    take_batches(L, &insertion);
    return 1;
}

static int insert_all_guarded(lua_State *L) {
    perilune_access *access;
    perilune_database *database = perilune_resolve_database(L, 2, "insert_all", &access);
    return perilune_run_guarded(L, database->rows, database, access, insert_all_inside);
}

int perilune_insert_all(lua_State *L) {
    lua_settop(L, LIST);
    if (perilune_model_at(L, CLASS) == NULL || !lua_istable(L, LIST)) {
        return perilune_argument_error(L, "insert_all", 1, "a list", LIST);
    }
    lua_newtable(L);
    lua_pushcfunction(L, insert_all_guarded);
    for (int i = CLASS; i <= SAVED; i++) lua_pushvalue(L, i);
    if (perilune_pcall(L, SAVED, 1) == LUA_OK) return 1;
    put_back(L, SAVED);
    return lua_error(L);
}
