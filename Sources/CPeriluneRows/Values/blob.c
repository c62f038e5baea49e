/* Blobs: userdata whose user value is the string of bytes. */
#include "CPeriluneRows/Values/values.h"

static const char metatable_key;

static int blob_to_string(lua_State *L) {
    lua_getiuservalue(L, 1, 1);
    return 1;
}

static int blob_length(lua_State *L) {
    lua_getiuservalue(L, 1, 1);
    lua_pushinteger(L, (lua_Integer)lua_rawlen(L, -1));
    return 1;
}

static int blob_equal(lua_State *L) {
    bool are_blobs = pdb_is_blob(L, 1) && pdb_is_blob(L, 2);
    if (are_blobs) {
        lua_getiuservalue(L, 1, 1);
        lua_getiuservalue(L, 2, 1);
    }
    lua_pushboolean(L, are_blobs && lua_rawequal(L, -1, -2));
    return 1;
}

bool pdb_is_blob(lua_State *L, int index) {
    return pdb_to_userdata(L, index, pdb_state_of(L)->blob_metatable) != NULL;
}

const char *pdb_blob_bytes(lua_State *L, int index, size_t *length) {
    if (!pdb_is_blob(L, index)) return NULL;
    lua_getiuservalue(L, index, 1);
    const char *bytes = lua_tolstring(L, -1, length);
    lua_pop(L, 1);
    return bytes;
}

void pdb_wrap_blob(lua_State *L) {
    lua_newuserdatauv(L, 1, 1);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &metatable_key);
    lua_setmetatable(L, -2);
    lua_insert(L, -2);
    lua_setiuservalue(L, -2, 1);
}

void pdb_unwrap_blob(lua_State *L) {
    lua_getiuservalue(L, -1, 1);
    lua_replace(L, -2);
}

void pdb_push_blob(lua_State *L, const char *bytes, size_t length) {
    lua_pushlstring(L, bytes, length);
    pdb_wrap_blob(L);
}

int pdb_make_blob(lua_State *L) {
    if (lua_type(L, 1) != LUA_TSTRING) return plua_argument_error(L, "perilune.blob", 1, "a string", 1);
    lua_settop(L, 1);
    pdb_wrap_blob(L);
    return 1;
}

void pdb_open_blobs(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"__tostring", blob_to_string}, {"__len", blob_length}, {"__eq", blob_equal}, {NULL, NULL}};
    pdb_state_of(L)->blob_metatable = pdb_new_metatable(L, &metatable_key, "blob", functions);
    lua_pop(L, 1);
}
