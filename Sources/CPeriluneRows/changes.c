/*
** What execute returns: an object with the fields changed_rows and inserted_rowid. A userdata, because a table would cost
** a tenth of an insert more.
*/
#include "rows_internal.h"

typedef struct {
    lua_Integer changed_rows, inserted_rowid;
    bool has_inserted;
} changes;

static const char metatable_key;

void perilune_push_changes(lua_State *L, lua_Integer changed_rows, const lua_Integer *inserted_rowid) {
    changes *result = lua_newuserdatauv(L, sizeof *result, 0);
    *result = (changes){changed_rows, inserted_rowid ? *inserted_rowid : 0, inserted_rowid != NULL};
    lua_rawgetp(L, LUA_REGISTRYINDEX, &metatable_key);
    lua_setmetatable(L, -2);
}

static int changes_index(lua_State *L) {
    const changes *self = lua_touserdata(L, 1);
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
    if (strcmp(name, "changed_rows") == 0) {
        lua_pushinteger(L, self->changed_rows);
    } else if (strcmp(name, "inserted_rowid") == 0 && self->has_inserted) {
        lua_pushinteger(L, self->inserted_rowid);
    } else {
        lua_pushnil(L);
    }
    return 1;
}

static int changes_to_string(lua_State *L) {
    const changes *self = lua_touserdata(L, 1);
    if (self->has_inserted) {
        lua_pushfstring(L, "{changed_rows = %I, inserted_rowid = %I}", self->changed_rows, self->inserted_rowid);
    } else {
        lua_pushfstring(L, "{changed_rows = %I}", self->changed_rows);
    }
    return 1;
}

static int next_change(lua_State *L) {
    static const char *const names[] = {"changed_rows", "inserted_rowid"};
    const changes *self = lua_touserdata(L, 1);
    int position = lua_isnil(L, 2) ? 0 : strcmp(lua_tostring(L, 2), names[0]) == 0 ? 1 : 2;
    if (position == 2 || (position == 1 && !self->has_inserted)) return 0;
    lua_pushstring(L, names[position]);
    lua_pushinteger(L, position == 0 ? self->changed_rows : self->inserted_rowid);
    return 2;
}

static int changes_pairs(lua_State *L) {
    lua_pushcfunction(L, next_change);
    lua_pushvalue(L, 1);
    return 2;
}

void perilune_open_changes(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"__index", changes_index}, {"__tostring", changes_to_string}, {"__pairs", changes_pairs}, {NULL, NULL}};
    perilune_new_metatable(L, &metatable_key, "changes", functions);
    lua_pop(L, 1);
}
