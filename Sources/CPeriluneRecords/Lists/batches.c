/*
** Batches of insert_all: consecutive records with plain values are inserted by statements with many rows. The values that the database
** stores must be known beforehand: NULL for missing values, and consecutive row ids. Tables with triggers or conflict clauses are written
** row by row, because triggers may do anything and conflict clauses skip rows. The first rows are also written individually, to check
** whether their ids are consecutive.
*/
#include "CPeriluneRecords/Lists/lists.h"
#include "CPeriluneRecords/Model/prefetch.h"

/* Once two rows have had consecutive ids, later rows have them, too: SQLite chooses random ids only after the largest possible id is in
** use. */
enum { fewest_rows = 16, most_values = 2048, rows_before_batches = 2 };

/* The rows of one statement. The stack contains, from TOP on: a first record with its column set and table layout; the names of the table
** layout's columns; the statement in both forms; each record with its values. */
typedef struct {
    prec_record_write work;
    prec_mask mask; /* all columns, but the row id only if all records have it */
    const void *plain;  /* the metatable of records with this column set and without a snapshot */
    prec_packer packer;
    bool has_key, tracks_changes;
    int names, write;      /* stack indices of the first name and of the statement */
    int first_row, stride; /* the stack index of the first record, and the distance to the next one */
    int rows, count;       /* the number of rows wanted, and of rows collected */
} batch;

/* Returns the minimum number of rows for which a separate statement pays off. In a cluster it is 1, because each statement is a message
** that is sent ahead. */
static int fewest_rows_of(const prec_insertion *insertion) { return insertion->is_ahead ? 1 : fewest_rows; }

/* Returns the number of rows for the next statement, or 0 to insert the records individually. (Measured: more rows are not faster.) */
static int rows_of_batch(prec_insertion *insertion, int columns, lua_Integer left) {
    static const int sizes[] = {128, 48, fewest_rows, 4, 1};
    int most = sqlite3_limit(insertion->access->connection->handle, SQLITE_LIMIT_VARIABLE_NUMBER, -1);
    int values = most < most_values ? most : most_values, fewest = fewest_rows_of(insertion);
    if (columns == 0) return 0;
    /* as many rows as the maximum number of values in a message allows */
    if (insertion->is_ahead && values / columns < sizes[0] && values / columns <= left) return values / columns;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && sizes[i] >= fewest; i++) {
        if (sizes[i] <= left && columns <= values / sizes[i]) return sizes[i];
    }
    return 0;
}

/* Marks the columns to write. */
static void mark_all(batch *batch) {
    prec_table_layout *layout = batch->work.layout;
    prec_begin_mask(&batch->mask, layout->column_count);
    for (int i = 0; i < layout->column_count; i++) {
        if (i != layout->rowid || batch->has_key) prec_add_to_mask(&batch->mask, i);
    }
}

/* Ensures that the draft on the stack is empty and has space for the rows of the batch. */
static void begin_draft(lua_State *L, const batch *batch) {
    prec_chunk *draft = lua_touserdata(L, DRAFT);
    int count = batch->work.layout->column_count;
    if (draft && draft->capacity >= (size_t)batch->rows * prec_most_packed(count)) {
        prec_clear_draft(L, DRAFT);
        return;
    }
    prec_push_draft(L, batch->rows, count);
    lua_replace(L, DRAFT);
}

/* Pushes the names of all columns and the statement, and begins its run. */
static void begin_statement(lua_State *L, batch *batch) {
    prec_record_write *work = &batch->work;
    int count = work->layout->column_count;
    batch->stride = batch->mask.count + 1;
    luaL_checkstack(L, batch->rows * batch->stride + count + LUA_MINSTACK * 2, "too many values");
    lua_getiuservalue(L, work->layout_index, TABLE_LAYOUT_NAMES);
    int list = lua_gettop(L);
    for (int i = 1; i <= count; i++) lua_rawgeti(L, list, i);
    batch->names = list + 1;
    prec_push_write(L, work, &batch->mask, "i", 0, TABLE_LAYOUT_LAST_INSERT, batch->rows);
    batch->write = lua_gettop(L);
    prec_begin_write(L, work, prec_compile_kept(L, work->call.access, batch->write, WRITE_SQL, WRITE_STATEMENT));
    batch->first_row = lua_gettop(L) + 1;
}

