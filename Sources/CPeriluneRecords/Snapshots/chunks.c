/* Creation of chunks, and of snapshots in them. */
#include "CPeriluneRecords/Snapshots/snapshots.h"

/* MARK: - Creating chunks */

/* Pushes an empty chunk. */
static prec_chunk *push_empty(lua_State *L, size_t capacity) {
    size_t unit = sizeof(prec_snapshot_entry);
    capacity = (capacity + unit - 1) / unit * unit;
    prec_chunk *chunk = lua_newuserdatauv(L, sizeof *chunk + capacity, 1);
    *chunk = (prec_chunk){.capacity = capacity, .found = -1};
    return chunk;
}

/* Pushes a copy of the metatable of the column set at `column_set`. */
static void push_metatable(lua_State *L, int column_set) {
    lua_createtable(L, 1, 8);
    int metatable = lua_gettop(L);
    lua_getiuservalue(L, column_set, COLUMN_SET_METATABLE);
    prec_copy_entries(L, metatable + 1, metatable);
    lua_settop(L, metatable);
}

void prec_push_chunk(lua_State *L, int column_set, size_t capacity) {
    column_set = lua_absindex(L, column_set);
    size_t least = prec_most_packed(((prec_column_set *)lua_touserdata(L, column_set))->count);
    push_metatable(L, column_set);
    push_empty(L, capacity < least ? least : capacity);
    lua_pushvalue(L, -1);
    lua_rawseti(L, -3, 1);
}

prec_chunk *prec_push_draft(lua_State *L, int records, int count) {
    return push_empty(L, (size_t)records * prec_most_packed(count));
}

void prec_clear_draft(lua_State *L, int index) {
    prec_chunk *chunk = lua_touserdata(L, index);
    *chunk = (prec_chunk){.capacity = chunk->capacity, .found = -1};
    lua_pushnil(L);
    lua_setiuservalue(L, index, 1);
}

void prec_push_metatable_of_draft(lua_State *L, int column_set, int index) {
    prec_chunk *draft = lua_touserdata(L, index);
    size_t entries = (size_t)draft->count * sizeof(prec_snapshot_entry);
    push_metatable(L, column_set);
    prec_chunk *chunk = push_empty(L, draft->used + entries);
    chunk->used = draft->used;
    chunk->count = draft->count;
    chunk->long_count = draft->long_count;
    memcpy(chunk->bytes, draft->bytes, draft->used);
    memcpy(prec_chunk_entry(chunk, chunk->count - 1), prec_chunk_entry(draft, draft->count - 1), entries);
    lua_getiuservalue(L, index, 1);
    lua_setiuservalue(L, -2, 1);
    lua_rawseti(L, -2, 1);
}

