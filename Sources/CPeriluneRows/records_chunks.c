/*
** Chunks: what some records were when they were last the same as their rows, for change tracking.
**
** A chunk is a block of bytes that several records share. Numbers and short strings are copied into it, so that the collector has
** nothing to look at; long strings are in a list, its user value. A record finds its entry by its own address. A table that takes
** the address of a collected one finds nothing: it has another metatable, or an entry that was added later.
*/
#include "verbs.h"

struct perilune_chunk {
    size_t capacity, used;
    lua_Integer long_count;
    bool is_taken; /* by a record that is being packed: a finalizer that packs another one meanwhile needs a chunk of its own */
    char bytes[];
};

typedef struct {
    const void *record;
    size_t size; /* with this header */
} entry;

enum { TAG_NULL, TAG_INTEGER, TAG_NUMBER, TAG_FALSE, TAG_TRUE, TAG_SHORT, TAG_LONG };

enum { longest_short = 40, largest_value = longest_short + 2, alignment = 8 };

/* MARK: - Making */

void perilune_push_chunk(lua_State *L, int shape, size_t capacity) {
    shape = lua_absindex(L, shape);
    size_t least = sizeof(entry) + (size_t)((perilune_shape *)lua_touserdata(L, shape))->count * largest_value + alignment;
    if (capacity < least) capacity = least;
    lua_createtable(L, 1, 8);
    int metatable = lua_gettop(L);
    lua_getiuservalue(L, shape, SHAPE_METATABLE);
    for (lua_pushnil(L); lua_next(L, -2);) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, metatable);
    }
    lua_settop(L, metatable);
    perilune_chunk *chunk = lua_newuserdatauv(L, sizeof *chunk + capacity, 1);
    *chunk = (perilune_chunk){.capacity = capacity};
    lua_pushvalue(L, -1);
    lua_rawseti(L, metatable, 1);
}

/* MARK: - Packing */

bool perilune_begin_packing(perilune_packer *packer, perilune_chunk *chunk, int index, int count) {
    size_t most = sizeof(entry) + (size_t)count * largest_value + alignment;
    if (chunk->is_taken || chunk->capacity - chunk->used < most) return false;
    chunk->is_taken = true;
    *packer = (perilune_packer){chunk, chunk->bytes + chunk->used + sizeof(entry), index};
    return true;
}

void perilune_pack_null(perilune_packer *packer) { *packer->next++ = TAG_NULL; }

void perilune_pack_integer(perilune_packer *packer, lua_Integer value) {
    *packer->next++ = TAG_INTEGER;
    memcpy(packer->next, &value, sizeof value);
    packer->next += sizeof value;
}

void perilune_pack_number(perilune_packer *packer, lua_Number value) {
    *packer->next++ = TAG_NUMBER;
    memcpy(packer->next, &value, sizeof value);
    packer->next += sizeof value;
}

void perilune_pack_boolean(perilune_packer *packer, bool value) { *packer->next++ = value ? TAG_TRUE : TAG_FALSE; }

static void pack_long(lua_State *L, perilune_packer *packer) {
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
    *packer->next++ = TAG_LONG;
    memcpy(packer->next, &position, sizeof position);
    packer->next += sizeof position;
}

void perilune_pack_string(lua_State *L, perilune_packer *packer, const char *bytes, size_t length) {
    if (length > longest_short) {
        pack_long(L, packer);
        return;
    }
    *packer->next++ = TAG_SHORT;
    *packer->next++ = (char)length;
    memcpy(packer->next, bytes, length);
    packer->next += length;
}

void perilune_end_packing(perilune_packer *packer, const void *record) {
    perilune_chunk *chunk = packer->chunk;
    char *start = chunk->bytes + chunk->used;
    size_t size = (size_t)(packer->next - start);
    size = (size + alignment - 1) / alignment * alignment;
    entry header = {record, size};
    memcpy(start, &header, sizeof header);
    chunk->used += size;
    chunk->is_taken = false;
}

