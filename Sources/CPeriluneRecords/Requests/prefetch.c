/*
** Prefetching of associated records in the common case: assigns records that were found by an integer column to lists in fields of their
** parents.
*/
#include "CPeriluneRecords/Requests/requests.h"

/* Pushes a field of the record at a position of the list and returns its type. Pushes nil if the element is not a table. */
static int push_field(lua_State *L, int list, lua_Integer position, int name) {
    if (lua_rawgeti(L, list, position) != LUA_TTABLE) {
        lua_pop(L, 1);
        lua_pushnil(L);
        return LUA_TNIL;
    }
    lua_pushvalue(L, name);
    int type = lua_rawget(L, -2);
    lua_replace(L, -2);
    return type;
}

enum { longest_integer = 20 };

/* Writes an integer and returns the position after it. */
static char *write_integer(char *at, lua_Integer integer) {
    char digits[longest_integer];
    int count = 0;
    lua_Unsigned rest = integer < 0 ? 0u - (lua_Unsigned)integer : (lua_Unsigned)integer;
    do digits[count++] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (integer < 0) *at++ = '-';
    while (count > 0) *at++ = digits[--count];
    return at;
}

/* prefetch_keys(parents, name, wants_json): returns the distinct keys as a JSON list (true unless `wants_json`), and a table that maps each
** key to the position of its first parent. Returns nothing if a key is not an integer. */
static int prefetch_keys(lua_State *L) {
    enum { parents = 1, name, wants_json, first };
    luaL_checktype(L, parents, LUA_TTABLE);
    lua_settop(L, wants_json);
    bool has_json = lua_toboolean(L, wants_json);
    lua_Integer count = (lua_Integer)lua_rawlen(L, parents);
    lua_createtable(L, 0, count < INT32_MAX ? (int)count : 0);
    char *start = lua_newuserdatauv(L, has_json ? (size_t)count * (longest_integer + 1) + 2 : 2, 0), *at = start;
    *at++ = '[';
    for (lua_Integer i = 1; i <= count; i++) {
        int type = push_field(L, parents, i, name);
        if (type == LUA_TNIL) {
            lua_pop(L, 1);
            continue;
        }
        if (!lua_isinteger(L, -1)) return 0;
        lua_Integer key = lua_tointeger(L, -1);
        lua_pop(L, 1);
        if (lua_rawgeti(L, first, key) == LUA_TNIL) {
            if (has_json && at > start + 1) *at++ = ',';
            if (has_json) at = write_integer(at, key);
            lua_pushinteger(L, i);
            lua_rawseti(L, first, key);
        }
        lua_pop(L, 1);
    }
    *at++ = ']';
    if (has_json) lua_pushlstring(L, start, (size_t)(at - start));
    else lua_pushboolean(L, true);
    lua_pushvalue(L, first);
    return 2;
}

/* The arguments of prefetch_lists and the values that it pushes. */
enum { PARENTS = 1, FIELD, METATABLE, NAME, FIRST, CHILDREN, CHILD_KEYS, LISTS };

typedef struct {
    lua_Integer parent_count, child_count;
    uint32_t *owners; /* for each child, the position of its parent, from 1; 0 if none exists */
    uint32_t *counts; /* for each parent, from 1, the number of its children */
} distribution;

/* Pops a key and returns the position of its first parent, or 0 if none exists. */
static uint32_t pop_owner(lua_State *L) {
    /* The column may contain numbers as text. SQLite does not convert hexadecimal text. */
    bool is_text = lua_type(L, -1) == LUA_TSTRING && strpbrk(lua_tostring(L, -1), "xX") == NULL;
    if (is_text && lua_stringtonumber(L, lua_tostring(L, -1))) lua_replace(L, -2);
    lua_rawget(L, FIRST);
    uint32_t owner = (uint32_t)lua_tointeger(L, -1);
    lua_pop(L, 1);
    return owner;
}

/* Pushes the key of the child at a position. If the element is a list of values, pushes its first value, which is nil for NULL. */
static void push_key(lua_State *L, lua_Integer position) {
    if (lua_rawgeti(L, CHILD_KEYS, position) != LUA_TTABLE) return;
    lua_rawgeti(L, -1, 1);
    lua_replace(L, -2);
}