/* Pushes the first record and the values that the batch needs. Returns false if the record must be inserted individually. */
static bool begin_batch(lua_State *L, prec_insertion *insertion, batch *batch, lua_Integer position) {
    if (position < insertion->singles) return false;
    lua_Integer left = (position < insertion->end ? insertion->end : insertion->count + 1) - position;
    if (left < fewest_rows_of(insertion)) return false;
    batch->work = prec_begin_element(L, insertion, position);
    prec_table_layout *layout = batch->work.layout;
    prec_column_set *column_set = batch->work.set;
    if (!layout->is_batched || layout->has_generated || column_set->layout != layout || !column_set->has_all) return false;
    batch->has_key = prec_has_rowid(L, &batch->work);
    if (!batch->has_key && layout->rowid >= 0 && insertion->in_sequence < rows_before_batches) return false;
    batch->tracks_changes = layout->model->tracks_changes;
    batch->count = 0;
    mark_all(batch);
    batch->rows = rows_of_batch(insertion, batch->mask.count, left);
    if (batch->rows == 0 || insertion->last_rowid > INT64_MAX - batch->rows) return false;
    if (batch->tracks_changes) begin_draft(L, batch);
    lua_getiuservalue(L, batch->work.column_set, COLUMN_SET_METATABLE);
    batch->plain = lua_topointer(L, -1);
    lua_pop(L, 1);
    prec_begin_range(L, &insertion->present, position, batch->has_key);
    begin_statement(L, batch);
    return true;
}

/* Prefetches later records of the list, because records are scattered in memory. */
static void prefetch(lua_State *L, lua_Integer position) {
    enum { fields_ahead = 6, tables_ahead = 12 };
    int top = lua_gettop(L);
    if (lua_rawgeti(L, LIST, position + fields_ahead) == LUA_TTABLE) prec_prefetch_fields(lua_topointer(L, -1));
    if (lua_rawgeti(L, LIST, position + tables_ahead) == LUA_TTABLE) prec_prefetch_table(lua_topointer(L, -1));
    lua_settop(L, top);
}

/* Pushes the record at a position. Returns false if the record does not use the batch's column set. */
static bool push_similar(lua_State *L, prec_insertion *insertion, const batch *batch, lua_Integer position) {
    int record = lua_gettop(L) + 1;
    insertion->position = position;
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
    prec_push_element(L, insertion, position);
    bool has_plain = lua_getmetatable(L, record) && lua_topointer(L, -1) == batch->plain;
    lua_settop(L, record);
    if (has_plain) return true;
    if (prec_column_set_at(L, record) != batch->work.set) return false;
    lua_getmetatable(L, record);
    lua_rawseti(L, SNAPSHOTS, position);
    return true;
}

/* Binds and packs the number or string on top of the stack. Returns false if the column stores it in a different form. */
static inline bool take_usual(lua_State *L, batch *batch, int parameter, const prec_record_column *known, int type) {
    sqlite3_stmt *handle = batch->work.call.statement->handle;
    prec_packer *packer = &batch->packer;
    if (known->is_boolean || known->is_blob || !prec_fits(L, known, type, -1)) return false;
    if (type == LUA_TSTRING) {
        size_t length;
        const char *bytes = lua_tolstring(L, -1, &length);
        if (sqlite3_bind_text64(handle, parameter, bytes, length, SQLITE_STATIC, SQLITE_UTF8) != SQLITE_OK) return false;
        if (batch->tracks_changes) prec_pack_string(L, packer, bytes, length);
    } else if (type == LUA_TNUMBER && lua_isinteger(L, -1)) {
        lua_Integer integer = lua_tointeger(L, -1);
        sqlite3_bind_int64(handle, parameter, integer);
        if (batch->tracks_changes) prec_pack_integer(packer, integer);
    } else if (type == LUA_TNUMBER) {
        lua_Number number = lua_tonumber(L, -1);
        if (number != number) return false;
        sqlite3_bind_double(handle, parameter, number);
        if (batch->tracks_changes) prec_pack_number(packer, number);
    } else {
        return false;
    }
    return true;
}

