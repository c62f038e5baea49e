/* Restores the records of insert_all when a later record fails. */
#include "CPeriluneRecords/Lists/lists.h"

enum { SAVED_POSITION = 1, SAVED_RECORD, SAVED_COPY, SAVED_METATABLE, saved_size = SAVED_METATABLE };

/* Makes the next snapshot of the record use a different chunk, so that the entry in the current chunk is found again after a failure. */
static void leave_chunk(lua_State *L, int record) {
    int top = lua_gettop(L), column_set = top + 1;
    prec_push_column_set_of(L, record);
    lua_getmetatable(L, record);
    lua_getiuservalue(L, column_set, COLUMN_SET_OPEN);
    if (lua_rawequal(L, -1, -2)) {
        lua_pushnil(L);
        lua_setiuservalue(L, column_set, COLUMN_SET_OPEN);
    }
    lua_settop(L, top);
}

void prec_save_element(lua_State *L, lua_Integer position, int record) {
    lua_Integer count = (lua_Integer)lua_rawlen(L, SAVED);
    lua_newtable(L);
    prec_copy_fields(L, record, lua_gettop(L));
    lua_pushinteger(L, position);
    lua_rawseti(L, SAVED, count + SAVED_POSITION);
    lua_pushvalue(L, record);
    lua_rawseti(L, SAVED, count + SAVED_RECORD);
    lua_rawseti(L, SAVED, count + SAVED_COPY);
    lua_getmetatable(L, record);
    lua_rawseti(L, SAVED, count + SAVED_METATABLE);
    leave_chunk(L, record);
}

/* Restores the record whose saved values follow the first `count` elements of SAVED. */
static void put_back_saved(lua_State *L, lua_Integer count) {
    int top = lua_gettop(L), record = top + 1, copy = top + 2, metatable = top + 3;
    for (int i = SAVED_RECORD; i <= SAVED_METATABLE; i++) lua_rawgeti(L, SAVED, count + i);
    if (lua_istable(L, metatable)) {
        prec_restore_fields(L, record, copy);
        lua_setmetatable(L, record);
    }
    lua_settop(L, top);
}

void prec_put_back_one(lua_State *L, lua_Integer position, bool has_key) {
    int top = lua_gettop(L), record = top + 1, column_set = top + 2;
    lua_rawgeti(L, RESULT, position);
    prec_column_set *set = prec_push_column_set_of(L, record);
    if (set) {
        if (!has_key && set->layout->rowid >= 0) {
            lua_getiuservalue(L, column_set, COLUMN_SET_LAYOUT);
            lua_getiuservalue(L, -1, TABLE_LAYOUT_NAMES);
            lua_rawgeti(L, -1, set->layout->rowid + 1);
            lua_pushnil(L);
            lua_rawset(L, record);
        }
        if (lua_rawgeti(L, SNAPSHOTS, position) == LUA_TNIL) lua_getiuservalue(L, column_set, COLUMN_SET_METATABLE);
        lua_setmetatable(L, record);
    }
    lua_settop(L, top);
}

/* Removes the last range from the list and makes it the current one. */
static void take_range(lua_State *L, prec_range *range) {
    if (range->older == 0) return;
    lua_Integer at = --range->older * 3;
    for (int i = 1; i <= 3; i++) lua_rawgeti(L, RANGES, at + i);
    range->first = lua_tointeger(L, -3);
    range->last = lua_tointeger(L, -2);
    range->has_key = lua_toboolean(L, -1);
    lua_pop(L, 3);
}

void prec_put_back(lua_State *L, prec_range *range) {
    lua_Integer saved = (lua_Integer)lua_rawlen(L, SAVED) / saved_size;
    for (lua_Integer position = (lua_Integer)lua_rawlen(L, LIST); position > 0; position--) {
        if (position < range->first) take_range(L, range);
        if (position >= range->first && position <= range->last) prec_put_back_one(L, position, range->has_key);
        lua_rawgeti(L, SAVED, (saved - 1) * saved_size + SAVED_POSITION);
        bool is_saved = saved > 0 && lua_tointeger(L, -1) == position;
        lua_pop(L, 1);
        if (is_saved) put_back_saved(L, --saved * saved_size);
    }
}

void prec_begin_range(lua_State *L, prec_range *range, lua_Integer position, bool has_key) {
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
