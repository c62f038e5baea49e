/* Inserting many records. */
#include "records_chunks.h"

/*
** On the stack.
** SAVED: of each record that was inserted by itself its position, the record, a copy of it, and its metatable.
** RANGES: of records that were inserted many at a time: the positions of the first and the last one, whether they had row ids.
** SNAPSHOTS: position -> metatable, of those that had a snapshot.
** PRESENT: the range that is worked on.
*/
enum { CLASS = 1, LIST = 3, SAVED, RANGES, SNAPSHOTS, RESULT, PRESENT, DRAFT, TOP = DRAFT };

typedef struct {
    lua_Integer first, last;
    bool has_key;
    lua_Integer older; /* so many are in the list */
} range;

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
    lua_Integer end; /* a record for a statement of its own is here: batches end before it */
    range *present;
} insertion;

/* Where two rows in a sequence were seen, the next ones follow too: SQLite takes ids at random only when there are no more. */
enum { fewest_rows = 16, most_values = 2048, rows_before_batches = 2 };

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

/* MARK: - What is put back if a later record fails */

enum { SAVED_POSITION = 1, SAVED_RECORD, SAVED_COPY, SAVED_METATABLE, saved_size = SAVED_METATABLE };

/* Has the snapshot that the record gets be in another chunk than the one it has, so that it finds that one again. */
static void leave_chunk(lua_State *L, int record) {
    int top = lua_gettop(L), shape = top + 1;
    perilune_push_shape_of(L, record);
    lua_getmetatable(L, record);
    lua_getiuservalue(L, shape, SHAPE_OPEN);
    if (lua_rawequal(L, -1, -2)) {
        lua_pushnil(L);
        lua_setiuservalue(L, shape, SHAPE_OPEN);
    }
    lua_settop(L, top);
}

/* Keeps what the record is. */
static void save(lua_State *L, lua_Integer position, int record) {
    lua_Integer count = (lua_Integer)lua_rawlen(L, SAVED);
    lua_newtable(L);
    for (lua_pushnil(L); lua_next(L, record);) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, -4);
    }
    lua_pushinteger(L, position);
    lua_rawseti(L, SAVED, count + SAVED_POSITION);
    lua_pushvalue(L, record);
    lua_rawseti(L, SAVED, count + SAVED_RECORD);
    lua_rawseti(L, SAVED, count + SAVED_COPY);
    lua_getmetatable(L, record);
    lua_rawseti(L, SAVED, count + SAVED_METATABLE);
    leave_chunk(L, record);
}

/* Makes the record what it was that was saved behind `count` others. */
static void put_back_saved(lua_State *L, lua_Integer count) {
    int top = lua_gettop(L), record = top + 1, copy = top + 2, metatable = top + 3;
    for (int i = SAVED_RECORD; i <= SAVED_METATABLE; i++) lua_rawgeti(L, SAVED, count + i);
    for (lua_pushnil(L); lua_istable(L, metatable) && lua_next(L, record);) {
        lua_pop(L, 1);
        lua_pushvalue(L, -1);
        lua_pushnil(L);
        lua_rawset(L, record);
    }
    lua_settop(L, metatable);
    for (lua_pushnil(L); lua_istable(L, metatable) && lua_next(L, copy);) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, record);
    }
    lua_settop(L, metatable);
    if (lua_istable(L, metatable)) lua_setmetatable(L, record);
    lua_settop(L, top);
}

/* Makes a record that was inserted with others what it was: its metatable is the one that it had, or that of its shape. */
static void put_back_one(lua_State *L, lua_Integer position, bool has_key) {
    int top = lua_gettop(L), record = top + 1, shape = top + 2;
    lua_rawgeti(L, RESULT, position);
    perilune_shape *block = perilune_push_shape_of(L, record);
    if (block) {
        if (!has_key && block->plan->rowid >= 0) {
            lua_getiuservalue(L, shape, SHAPE_PLAN);
            lua_getiuservalue(L, -1, PLAN_NAMES);
            lua_rawgeti(L, -1, block->plan->rowid + 1);
            lua_pushnil(L);
            lua_rawset(L, record);
        }
        if (lua_rawgeti(L, SNAPSHOTS, position) == LUA_TNIL) lua_getiuservalue(L, shape, SHAPE_METATABLE);
        lua_setmetatable(L, record);
    }
    lua_settop(L, top);
}