void prec_push_open_chunk(lua_State *L, int column_set, prec_packer *packer) {
    prec_column_set *set = lua_touserdata(L, column_set);
    if (lua_getiuservalue(L, column_set, COLUMN_SET_OPEN) == LUA_TTABLE) {
        lua_rawgeti(L, -1, 1);
        prec_chunk *chunk = lua_touserdata(L, -1);
        if (prec_begin_packing(packer, chunk, lua_gettop(L), set->count)) return;
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    /* The first chunk is small, because a record in use also keeps alive all records that share its chunk. */
    if (set->next_capacity == 0) set->next_capacity = prec_first_chunk;
    else if (set->next_capacity < prec_next_chunk) set->next_capacity *= 2;
    prec_push_chunk(L, column_set, set->next_capacity);
    lua_pushvalue(L, -2);
    lua_setiuservalue(L, column_set, COLUMN_SET_OPEN);
    prec_chunk *chunk = lua_touserdata(L, -1);
    prec_begin_packing(packer, chunk, lua_gettop(L), set->count);
}

void prec_pack_long(lua_State *L, prec_packer *packer, char tag) {
    int string = lua_gettop(L);
    if (lua_getiuservalue(L, packer->index, 1) != LUA_TTABLE) {
        lua_pop(L, 1);
        lua_newtable(L);
        lua_pushvalue(L, -1);
        lua_setiuservalue(L, packer->index, 1);
    }
    lua_Integer position = packer->chunk->long_count + 1;
    lua_pushvalue(L, string);
    lua_rawseti(L, -2, position);
    packer->chunk->long_count = position;
    lua_settop(L, string);
    prec_pack_word(packer, tag, &position);
}

/* MARK: - Taking snapshots */

void prec_make_plain(lua_State *L, const prec_record_column *column) {
    int type = lua_type(L, -1);
    if (type != LUA_TUSERDATA && type != LUA_TTABLE) return;
    pdb_push_plain(L, lua_gettop(L));
    lua_remove(L, -2);
    if (pdb_is_blob(L, -1)) {
        if (!column->keeps_blobs) pdb_unwrap_blob(L);
    } else if (pdb_is_null(L, -1)) {
        lua_pop(L, 1);
        lua_pushnil(L);
    }
}

/* Pushes the plain values of a record with the column set at `column_set`. */
static void push_values(lua_State *L, int column_set, int values) {
    prec_column_set *set = lua_touserdata(L, column_set);
    const prec_record_column *columns = set->layout->columns;
    luaL_checkstack(L, set->count + LUA_MINSTACK, "too many columns");
    lua_getiuservalue(L, column_set, COLUMN_SET_LAYOUT);
    lua_getiuservalue(L, -1, TABLE_LAYOUT_NAMES);
    lua_replace(L, -2);
    int names = lua_gettop(L);
    for (int i = 0; i < set->count; i++) {
        lua_rawgeti(L, names, set->order[i] + 1);
        lua_rawget(L, values);
        prec_make_plain(L, &columns[set->order[i]]);
    }
    lua_remove(L, names);
}

/* Packs the fields without conversion. Returns false if a field must be converted; the packed values are then unusable. */
static bool pack_fields(lua_State *L, prec_column_set *set, int names, int values, prec_packer *packer) {
    for (int i = 0; i < set->count; i++) {
        lua_rawgeti(L, names, set->order[i] + 1);
        if (!prec_pack_value(L, packer, lua_rawget(L, values))) return false;
        lua_settop(L, names);
    }
    return true;
}

/* Takes a snapshot if all values are plain, which is the common case. Otherwise returns false. */
static bool take_plain_snapshot(lua_State *L, int column_set, int record, int values) {
    int top = lua_gettop(L), names = top + 4;
    prec_packer packer;
    prec_push_open_chunk(L, column_set, &packer);
    lua_getiuservalue(L, column_set, COLUMN_SET_LAYOUT);
    lua_getiuservalue(L, -1, TABLE_LAYOUT_NAMES);
    bool is_plain = pack_fields(L, lua_touserdata(L, column_set), names, values, &packer);
    if (is_plain) {
        prec_end_packing(&packer, lua_topointer(L, record));
        lua_settop(L, top + 1);
        lua_setmetatable(L, record);
    } else {
        prec_drop_packing(&packer);
    }
    lua_settop(L, top);
    return is_plain;
}

/* Packs the plain value on top of the stack. */
static void pack_plain(lua_State *L, prec_packer *packer) {
    if (prec_pack_value(L, packer, lua_type(L, -1))) return;
    if (!pdb_is_blob(L, -1)) {
        prec_pack_null(packer);
        return;
    }
    size_t length;
    lua_pushvalue(L, -1);
    pdb_unwrap_blob(L);
    const char *bytes = lua_tolstring(L, -1, &length);
    prec_pack_bytes(L, packer, bytes, length, true);
    lua_pop(L, 1);
}

void prec_keep_values(lua_State *L, int column_set, int record, int first) {
    int count = ((prec_column_set *)lua_touserdata(L, column_set))->count;
    prec_packer packer;
    prec_push_open_chunk(L, column_set, &packer);
    int metatable = lua_gettop(L) - 1;
    for (int i = 0; i < count; i++) {
        lua_pushvalue(L, first + i);
        pack_plain(L, &packer);
        lua_pop(L, 1);
    }
    prec_end_packing(&packer, lua_topointer(L, record));
    lua_pushvalue(L, metatable);
    lua_setmetatable(L, record);
}

void prec_take_snapshot(lua_State *L, int column_set, int record, int values) {
    if (take_plain_snapshot(L, column_set, record, values)) return;
    int top = lua_gettop(L);
    push_values(L, column_set, values);
    prec_keep_values(L, column_set, record, top + 1);
    lua_settop(L, top);
}
