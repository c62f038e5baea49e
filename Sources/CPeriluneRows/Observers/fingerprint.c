/*
** Fingerprints of values, with which an observation detects a new value without storing the old one. Deeply equal values have equal
** fingerprints, regardless of the order of table keys. Different values have equal fingerprints only by chance, once in 2^64 cases.
*/
#include "CPeriluneRows/Observers/observers.h"

/* The maximum nesting of tables. Deeper tables are treated as a cycle. */
enum { deepest = 100, entries_per_look = 256 };

/* A fingerprint: two hashes with different seeds. */
typedef struct {
    uint64_t low, high;
} fingerprint;

static uint64_t scramble(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static fingerprint add_word(fingerprint sum, uint64_t word) {
    sum.low = scramble(sum.low ^ word) + 0x9e3779b97f4a7c15u;
    sum.high = scramble(sum.high + word * 0xff51afd7ed558ccdu) ^ 0xc4ceb9fe1a85ec53u;
    return sum;
}

static fingerprint add_bytes(fingerprint sum, const char *bytes, size_t length) {
    sum = add_word(sum, length);
    for (; length >= 8; bytes += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        sum = add_word(sum, word);
    }
    uint64_t rest = 0;
    memcpy(&rest, bytes, length);
    return add_word(sum, rest);
}

static fingerprint of_value(lua_State *L, int index, int depth);

/* Adds up the hashes of the entries, so that their order does not matter. */
static fingerprint of_table(lua_State *L, int index, int depth) {
    if (depth >= deepest) {
        plua_raise(L, "argument", "observe: the value is nested more than %d tables deep; it may contain a cycle", deepest);
    }
    luaL_checkstack(L, LUA_MINSTACK, "an observed value");
    fingerprint total = {0, 0};
    uint64_t count = 0;
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        fingerprint entry = of_value(L, lua_gettop(L) - 1, depth + 1), value = of_value(L, lua_gettop(L), depth + 1);
        entry = add_word(add_word(entry, value.low), value.high);
        total.low += entry.low;
        total.high += entry.high;
        if (++count % entries_per_look == 0) plua_count_work(L, entries_per_look);
    }
    return add_word(add_word((fingerprint){LUA_TTABLE, count}, total.low), total.high);
}

/* Hashes blobs and dates by their stored values. */
static fingerprint of_userdata(lua_State *L, int index, int depth) {
    size_t length;
    const char *bytes = pdb_blob_bytes(L, index, &length);
    if (bytes) return add_bytes((fingerprint){LUA_TUSERDATA, 1}, bytes, length);
    pdb_push_plain(L, index);
    fingerprint result = lua_type(L, -1) == LUA_TUSERDATA
                             ? add_word((fingerprint){LUA_TUSERDATA, 2}, (uint64_t)(uintptr_t)lua_topointer(L, -1))
                             : add_word(of_value(L, lua_gettop(L), depth + 1), LUA_TUSERDATA);
    lua_pop(L, 1);
    return result;
}

static fingerprint of_value(lua_State *L, int index, int depth) {
    int type = lua_type(L, index);
    fingerprint sum = {(uint64_t)type, 0};
    switch (type) {
        case LUA_TNIL: return add_word(sum, 0);
        case LUA_TBOOLEAN: return add_word(sum, (uint64_t)lua_toboolean(L, index));
        case LUA_TNUMBER: {
            if (lua_isinteger(L, index)) return add_word(sum, (uint64_t)lua_tointeger(L, index));
            double number = lua_tonumber(L, index);
            uint64_t bits;
            memcpy(&bits, &number, sizeof bits);
            return add_word(add_word(sum, 1), bits);
        }
        case LUA_TSTRING: {
            size_t length;
            const char *bytes = lua_tolstring(L, index, &length);
            return add_bytes(sum, bytes, length);
        }
        case LUA_TTABLE: return of_table(L, index, depth);
        case LUA_TUSERDATA: return of_userdata(L, index, depth);
        default: return add_word(sum, (uint64_t)(uintptr_t)lua_topointer(L, index));
    }
}

int pdb_fingerprint(lua_State *L) {
    int count = lua_gettop(L);
    fingerprint sum = {(uint64_t)count, 0};
    for (int i = 1; i <= count; i++) {
        fingerprint value = of_value(L, i, 0);
        sum = add_word(add_word(sum, value.low), value.high);
    }
    lua_pushlstring(L, (const char *)&sum, sizeof sum);
    return 1;
}
