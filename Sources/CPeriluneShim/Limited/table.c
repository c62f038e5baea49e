/* Replacements for the table functions that loop over a range, with limits and counted work. */
#include <limits.h>

#include "CPeriluneShim/Limited/limited.h"

/* MARK: - Common functions */

enum { can_read = 1, can_write = 2, has_length = 4 };

static bool has_metamethod(lua_State *L, const char *name) {
    lua_pushstring(L, name);
    bool is_there = lua_rawget(L, -2) != LUA_TNIL;
    plua_pop(L, 1);
    return is_there;
}

/* Returns whether a value that is not a table has the metamethods that the operations in `needs` require. */
static bool acts_as_table(lua_State *L, int index, int needs) {
    if (!lua_getmetatable(L, index)) return false;
    bool acts = !(needs & can_read && !has_metamethod(L, "__index")) &&
                !(needs & can_write && !has_metamethod(L, "__newindex")) &&
                !(needs & has_length && !has_metamethod(L, "__len"));
    plua_pop(L, 1);
    return acts;
}

static void check_table(lua_State *L, int index, int needs) {
    if (lua_istable(L, index) || acts_as_table(L, index, needs)) return;
    luaL_checktype(L, index, LUA_TTABLE);
}

static lua_Integer check_length(lua_State *L, int index, int needs) {
    check_table(L, index, needs | has_length);
    return luaL_len(L, index);
}

/* Rejects a range with more elements than a limited run may access in one call. */
static void check_range(lua_State *L, const char *function, lua_Integer first, lua_Integer last) {
    if (last < first || (lua_Unsigned)last - (lua_Unsigned)first < PLUA_RANGE_LIMIT) return;
    plua_raise(L, "limited", "table.%s: the range from %I to %I is too long: at most %d elements are allowed here",
                   function, (LUAI_UACINT)first, (LUAI_UACINT)last, PLUA_RANGE_LIMIT);
}

/* target[to] = source[from] */
static inline void copy_element(lua_State *L, int source, lua_Integer from, int target, lua_Integer to) {
    lua_geti(L, source, from);
    lua_seti(L, target, to);
}

/* MARK: - insert, remove, move */

static int limited_insert(lua_State *L) {
    lua_Integer end = (lua_Integer)((lua_Unsigned)check_length(L, 1, can_read | can_write) + 1);
    int argument_count = lua_gettop(L);
    if (argument_count == 2) {
        lua_seti(L, 1, end);
        return 0;
    }
    if (argument_count != 3) return luaL_error(L, "wrong number of arguments to 'insert'");
    lua_Integer position = luaL_checkinteger(L, 2);
    luaL_argcheck(L, (lua_Unsigned)position - 1u < (lua_Unsigned)end, 2, "position out of bounds");
    check_range(L, "insert", position, end);
    plua_meter meter = plua_meter_for(L);
    for (lua_Integer i = end; i > position; i--) {
        copy_element(L, 1, i - 1, 1, i);
        plua_count(&meter, 1);
    }
    plua_charge_meter(&meter);
    lua_seti(L, 1, position);
    return 0;
}

static int limited_remove(lua_State *L) {
    lua_Integer size = check_length(L, 1, can_read | can_write);
    lua_Integer position = luaL_optinteger(L, 2, size);
    if (position != size) {
        luaL_argcheck(L, (lua_Unsigned)position - 1u <= (lua_Unsigned)size, 2, "position out of bounds");
    }
    check_range(L, "remove", position, size);
    lua_geti(L, 1, position);
    plua_meter meter = plua_meter_for(L);
    for (; position < size; position++) {
        copy_element(L, 1, position + 1, 1, position);
        plua_count(&meter, 1);
    }
    plua_charge_meter(&meter);
    lua_pushnil(L);
    lua_seti(L, 1, position);
    return 1;
}

/* Copies `count` elements of the table at 1. Copies from the last to the first if `backward`, as overlapping ranges may require. */
static void copy_elements(lua_State *L, lua_Integer from, int target, lua_Integer to, lua_Integer count, bool backward) {
    plua_meter meter = plua_meter_for(L);
    for (lua_Integer i = 0; i < count; i++) {
        lua_Integer offset = backward ? count - 1 - i : i;
        copy_element(L, 1, from + offset, target, to + offset);
        plua_count(&meter, 1);
    }
    plua_charge_meter(&meter);
}

