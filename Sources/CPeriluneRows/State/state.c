/* The data of one Lua state. */
#include "CPeriluneRows/State/state.h"

static const char rows_key; /* a registry key; protects the state's data from collection */
static const char state_metatable_key;

/* The key of the metatable for userdata whose first word is a Swift object. Collecting the userdata releases the object. */
const char pdb_guard_key;

/* Closes the account. The memory stays allocated until all finalizers have run. */
static int close_state(lua_State *L) {
    psql_close_account(&((pdb_state *)lua_touserdata(L, 1))->account);
    return 0;
}

void pdb_make_state(lua_State *L, const pdb_callbacks *callbacks) {
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    pdb_state *rows = lua_newuserdatauv(L, sizeof *rows, 0);
    *rows = (pdb_state){.callbacks = *callbacks, .context = plua_context_of(L)};
    pdb_new_metatable(L, &state_metatable_key, "state", (luaL_Reg[]){{"__gc", close_state}, {NULL, NULL}});
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &rows_key);
    pdb_new_metatable(L, &pdb_guard_key, "guard", (luaL_Reg[]){{"__gc", plua_collect_object}, {NULL, NULL}});
    lua_pop(L, 1);
    rows->context->extension = rows;
    pdb_open_memory(rows);
}

void pdb_set_recording(lua_State *L, bool is_recording) {
    pdb_state_of(L)->is_recording = is_recording;
}

void pdb_set_note(lua_State *L, pdb_note note, void *context) {
    pdb_state *rows = pdb_state_of(L);
    rows->note = note;
    rows->note_context = context;
}

pdb_place pdb_enter_place(lua_State *L, pdb_place place) {
    pdb_state *rows = pdb_state_of(L);
    pdb_place former = rows->place;
    rows->place = place;
    return former;
}

void *pdb_to_userdata(lua_State *L, int index, const void *metatable) {
    void *block = lua_touserdata(L, index);
    if (block == NULL || !lua_getmetatable(L, index)) return NULL;
    bool is_ours = lua_topointer(L, -1) == metatable;
    lua_settop(L, -2);
    return is_ours ? block : NULL;
}

const void *pdb_new_metatable(lua_State *L, const void *key, const char *name, const luaL_Reg *functions) {
    lua_createtable(L, 0, 8);
    luaL_setfuncs(L, functions, 0);
    lua_pushstring(L, name);
    lua_setfield(L, -2, "__name");
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, key);
    return lua_topointer(L, -1);
}
