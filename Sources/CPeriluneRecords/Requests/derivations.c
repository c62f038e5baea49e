/*
** The common derivations of requests: `filter_key(key)`, `filter{ column = value }`, `order(name)` and `limit(count)`. The Lua part creates
** a node for each derivation. An equal derivation is then created without Lua, as a table with the same node and its own values. Derivations
** without a node are passed to the Lua function.
**
** Scripts can access requests and nodes, so their contents are not trusted.
*/
#include "CPeriluneRecords/Requests/requests.h"

/* Upvalues of a derivation method: the Lua function; a table of requests by class, or nil; the names of fields. */
enum {
    FALLBACK = 1, SOURCES, ALL, NODE, METATABLE, COUNT, KEY_NODE, KEY_GENERATION, STRINGS, NUMBERS, BOOLEANS, BY_ORDER, BY_TEXT,
    UPVALUES = BY_TEXT
};

static const char *const field_names[] = {
    [ALL] = "all", [NODE] = "node", [METATABLE] = "metatable", [COUNT] = "count", [KEY_NODE] = "key_node",
    [KEY_GENERATION] = "key_generation", [STRINGS] = "strings", [NUMBERS] = "numbers", [BOOLEANS] = "booleans",
    [BY_ORDER] = "by_order", [BY_TEXT] = "by_text",
};

/* Stack indices: the receiver of the method, its argument, the request of the receiver, and the node of that request. */
enum { SELF = 1, ARGUMENT, REQUEST, PARENT };

/* The first positions of a request are empty: see perilune.runtime.marks. */
enum { unused_positions = 2, most_positions = 50 };

/* Pushes a field of the table at an index and returns its type. */
static int push_field(lua_State *L, int table, int name) {
    lua_pushvalue(L, lua_upvalueindex(name));
    return lua_rawget(L, table);
}

/* Pushes the request to derive from, and its node. If the receiver is a class, this is the request of the class. */
static bool push_parent(lua_State *L) {
    lua_pushvalue(L, SELF);
    if (lua_type(L, lua_upvalueindex(SOURCES)) == LUA_TTABLE) {
        if (lua_rawget(L, lua_upvalueindex(SOURCES)) != LUA_TTABLE || push_field(L, REQUEST, ALL) != LUA_TTABLE) return false;
        lua_replace(L, REQUEST);
    }
    return lua_istable(L, REQUEST) && push_field(L, REQUEST, NODE) == LUA_TTABLE;
}

/* Replaces the list on top of the stack and the key below it by the element for that key. Returns whether the element is a table. */
static bool push_child(lua_State *L, int list_type) {
    if (list_type != LUA_TTABLE) return false;
    lua_insert(L, -2);
    return lua_rawget(L, -2) == LUA_TTABLE;
}

/* Pushes the node of `request:filter_key(key)`. It is valid only for the schema generation in which it was created. */
static bool push_node_of_key(lua_State *L) {
    pdb_database *database = pdb_implied_database(pdb_state_of(L));
    int type = push_field(L, PARENT, KEY_GENERATION);
    bool is_current = database ? lua_isinteger(L, -1) && lua_tointeger(L, -1) == database->schema_generation : type == LUA_TNIL;
    return is_current && push_field(L, PARENT, KEY_NODE) == LUA_TTABLE;
}

/* Pushes the value of the argument table's only field, and the node of `request:filter{ column = value }`. A column may accept values of one
** type only, so each type has its own list of nodes. */
static bool push_node_of_column(lua_State *L) {
    enum { name = PARENT + 1, value };
    if (lua_getmetatable(L, ARGUMENT)) return false;
    lua_pushnil(L);
    if (!lua_next(L, ARGUMENT)) return false;
    int type = lua_type(L, value);
    int list = type == LUA_TSTRING ? STRINGS : type == LUA_TNUMBER ? NUMBERS : type == LUA_TBOOLEAN ? BOOLEANS : 0;
    if (list == 0) return false;
    lua_pushvalue(L, name);
    if (lua_next(L, ARGUMENT)) return false;
    lua_insert(L, name);
    return push_child(L, push_field(L, PARENT, list));
}

