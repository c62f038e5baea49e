/* Insertion of a single record, as fast as a prepared statement with named arguments. */
#include "CPeriluneRecords/Writing/writing.h"

/* The snapshot of a record that is being inserted. It is packed while the values are read. */
typedef struct {
    prec_packer packer;
    int metatable; /* the stack index, or 0 if nothing is packed */
    char *rowid;   /* the position of the packed row id, or NULL */
} insertion_packing;

/* In the common case, pushes a metatable and its chunk, and begins to pack the record. Pushes two values in any case. */
static insertion_packing begin_packing(lua_State *L, prec_record_write *work) {
    insertion_packing packing = {.metatable = 0};
    bool is_usual = work->layout->model->tracks_changes && work->set->layout == work->layout && work->set->has_all &&
                    work->values == work->record;
    if (is_usual) {
        prec_push_open_chunk(L, work->column_set, &packing.packer);
        packing.metatable = lua_gettop(L) - 1;
    } else {
        lua_pushnil(L);
        lua_pushnil(L);
    }
    return packing;
}

static void drop_packing(insertion_packing *packing) {
    if (packing->metatable) prec_drop_packing(&packing->packer);
    packing->metatable = 0;
}

/* A value to insert. */
typedef struct {
    enum { OTHER, INTEGER, NUMBER, STRING } kind;
    size_t length;
    union {
        lua_Integer integer;
        lua_Number number;
        const char *bytes;
    };
} read_value;

/* The number of values that are stored after reading. Further values are read again. */
enum { most_read = 32 };

/* Reads the value on top of the stack, whose type is given. The kind is OTHER if the value must be converted for its column or cannot be
** stored. */
static inline read_value read_present(lua_State *L, const prec_record_column *column, int type) {
    read_value value = {.kind = OTHER};
    if (column->is_boolean || !prec_fits(L, column, type, -1)) return value;
    if (type == LUA_TSTRING && !column->is_blob) {
        value.kind = STRING;
        value.bytes = lua_tolstring(L, -1, &value.length);
    } else if (type == LUA_TNUMBER && lua_isinteger(L, -1)) {
        value.kind = INTEGER;
        value.integer = lua_tointeger(L, -1);
    } else if (type == LUA_TNUMBER) {
        value.number = lua_tonumber(L, -1);
        value.kind = value.number == value.number ? NUMBER : OTHER;
    }
    return value;
}

static inline bool bind_read(sqlite3_stmt *handle, int parameter, const read_value *value) {
    switch (value->kind) {
        case INTEGER: return sqlite3_bind_int64(handle, parameter, value->integer) == SQLITE_OK;
        case NUMBER: return sqlite3_bind_double(handle, parameter, value->number) == SQLITE_OK;
        case STRING:
            return sqlite3_bind_text64(handle, parameter, value->bytes, value->length, SQLITE_STATIC, SQLITE_UTF8) == SQLITE_OK;
        default: return false;
    }
}

/* Packs the value on top of the stack. Returns false for values that the database cannot store. */
static inline bool pack_read(lua_State *L, prec_packer *packer, int type, const read_value *value) {
    switch (value->kind) {
        case INTEGER: prec_pack_integer(packer, value->integer); return true;
        case NUMBER: prec_pack_number(packer, value->number); return true;
        case STRING: prec_pack_string(L, packer, value->bytes, value->length); return true;
        default: return prec_pack_value(L, packer, type);
    }
}

/* Packs the value on top of the stack. Gives up packing the record if the column stores the value in a different form, or if the database
** generates it. */
static inline void pack_present(lua_State *L, const prec_table_layout *layout, int column, int type, const read_value *value,
                                insertion_packing *packing) {
    if (packing->metatable == 0) return;
    bool is_rowid = column == layout->rowid;
    if (is_rowid && type == LUA_TNIL) {
        packing->rowid = packing->packer.next;
        prec_pack_integer(&packing->packer, 0);
        return;
    }
    bool is_filled = layout->columns[column].is_generated || (type == LUA_TNIL && layout->columns[column].has_default) ||
                     (is_rowid && value->kind != INTEGER);
    bool is_converted = value->kind == OTHER && !prec_fits(L, &layout->columns[column], type, -1);
    if (is_filled || is_converted || !pack_read(L, &packing->packer, type, value)) drop_packing(packing);
}

/* Replaces the column name on top of the stack by the column's value: perilune.null if the name is in the set of recorded NULLs. */
static int push_value(lua_State *L, prec_record_write *work, int nulls) {
    bool is_noted = nulls && prec_is_noted(L, nulls, lua_gettop(L));
    int type = lua_rawget(L, work->values);
    if (type != LUA_TNIL || !is_noted) return type;
    lua_pop(L, 1);
    pdb_push_null(L);
    return LUA_TUSERDATA;
}