/* Packs the value on top of the stack, as the database has it. Returns false if it is none of the database's. */
static inline bool pack_value(lua_State *L, perilune_packer *packer, int type) {
    switch (type) {
        case LUA_TNIL: perilune_pack_null(packer); return true;
        case LUA_TBOOLEAN: perilune_pack_boolean(packer, lua_toboolean(L, -1)); return true;
        case LUA_TNUMBER:
            if (lua_isinteger(L, -1)) perilune_pack_integer(packer, lua_tointeger(L, -1));
            else perilune_pack_number(packer, lua_tonumber(L, -1));
            return true;
        case LUA_TSTRING: {
            size_t length;
            const char *bytes = lua_tolstring(L, -1, &length);
            perilune_pack_string(L, packer, bytes, length);
            return true;
        }
        default: return false;
    }
}

/* Pushes the value at -1 as the database would have it, in its place: nil for NULL, the bytes of a blob. */
static void make_plain(lua_State *L) {
    int type = lua_type(L, -1);
    if (type != LUA_TUSERDATA && type != LUA_TTABLE) return;
    perilune_push_plain(L, lua_gettop(L));
    lua_remove(L, -2);
    if (perilune_is_blob(L, -1)) {
        lua_getiuservalue(L, -1, 1);
        lua_remove(L, -2);
    } else if (perilune_is_null(L, -1)) {
        lua_pop(L, 1);
        lua_pushnil(L);
    }
}

/* Pushes the plain values of a record of that shape: one after the other. */
static void push_values(lua_State *L, int shape, int values) {
    perilune_shape *block = lua_touserdata(L, shape);
    luaL_checkstack(L, block->count + LUA_MINSTACK, "too many columns");
    lua_getiuservalue(L, shape, SHAPE_PLAN);
    lua_getiuservalue(L, -1, PLAN_NAMES);
    lua_replace(L, -2);
    int names = lua_gettop(L);
    for (int i = 0; i < block->count; i++) {
        lua_rawgeti(L, names, block->order[i] + 1);
        lua_rawget(L, values);
        make_plain(L);
    }
    lua_remove(L, names);
}

