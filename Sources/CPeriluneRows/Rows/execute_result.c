/*
** The result of `execute`: an object with the fields changed_rows and inserted_rowid.
**
** Scripts insert thousands of rows and rarely read the result, so the common case must be cheap. The result for one inserted row is a light
** userdata: its pointer is the row id with the topmost bit set, which no address in a process has. Other results are full userdata with the
** same metatable.
**
** All light userdata in a state share this metatable. Indexing other light userdata therefore returns nil instead of raising an error.
** Without light userdata, inserting is slower by a sixth: a C loop in Lua that inserts rows of four values into a table in memory takes
** 0.58 µs per row with light userdata and 0.69 µs with full ones, mostly in the collector.
*/
#include "CPeriluneRows/Rows/rows.h"

typedef struct {
    lua_Integer changed_rows, inserted_rowid;
    bool has_inserted;
    bool dropped_rows; /* the statement has rows, which `execute` does not return */
} changes;

static const char metatable_key;

#if UINTPTR_MAX == UINT64_MAX
static const uintptr_t light_tag = (uintptr_t)1 << 63;
#else
static const uintptr_t light_tag = 0; /* row ids do not fit */
#endif

/* Pushes a result as full userdata. [-0, +1, m] */
static void push_result(lua_State *L, changes fields) {
    changes *result = lua_newuserdatauv(L, sizeof *result, 0);
    *result = fields;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &metatable_key);
    lua_setmetatable(L, -2);
}

void pdb_push_changes(lua_State *L, lua_Integer changed_rows, const lua_Integer *inserted_rowid) {
    if (light_tag && changed_rows == 1 && inserted_rowid && *inserted_rowid >= 0) {
        lua_pushlightuserdata(L, (void *)(light_tag | (uintptr_t)*inserted_rowid));
        return;
    }
    push_result(L, (changes){changed_rows, inserted_rowid ? *inserted_rowid : 0, inserted_rowid != NULL, false});
}

void pdb_push_result_without_rows(lua_State *L) { push_result(L, (changes){0, 0, false, true}); }

/* Reads the result at `index`. Only Lua calls the metamethods, so the value is a result or a foreign light userdata. Returns false for the
** latter. */
static bool read_changes(lua_State *L, int index, changes *result) {
    if (lua_type(L, index) == LUA_TUSERDATA) {
        *result = *(const changes *)lua_touserdata(L, index);
        return true;
    }
    uintptr_t bits = (uintptr_t)lua_touserdata(L, index);
    *result = (changes){1, (lua_Integer)(bits & ~light_tag), true, false};
    return (bits & light_tag) != 0;
}

static int changes_index(lua_State *L) {
    changes self;
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
    if (!read_changes(L, 1, &self)) {
        lua_pushnil(L);
    } else if (lua_isinteger(L, 2)) {
        return plua_raise(L, "argument", "the result of a statement has no rows; use db:fetch_all(sql, ...)[%d]", (int)lua_tointeger(L, 2));
    } else if (strcmp(name, "changed_rows") == 0) {
        lua_pushinteger(L, self.changed_rows);
    } else if (strcmp(name, "inserted_rowid") == 0 && self.has_inserted) {
        lua_pushinteger(L, self.inserted_rowid);
    } else if (*name != '\0' && strcmp(name, "inserted_rowid") != 0) {
        return plua_raise(L, "unknown_member", "no member `%s`; the result of a statement has `changed_rows` and `inserted_rowid`", name);
    } else {
        lua_pushnil(L);
    }
    return 1;
}

static int changes_to_string(lua_State *L) {
    changes self;
    if (!read_changes(L, 1, &self)) {
        lua_pushliteral(L, "userdata");
    } else if (self.dropped_rows) {
        lua_pushliteral(L, "{changed_rows = 0}, without the rows of the statement: use db:fetch_value(sql, ...) or db:fetch_all(sql, ...)");
    } else if (self.has_inserted) {
        lua_pushfstring(L, "{changed_rows = %I, inserted_rowid = %I}", self.changed_rows, self.inserted_rowid);
    } else {
        lua_pushfstring(L, "{changed_rows = %I}", self.changed_rows);
    }
    return 1;
}

/* The iterator over the fields. Upvalues: the object, and the number of fields returned so far. It ignores its arguments, because scripts
** can call it with any values. */
static int next_change(lua_State *L) {
    static const char *const names[] = {"changed_rows", "inserted_rowid"};
    changes self;
    int position = (int)lua_tointeger(L, lua_upvalueindex(2));
    bool is_ours = read_changes(L, lua_upvalueindex(1), &self);
    if (!is_ours || position == 2 || (position == 1 && !self.has_inserted)) return 0;
    lua_pushinteger(L, position + 1);
    lua_replace(L, lua_upvalueindex(2));
    lua_pushstring(L, names[position]);
    lua_pushinteger(L, position == 0 ? self.changed_rows : self.inserted_rowid);
    return 2;
}

static int changes_pairs(lua_State *L) {
    changes self;
    if (read_changes(L, 1, &self) && self.dropped_rows) {
        return plua_raise(L, "argument", "the result of a statement has no rows; use db:fetch_all(sql, ...)");
    }
    lua_pushvalue(L, 1);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, next_change, 2);
    return 1;
}

/* Rejects a loop over the result of a statement: `for row in db:execute("SELECT ...")`. */
static int refuse_call(lua_State *L) {
    return plua_raise(L, "argument", "the result of a statement has no rows; use db:rows(sql, ...) to iterate over rows, or db:fetch_all(sql, ...)");
}

void pdb_open_changes(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"__index", changes_index}, {"__tostring", changes_to_string}, {"__pairs", changes_pairs}, {NULL, NULL}};
    pdb_new_metatable(L, &metatable_key, "changes", functions);
    lua_pushcfunction(L, refuse_call);
    lua_setfield(L, -2, "__call");
    /* The metatable applies to all light userdata in the state. It has no name, because Lua's messages would use the name for all of
    ** them. */
    lua_pushlightuserdata(L, NULL);
    luaL_newlib(L, functions);
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
    lua_pop(L, 2);
}