/* Pushes the values of the record, marks their columns, and stores the first `most_read` values. `nulls` is the stack index of the set of
** recorded NULLs, or 0. */
static void push_present(lua_State *L, prec_record_write *work, int names, int nulls, prec_mask *mask, insertion_packing *packing,
                         read_value *values) {
    prec_table_layout *layout = work->layout;
    luaL_checkstack(L, layout->column_count * 2 + LUA_MINSTACK, "too many columns");
    prec_begin_mask(mask, layout->column_count);
    for (int i = 0; i < layout->column_count; i++) {
        lua_rawgeti(L, names, i + 1);
        int type = layout->columns[i].is_generated ? LUA_TNIL : push_value(L, work, nulls);
        read_value value = read_present(L, &layout->columns[i], type);
        pack_present(L, layout, i, type, &value, packing);
        if (type == LUA_TNIL) {
            lua_pop(L, 1);
            continue;
        }
        if (type == LUA_TUSERDATA || type == LUA_TTABLE) work->has_objects = true;
        if (mask->count < most_read) values[mask->count] = value;
        prec_add_to_mask(mask, i);
    }
}

/* Stores the packed values as the record's snapshot. */
static void keep_packed(lua_State *L, prec_record_write *work, insertion_packing *packing) {
    if (packing->metatable == 0) {
        prec_keep_snapshot(L, work, true);
        return;
    }
    if (packing->rowid) {
        prec_packer rowid = {.next = packing->rowid};
        prec_pack_integer(&rowid, sqlite3_last_insert_rowid(work->call.access->connection->handle));
    }
    prec_end_packing(&packing->packer, lua_topointer(L, work->record));
    lua_pushvalue(L, packing->metatable);
    lua_setmetatable(L, work->record);
}

/* Sets the record's field for the row id to the id that the database has generated. */
static void take_rowid(lua_State *L, prec_record_write *work, int names) {
    prec_table_layout *layout = work->layout;
    if (layout->rowid < 0 || !work->call.has_inserted) return;
    lua_rawgeti(L, names, layout->rowid + 1);
    int type = lua_rawget(L, work->record);
    bool has_key = type != LUA_TNIL && !pdb_is_null(L, -1), has_integer = type == LUA_TNUMBER && lua_isinteger(L, -1);
    lua_pop(L, 1);
    if (has_key && (work->values != work->record || has_integer)) return;
    lua_pushinteger(L, sqlite3_last_insert_rowid(work->call.access->connection->handle));
    prec_set_column(L, work, names, layout->rowid);
}

/* Binds the column values, whose stack indices start at `first`, and the values of the clause. */
static void bind_inserted(lua_State *L, prec_record_write *work, const prec_write *write, int first, const read_value *values) {
    sqlite3_stmt *handle = work->call.statement->handle;
    for (int i = 0; i < write->parameter_count; i++) {
        bool is_bound = i < most_read && bind_read(handle, i + 1, &values[i]);
        if (!is_bound) prec_bind_written(L, work, i + 1, write->parameters[i], first + i);
    }
    if (work->clause_values) prec_bind_clause(L, work, write->parameter_count);
}

void prec_mark_inserted(lua_State *L, prec_record_write *work, prec_mask *mask) {
    int top = lua_gettop(L);
    insertion_packing packing = {.metatable = 0};
    int nulls = work->values == work->record && prec_push_nulls(L, work->record) ? lua_gettop(L) : 0;
    lua_getiuservalue(L, work->layout_index, TABLE_LAYOUT_NAMES);
    read_value values[most_read];
    push_present(L, work, lua_gettop(L), nulls, mask, &packing, values);
    lua_settop(L, top);
}

/* Inserts the record and returns the number of changed rows. `conflict` is the stack index of a clause, or 0. */
lua_Integer prec_insert_row(lua_State *L, prec_record_write *work, int conflict) {
    prec_check_fields(L, work);
    int nulls = work->values == work->record && prec_push_nulls(L, work->record) ? lua_gettop(L) : 0;
    int names = lua_gettop(L) + 1, slot = names + 1, first_value = slot + 3;
    prec_mask mask;
    lua_getiuservalue(L, work->layout_index, TABLE_LAYOUT_NAMES);
    lua_pushnil(L);
    insertion_packing packing = begin_packing(L, work);
    read_value values[most_read];
    push_present(L, work, names, nulls, &mask, &packing, values);
    prec_write *write = prec_push_write(L, work, &mask, "i", conflict, TABLE_LAYOUT_LAST_INSERT, 1);
    lua_replace(L, slot);
    pdb_statement *statement = prec_compile_kept(L, work->call.access, slot, WRITE_SQL, WRITE_STATEMENT);
    prec_begin_write(L, work, statement);
    bind_inserted(L, work, write, first_value, values);
    pdb_mark_rowid(statement);
    bool has_rows = write->returning_count > 0;
    prec_run_write(L, work, has_rows ? &pdb_exact_tuples_form : NULL, 1);
    if (has_rows || work->call.changes == 0 || (packing.rowid && !work->call.has_inserted)) drop_packing(&packing);
    if (work->call.changes == 0) return work->layout->is_view;
    int rows = has_rows ? lua_gettop(L) : 0;
    if (work->has_objects) prec_drop_nulls(L, work, names, write, first_value);
    bool is_as_written = packing.metatable && packing.rowid == NULL;
    if (!is_as_written) take_rowid(L, work, names);
    if (rows) prec_take_returned(L, work, names, write);
    keep_packed(L, work, &packing);
    return work->call.changes;
}