void perilune_push_open_chunk(lua_State *L, int shape, perilune_packer *packer) {
    int count = ((perilune_shape *)lua_touserdata(L, shape))->count;
    if (lua_getiuservalue(L, shape, SHAPE_OPEN) == LUA_TTABLE) {
        lua_rawgeti(L, -1, 1);
        perilune_chunk *chunk = lua_touserdata(L, -1);
        if (perilune_begin_packing(packer, chunk, lua_gettop(L), count)) return;
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    perilune_shape *block = lua_touserdata(L, shape);
    /* Small at first: one record that is kept keeps those that were read or written near it. */
    if (block->next_capacity == 0) block->next_capacity = perilune_first_chunk;
    else if (block->next_capacity < perilune_next_chunk) block->next_capacity *= 2;
    perilune_push_chunk(L, shape, block->next_capacity);
    lua_pushvalue(L, -2);
    lua_setiuservalue(L, shape, SHAPE_OPEN);
    perilune_chunk *chunk = lua_touserdata(L, -1);
    perilune_begin_packing(packer, chunk, lua_gettop(L), count);
}

/* Packs the fields as they are. Returns false, with nothing kept, if one of them has to be converted. */
static bool pack_fields(lua_State *L, perilune_shape *block, int names, int values, perilune_packer *packer) {
    for (int i = 0; i < block->count; i++) {
        lua_rawgeti(L, names, block->order[i] + 1);
        if (!pack_value(L, packer, lua_rawget(L, values))) return false;
        lua_settop(L, names);
    }
    return true;
}

/* The usual case of a snapshot: plain values. */
static bool take_plain_snapshot(lua_State *L, int shape, int record, int values) {
    int top = lua_gettop(L), names = top + 4;
    perilune_packer packer;
    perilune_push_open_chunk(L, shape, &packer);
    lua_getiuservalue(L, shape, SHAPE_PLAN);
    lua_getiuservalue(L, -1, PLAN_NAMES);
    bool is_plain = pack_fields(L, lua_touserdata(L, shape), names, values, &packer);
    if (is_plain) {
        perilune_end_packing(&packer, lua_topointer(L, record));
        lua_settop(L, top + 1);
        lua_setmetatable(L, record);
    } else {
        packer.chunk->is_taken = false;
    }
    lua_settop(L, top);
    return is_plain;
}

/* Packs plain values, which stand on the stack from `first` on, as the snapshot of a record. Leaves values on the stack. */
static void keep_values(lua_State *L, int shape, int record, int first) {
    int count = ((perilune_shape *)lua_touserdata(L, shape))->count;
    perilune_packer packer;
    perilune_push_open_chunk(L, shape, &packer);
    int metatable = lua_gettop(L) - 1;
    for (int i = 0; i < count; i++) {
        lua_pushvalue(L, first + i);
        if (!pack_value(L, &packer, lua_type(L, -1))) perilune_pack_null(&packer);
        lua_pop(L, 1);
    }
    perilune_end_packing(&packer, lua_topointer(L, record));
    lua_pushvalue(L, metatable);
    lua_setmetatable(L, record);
}

void perilune_take_snapshot(lua_State *L, int shape, int record, int values) {
    if (take_plain_snapshot(L, shape, record, values)) return;
    int top = lua_gettop(L);
    push_values(L, shape, values);
    keep_values(L, shape, record, top + 1);
    lua_settop(L, top);
}

/* MARK: - Reading */

/* Pushes the chunk of a record and finds its entry; NULL, with nothing pushed, if there is none. */
static const char *find_entry(lua_State *L, int record) {
    if (!lua_getmetatable(L, record)) return NULL;
    lua_rawgeti(L, -1, 1);
    lua_replace(L, -2);
    perilune_chunk *chunk = lua_touserdata(L, -1);
    const void *address = lua_topointer(L, record);
    const char *found = NULL;
    entry header;
    for (size_t at = 0; chunk && at < chunk->used; at += header.size) {
        memcpy(&header, chunk->bytes + at, sizeof header);
        if (header.record == address) found = chunk->bytes + at + sizeof header;
    }
    if (found == NULL) lua_pop(L, 1);
    return found;
}

/* Pushes the value that is packed there; returns where the next one is. `chunk` is on the stack. */
static const char *push_packed(lua_State *L, const char *at, int chunk) {
    lua_Integer integer;
    lua_Number number;
    switch (*at++) {
        case TAG_INTEGER:
            memcpy(&integer, at, sizeof integer);
            lua_pushinteger(L, integer);
            return at + sizeof integer;
        case TAG_NUMBER:
            memcpy(&number, at, sizeof number);
            lua_pushnumber(L, number);
            return at + sizeof number;
        case TAG_FALSE: lua_pushboolean(L, false); return at;
        case TAG_TRUE: lua_pushboolean(L, true); return at;
        case TAG_SHORT: {
            size_t length = (unsigned char)*at++;
            lua_pushlstring(L, at, length);
            return at + length;
        }
        case TAG_LONG:
            memcpy(&integer, at, sizeof integer);
            lua_getiuservalue(L, chunk, 1);
            lua_rawgeti(L, -1, integer);
            lua_remove(L, -2);
            return at + sizeof integer;
        default: lua_pushnil(L); return at;
    }
}

/* snapshot(record) -> the values by column, the list of the columns that it has; nothing if there is no snapshot. */
int perilune_snapshot(lua_State *L) {
    enum { shape = 2, chunk, plan, names, values, columns };
    lua_settop(L, 1);
    perilune_shape *block = perilune_push_shape_of(L, 1);
    if (block == NULL) return 0;
    const char *at = find_entry(L, 1);
    if (at == NULL) return 0;
    lua_getiuservalue(L, shape, SHAPE_PLAN);
    lua_getiuservalue(L, plan, PLAN_NAMES);
    lua_createtable(L, 0, block->count);
    lua_createtable(L, block->count, 0);
    for (int i = 0; i < block->count; i++) {
        lua_rawgeti(L, names, block->order[i] + 1);
        lua_pushvalue(L, -1);
        lua_rawseti(L, columns, i + 1);
        at = push_packed(L, at, chunk);
        lua_rawset(L, values);
    }
    lua_settop(L, columns);
    return 2;
}

/* knows_row(record) -> whether there is a snapshot. */
int perilune_knows_row(lua_State *L) {
    lua_settop(L, 1);
    bool knows_row = perilune_push_shape_of(L, 1) && find_entry(L, 1);
    lua_pushboolean(L, knows_row);
    return 1;
}

/* Whether two plain values are the same for the database: true is 1, and 1 is 1.0. */
static bool are_same(lua_State *L, int left, int right) {
    if (lua_type(L, left) == LUA_TBOOLEAN && lua_type(L, right) == LUA_TNUMBER) {
        return lua_tonumber(L, right) == lua_toboolean(L, left);
    }
    if (lua_type(L, left) == LUA_TNUMBER && lua_type(L, right) == LUA_TBOOLEAN) return are_same(L, right, left);
    return lua_rawequal(L, left, right);
}

/* Whether the type of a value alone says that it is another one for the database than one that is not equal to it. */
static bool are_comparable(lua_State *L, int left, int right) {
    int left_type = lua_type(L, left), right_type = lua_type(L, right);
    return left_type == LUA_TNIL || right_type == LUA_TNIL ||
           (left_type == right_type && (left_type == LUA_TNUMBER || left_type == LUA_TSTRING || left_type == LUA_TBOOLEAN));
}

bool perilune_push_changed(lua_State *L, int record, int shape) {
    perilune_shape *block = lua_touserdata(L, shape);
    int top = lua_gettop(L), columns = top + 1;
    lua_newtable(L);
    const char *at = find_entry(L, record);
    /* Columns that were not fetched may have got values. */
    if (at == NULL || block->count < block->plan->column_count) return false;
    int chunk = columns + 1, names = columns + 3, name = columns + 4, old = columns + 5, new = columns + 6;
    lua_getiuservalue(L, shape, SHAPE_PLAN);
    lua_getiuservalue(L, -1, PLAN_NAMES);
    lua_Integer count = 0;
    for (int i = 0; i < block->count; i++) {
        lua_rawgeti(L, names, block->order[i] + 1);
        at = push_packed(L, at, chunk);
        lua_pushvalue(L, name);
        lua_rawget(L, record);
        if (!are_same(L, old, new)) {
            if (!are_comparable(L, old, new) || block->plan->columns[block->order[i]].is_generated) return false;
            lua_pushvalue(L, name);
            lua_rawseti(L, columns, ++count);
        }
        lua_settop(L, names);
    }
    lua_settop(L, columns);
    return true;
}

/* changed_columns(record[, values]) -> list of the columns whose values are others than in the snapshot; nil if there is none. */
int perilune_changed_columns(lua_State *L) {
    enum { values = 2, shape, chunk, plan, names, columns, name, old, new };
    lua_settop(L, 2);
    if (lua_isnil(L, values)) {
        lua_pushvalue(L, 1);
        lua_replace(L, values);
    }
    luaL_checktype(L, values, LUA_TTABLE);
    perilune_shape *block = perilune_push_shape_of(L, 1);
    if (block == NULL) return 0;
    const char *at = find_entry(L, 1);
    if (at == NULL) return 0;
    lua_getiuservalue(L, shape, SHAPE_PLAN);
    lua_getiuservalue(L, plan, PLAN_NAMES);
    lua_newtable(L);
    for (int i = 0; i < block->count; i++) {
        lua_rawgeti(L, names, block->order[i] + 1);
        at = push_packed(L, at, chunk);
        lua_pushvalue(L, name);
        lua_rawget(L, values);
        make_plain(L);
        if (!are_same(L, old, new)) {
            lua_pushvalue(L, name);
            lua_rawseti(L, columns, (lua_Integer)lua_rawlen(L, columns) + 1);
        }
        lua_settop(L, columns);
    }
    return 1;
}

/* set_snapshot(record, values or nil): takes the values as those of the row; without values the record has no snapshot any more. */
int perilune_set_snapshot(lua_State *L) {
    lua_settop(L, 2);
    if (perilune_push_shape_of(L, 1) == NULL) return 0;
    if (lua_type(L, 2) == LUA_TTABLE) {
        perilune_take_snapshot(L, 3, 1, 2);
        return 0;
    }
    lua_getiuservalue(L, 3, SHAPE_METATABLE);
    lua_setmetatable(L, 1);
    return 0;
}

/* Gives the record at `copy` the snapshot of another one of the shape at `shape`. */
void perilune_copy_snapshot(lua_State *L, int shape, int record, int copy) {
    int top = lua_gettop(L), count = ((perilune_shape *)lua_touserdata(L, shape))->count;
    const char *at = find_entry(L, record);
    if (at == NULL) return;
    int chunk = lua_gettop(L);
    luaL_checkstack(L, count + LUA_MINSTACK, "too many columns");
    for (int i = 0; i < count; i++) at = push_packed(L, at, chunk);
    keep_values(L, shape, copy, chunk + 1);
    lua_settop(L, top);
}