/* Binds and packs the value on top of the stack, which stays there. Returns false for values that require more than binding: objects,
** tables, and nil in a column with a default. */
static inline bool take_value(lua_State *L, batch *batch, int parameter, int column, int type) {
    const prec_record_column *known = &batch->work.layout->columns[column];
    if (take_usual(L, batch, parameter, known, type)) return true;
    if (type == LUA_TUSERDATA || type == LUA_TTABLE || (type == LUA_TNIL && known->has_default)) return false;
    prec_bind_written(L, &batch->work, parameter, column, lua_gettop(L));
    if (batch->tracks_changes) prec_pack_value(L, &batch->packer, lua_type(L, -1));
    return true;
}

/* Binds the values of the record on top of the stack, and assigns its row id. Returns false, with any number of values pushed, if the
** record must be inserted individually. */
static bool take_row(lua_State *L, prec_insertion *insertion, batch *batch) {
    prec_table_layout *layout = batch->work.layout;
    int record = lua_gettop(L), parameter = batch->count * batch->mask.count;
    lua_Integer rowid = insertion->last_rowid + batch->count + 1;
    batch->work.record = batch->work.values = record;
    for (int i = 0; i < layout->column_count; i++) {
        lua_pushvalue(L, batch->names + i);
        int type = lua_rawget(L, record);
        if (i != layout->rowid) {
            if (!take_value(L, batch, ++parameter, i, type)) return false;
        } else if (batch->has_key) {
            if (!lua_isinteger(L, -1) || !take_value(L, batch, ++parameter, i, type)) return false;
        } else {
            if (type != LUA_TNIL) return false;
            lua_pop(L, 1);
            if (batch->tracks_changes) prec_pack_integer(&batch->packer, rowid);
        }
    }
    insertion->present.last++;
    if (batch->has_key || layout->rowid < 0) return true;
    lua_pushvalue(L, batch->names + layout->rowid);
    lua_pushinteger(L, rowid);
    lua_rawset(L, record);
    return true;
}

/* Collects records from a position on, while they can share a statement. */
static void fill_batch(lua_State *L, prec_insertion *insertion, batch *batch, lua_Integer position) {
    prec_chunk *draft = lua_touserdata(L, DRAFT);
    for (; batch->count < batch->rows; batch->count++) {
        int record = lua_gettop(L) + 1;
        if (batch->tracks_changes) prec_begin_packing(&batch->packer, draft, DRAFT, batch->work.layout->column_count);
        if (!push_similar(L, insertion, batch, position + batch->count) || !take_row(L, insertion, batch)) return;
        if (batch->tracks_changes) prec_end_packing(&batch->packer, lua_topointer(L, record));
    }
}

/* Restores the records of a batch. The next batch will end before the record at which this one ended. */
static void give_up(lua_State *L, prec_insertion *insertion, batch *batch, lua_Integer position) {
    pdb_end_run(batch->work.call.statement);
    lua_settop(L, TOP);
    for (lua_Integer last = position + batch->count - 1; last >= position; last--) {
        prec_put_back_one(L, last, batch->has_key);
        insertion->present.last--;
    }
    insertion->end = position + batch->count;
}

