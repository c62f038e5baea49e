/* Comparison of records with their rows, by their snapshots. */
#include "CPeriluneRecords/Snapshots/snapshots.h"

/* MARK: - Reading */

/* Returns the latest entry of the record, or NULL. */
static prec_snapshot_entry *search(prec_chunk *chunk, const void *record) {
    if (chunk->found >= 0 && prec_chunk_entry(chunk, chunk->found)->record == record) {
        return prec_chunk_entry(chunk, chunk->found);
    }
    for (int i = chunk->count - 1; i >= 0; i--) {
        prec_snapshot_entry *entry = prec_chunk_entry(chunk, i);
        if (entry->record != record) continue;
        chunk->found = i;
        return entry;
    }
    return NULL;
}

/* Pushes the chunk of a record and returns the record's entry. Pushes nothing and returns NULL without an entry. */
static prec_snapshot_entry *find_entry(lua_State *L, int record) {
    if (!lua_getmetatable(L, record)) return NULL;
    lua_rawgeti(L, -1, 1);
    lua_replace(L, -2);
    prec_chunk *chunk = lua_touserdata(L, -1);
    prec_snapshot_entry *entry = chunk ? search(chunk, lua_topointer(L, record)) : NULL;
    if (entry == NULL) lua_pop(L, 1);
    return entry;
}

bool prec_has_snapshot(lua_State *L, int record) {
    bool has_snapshot = find_entry(L, record) != NULL;
    if (has_snapshot) lua_pop(L, 1);
    return has_snapshot;
}

/* Returns the packed values of a record. Pushes the chunk and a copy of the values, because code that runs later may change the chunk. */
static const char *find_packed(lua_State *L, int record) {
    prec_snapshot_entry *entry = find_entry(L, record);
    if (entry == NULL) return NULL;
    prec_chunk *chunk = lua_touserdata(L, -1);
    return lua_pushlstring(L, chunk->bytes + entry->start, entry->size);
}

/* Pushes the packed value at `at` and returns the position of the next one. `chunk` is the stack index of the chunk. */
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
        case TAG_SHORT:
        case TAG_SHORT_BLOB: {
            bool is_blob = at[-1] == TAG_SHORT_BLOB;
            size_t length = (unsigned char)*at++;
            lua_pushlstring(L, at, length);
            if (is_blob) pdb_wrap_blob(L);
            return at + length;
        }
        case TAG_LONG:
        case TAG_LONG_BLOB: {
            bool is_blob = at[-1] == TAG_LONG_BLOB;
            memcpy(&integer, at, sizeof integer);
            lua_getiuservalue(L, chunk, 1);
            lua_rawgeti(L, -1, integer);
            lua_remove(L, -2);
            if (is_blob) pdb_wrap_blob(L);
            return at + sizeof integer;
        }
        default: lua_pushnil(L); return at;
    }
}

/* snapshot(record): returns a table of the values by column, and the list of columns; nothing without a snapshot. */
static int push_snapshot(lua_State *L) {
    enum { column_set = 2, chunk, packed, layout_index, names, values, columns };
    lua_settop(L, 1);
    prec_column_set *set = prec_push_column_set_of(L, 1);
    if (set == NULL) return 0;
    const char *at = find_packed(L, 1);
    if (at == NULL) return 0;
    lua_getiuservalue(L, column_set, COLUMN_SET_LAYOUT);
    lua_getiuservalue(L, layout_index, TABLE_LAYOUT_NAMES);
    lua_createtable(L, 0, set->count);
    lua_createtable(L, set->count, 0);
    for (int i = 0; i < set->count; i++) {
        lua_rawgeti(L, names, set->order[i] + 1);
        lua_pushvalue(L, -1);
        lua_rawseti(L, columns, i + 1);
        at = push_packed(L, at, chunk);
        lua_rawset(L, values);
    }
    lua_settop(L, columns);
    return 2;
}

/* knows_row(record): returns whether the record has a snapshot. */
static int knows_row(lua_State *L) {
    lua_settop(L, 1);
    bool knows_row = prec_column_set_at(L, 1) && prec_has_snapshot(L, 1);
    lua_pushboolean(L, knows_row);
    return 1;
}