static int limited_move(lua_State *L) {
    lua_Integer first = luaL_checkinteger(L, 2);
    lua_Integer last = luaL_checkinteger(L, 3);
    lua_Integer to = luaL_checkinteger(L, 4);
    int target = lua_isnoneornil(L, 5) ? 1 : 5;
    check_table(L, 1, can_read);
    check_table(L, target, can_write);
    if (last >= first) {
        luaL_argcheck(L, first > 0 || last < LUA_MAXINTEGER + first, 3, "too many elements to move");
        lua_Integer count = last - first + 1;
        luaL_argcheck(L, to <= LUA_MAXINTEGER - count + 1, 4, "destination wrap around");
        check_range(L, "move", first, last);
        bool overlaps = to > first && to <= last && (target == 1 || lua_compare(L, 1, target, LUA_OPEQ));
        copy_elements(L, first, target, to, count, overlaps);
    }
    lua_pushvalue(L, target);
    return 1;
}

/* MARK: - concat, unpack */

static void append_element(lua_State *L, luaL_Buffer *buffer, plua_meter *meter, lua_Integer index) {
    lua_geti(L, 1, index);
    if (!lua_isstring(L, -1)) {
        luaL_error(L, "invalid value (%s) at index %I in table for 'concat'", luaL_typename(L, -1), (LUAI_UACINT)index);
    }
    plua_count(meter, 1 + plua_cost_of_bytes(lua_rawlen(L, -1)));
    luaL_addvalue(buffer);
}

static int limited_concat(lua_State *L) {
    size_t separator_length;
    lua_Integer length = check_length(L, 1, can_read);
    const char *separator = luaL_optlstring(L, 2, "", &separator_length);
    lua_Integer first = luaL_optinteger(L, 3, 1);
    lua_Integer last = luaL_optinteger(L, 4, length);
    check_range(L, "concat", first, last);
    luaL_Buffer buffer;
    luaL_buffinit(L, &buffer);
    plua_meter meter = plua_meter_for(L);
    for (; first < last; first++) {
        append_element(L, &buffer, &meter, first);
        luaL_addlstring(&buffer, separator, separator_length);
        plua_count(&meter, plua_cost_of_bytes(separator_length));
    }
    if (first == last) append_element(L, &buffer, &meter, first);
    luaL_pushresult(&buffer);
    plua_charge_meter(&meter);
    return 1;
}

static int limited_unpack(lua_State *L) {
    lua_Integer first = luaL_optinteger(L, 2, 1);
    lua_Integer last = lua_isnoneornil(L, 3) ? luaL_len(L, 1) : luaL_checkinteger(L, 3);
    if (first > last) return 0;
    lua_Unsigned count = (lua_Unsigned)last - (lua_Unsigned)first;
    if (count >= INT_MAX || !lua_checkstack(L, (int)count + 1)) return luaL_error(L, "too many results to unpack");
    plua_meter meter = plua_meter_for(L);
    for (lua_Unsigned i = 0; i <= count; i++) {
        lua_geti(L, 1, (lua_Integer)((lua_Unsigned)first + i));
        plua_count(&meter, 1);
    }
    plua_charge_meter(&meter);
    return (int)count + 1;
}

/* MARK: - sort */

/* Ranges of at least this size have random pivots. With fixed pivots, some orders of the elements would make sorting slow. */
enum { random_pivot_limit = 100 };

/* A call of table.sort. The table is at 1, the comparison function or nil at 2. */
typedef struct {
    plua_meter meter;
    uint64_t random; /* the state of a xorshift generator */
    bool has_function;
} sorting;

/* Returns whether the value at `a` is less than the one at `b`. Both indices are relative to the top of the stack. */
static bool comes_before(lua_State *L, sorting *sorter, int a, int b) {
    plua_count(&sorter->meter, 2);
    if (!sorter->has_function) return lua_compare(L, a, b, LUA_OPLT);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, a - 1);
    lua_pushvalue(L, b - 2);
    lua_call(L, 2, 1);
    bool result = lua_toboolean(L, -1);
    plua_pop(L, 1);
    return result;
}