/* Sets the range to the last one in the list, and takes it out. */
static void take_range(lua_State *L, range *range) {
    if (range->older == 0) return;
    lua_Integer at = --range->older * 3;
    for (int i = 1; i <= 3; i++) lua_rawgeti(L, RANGES, at + i);
    range->first = lua_tointeger(L, -3);
    range->last = lua_tointeger(L, -2);
    range->has_key = lua_toboolean(L, -1);
    lua_pop(L, 3);
}

/* Makes all records what they were, from the last to the first: one may be in the list twice. */
static void put_back(lua_State *L, range *range) {
    lua_Integer saved = (lua_Integer)lua_rawlen(L, SAVED) / saved_size;
    for (lua_Integer position = (lua_Integer)lua_rawlen(L, LIST); position > 0; position--) {
        if (position < range->first) take_range(L, range);
        if (position >= range->first && position <= range->last) put_back_one(L, position, range->has_key);
        lua_rawgeti(L, SAVED, (saved - 1) * saved_size + SAVED_POSITION);
        bool is_saved = saved > 0 && lua_tointeger(L, -1) == position;
        lua_pop(L, 1);
        if (is_saved) put_back_saved(L, --saved * saved_size);
    }
}

/* Makes the range one that the record at a position can be added to. */
static void begin_range(lua_State *L, range *range, lua_Integer position, bool has_key) {
    bool is_empty = range->last < range->first;
    if (!is_empty && range->last == position - 1 && range->has_key == has_key) return;
    if (!is_empty) {
        lua_Integer at = range->older * 3;
        lua_pushinteger(L, range->first);
        lua_rawseti(L, RANGES, at + 1);
        lua_pushinteger(L, range->last);
        lua_rawseti(L, RANGES, at + 2);
        lua_pushboolean(L, range->has_key);
        lua_rawseti(L, RANGES, at + 3);
        range->older++;
    }
    range->first = position;
    range->last = position - 1;
    range->has_key = has_key;
}

/* MARK: - One at a time */

static void insert_one(lua_State *L, insertion *insertion, lua_Integer position) {
    perilune_work work = begin_element(L, insertion, position);
    bool has_key = has_rowid(L, &work);
    save(L, position, work.record);
    perilune_insert_row(L, &work, 0);
    sqlite3_int64 rowid = sqlite3_last_insert_rowid(insertion->access->connection->handle);
    bool is_next = insertion->in_sequence > 0 && rowid == insertion->last_rowid + 1;
    insertion->in_sequence = has_key ? 0 : is_next ? insertion->in_sequence + 1 : 1;
    insertion->last_rowid = rowid;
    lua_settop(L, TOP);
}

/* MARK: - Many at a time */

/* Rows for one statement. On the stack from TOP on: a first record with its shape and plan, the names of the plan's columns, the
** statement in both forms, then each record with its values. */
typedef struct {
    perilune_work work;
    perilune_mask mask; /* all columns, but the row id only if all records have it */
    const void *plain;  /* the metatable of records of the shape that have no snapshot */
    perilune_packer packer;
    bool has_key, tracks_changes;
    int names, write;      /* on the stack: the first name; the statement */
    int first_row, stride; /* on the stack: the first record, and how far the next one is */
    int rows, count;       /* wanted, and there */
} batch;

/* How many rows the next statement is to have; 0 if records go one by one. (Measured: with more rows, none costs less.) */
static int rows_of_batch(insertion *insertion, int columns, lua_Integer left) {
    static const int sizes[] = {128, 48, fewest_rows};
    int most = sqlite3_limit(insertion->access->connection->handle, SQLITE_LIMIT_VARIABLE_NUMBER, -1);
    int values = most < most_values ? most : most_values;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (columns > 0 && sizes[i] <= left && columns <= values / sizes[i]) return sizes[i];
    }
    return 0;
}

/* Which columns are written. */
static void mark_all(batch *batch) {
    perilune_plan *plan = batch->work.block;
    perilune_begin_mask(&batch->mask, plan->column_count);
    for (int i = 0; i < plan->column_count; i++) {
        if (i != plan->rowid || batch->has_key) perilune_add_to_mask(&batch->mask, i);
    }
}