/* Returns whether two plain values are equal in every type of column. This is the case for true and 1, but not for 1 and 1.0.
** pdb_are_same_stored compares all other values. */
static bool are_same(lua_State *L, int left, int right) {
    if (pdb_is_blob(L, left) && pdb_is_blob(L, right)) return lua_compare(L, left, right, LUA_OPEQ);
    if (lua_type(L, left) == LUA_TBOOLEAN && lua_isinteger(L, right)) return lua_tointeger(L, right) == lua_toboolean(L, left);
    if (lua_isinteger(L, left) && lua_type(L, right) == LUA_TBOOLEAN) return are_same(L, right, left);
    return lua_rawequal(L, left, right) && lua_isinteger(L, left) == lua_isinteger(L, right);
}

/* MARK: - Differences */

typedef enum { IS_SAME, IS_OTHER, IS_UNCLEAR } comparison;

static size_t packed_size(const char *at) {
    switch (*at) {
        case TAG_INTEGER:
        case TAG_NUMBER:
        case TAG_LONG:
        case TAG_LONG_BLOB: return 9;
        case TAG_SHORT:
        case TAG_SHORT_BLOB: return 2 + (size_t)(unsigned char)at[1];
        default: return 1;
    }
}

/* Returns whether two values that are not the same differ in every type of column. Returns false for an integer and a float that a column
** may store as the same number. */
static bool is_comparable(lua_State *L, int old, int new) {
    if (lua_type(L, old) != lua_type(L, new)) return false;
    if (lua_type(L, old) != LUA_TNUMBER || lua_isinteger(L, old) == lua_isinteger(L, new)) return true;
    lua_Integer integer = lua_isinteger(L, old) ? lua_tointeger(L, old) : lua_tointeger(L, new);
    bool is_exact = integer > -(1LL << 53) && integer < 1LL << 53;
    return is_exact && !lua_compare(L, old, new, LUA_OPEQ);
}

/* Compares a packed value that is not a string with the value on top of the stack. */
static comparison compare_plain(lua_State *L, const char *at, int chunk) {
    int new = lua_gettop(L), old = new + 1;
    push_packed(L, at, chunk);
    bool is_same = are_same(L, old, new), is_other = !is_same && is_comparable(L, old, new);
    lua_settop(L, new);
    return is_same ? IS_SAME : is_other ? IS_OTHER : IS_UNCLEAR;
}

static comparison compare_short(lua_State *L, const char *at) {
    size_t length;
    const char *bytes = lua_tolstring(L, -1, &length);
    return length == (unsigned char)at[1] && memcmp(bytes, at + 2, length) == 0 ? IS_SAME : IS_OTHER;
}

/* Compares a packed value with the value on top of the stack. The result for different types is IS_UNCLEAR, because the column may convert
** one to the other. Allocates nothing, so no finalizer runs in the meantime. */
static comparison compare(lua_State *L, const char *at, int chunk) {
    int type = lua_type(L, -1);
    if (type == LUA_TUSERDATA || type == LUA_TTABLE) return IS_UNCLEAR;
    if (*at == TAG_NULL || type == LUA_TNIL) return *at == TAG_NULL && type == LUA_TNIL ? IS_SAME : IS_OTHER;
    if (*at == TAG_SHORT_BLOB || *at == TAG_LONG_BLOB) return IS_UNCLEAR;
    if (*at == TAG_SHORT) return type == LUA_TSTRING ? compare_short(L, at) : IS_UNCLEAR;
    if (*at != TAG_INTEGER || !lua_isinteger(L, -1)) return compare_plain(L, at, chunk);
    lua_Integer old;
    memcpy(&old, at + 1, sizeof old);
    return old == lua_tointeger(L, -1) ? IS_SAME : IS_OTHER;
}

