/* Decoding: creates records from the rows of statements. */
#include "CPeriluneRecords/Decoding/decoding.h"

/* The maximum length of a date's text. Texts of this length are packed without a Lua string. */
enum { longest_date = 40 };

/* Pushes and packs the value of a result column with the given type. `known` is the corresponding table column, whose type applies even to
** values that SQL has computed. */
static inline void push_and_pack(lua_State *L, sqlite3_value *value, int type, const prec_record_column *known, prec_packer *packer) {
    if (type == SQLITE_INTEGER) {
        lua_Integer integer = sqlite3_value_int64(value);
        if (known->is_boolean) {
            lua_pushboolean(L, integer != 0);
            prec_pack_boolean(packer, integer != 0);
        } else {
            lua_pushinteger(L, integer);
            prec_pack_integer(packer, integer);
        }
    } else if (type == SQLITE_FLOAT) {
        lua_Number number = sqlite3_value_double(value);
        lua_pushnumber(L, number);
        prec_pack_number(packer, number);
    } else {
        size_t length;
        const char *bytes = pdb_value_bytes(value, type, &length);
        lua_pushlstring(L, bytes, length);
        prec_pack_bytes(L, packer, bytes, length, type == SQLITE_BLOB && known->keeps_blobs);
    }
}

/* Pushes a date that is stored as text in a common format, and packs the text. Pushes nothing and returns false for any other value. */
static bool push_date(lua_State *L, sqlite3_value *value, int type, prec_packer *packer) {
    if (type != SQLITE_TEXT) return false;
    size_t length;
    const char *bytes = pdb_value_bytes(value, type, &length);
    int64_t microseconds;
    if (length > longest_date || !pdb_parse_date(bytes, length, &microseconds)) return false;
    if (packer) prec_pack_string(L, packer, bytes, length);
    pdb_push_date(L, microseconds);
    return true;
}

/* Calls the Lua part to convert dates in uncommon formats in the record on top of the stack. Swift frames may be on the stack, so an error
** becomes the pending error. */
static void read_odd_dates(lua_State *L) {
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    prec_push_callback(L, PREC_CALL_read_dates);
    lua_pushvalue(L, -2);
    if (plua_pcall(L, 1, 0) != LUA_OK) pdb_keep_pending_error(L);
}

/* The names of the fields, either on the stack from `first` on, which is faster for many records, or in the list at `list`. */
typedef struct {
    int first, list;
} field_names;

/* Pushes the record of a segment. `metatable` is the stack index of its metatable; its chunk follows. The packer has already begun a
** record. */
static inline void push_segment(lua_State *L, pdb_statement *statement, const prec_row_layout *row_layout,
                                const prec_segment *segment, field_names names, int metatable, prec_packer *packer) {
    lua_createtable(L, 0, segment->count);
    const prec_record_column *columns = segment->column_set->layout->columns;
    int end = segment->first + segment->count;
    bool has_odd_dates = false;
    for (int column = segment->first; column < end; column++) {
        int position = row_layout->positions[column];
        sqlite3_value *value = sqlite3_column_value(statement->handle, column);
        int type = sqlite3_value_type(value);
        if (type == SQLITE_NULL) {
            if (packer && position >= 0) prec_pack_null(packer);
            continue;
        }
        if (position == NOT_TAKEN) continue;
        /* Raising is not allowed here, so the mismatch is recorded and checked later. */
        if (type != SQLITE_INTEGER && position >= 0 && columns[position].is_boolean) prec_state_of(pdb_state_of(L))->has_type_mismatch = true;
        if (names.list) lua_rawgeti(L, names.list, column + 1);
        else lua_pushvalue(L, names.first + column);
        bool is_date = position >= 0 && columns[position].is_date;
        if (is_date && push_date(L, value, type, packer)) {
            lua_rawset(L, -3);
            continue;
        }
        if (is_date) has_odd_dates = true;
        if (type == SQLITE_INTEGER && position >= 0 && columns[position].is_real) type = SQLITE_FLOAT;
        if (packer && position >= 0) push_and_pack(L, value, type, &columns[position], packer);
        else if (position >= 0) pdb_push_column(L, value, type, columns[position].is_boolean);
        else pdb_push_column(L, value, type, pdb_is_boolean(statement, column));
        if (type == SQLITE_BLOB && (segment->keeps_blobs || (position >= 0 && columns[position].keeps_blobs))) pdb_wrap_blob(L);
        lua_rawset(L, -3);
    }
    if (packer) prec_end_packing(packer, lua_topointer(L, -1));
    lua_pushvalue(L, metatable);
    lua_setmetatable(L, -2);
    if (has_odd_dates) read_odd_dates(L);
}