/* Assigns the value on top of the stack to t[i] and the one below it to t[j]. Pops both. */
static void set_pair(lua_State *L, lua_Integer i, lua_Integer j) {
    lua_seti(L, 1, i);
    lua_seti(L, 1, j);
}

/* Swaps two elements if the second comes before the first. */
static void put_in_order(lua_State *L, sorting *sorter, lua_Integer first, lua_Integer second) {
    lua_geti(L, 1, first);
    lua_geti(L, 1, second);
    if (comes_before(L, sorter, -1, -2)) {
        set_pair(L, first, second);
    } else {
        plua_pop(L, 2);
    }
}

static lua_Integer choose_pivot(sorting *sorter, lua_Integer low, lua_Integer high) {
    lua_Integer size = high - low;
    if (size < random_pivot_limit) return low + size / 2;
    sorter->random ^= sorter->random << 13;
    sorter->random ^= sorter->random >> 7;
    sorter->random ^= sorter->random << 17;
    return low + size / 4 + (lua_Integer)(sorter->random % (uint64_t)(size / 2));
}

static int raise_invalid_order(lua_State *L) {
    return luaL_error(L, "invalid order function for sorting");
}

/* Partitions the range by the pivot, which is t[high - 1] and on top of the stack. t[low] is not greater than the pivot, t[high] not less.
** Pops the pivot and returns its final position. With an inconsistent order function, the loops still end inside the range. */
static lua_Integer split(lua_State *L, sorting *sorter, lua_Integer low, lua_Integer high) {
    lua_Integer i = low, j = high - 1;
    for (;;) {
        while (lua_geti(L, 1, ++i), comes_before(L, sorter, -1, -2)) {
            if (i >= high - 1) raise_invalid_order(L);
            plua_pop(L, 1);
        }
        while (lua_geti(L, 1, --j), comes_before(L, sorter, -3, -1)) {
            if (j <= low) raise_invalid_order(L);
            plua_pop(L, 1);
        }
        if (j < i) break;
        set_pair(L, i, j);
    }
    plua_pop(L, 1);
    set_pair(L, high - 1, i); /* moves the pivot between the two parts, and t[i] to the pivot's old position */
    return i;
}

/* Recurses only into the smaller part, so the depth is at most logarithmic in the size. */
static void sort_range(lua_State *L, sorting *sorter, lua_Integer low, lua_Integer high) {
    while (low < high) {
        put_in_order(L, sorter, low, high);
        if (high - low == 1) return;
        lua_Integer middle = choose_pivot(sorter, low, high);
        put_in_order(L, sorter, low, middle);
        put_in_order(L, sorter, middle, high);
        if (high - low == 2) return;
        lua_geti(L, 1, middle);
        lua_pushvalue(L, -1);
        lua_geti(L, 1, high - 1);
        set_pair(L, middle, high - 1);
        middle = split(L, sorter, low, high);
        if (middle - low < high - middle) {
            sort_range(L, sorter, low, middle - 1);
            low = middle + 1;
        } else {
            sort_range(L, sorter, middle + 1, high);
            high = middle - 1;
        }
    }
}

static int limited_sort(lua_State *L) {
    lua_Integer size = check_length(L, 1, can_read | can_write);
    if (size < 2) return 0;
    luaL_argcheck(L, size < INT_MAX, 1, "array too big");
    if (!lua_isnoneornil(L, 2)) luaL_checktype(L, 2, LUA_TFUNCTION);
    check_range(L, "sort", 1, size);
    lua_settop(L, 2);
    sorting sorter = {plua_meter_for(L), (uint64_t)size * 2 + 1, !lua_isnil(L, 2)};
    sort_range(L, &sorter, 1, size);
    plua_charge_meter(&sorter.meter);
    return 0;
}

/* MARK: - Installing */

void plua_open_sort(lua_State *L) {
    plua_replace_functions(L, (const luaL_Reg[]){{"sort", limited_sort}, {NULL, NULL}});
}

void plua_limit_table(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"concat", limited_concat}, {"insert", limited_insert}, {"move", limited_move},
        {"remove", limited_remove}, {"sort", limited_sort},     {"unpack", limited_unpack},
        {NULL, NULL},
    };
    plua_replace_functions(L, functions);
}