/* Adds the packed form of the value on top of the stack to the patch. Copies it from `at` if the value is unchanged. */
static void add_to_patch(lua_State *L, prec_patch *patch, const char *at, comparison comparison) {
    bool is_long = comparison == IS_OTHER && lua_type(L, -1) == LUA_TSTRING && lua_rawlen(L, -1) > prec_longest_short;
    if (is_long || patch->size + prec_largest_value > sizeof patch->bytes) patch->is_whole = false;
    if (!patch->is_whole) return;
    prec_packer packer = {.next = patch->bytes + patch->size};
    if (comparison == IS_SAME) {
        size_t size = packed_size(at);
        memcpy(packer.next, at, size);
        packer.next += size;
    } else {
        prec_pack_value(L, &packer, lua_type(L, -1));
    }
    patch->size = (size_t)(packer.next - patch->bytes);
}

bool prec_mark_changed(lua_State *L, int record, const prec_column_set *column_set, int layout_index, prec_mask *mask, prec_patch *patch) {
    prec_table_layout *layout = lua_touserdata(L, layout_index);
    patch->entry = find_entry(L, record);
    /* A script may have assigned columns that were not fetched. */
    if (patch->entry == NULL || column_set->layout != layout || column_set->count < layout->column_count) return false;
    patch->chunk = lua_gettop(L);
    patch->size = 0;
    patch->is_whole = true;
    prec_begin_mask(mask, layout->column_count);
    const char *at = ((prec_chunk *)lua_touserdata(L, patch->chunk))->bytes + patch->entry->start;
    lua_getiuservalue(L, layout_index, TABLE_LAYOUT_NAMES);
    int names = lua_gettop(L);
    for (int i = 0; i < column_set->count; i++, at += packed_size(at)) {
        int column = column_set->order[i];
        lua_rawgeti(L, names, column + 1);
        lua_rawget(L, record);
        comparison comparison = compare(L, at, patch->chunk);
        if (comparison == IS_UNCLEAR || (comparison == IS_OTHER && layout->columns[column].is_generated)) return false;
        if (comparison == IS_OTHER) prec_add_to_mask(mask, column);
        add_to_patch(L, patch, at, comparison);
        lua_settop(L, names);
    }
    lua_settop(L, patch->chunk);
    return true;
}

/* Returns whether the key value on top of the stack equals the packed one, or is missing. */
static bool is_same_key(lua_State *L, const char *at, int chunk) {
    return lua_isnil(L, -1) || pdb_is_null(L, -1) || compare(L, at, chunk) == IS_SAME;
}

bool prec_keeps_key(lua_State *L, int record, int values, const prec_column_set *column_set, const prec_table_layout *layout, int layout_index) {
    int top = lua_gettop(L), chunk = top + 1, names = top + 2, left = layout->key_count;
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    prec_snapshot_entry *entry = find_entry(L, record);
    bool is_same = entry == NULL || column_set->layout == layout;
    if (entry && is_same) {
        const char *at = ((prec_chunk *)lua_touserdata(L, chunk))->bytes + entry->start;
        lua_getiuservalue(L, layout_index, TABLE_LAYOUT_NAMES);
        for (int i = 0; i < column_set->count && left > 0 && is_same; i++, at += packed_size(at)) {
            if (!layout->columns[column_set->order[i]].is_key) continue;
            lua_rawgeti(L, names, column_set->order[i] + 1);
            lua_rawget(L, values);
            is_same = is_same_key(L, at, chunk);
            lua_settop(L, names);
            left--;
        }
    }
    lua_settop(L, top);
    return is_same;
}

bool prec_apply_patch(lua_State *L, const prec_patch *patch) {
    if (!patch->is_whole || patch->size > patch->entry->size) return false;
    prec_chunk *chunk = lua_touserdata(L, patch->chunk);
    memcpy(chunk->bytes + patch->entry->start, patch->bytes, patch->size);
    return true;
}

