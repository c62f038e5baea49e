/* Pending errors: errors in SQLite callbacks, which cannot raise. The running statement raises them. */
#include "CPeriluneRows/Errors/errors.h"

static const char pending_error_key;

/* Creates the slot in advance, because storing an error must not allocate while SQLite is on the stack. Storing nil would free the slot, so
** nil is represented by `false` and a flag, although scripts can raise nil. */
void pdb_open_pending_errors(lua_State *L) {
    lua_newtable(L);
    lua_pushboolean(L, false);
    lua_rawseti(L, -2, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &pending_error_key);
}

/* Stores the value on top of the stack; `false` represents nil. [-1, +0, -] */
static void set_pending_error(lua_State *L) {
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_pushboolean(L, false);
        pdb_state_of(L)->pending_is_nil = true;
    } else {
        pdb_state_of(L)->pending_is_nil = false;
    }
    lua_rawgetp(L, LUA_REGISTRYINDEX, &pending_error_key);
    lua_insert(L, -2);
    lua_rawseti(L, -2, 1);
    lua_pop(L, 1);
}

void pdb_keep_pending_error(lua_State *L) {
    set_pending_error(L);
    pdb_state_of(L)->has_pending_error = true;
}

void pdb_drop_pending_error(lua_State *L) {
    pdb_state *rows = pdb_state_of(L);
    if (!rows->has_pending_error) return;
    rows->has_pending_error = false;
    lua_pushboolean(L, false);
    set_pending_error(L);
}

bool pdb_take_pending_error(lua_State *L) {
    pdb_state *rows = pdb_state_of(L);
    if (!rows->has_pending_error) return false;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &pending_error_key);
    if (rows->pending_is_nil) lua_pushnil(L);
    else lua_rawgeti(L, -1, 1);
    lua_remove(L, -2);
    pdb_drop_pending_error(L);
    return true;
}
