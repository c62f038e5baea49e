/* What belongs to one Lua state: the callbacks, and the values that scripts write for NULL and for blobs. */
#include "CPeriluneRows/rows_internal.h"

static const char rows_key; /* in the registry, so that it is not collected */

const char pdb_database_metatable_key, pdb_compiled_metatable_key, pdb_statement_metatable_key,
    pdb_cursor_metatable_key, pdb_row_methods_key, pdb_null_key, pdb_blob_metatable_key,
    pdb_guard_key;

void pdb_open(lua_State *L, const pdb_callbacks *callbacks) {
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    pdb_state *rows = lua_newuserdatauv(L, sizeof *rows, 0);
    *rows = (pdb_state){.callbacks = *callbacks, .context = plua_context_of(L)};
    pdb_open_values(L, rows);
    pdb_open_databases(L, rows);
    pdb_open_statements(L, rows);
    pdb_open_cursors(L, rows);
    pdb_open_rows(L);
    pdb_open_changes(L);
    pdb_open_pending_errors(L);
    prec_open_records(L, rows);
    pdb_open_observers(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &rows_key);
    rows->context->extension = rows;
}

void pdb_set_recording(lua_State *L, bool is_recording) {
    pdb_state_of(L)->is_recording = is_recording;
}

void pdb_set_note(lua_State *L, pdb_note note, void *context) {
    pdb_state *rows = pdb_state_of(L);
    rows->note = note;
    rows->note_context = context;
}

void pdb_observe(lua_State *L) {
    for (pdb_access *access = pdb_state_of(L)->access; access; access = access->outer) {
        access->has_asked = access->is_unobserved = false;
    }
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

/* MARK: - null */

static int null_to_string(lua_State *L) {
    lua_pushliteral(L, "null");
    return 1;
}

void pdb_push_null(lua_State *L) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &pdb_null_key);
}

bool pdb_is_null(lua_State *L, int index) {
    return lua_type(L, index) == LUA_TUSERDATA && lua_touserdata(L, index) == pdb_state_of(L)->null;
}

static void open_null(lua_State *L, pdb_state *rows) {
    static const luaL_Reg functions[] = {{"__tostring", null_to_string}, {NULL, NULL}};
    static const char metatable_key;
    rows->null = lua_newuserdatauv(L, 0, 0);
    pdb_new_metatable(L, &metatable_key, "null", functions);
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &pdb_null_key);
}

/* MARK: - Blobs: a userdata whose user value is the string of bytes. */

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

/* Makes a blob of the string on top of the stack. [-1, +1, m] */
static void wrap_blob(lua_State *L) {
    lua_newuserdatauv(L, 1, 1);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &pdb_blob_metatable_key);
    lua_setmetatable(L, -2);
    lua_insert(L, -2);
    lua_setiuservalue(L, -2, 1);
}

void pdb_push_blob(lua_State *L, const char *bytes, size_t length) {
    lua_pushlstring(L, bytes, length);
    wrap_blob(L);
}

int pdb_make_blob(lua_State *L) {
    if (lua_type(L, 1) != LUA_TSTRING) return plua_argument_error(L, "blob", 1, "a string", 1);
    lua_settop(L, 1);
    wrap_blob(L);
    return 1;
}

void pdb_open_values(lua_State *L, pdb_state *rows) {
    static const luaL_Reg blob_functions[] = {
        {"__tostring", blob_to_string}, {"__len", blob_length}, {"__eq", blob_equal}, {NULL, NULL}};
    open_null(L, rows);
    rows->blob_metatable = pdb_new_metatable(L, &pdb_blob_metatable_key, "blob", blob_functions);
    lua_pop(L, 1);
    pdb_new_metatable(L, &pdb_guard_key, "guard", (luaL_Reg[]){{"__gc", plua_collect_object}, {NULL, NULL}});
    lua_pop(L, 1);
}