/* changed_columns(record[, values]): returns the list of columns whose values differ from the snapshot; nothing without a snapshot. */
static int changed_columns(lua_State *L) {
    enum { values = 2, column_set, chunk, packed, layout_index, names, columns, name, old, new };
    lua_settop(L, 2);
    if (lua_isnil(L, values)) {
        lua_pushvalue(L, 1);
        lua_replace(L, values);
    }
    luaL_checktype(L, values, LUA_TTABLE);
    prec_column_set *set = prec_push_column_set_of(L, 1);
    if (set == NULL) return 0;
    const char *at = find_packed(L, 1);
    if (at == NULL) return 0;
    lua_getiuservalue(L, column_set, COLUMN_SET_LAYOUT);
    lua_getiuservalue(L, layout_index, TABLE_LAYOUT_NAMES);
    lua_newtable(L);
    for (int i = 0; i < set->count; i++) {
        lua_rawgeti(L, names, set->order[i] + 1);
        at = push_packed(L, at, chunk);
        lua_pushvalue(L, name);
        lua_rawget(L, values);
        prec_make_plain(L, &set->layout->columns[set->order[i]]);
        if (!are_same(L, old, new)) {
            lua_pushvalue(L, name);
            lua_rawseti(L, columns, (lua_Integer)lua_rawlen(L, columns) + 1);
        }
        lua_settop(L, columns);
    }
    return 1;
}

/* set_snapshot(record, values or nil): replaces the snapshot; without values, removes it. */
static int set_snapshot(lua_State *L) {
    lua_settop(L, 2);
    if (prec_push_column_set_of(L, 1) == NULL) return 0;
    if (lua_type(L, 2) == LUA_TTABLE) {
        prec_take_snapshot(L, 3, 1, 2);
        return 0;
    }
    lua_getiuservalue(L, 3, COLUMN_SET_METATABLE);
    lua_setmetatable(L, 1);
    return 0;
}

/* Copies the snapshot of a record with the column set at `column_set` to the record at `copy`. */
void prec_copy_snapshot(lua_State *L, int column_set, int record, int copy) {
    int top = lua_gettop(L), count = ((prec_column_set *)lua_touserdata(L, column_set))->count;
    const char *at = find_packed(L, record);
    if (at == NULL) return;
    int packed = lua_gettop(L), chunk = packed - 1;
    luaL_checkstack(L, count + LUA_MINSTACK, "too many columns");
    for (int i = 0; i < count; i++) at = push_packed(L, at, chunk);
    prec_keep_values(L, column_set, copy, packed + 1);
    lua_settop(L, top);
}

/* MARK: - Copies */

void prec_copy_fields(lua_State *L, int record, int copy) {
    prec_copy_entries(L, record, copy);
    prec_copy_nulls(L, record, copy);
}

void prec_restore_fields(lua_State *L, int record, int copy) {
    for (lua_pushnil(L); lua_next(L, record);) {
        lua_pop(L, 1);
        lua_pushvalue(L, -1);
        lua_pushnil(L);
        lua_rawset(L, record);
    }
    prec_copy_fields(L, copy, record);
}

/* copy_record(record): returns a new record with the same column set, fields and snapshot. */
static int copy_record(lua_State *L) {
    lua_settop(L, 1);
    prec_check_record(L, 1);
    prec_column_set *column_set = lua_touserdata(L, 2);
    lua_createtable(L, 0, column_set->count);
    prec_copy_fields(L, 1, 3);
    lua_getiuservalue(L, 2, COLUMN_SET_METATABLE);
    lua_setmetatable(L, 3);
    prec_copy_snapshot(L, 2, 1, 3);
    lua_settop(L, 3);
    return 1;
}

/* adopt_column_set(record, other): assigns the column set and the snapshot of another record, which must have the same class. */
static int adopt_column_set(lua_State *L) {
    enum { record = 1, other, column_set };
    lua_settop(L, other);
    prec_check_record(L, record);
    lua_settop(L, other);
    prec_check_record(L, other);
    lua_getiuservalue(L, column_set, COLUMN_SET_METATABLE);
    lua_setmetatable(L, record);
    prec_copy_snapshot(L, column_set, other, record);
    prec_copy_nulls(L, other, record);
    return 0;
}

/* restore_record(record, copy): restores the record from the result of `copy_record`. */
static int restore_record(lua_State *L) {
    adopt_column_set(L);
    prec_restore_fields(L, 1, 2);
    return 0;
}

const luaL_Reg prec_snapshot_functions[] = {
    {"snapshot", push_snapshot},
    {"knows_row", knows_row},
    {"changed_columns", changed_columns},
    {"set_snapshot", set_snapshot},
    {"copy_record", copy_record},
    {"adopt_column_set", adopt_column_set},
    {"restore_record", restore_record},
    {NULL, NULL},
};