/* Puts a draft for the rows of the batch in its place. */
static void begin_draft(lua_State *L, const batch *batch) {
    perilune_chunk *draft = lua_touserdata(L, DRAFT);
    int count = batch->work.block->column_count;
    if (draft && draft->capacity >= (size_t)batch->rows * perilune_most_packed(count)) {
        perilune_clear_draft(L, DRAFT);
        return;
    }
    perilune_push_draft(L, batch->rows, count);
    lua_replace(L, DRAFT);
}

/* Pushes the names of all columns, and the statement, whose run begins. */
static void begin_statement(lua_State *L, batch *batch) {
    perilune_work *work = &batch->work;
    int count = work->block->column_count;
    batch->stride = batch->mask.count + 1;
    luaL_checkstack(L, batch->rows * batch->stride + count + LUA_MINSTACK * 2, "too many values");
    lua_getiuservalue(L, work->plan, PLAN_NAMES);
    int list = lua_gettop(L);
    for (int i = 1; i <= count; i++) lua_rawgeti(L, list, i);
    batch->names = list + 1;
    perilune_push_write(L, work, &batch->mask, "i", 0, PLAN_LAST_INSERT, batch->rows);
    batch->write = lua_gettop(L);
    perilune_begin_write(L, work, perilune_compile_kept(L, work->call.access, batch->write, WRITE_SQL, WRITE_STATEMENT));
    batch->first_row = lua_gettop(L) + 1;
}

/* Pushes the first record, and what the batch needs. Returns false if the record is for a statement of its own. */
static bool begin_batch(lua_State *L, insertion *insertion, batch *batch, lua_Integer position) {
    lua_Integer left = (position < insertion->end ? insertion->end : insertion->count + 1) - position;
    if (left < fewest_rows) return false;
    batch->work = begin_element(L, insertion, position);
    perilune_plan *plan = batch->work.block;
    perilune_shape *shape = batch->work.shape_block;
    if (!plan->is_batched || plan->has_generated || shape->plan != plan || !shape->has_all) return false;
    batch->has_key = has_rowid(L, &batch->work);
    if (!batch->has_key && plan->rowid >= 0 && insertion->in_sequence < rows_before_batches) return false;
    batch->tracks_changes = plan->model->tracks_changes;
    batch->count = 0;
    mark_all(batch);
    batch->rows = rows_of_batch(insertion, batch->mask.count, left);
    if (batch->rows == 0 || insertion->last_rowid > INT64_MAX - batch->rows) return false;
    if (batch->tracks_changes) begin_draft(L, batch);
    lua_getiuservalue(L, batch->work.shape, SHAPE_METATABLE);
    batch->plain = lua_topointer(L, -1);
    lua_pop(L, 1);
    begin_range(L, insertion->present, position, batch->has_key);
    begin_statement(L, batch);
    return true;
}

/* Has the records that come after the one at a position fetched: they are in no order in memory. */
static void prefetch(lua_State *L, lua_Integer position) {
    enum { fields_ahead = 6, tables_ahead = 12 };
    int top = lua_gettop(L);
    if (lua_rawgeti(L, LIST, position + fields_ahead) == LUA_TTABLE) perilune_prefetch_fields(lua_topointer(L, -1));
    if (lua_rawgeti(L, LIST, position + tables_ahead) == LUA_TTABLE) perilune_prefetch_table(lua_topointer(L, -1));
    lua_settop(L, top);
}

/* Pushes the record at a position. Returns false if it is not of the shape of the batch. */
static bool push_similar(lua_State *L, const batch *batch, lua_Integer position) {
    int record = lua_gettop(L) + 1;
    prefetch(L, position);
    if (lua_rawgeti(L, LIST, position) == LUA_TTABLE && lua_getmetatable(L, record)) {
        bool is_plain = lua_topointer(L, -1) == batch->plain;
        lua_settop(L, record);
        if (is_plain) {
            lua_pushvalue(L, record);
            lua_rawseti(L, RESULT, position);
            return true;
        }
    }
    lua_settop(L, record - 1);
    push_element(L, position);
    if (perilune_shape_at(L, record) != batch->work.shape_block) return false;
    lua_getmetatable(L, record);
    if (lua_topointer(L, -1) == batch->plain) lua_pop(L, 1);
    else lua_rawseti(L, SNAPSHOTS, position);
    return true;
}