static bool is_all_null(pdb_statement *statement, const prec_segment *segment) {
    for (int column = segment->first; column < segment->first + segment->count; column++) {
        if (sqlite3_column_type(statement->handle, column) != SQLITE_NULL) return false;
    }
    return true;
}

static void push_keys(lua_State *L, prec_row_layout *row_layout, int row_layout_index) {
    lua_getiuservalue(L, row_layout_index, ROW_LAYOUT_KEYS);
    int list = lua_gettop(L);
    luaL_checkstack(L, row_layout->column_count + row_layout->segment_count * 4 + LUA_MINSTACK, "too many columns");
    for (int i = 1; i <= row_layout->column_count; i++) lua_rawgeti(L, list, i);
    lua_remove(L, list);
}

prec_decoder prec_begin_records(lua_State *L, int row_layout_index) {
    prec_row_layout *row_layout = lua_touserdata(L, row_layout_index);
    prec_decoder decoder = {.row_layout = row_layout, .row_layout_index = row_layout_index, .keys = lua_gettop(L) + 1};
    push_keys(L, row_layout, row_layout_index);
    decoder.metatables = lua_gettop(L) + 1;
    for (int i = 0; i < row_layout->segment_count; i++) {
        lua_getiuservalue(L, row_layout_index, ROW_LAYOUT_COLUMN_SETS);
        lua_rawgeti(L, -1, i + 1);
        lua_getiuservalue(L, -1, COLUMN_SET_METATABLE);
        lua_replace(L, -3);
        lua_pop(L, 1);
        lua_pushnil(L);
    }
    return decoder;
}

/* Begins to pack a record of the segment, in the segment's own chunk or, if that is full, in the open chunk for single records. `metatable`
** is the stack index of its metatable; the chunk follows. */
static void begin_packing(lua_State *L, prec_decoder *decoder, int number, int metatable, prec_packer *packer) {
    prec_column_set *column_set = decoder->row_layout->segments[number].column_set;
    prec_chunk *chunk = lua_touserdata(L, metatable + 1);
    if (chunk && prec_begin_packing(packer, chunk, metatable + 1, column_set->count)) return;
    lua_getiuservalue(L, decoder->row_layout_index, ROW_LAYOUT_COLUMN_SETS);
    lua_rawgeti(L, -1, number + 1);
    prec_push_open_chunk(L, lua_gettop(L), packer);
    lua_replace(L, metatable + 1);
    lua_replace(L, metatable);
    lua_pop(L, 2);
    packer->index = metatable + 1;
}

/* Begins to pack a record of the root. Many of these records share a chunk. */
static inline void begin_packing_root(lua_State *L, prec_decoder *decoder, prec_packer *packer) {
    int metatable = decoder->metatables;
    int count = decoder->row_layout->segments[0].column_set->count;
    if (decoder->chunk && prec_begin_packing(packer, decoder->chunk, metatable + 1, count)) return;
    begin_packing(L, decoder, 0, metatable, packer);
    decoder->chunk = packer->chunk;
}

static inline void decode_root(lua_State *L, pdb_statement *statement, prec_decoder *decoder) {
    const prec_segment *segment = &decoder->row_layout->segments[0];
    field_names names = {.first = decoder->keys};
    prec_packer packer;
    if (segment->tracks_changes) begin_packing_root(L, decoder, &packer);
    push_segment(L, statement, decoder->row_layout, segment, names, decoder->metatables, segment->tracks_changes ? &packer : NULL);
}

static void decode_segment(lua_State *L, pdb_statement *statement, prec_decoder *decoder, int number) {
    const prec_segment *segment = &decoder->row_layout->segments[number];
    int metatable = decoder->metatables + number * 2;
    prec_packer packer;
    if (segment->tracks_changes) begin_packing(L, decoder, number, metatable, &packer);
    push_segment(L, statement, decoder->row_layout, segment, (field_names){.first = decoder->keys}, metatable,
                 segment->tracks_changes ? &packer : NULL);
}

/* Stores the record on top of the stack in a field of its parent record, which is also on the stack. */
static void put_into_parent(lua_State *L, prec_decoder *decoder, int number, int first_record) {
    lua_getiuservalue(L, decoder->row_layout_index, ROW_LAYOUT_FIELDS);
    lua_rawgeti(L, -1, number + 1);
    lua_pushvalue(L, -3);
    lua_rawset(L, first_record + decoder->row_layout->segments[number].parent);
    lua_pop(L, 1);
}