static void find_owners(lua_State *L, distribution *all) {
    bool has_list = lua_type(L, CHILD_KEYS) == LUA_TTABLE;
    for (lua_Integer i = 1; i <= all->child_count; i++) {
        if (has_list) push_key(L, i);
        else push_field(L, CHILDREN, i, CHILD_KEYS);
        uint32_t owner = pop_owner(L);
        all->owners[i - 1] = owner;
        if (owner) all->counts[owner]++;
    }
}

/* Creates the list of each parent with its final size. */
static void make_lists(lua_State *L, distribution *all) {
    for (lua_Integer i = 1; i <= all->parent_count; i++) {
        if (lua_rawgeti(L, PARENTS, i) != LUA_TTABLE) {
            lua_pop(L, 1);
            continue;
        }
        push_field(L, PARENTS, i, NAME);
        lua_rawget(L, FIRST);
        lua_Integer owner = lua_tointeger(L, -1);
        lua_pop(L, 1);
        lua_pushvalue(L, FIELD);
        lua_createtable(L, (int)all->counts[owner], 0);
        lua_pushvalue(L, METATABLE);
        lua_setmetatable(L, -2);
        lua_pushvalue(L, -1);
        lua_rawseti(L, LISTS, i);
        lua_rawset(L, -3);
        lua_pop(L, 1);
    }
}

static void fill_lists(lua_State *L, distribution *all) {
    memset(all->counts, 0, (size_t)(all->parent_count + 1) * sizeof *all->counts);
    for (lua_Integer i = 1; i <= all->child_count; i++) {
        uint32_t owner = all->owners[i - 1];
        if (owner == 0) continue;
        lua_rawgeti(L, LISTS, owner);
        lua_rawgeti(L, CHILDREN, i);
        lua_rawseti(L, -2, ++all->counts[owner]);
        lua_pop(L, 1);
    }
}

/* Copies the lists to parents with the same key as an earlier one. */
static void copy_lists(lua_State *L, distribution *all) {
    for (lua_Integer i = 1; i <= all->parent_count; i++) {
        push_field(L, PARENTS, i, NAME);
        lua_rawget(L, FIRST);
        lua_Integer owner = lua_tointeger(L, -1);
        lua_pop(L, 1);
        if (owner == 0 || owner == i) continue;
        lua_rawgeti(L, LISTS, owner);
        lua_rawgeti(L, LISTS, i);
        for (uint32_t k = 1; k <= all->counts[owner]; k++) {
            lua_rawgeti(L, -2, k);
            lua_rawseti(L, -2, k);
        }
        lua_pop(L, 2);
    }
}

/* prefetch_lists(parents, field, metatable, name, positions of first parents by key, children, name of their key or list of their keys):
** sets a field of each parent to the list of its children. */
static int prefetch_lists(lua_State *L) {
    static const int tables[] = {PARENTS, METATABLE, FIRST, CHILDREN};
    for (int i = 0; i < 4; i++) luaL_checktype(L, tables[i], LUA_TTABLE);
    lua_settop(L, CHILD_KEYS);
    distribution all = {.parent_count = (lua_Integer)lua_rawlen(L, PARENTS), .child_count = (lua_Integer)lua_rawlen(L, CHILDREN)};
    if (all.parent_count >= INT32_MAX || all.child_count >= INT32_MAX) return luaL_error(L, "too many records");
    lua_createtable(L, (int)all.parent_count, 0);
    size_t counts_size = (size_t)(all.parent_count + 1) * sizeof *all.counts;
    all.owners = lua_newuserdatauv(L, (size_t)all.child_count * sizeof *all.owners + counts_size, 0);
    all.counts = all.owners + all.child_count;
    memset(all.counts, 0, counts_size);
    find_owners(L, &all);
    make_lists(L, &all);
    fill_lists(L, &all);
    copy_lists(L, &all);
    return 0;
}

const luaL_Reg prec_prefetch_functions[] = {
    {"prefetch_keys", prefetch_keys},
    {"prefetch_lists", prefetch_lists},
    {NULL, NULL},
};