/* Binds a number or a string on top of the stack, and packs it. Returns false if the column has it another way. */
static inline bool take_usual(lua_State *L, batch *batch, int parameter, const perilune_record_column *known, int type) {
    sqlite3_stmt *handle = batch->work.call.statement->handle;
    perilune_packer *packer = &batch->packer;
    if (known->is_boolean || known->is_blob) return false;
    if (type == LUA_TSTRING) {
        size_t length;
        const char *bytes = lua_tolstring(L, -1, &length);
        if (sqlite3_bind_text64(handle, parameter, bytes, length, SQLITE_STATIC, SQLITE_UTF8) != SQLITE_OK) return false;
        if (batch->tracks_changes) perilune_pack_string(L, packer, bytes, length);
    } else if (type == LUA_TNUMBER && lua_isinteger(L, -1)) {
        lua_Integer integer = lua_tointeger(L, -1);
        sqlite3_bind_int64(handle, parameter, integer);
        if (batch->tracks_changes) perilune_pack_integer(packer, integer);
    } else if (type == LUA_TNUMBER) {
        lua_Number number = lua_tonumber(L, -1);
        if (number != number) return false;
        sqlite3_bind_double(handle, parameter, number);
        if (batch->tracks_changes) perilune_pack_number(packer, number);
    } else {
        return false;
    }
    return true;
}

/* Binds the value on top of the stack, which stays there, and packs it. Returns false if it is not as simple as that. */
static inline bool take_value(lua_State *L, batch *batch, int parameter, int column, int type) {
    const perilune_record_column *known = &batch->work.block->columns[column];
    if (take_usual(L, batch, parameter, known, type)) return true;
    if (type == LUA_TUSERDATA || type == LUA_TTABLE || (type == LUA_TNIL && known->has_default)) return false;
    perilune_bind_column(L, &batch->work, parameter, column, lua_gettop(L));
    if (batch->tracks_changes) perilune_pack_value(L, &batch->packer, type);
    return true;
}

/* Takes the values of the record on top of the stack, and gives it its row id. Returns false, with anything pushed, if it is for
** a statement of its own. */
static bool take_row(lua_State *L, insertion *insertion, batch *batch) {
    perilune_plan *plan = batch->work.block;
    int record = lua_gettop(L), parameter = batch->count * batch->mask.count;
    lua_Integer rowid = insertion->last_rowid + batch->count + 1;
    batch->work.record = batch->work.values = record;
    for (int i = 0; i < plan->column_count; i++) {
        lua_pushvalue(L, batch->names + i);
        int type = lua_rawget(L, record);
        if (i != plan->rowid) {
            if (!take_value(L, batch, ++parameter, i, type)) return false;
        } else if (batch->has_key) {
            if (!lua_isinteger(L, -1) || !take_value(L, batch, ++parameter, i, type)) return false;
        } else {
            if (type != LUA_TNIL) return false;
            lua_pop(L, 1);
            if (batch->tracks_changes) perilune_pack_integer(&batch->packer, rowid);
        }
    }
    insertion->present->last++;
    if (batch->has_key || plan->rowid < 0) return true;
    lua_pushvalue(L, batch->names + plan->rowid);
    lua_pushinteger(L, rowid);
    lua_rawset(L, record);
    return true;
}

/* Takes the records from a position on, as far as they can share a statement. */
static void fill_batch(lua_State *L, insertion *insertion, batch *batch, lua_Integer position) {
    perilune_chunk *draft = lua_touserdata(L, DRAFT);
    for (; batch->count < batch->rows; batch->count++) {
        int record = lua_gettop(L) + 1;
        if (batch->tracks_changes) perilune_begin_packing(&batch->packer, draft, DRAFT, batch->work.block->column_count);
        if (!push_similar(L, batch, position + batch->count) || !take_row(L, insertion, batch)) return;
        if (batch->tracks_changes) perilune_end_packing(&batch->packer, lua_topointer(L, record));
    }
}

