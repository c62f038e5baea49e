/* The default database, for calls without a database. */
#include "CPeriluneRows/Accesses/accesses.h"

static const char default_database_key;

void pdb_set_default_database(lua_State *L) {
    pdb_state *rows = pdb_state_of(L);
    pdb_handle *handle = pdb_to_userdata(L, -1, rows->database_metatable);
    rows->default_database = handle ? handle->database : NULL;
    lua_rawsetp(L, LUA_REGISTRYINDEX, &default_database_key);
}

/* Returns the innermost access. Returns NULL if none is open, or if the default database was overridden inside it. */
static pdb_access *implied_access(const pdb_state *rows) {
    return rows->access == rows->overridden_access ? NULL : rows->access;
}

pdb_database *pdb_implied_database(const pdb_state *rows) {
    pdb_access *access = implied_access(rows);
    return access ? access->database : rows->default_database;
}

pdb_database *pdb_resolve_database(lua_State *L, int index, const char *verb, pdb_access **access) {
    pdb_state *rows = pdb_state_of(L);
    if (index && !lua_isnoneornil(L, index)) {
        pdb_handle *handle = pdb_check_handle(L, rows, index, verb);
        *access = pdb_find_access(L, rows, handle->database, handle->token);
        return handle->database;
    }
    pdb_database *database = pdb_implied_database(rows);
    if (database == NULL) plua_raise(L, "argument", "%s: no default database is set; pass a database as the first argument", verb);
    *access = pdb_find_access(L, rows, database, 0);
    return database;
}

/* Pushes the handle of the innermost access, or the default database. */
int pdb_default_database(lua_State *L) {
    pdb_access *access = implied_access(pdb_state_of(L));
    if (access) pdb_push_handle(L, access);
    else lua_rawgetp(L, LUA_REGISTRYINDEX, &default_database_key);
    if (lua_isnil(L, -1)) plua_raise(L, "argument", "no default database is set; pass a database as the first argument");
    return 1;
}

/* Sets the field `name` of the table at `holder` to the value at `to`, if the field still contains the value at `from`. [0, 0, m] */
static void rename_default(lua_State *L, int holder, const char *name, int from, int to) {
    lua_pushstring(L, name);
    lua_rawget(L, holder);
    bool is_ours = lua_rawequal(L, -1, from);
    lua_pop(L, 1);
    if (!is_ours) return;
    lua_pushstring(L, name);
    lua_pushvalue(L, to);
    lua_rawset(L, holder);
}

/*
** with_default_database(db, table, function, ...): calls the function with the database and the other arguments. During the call, the
** database is the default one, and the global `db` and the field `database` of the table refer to it. No other code sees the change,
** because the function cannot yield.
*/
int pdb_with_default_database(lua_State *L) {
    enum { database = 1, library, body, globals, former };
    pdb_state *rows = pdb_state_of(L);
    pdb_check_handle(L, rows, database, "with");
    luaL_checkstack(L, LUA_MINSTACK, "too many arguments");
    pdb_push_database_object(L, database);
    lua_replace(L, database);
    lua_pushglobaltable(L);
    lua_insert(L, globals);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &default_database_key);
    lua_insert(L, former);
    pdb_access *former_access = rows->overridden_access;

    int argument_count = lua_gettop(L) - former;
    lua_pushvalue(L, body);
    lua_insert(L, former + 1);
    lua_pushvalue(L, database);
    lua_insert(L, former + 2);
    rename_default(L, globals, "db", former, database);
    rename_default(L, library, "database", former, database);
    lua_pushvalue(L, database);
    pdb_set_default_database(L);
    rows->overridden_access = rows->access;

    int status = plua_pcall(L, argument_count + 1, LUA_MULTRET);
    rows->overridden_access = former_access;
    lua_pushvalue(L, former);
    pdb_set_default_database(L);
    rename_default(L, library, "database", database, former);
    rename_default(L, globals, "db", database, former);
    if (status != LUA_OK) return plua_raise_again(L);
    return lua_gettop(L) - former;
}