/* Pushes the request for the node on top of the stack. It has the values of its parent, and the value at `value`, unless that is 0. */
static bool push_derived(lua_State *L, int value) {
    int child = lua_gettop(L), result = child + 1;
    push_field(L, PARENT, COUNT);
    lua_Integer count = lua_tointeger(L, -1);
    lua_pop(L, 1);
    if (count < 0 || count > most_positions) return false;
    lua_createtable(L, (int)count + (value != 0), 1);
    lua_pushvalue(L, lua_upvalueindex(NODE));
    lua_pushvalue(L, child);
    lua_rawset(L, result);
    for (lua_Integer i = unused_positions + 1; i <= count; i++) {
        lua_rawgeti(L, REQUEST, i);
        lua_rawseti(L, result, i);
    }
    if (value) {
        lua_pushvalue(L, value);
        lua_rawseti(L, result, count + 1);
    }
    if (push_field(L, child, METATABLE) != LUA_TTABLE) return false;
    lua_setmetatable(L, result);
    return true;
}

static bool derive_filter_key(lua_State *L) {
    return lua_isinteger(L, ARGUMENT) && push_parent(L) && push_node_of_key(L) && push_derived(L, ARGUMENT);
}

static bool derive_filter(lua_State *L) {
    if (lua_type(L, ARGUMENT) != LUA_TTABLE) return false;
    return push_parent(L) && push_node_of_column(L) && push_derived(L, PARENT + 1);
}

static bool derive_order(lua_State *L) {
    if (lua_type(L, ARGUMENT) != LUA_TSTRING || !push_parent(L)) return false;
    lua_pushvalue(L, ARGUMENT);
    return push_child(L, push_field(L, PARENT, BY_ORDER)) && push_derived(L, 0);
}

static bool derive_limit(lua_State *L) {
    if (!lua_isinteger(L, ARGUMENT) || !push_parent(L) || push_field(L, PARENT, BY_TEXT) != LUA_TTABLE) return false;
    int by_text = lua_gettop(L);
    lua_pushvalue(L, ARGUMENT);
    lua_pushliteral(L, "limit");
    return push_child(L, lua_rawget(L, by_text)) && push_derived(L, 0);
}

static int finish(lua_State *L, int status, lua_KContext context) {
    (void)status, (void)context;
    return 1;
}

/* Calls the Lua function unless `derive_usual` can derive the request. */
static int derive(lua_State *L, bool (*derive_usual)(lua_State *)) {
    int count = lua_gettop(L);
    if (count == ARGUMENT && derive_usual(L)) return 1;
    lua_settop(L, count);
    lua_pushvalue(L, lua_upvalueindex(FALLBACK));
    lua_insert(L, 1);
    lua_callk(L, count, 1, 0, finish);
    return 1;
}

static int filter_key(lua_State *L) { return derive(L, derive_filter_key); }
static int filter(lua_State *L) { return derive(L, derive_filter); }
static int order(lua_State *L) { return derive(L, derive_order); }
static int limit(lua_State *L) { return derive(L, derive_limit); }

/* derivation(name, function, requests by class or nil): returns the method of requests or, with the table, of classes. */
static int make_derivation(lua_State *L) {
    static const char *const names[] = {"filter_key", "filter", "order", "limit", NULL};
    static const lua_CFunction functions[] = {filter_key, filter, order, limit};
    int derivation = luaL_checkoption(L, 1, NULL, names);
    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 3);
    for (int i = ALL; i <= UPVALUES; i++) lua_pushstring(L, field_names[i]);
    lua_pushcclosure(L, functions[derivation], UPVALUES);
    return 1;
}

const luaL_Reg prec_derivation_functions[] = {{"derivation", make_derivation}, {NULL, NULL}};