/* Raises if the number or the ids of the inserted rows are unexpected. */
static void check_batch(lua_State *L, prec_insertion *insertion, const batch *batch) {
    sqlite3_int64 rowid = sqlite3_last_insert_rowid(insertion->access->connection->handle);
    bool is_known = batch->has_key || batch->work.layout->rowid < 0 || rowid == insertion->last_rowid + batch->count;
    if (batch->work.call.changes != batch->count || !is_known) {
        plua_raise(L, "constraint", "insert_all: a trigger changed the inserted rows; use `insert` for each record instead");
    }
    insertion->last_rowid = rowid;
    if (batch->has_key) insertion->in_sequence = 0;
}

/* Sets the snapshots of the records, which now equal their rows. */
static void keep_snapshots(lua_State *L, const batch *batch) {
    prec_push_metatable_of_draft(L, batch->work.column_set, DRAFT);
    int metatable = lua_gettop(L);
    for (int i = 0; i < batch->count; i++) {
        lua_pushvalue(L, metatable);
        lua_setmetatable(L, batch->first_row + i * batch->stride);
    }
}

static int run_batch(lua_State *L) {
    batch *batch = lua_touserdata(L, 1);
    pdb_run_bound(L, &batch->work.call, NULL, 0);
    return 0;
}

/* Returns whether one of the rows may have caused the error on top of the stack. Neither SQLite nor a cluster that refuses a value
** identifies the row. */
static bool is_about_row(lua_State *L) {
    if (!plua_is_error(L, -1)) return false;
    plua_push_error_fields(L, -1);
    lua_getfield(L, -1, "kind");
    bool is_refused = lua_type(L, -1) == LUA_TSTRING && strcmp(lua_tostring(L, -1), "cluster_refused") == 0;
    lua_getfield(L, -2, "code");
    lua_Integer code = lua_tointeger(L, -1);
    lua_pop(L, 3);
    return is_refused || code == SQLITE_CONSTRAINT || code == SQLITE_MISMATCH || code == SQLITE_TOOBIG;
}

/* Allows sending the statement without waiting for its response. */
static void send_ahead(prec_insertion *insertion, const batch *batch) {
    const pdb_remote *remote = &insertion->database->remote;
    bool has_unknown_id = batch->has_key || batch->work.layout->rowid < 0;
    int64_t rowid = insertion->last_rowid + batch->count;
    remote->expect(remote->context, batch->count, has_unknown_id ? NULL : &rowid);
}

/* Runs the statement. Returns false if it has failed because of a row, in which case the records must be inserted individually. */
static bool try_batch(lua_State *L, prec_insertion *insertion, batch *batch, lua_Integer position) {
    pdb_mark_rowid(batch->work.call.statement);
    if (insertion->is_ahead) send_ahead(insertion, batch);
    lua_pushcfunction(L, run_batch);
    lua_pushlightuserdata(L, batch);
    if (plua_pcall(L, 1, 0) == LUA_OK) return true;
    if (insertion->is_ahead) insertion->database->remote.expect(insertion->database->remote.context, 0, NULL);
    if (!is_about_row(L)) plua_throw(L);
    give_up(L, insertion, batch, position);
    insertion->singles = position + batch->count;
    return false;
}

lua_Integer prec_insert_some(lua_State *L, prec_insertion *insertion, lua_Integer position) {
    batch batch;
    if (!begin_batch(L, insertion, &batch, position)) {
        lua_settop(L, TOP);
        prec_insert_one(L, insertion, position);
        return 1;
    }
    fill_batch(L, insertion, &batch, position);
    if (batch.count < batch.rows) {
        give_up(L, insertion, &batch, position);
        if (batch.count >= fewest_rows_of(insertion)) return 0;
        prec_insert_one(L, insertion, position);
        return 1;
    }
    if (!try_batch(L, insertion, &batch, position)) return 0;
    check_batch(L, insertion, &batch);
    if (batch.tracks_changes) keep_snapshots(L, &batch);
    lua_settop(L, TOP);
    return batch.count;
}