void prec_decode(lua_State *L, pdb_statement *statement, prec_decoder *decoder) {
    const prec_row_layout *row_layout = decoder->row_layout;
    decode_root(L, statement, decoder);
    if (row_layout->segment_count == 1) return;
    int first_record = lua_gettop(L);
    for (int i = 1; i < row_layout->segment_count; i++) {
        const prec_segment *segment = &row_layout->segments[i];
        bool has_parent = lua_type(L, first_record + segment->parent) == LUA_TTABLE;
        if (!has_parent || (segment->is_optional && is_all_null(statement, segment))) {
            lua_pushnil(L);
            continue;
        }
        decode_segment(L, statement, decoder, i);
        put_into_parent(L, decoder, i, first_record);
    }
    lua_settop(L, first_record);
}

bool prec_push_record(lua_State *L, pdb_statement *statement, int row_layout_index) {
    prec_row_layout *row_layout = lua_touserdata(L, row_layout_index);
    if (row_layout->column_count != statement->column_count) return false;
    row_layout_index = lua_absindex(L, row_layout_index);
    int top = lua_gettop(L);
    if (row_layout->segment_count > 1) {
        prec_decoder decoder = prec_begin_records(L, row_layout_index);
        prec_decode(L, statement, &decoder);
    } else {
        const prec_segment *segment = &row_layout->segments[0];
        luaL_checkstack(L, LUA_MINSTACK, NULL);
        lua_getiuservalue(L, row_layout_index, ROW_LAYOUT_KEYS);
        lua_getiuservalue(L, row_layout_index, ROW_LAYOUT_COLUMN_SETS);
        lua_rawgeti(L, -1, 1);
        int column_set = top + 3;
        prec_packer packer;
        if (segment->tracks_changes) prec_push_open_chunk(L, column_set, &packer);
        else lua_getiuservalue(L, column_set, COLUMN_SET_METATABLE);
        push_segment(L, statement, row_layout, segment, (field_names){.list = top + 1}, column_set + 1,
                     segment->tracks_changes ? &packer : NULL);
    }
    lua_copy(L, -1, top + 1);
    lua_settop(L, top + 1);
    return true;
}

void prec_raise_type_mismatch(lua_State *L) {
    prec_state_of(pdb_state_of(L))->has_type_mismatch = false;
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    prec_push_callback(L, PREC_CALL_raise_type_mismatch);
    lua_pushvalue(L, -2);
    lua_call(L, 1, 0);
}

/* MARK: - Records from rows */

/* record_from(table layout, names, values): returns a record with the named values. The names need not belong to columns. */
static int record_from(lua_State *L) {
    enum { layout_index = 1, row_names, values, positions, names, taken, extras, fields, record, order };
    lua_settop(L, 3);
    luaL_checktype(L, row_names, LUA_TTABLE);
    luaL_checktype(L, values, LUA_TTABLE);
    prec_table_layout *layout = prec_to_userdata(L, layout_index, table_layout);
    if (layout == NULL) return luaL_typeerror(L, layout_index, "table layout");
    int count = (int)lua_rawlen(L, row_names), taken_count = 0;
    bool has_extras = false;
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    lua_getiuservalue(L, layout_index, TABLE_LAYOUT_POSITIONS);
    lua_getiuservalue(L, layout_index, TABLE_LAYOUT_NAMES);
    for (int i = taken; i <= fields; i++) lua_newtable(L);
    lua_createtable(L, 0, count);
    int *order_of = lua_newuserdatauv(L, (size_t)(count + 1) * sizeof *order_of, 0);
    for (int i = 1; i <= count; i++) {
        lua_rawgeti(L, row_names, i);
        const char *name = lua_tostring(L, -1);
        int position = prec_push_record_key(L, name ? name : "", positions, names, taken);
        if (position == NOT_TAKEN) {
            lua_settop(L, order);
            continue;
        }
        if (position >= 0) order_of[taken_count++] = position;
        else has_extras = true;
        if (position < 0) {
            lua_pushvalue(L, -1);
            lua_pushboolean(L, true);
            lua_rawset(L, extras);
        }
        lua_pushvalue(L, -1);
        lua_rawseti(L, fields, (lua_Integer)lua_rawlen(L, fields) + 1);
        lua_pushvalue(L, -2);
        lua_rawget(L, values);
        lua_rawset(L, record);
        lua_settop(L, order);
    }
    lua_pushvalue(L, fields);
    prec_push_column_set_for(L, layout_index, order_of, taken_count, has_extras ? extras : 0);
    int column_set = lua_gettop(L);
    lua_getiuservalue(L, column_set, COLUMN_SET_METATABLE);
    lua_setmetatable(L, record);
    if (layout->model->tracks_changes) prec_take_snapshot(L, column_set, record, record);
    lua_settop(L, record);
    if (layout->has_dates) {
        prec_push_callback(L, PREC_CALL_read_dates);
        lua_pushvalue(L, record);
        lua_call(L, 1, 0);
    }
    return 1;
}

const luaL_Reg prec_decoding_functions[] = {
    {"record_from", record_from},
    {NULL, NULL},
};