/* The records are what they were. The next batch is smaller. */
static void give_up(lua_State *L, insertion *insertion, batch *batch, lua_Integer position) {
    perilune_end_run(batch->work.call.statement);
    lua_settop(L, TOP);
    for (lua_Integer last = position + batch->count - 1; last >= position; last--) {
        put_back_one(L, last, batch->has_key);
        insertion->present->last--;
    }
    insertion->end = position + batch->count;
}

/* Raises if the rows are not what they are taken for. */
static void check_batch(lua_State *L, insertion *insertion, const batch *batch) {
    sqlite3_int64 rowid = sqlite3_last_insert_rowid(insertion->access->connection->handle);
    bool is_known = batch->has_key || batch->work.block->rowid < 0 || rowid == insertion->last_rowid + batch->count;
    if (batch->work.call.changes != batch->count || !is_known) {
        perilune_raise(L, "constraint", "insert_all: the table has put other rows in than it was given: insert them one by one");
    }
    insertion->last_rowid = rowid;
    if (batch->has_key) insertion->in_sequence = 0;
}

/* The records are what their rows are. */
static void keep_snapshots(lua_State *L, const batch *batch) {
    perilune_push_metatable_of_draft(L, batch->work.shape, DRAFT);
    int metatable = lua_gettop(L);
    for (int i = 0; i < batch->count; i++) {
        lua_pushvalue(L, metatable);
        lua_setmetatable(L, batch->first_row + i * batch->stride);
    }
}

/* Inserts the records from a position on that one statement can take; returns how many. */
static lua_Integer insert_some(lua_State *L, insertion *insertion, lua_Integer position) {
    batch batch;
    if (!begin_batch(L, insertion, &batch, position)) {
        lua_settop(L, TOP);
        insert_one(L, insertion, position);
        return 1;
    }
    fill_batch(L, insertion, &batch, position);
    if (batch.count < batch.rows) {
        give_up(L, insertion, &batch, position);
        if (batch.count >= fewest_rows) return 0;
        insert_one(L, insertion, position);
        return 1;
    }
    perilune_mark_rowid(batch.work.call.statement);
    perilune_run_bound(L, &batch.work.call, PERILUNE_DISCARD, 0);
    check_batch(L, insertion, &batch);
    if (batch.tracks_changes) keep_snapshots(L, &batch);
    lua_settop(L, TOP);
    return batch.count;
}

/* In a transaction or savepoint. */
static int insert_all_inside(lua_State *L) {
    insertion insertion = {.last_rowid = -1, .present = lua_touserdata(L, PRESENT)};
    lua_settop(L, TOP);
    insertion.database = perilune_resolve_database(L, 2, "insert_all", &insertion.access);
    insertion.count = (lua_Integer)lua_rawlen(L, LIST);
    insertion.access->is_taken = true; /* the guard is for all that is done in it */
    for (lua_Integer i = 1; i <= insertion.count;) i += insert_some(L, &insertion, i);
    lua_settop(L, RESULT);
    return 1;
}

static int insert_all_guarded(lua_State *L) {
    perilune_access *access;
    perilune_database *database = perilune_resolve_database(L, 2, "insert_all", &access);
    return perilune_run_guarded(L, database->rows, database, access, insert_all_inside);
}

/* Stack: class, database or nil, list. Returns the list of records. */
int perilune_insert_all(lua_State *L) {
    range present = {.first = 1};
    lua_settop(L, LIST);
    if (perilune_model_at(L, CLASS) == NULL || !lua_istable(L, LIST)) {
        return perilune_argument_error(L, "insert_all", 1, "a list", LIST);
    }
    luaL_checkstack(L, LUA_MINSTACK * 2, NULL);
    lua_Unsigned count = lua_rawlen(L, LIST);
    for (int i = SAVED; i < RESULT; i++) lua_newtable(L);
    lua_createtable(L, count < INT32_MAX ? (int)count : 0, 0);
    lua_pushlightuserdata(L, &present);
    lua_pushcfunction(L, insert_all_guarded);
    for (int i = CLASS; i <= PRESENT; i++) lua_pushvalue(L, i);
    if (perilune_pcall(L, PRESENT, 1) == LUA_OK) return 1;
    put_back(L, &present);
    return lua_error(L);
}
