/*
** The order in which a deterministic state visits the keys of a table: numbers in ascending order, strings by their bytes, false, true,
** then objects in the order of their creation. Lua's own order follows a hash that differs between processes.
**
** `pairs` returns a closure over a list of the keys; `next` keeps the lists of the last traversals. The keys 1...sequence have the
** positions 1...sequence and are not in the list, which contains the keys after them. Keys whose values have become nil are skipped.
**
** Lists of a few strings are cached: tables with the same keys, such as rows, share a list.
*/
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "CPeriluneShim/Order/order.h"

/* Registry keys: the cached lists, and a function of `pairs` that is not in use. */
static const char kept_key, visitor_key;

/* MARK: - Comparing keys */

enum { RANK_NUMBER, RANK_STRING, RANK_BOOLEAN, RANK_OBJECT, RANK_POINTER };

/* A key for comparison, valid as long as Lua keeps the value. */
typedef struct {
    uint8_t rank;
    bool is_float;
    int place;       /* the position of the value: a stack index or list position */
    uint64_t prefix; /* the first bytes of a text as a number, for fast comparison */
    union {
        lua_Integer integer; /* or a boolean */
        lua_Number number;
        const char *text;
        uint64_t identity; /* the number of an object, or a pointer */
    };
    size_t length; /* of the text */
} table_key;

static uint64_t prefix_of(const char *text, size_t length) {
    unsigned char bytes[8] = {0};
    uint64_t prefix = 0;
    memcpy(bytes, text, length < sizeof bytes ? length : sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++) prefix = prefix << 8 | bytes[i];
    return prefix;
}

static table_key read_key(lua_State *L, int index) {
    table_key key = {.rank = RANK_NUMBER};
    switch (lua_type(L, index)) {
        case LUA_TNUMBER:
            key.is_float = !lua_isinteger(L, index);
            if (key.is_float) key.number = lua_tonumber(L, index);
            else key.integer = lua_tointeger(L, index);
            return key;
        case LUA_TSTRING:
            key.rank = RANK_STRING;
            key.text = lua_tolstring(L, index, &key.length);
            key.prefix = prefix_of(key.text, key.length);
            return key;
        case LUA_TBOOLEAN:
            key.rank = RANK_BOOLEAN;
            key.integer = lua_toboolean(L, index);
            return key;
        default:
            key.identity = plua_object_number(L, index);
            key.rank = key.identity ? RANK_OBJECT : RANK_POINTER;
            if (key.identity == 0) key.identity = (uint64_t)(uintptr_t)lua_topointer(L, index);
            return key;
    }
}

/* Returns whether an integer is less than a float, which is not a whole number. */
static bool is_less(lua_Integer integer, lua_Number number) {
    if (number >= 0x1p63) return true;
    if (number < -0x1p63) return false;
    return integer <= (lua_Integer)floor(number);
}

static int compare_numbers(const table_key *a, const table_key *b) {
    if (a->is_float != b->is_float) {
        bool is_integer_less = a->is_float ? is_less(b->integer, a->number) : is_less(a->integer, b->number);
        return is_integer_less != a->is_float ? -1 : 1;
    }
    if (a->is_float) return a->number < b->number ? -1 : a->number > b->number;
    return a->integer < b->integer ? -1 : a->integer > b->integer;
}

static int compare(const table_key *a, const table_key *b) {
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    switch (a->rank) {
        case RANK_NUMBER: return compare_numbers(a, b);
        case RANK_STRING: {
            if (a->prefix != b->prefix) return a->prefix < b->prefix ? -1 : 1;
            int order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);
            return order ? order : a->length < b->length ? -1 : a->length > b->length;
        }
        case RANK_BOOLEAN: return (int)(a->integer - b->integer);
        default: return a->identity < b->identity ? -1 : a->identity > b->identity;
    }
}

static int compare_for_qsort(const void *a, const void *b) { return compare(a, b); }

static void sort(table_key *keys, int count) {
    enum { few = 24 };
    if (count > few) {
        qsort(keys, (size_t)count, sizeof *keys, compare_for_qsort);
        return;
    }
    for (int i = 1; i < count; i++) {
        table_key key = keys[i];
        int j = i;
        for (; j > 0 && compare(&keys[j - 1], &key) > 0; j--) keys[j] = keys[j - 1];
        keys[j] = key;
    }
}

/* MARK: - Listing keys */

enum { most_on_stack = 40, kept_count = 16, expected_count = 16 };

/* A cached list of strings, in the order in which Lua traverses them. The list protects them from collection. */
typedef struct {
    int count;
    const void *strings[most_on_stack];
} kept_list;

/* The state's data for traversals. */
typedef struct {
    kept_list lists[kept_count];
    kept_list *expected[expected_count]; /* the list of the last traversal, or NULL; see expected_place */
    int cursor_lists[plua_cursor_count]; /* registry references to the lists of the cursors */
} memory;

static memory *memory_of(lua_State *L) { return plua_context_of(L)->kept_lists; }

/* The keys of a table that need a list, and their counts. */
typedef struct {
    lua_Integer sequence; /* the keys 1...sequence need no list */
    lua_Integer count, scanned;
    bool has_number_before; /* a number must be visited before the end of the sequence */
    bool is_sorted;         /* Lua's order of the keys is already the right one */
    table_key keys[most_on_stack];
} listing;

/* Counts the key at -2, whose value is on top of the stack. Pops the value; leaves a copy of the key on the stack if there are few keys so
** far. */
static void note_key(lua_State *L, listing *list) {
    plua_pop(L, 1);
    list->scanned++;
    if (lua_isinteger(L, -1)) {
        lua_Integer integer = lua_tointeger(L, -1);
        if (integer >= 1 && integer <= list->sequence) return;
        list->has_number_before |= integer < 1;
    } else if (lua_type(L, -1) == LUA_TNUMBER) {
        list->has_number_before |= lua_tonumber(L, -1) < (lua_Number)list->sequence;
    }
    if (list->count < most_on_stack) {
        int i = (int)list->count;
        list->keys[i] = read_key(L, -1);
        list->keys[i].place = lua_gettop(L);
        if (i > 0 && compare(&list->keys[i - 1], &list->keys[i]) > 0) list->is_sorted = false;
        lua_pushvalue(L, -1);
    }
    list->count++;
}

/* Counts the keys of a table. Copies of them stay on the stack as long as there are few. */
static void count_keys(lua_State *L, int table, listing *list, lua_Integer sequence) {
    list->sequence = sequence;
    list->count = list->scanned = 0;
    list->has_number_before = false;
    list->is_sorted = true;
    for (lua_pushnil(L); lua_next(L, table);) note_key(L, list);
}

/* Replaces the keys on the stack, from `base` on, by a sorted list. */
static void push_short_list(lua_State *L, listing *list, int base) {
    if (!list->is_sorted) sort(list->keys, (int)list->count);
    lua_createtable(L, (int)list->count, 0);
    for (int i = 0; i < list->count; i++) {
        lua_pushvalue(L, list->keys[i].place);
        lua_rawseti(L, -2, i + 1);
    }
    lua_replace(L, base + 1);
    lua_settop(L, base + 1);
}

/* Puts the list on top of the stack in the order of its keys, which are sorted already. Allocates nothing. */
static void permute(lua_State *L, table_key *keys, int count) {
    int list = lua_gettop(L);
    for (int start = 0; start < count; start++) {
        if (keys[start].place == start + 1) continue;
        lua_rawgeti(L, list, start + 1);
        int i = start;
        while (keys[i].place != start + 1) {
            int source = keys[i].place - 1;
            lua_rawgeti(L, list, source + 1);
            lua_rawseti(L, list, i + 1);
            keys[i].place = i + 1;
            i = source;
        }
        lua_rawseti(L, list, i + 1);
        keys[i].place = i + 1;
    }
}

/* Fills the list on top of the stack, which has space for `count` keys, in order. Lua allocates nothing during this, so the keys' texts
** stay valid. Returns false if the table's keys have changed since they were counted, because creating the list may have run a
** finalizer. */
static bool fill_long_list(lua_State *L, int table, table_key *keys, lua_Integer count, lua_Integer sequence) {
    int list = lua_gettop(L), found = 0;
    bool is_sorted = true, fits = true;
    for (lua_pushnil(L); lua_next(L, table);) {
        plua_pop(L, 1);
        if (lua_isinteger(L, -1) && lua_tointeger(L, -1) >= 1 && lua_tointeger(L, -1) <= sequence) continue;
        if (found == count) {
            fits = false;
            break;
        }
        keys[found] = read_key(L, -1);
        keys[found].place = found + 1;
        is_sorted = is_sorted && (found == 0 || compare(&keys[found - 1], &keys[found]) < 0);
        lua_pushvalue(L, -1);
        lua_rawseti(L, list, ++found);
    }
    lua_settop(L, list);
    if (!fits || found != count) return false;
    if (!is_sorted) {
        sort(keys, found);
        permute(L, keys, found);
    }
    return true;
}

static bool push_long_list(lua_State *L, int table, lua_Integer count, lua_Integer sequence) {
    if (count >= INT_MAX) luaL_error(L, "table has too many keys");
    lua_createtable(L, (int)count, 0);
    table_key *keys = malloc((size_t)count * sizeof *keys);
    if (keys == NULL) luaL_error(L, "not enough memory");
    bool is_filled = fill_long_list(L, table, keys, count, sequence);
    free(keys);
    if (!is_filled) plua_pop(L, 1);
    return is_filled;
}

/* Pushes a new sorted list of the keys of a table; nil if the sequence contains all keys. Returns the number of positions. */
static lua_Integer push_made_list(lua_State *L, int table, lua_Integer *sequence) {
    luaL_checkstack(L, most_on_stack + LUA_MINSTACK, NULL);
    int base = lua_gettop(L);
    listing list;
    bool is_made = false;
    while (!is_made) {
        lua_settop(L, base);
        count_keys(L, table, &list, (lua_Integer)lua_rawlen(L, table));
        if (list.has_number_before) {
            lua_settop(L, base);
            count_keys(L, table, &list, 0);
        }
        *sequence = list.sequence;
        is_made = true;
        if (list.count == 0) {
            lua_pushnil(L);
        } else if (list.count <= most_on_stack) {
            push_short_list(L, &list, base);
        } else {
            lua_settop(L, base);
            is_made = push_long_list(L, table, list.count, list.sequence);
        }
    }
    return *sequence + list.count;
}

/* The result of examining the keys of a table. */
typedef struct {
    lua_Integer sequence, scanned;
    bool are_few_strings; /* apart from the sequence, there are only strings, and few of them */
    kept_list strings;
} keys_found;

/* Returns the variable that stores the list of a table's last traversal. Tables share 16 of them, selected by their numbers. */
static kept_list **expected_place(lua_State *L, int table) {
    return &memory_of(L)->expected[plua_number_of_block(lua_topointer(L, table)) % expected_count];
}

/* Adds a string to the keys found; skips keys of the sequence. For any other key, or too many strings, sets `are_few_strings` to false. */
static void find_other_key(lua_State *L, keys_found *found) {
    if (lua_isinteger(L, -2)) {
        lua_Integer integer = lua_tointeger(L, -2);
        found->are_few_strings = integer >= 1 && integer <= found->sequence;
    } else if (lua_type(L, -2) == LUA_TSTRING && found->strings.count < most_on_stack) {
        found->strings.strings[found->strings.count++] = lua_topointer(L, -2);
    } else {
        found->are_few_strings = false;
    }
}

/* Examines the keys of a table, which usually has the same keys as in its last traversal. A key with the address of an expected string is
** that string, so its type is not checked. */
static void find_keys(lua_State *L, int table, keys_found *found) {
    const kept_list *expected = *expected_place(L, table);
    int most_expected = expected ? expected->count : 0;
    found->sequence = (lua_Integer)lua_rawlen(L, table);
    found->scanned = 0;
    found->are_few_strings = true;
    found->strings.count = 0;
    for (lua_pushnil(L); lua_next(L, table); plua_pop(L, 1)) {
        found->scanned++;
        if (!found->are_few_strings) continue;
        int i = found->strings.count;
        bool is_expected = i < most_expected && lua_topointer(L, -2) == expected->strings[i];
        if (is_expected) found->strings.strings[found->strings.count++] = expected->strings[i];
        else find_other_key(L, found);
    }
    plua_count_work(L, found->scanned);
}

static bool are_same(const kept_list *a, const kept_list *b) {
    return a->count == b->count && memcmp(a->strings, b->strings, (size_t)a->count * sizeof *a->strings) == 0;
}

static kept_list *kept_place(lua_State *L, const kept_list *found) {
    uint64_t first = (uint64_t)(uintptr_t)found->strings[0], last = (uint64_t)(uintptr_t)found->strings[found->count - 1];
    uint64_t hash = (first * 31 + last + (uint64_t)found->count) * 0x9E3779B97F4A7C15u;
    return &memory_of(L)->lists[hash >> 60];
}

/* Pushes the table with this registry key, which is created on first use. [-0, +1, m] */
static void push_table(lua_State *L, const void *key) {
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, key) != LUA_TNIL) return;
    plua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, key);
}

/* Pushes the cached list of the keys found, or nil if they need none. Pushes nothing and returns false if their list is not cached. */
static bool push_known_list(lua_State *L, int table, const keys_found *found) {
    if (!found->are_few_strings) return false;
    if (found->strings.count == 0) {
        lua_pushnil(L);
        return true;
    }
    kept_list *kept = kept_place(L, &found->strings);
    if (!are_same(kept, &found->strings)) return false;
    *expected_place(L, table) = kept;
    push_table(L, &kept_key);
    lua_rawgeti(L, -1, kept - memory_of(L)->lists + 1);
    lua_remove(L, -2);
    return true;
}

/* Caches the list on top of the stack, unless a finalizer has changed the table since its keys were found. */
static void keep_list(lua_State *L, int table, const keys_found *found) {
    keys_found again;
    if (!found->are_few_strings || !lua_istable(L, -1)) return;
    kept_list *kept = kept_place(L, &found->strings);
    kept->count = 0;
    push_table(L, &kept_key);
    lua_pushvalue(L, -2);
    lua_rawseti(L, -2, kept - memory_of(L)->lists + 1);
    plua_pop(L, 1);
    find_keys(L, table, &again);
    bool is_whole = (lua_Integer)lua_rawlen(L, -1) == found->strings.count && again.sequence == found->sequence;
    if (is_whole && again.are_few_strings && are_same(&again.strings, &found->strings)) *kept = found->strings;
}

/* Pushes the sorted list of the keys of a table; nil if the sequence contains all keys. Returns the number of positions. */
static lua_Integer push_keys(lua_State *L, int table, lua_Integer *sequence) {
    keys_found found;
    find_keys(L, table, &found);
    if (push_known_list(L, table, &found)) {
        *sequence = found.sequence;
        return found.sequence + found.strings.count;
    }
    lua_Integer total = push_made_list(L, table, sequence);
    keep_list(L, table, &found);
    return total;
}

/* MARK: - Visiting */

/* Returns whether the key at 2 is the one that the cursor visited last; nil at the beginning. */
static inline bool is_at(lua_State *L, int list, const plua_cursor *cursor) {
    if (cursor->position == 0) return lua_isnil(L, 2);
    if (cursor->position <= cursor->sequence) return lua_isinteger(L, 2) && lua_tointeger(L, 2) == cursor->position;
    if (cursor->last) return lua_topointer(L, 2) == cursor->last;
    lua_rawgeti(L, list, cursor->position - cursor->sequence);
    bool is_equal = lua_rawequal(L, -1, 2);
    plua_pop(L, 1);
    return is_equal;
}

/* Pushes the next key that has a value in the table at 1, and the value. Pushes nothing and returns false at the end. */
static inline bool push_next(lua_State *L, int list, plua_cursor *cursor) {
    while (cursor->position < cursor->total) {
        if (++cursor->position <= cursor->sequence) {
            lua_pushinteger(L, cursor->position);
            if (lua_rawgeti(L, 1, cursor->position) != LUA_TNIL) return true;
        } else {
            lua_rawgeti(L, list, cursor->position - cursor->sequence);
            lua_pushvalue(L, -1);
            if (lua_rawget(L, 1) != LUA_TNIL) {
                cursor->last = lua_topointer(L, -2);
                return true;
            }
        }
        plua_pop(L, 2);
    }
    return false;
}

static int ordered_next(lua_State *L);

/* Makes a function whose traversal has ended reusable by the next call of `pairs`. If a script calls the same function later, while another
** loop uses it, both loops continue like `next`. */
static void free_visitor(lua_State *L) {
    plua_cursor *cursor = lua_touserdata(L, lua_upvalueindex(1));
    cursor->table = 0;
    lua_pushnil(L);
    lua_replace(L, lua_upvalueindex(2));
    plua_context_of(L)->free_visitor = cursor->used == 1;
}

/* The function that `pairs` returns. If its argument is not the last key of its table, it acts like `next`. */
static int visit_next(lua_State *L) {
    plua_cursor *cursor = lua_touserdata(L, lua_upvalueindex(1));
    lua_settop(L, 2);
    bool is_own = lua_type(L, 1) == LUA_TTABLE && cursor->table == plua_number_of_block(lua_topointer(L, 1));
    if (!is_own || !is_at(L, lua_upvalueindex(2), cursor)) return ordered_next(L);
    if (push_next(L, lua_upvalueindex(2), cursor)) return 2;
    free_visitor(L);
    lua_pushnil(L);
    return 1;
}

/* Pushes a function that visits the keys of the list on top of the stack, and pops the list. */
static void push_visitor(lua_State *L, lua_Integer sequence, lua_Integer total) {
    plua_context *context = plua_context_of(L);
    if (context->free_visitor) {
        context->free_visitor = false;
        lua_rawgetp(L, LUA_REGISTRYINDEX, &visitor_key);
        lua_insert(L, -2);
        lua_setupvalue(L, -2, 2);
        lua_getupvalue(L, -1, 1);
    } else {
        bool is_first = lua_rawgetp(L, LUA_REGISTRYINDEX, &visitor_key) == LUA_TNIL;
        plua_pop(L, 1);
        plua_cursor *cursor = lua_newuserdatauv(L, sizeof *cursor, 0);
        cursor->used = is_first; /* whether this is the function that is reused */
        lua_insert(L, -2);
        lua_pushcclosure(L, visit_next, 2);
        if (is_first) {
            lua_pushvalue(L, -1);
            lua_rawsetp(L, LUA_REGISTRYINDEX, &visitor_key);
        }
        lua_getupvalue(L, -1, 1);
    }
    plua_cursor *cursor = lua_touserdata(L, -1);
    plua_pop(L, 1);
    *cursor = (plua_cursor){
        .table = plua_number_of_block(lua_topointer(L, 1)), .sequence = sequence, .total = total, .used = cursor->used};
}

static int pairs_called(lua_State *L, int status, lua_KContext unused) {
    (void)L, (void)status, (void)unused;
    return 3;
}

static int ordered_pairs(lua_State *L) {
    luaL_checkany(L, 1);
    lua_settop(L, 1);
    if (luaL_getmetafield(L, 1, "__pairs") != LUA_TNIL) {
        lua_pushvalue(L, 1);
        lua_callk(L, 1, 3, 0, pairs_called);
        return 3;
    }
    lua_Integer sequence, total = 0;
    if (lua_type(L, 1) == LUA_TTABLE) total = push_keys(L, 1, &sequence);
    if (total > 0) {
        push_visitor(L, sequence, total);
    } else {
        lua_pushcfunction(L, ordered_next);
    }
    lua_pushvalue(L, 1);
    lua_pushnil(L);
    return 3;
}

/* MARK: - next */

static plua_cursor *cursors_of(lua_State *L) { return plua_context_of(L)->cursors; }

/* Pops a value and stores it as the list of a cursor. [-1, +0, -] */
static void set_list(lua_State *L, const plua_cursor *cursor) {
    lua_rawseti(L, LUA_REGISTRYINDEX, memory_of(L)->cursor_lists[cursor - cursors_of(L)]);
}

/* Pushes the list of a cursor, or nil if it needs none. */
static void push_list(lua_State *L, const plua_cursor *cursor) {
    if (cursor->sequence == cursor->total) lua_pushnil(L);
    else lua_rawgeti(L, LUA_REGISTRYINDEX, memory_of(L)->cursor_lists[cursor - cursors_of(L)]);
}

/* Ends the traversal of a cursor and allows its list to be collected. */
static void release(lua_State *L, plua_cursor *cursor) {
    cursor->table = 0;
    lua_pushboolean(L, false);
    set_list(L, cursor);
}

/* Finds the cursor that last visited the key at 2 of the table at 1, and pushes its list. Pushes nothing and returns NULL without such a
** cursor. */
static plua_cursor *push_found(lua_State *L, uint64_t table) {
    plua_cursor *cursors = cursors_of(L);
    for (int i = 0; i < plua_cursor_count; i++) {
        if (cursors[i].table != table) continue;
        push_list(L, &cursors[i]);
        if (is_at(L, 3, &cursors[i])) return &cursors[i];
        plua_pop(L, 1);
    }
    return NULL;
}

/* Returns the position after which all keys are greater than the key at 2, which the table may no longer contain. */
static lua_Integer position_of(lua_State *L, int list, lua_Integer sequence, lua_Integer total) {
    table_key wanted = read_key(L, 2);
    if (wanted.rank == RANK_NUMBER && sequence > 0) {
        table_key last = {.rank = RANK_NUMBER, .integer = sequence}, first = {.rank = RANK_NUMBER, .integer = 1};
        if (compare(&wanted, &first) < 0) return 0;
        if (compare(&wanted, &last) <= 0) return wanted.is_float ? (lua_Integer)floor(wanted.number) : wanted.integer;
    }
    lua_Integer low = sequence, high = total;
    while (low < high) {
        lua_Integer middle = low + (high - low) / 2;
        lua_rawgeti(L, list, middle + 1 - sequence);
        table_key key = read_key(L, -1);
        plua_pop(L, 1);
        if (compare(&key, &wanted) <= 0) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Replaces the least recently used cursor by a cursor for the table at 1, with the list at 3. */
static plua_cursor *make_cursor(lua_State *L, uint64_t table, lua_Integer sequence, lua_Integer total) {
    plua_cursor *cursors = cursors_of(L), *oldest = cursors;
    for (int i = 1; i < plua_cursor_count; i++) {
        if (cursors[i].table == 0 || (oldest->table != 0 && cursors[i].used < oldest->used)) oldest = &cursors[i];
    }
    *oldest = (plua_cursor){.table = table, .sequence = sequence, .total = total};
    lua_pushvalue(L, 3);
    set_list(L, oldest);
    return oldest;
}

/* Visits the next key of the table at 1. The list of the cursor is at 3. */
static int visit(lua_State *L, plua_cursor *cursor) {
    cursor->used = ++plua_context_of(L)->cursor_uses;
    if (push_next(L, 3, cursor)) return 2;
    release(L, cursor);
    lua_pushnil(L);
    return 1;
}

/* Returns the least key of the table at 1, and its value. Creates no list, because most callers only check whether the table is empty. */
static int push_least(lua_State *L) {
    lua_pushnil(L); /* the least key so far, at 3 */
    table_key least = {0};
    bool is_first = true;
    for (lua_pushnil(L); lua_next(L, 1); plua_pop(L, 1)) {
        table_key key = read_key(L, 4);
        if (is_first || compare(&key, &least) < 0) {
            least = key;
            lua_copy(L, 4, 3);
        }
        is_first = false;
    }
    if (is_first) return 1;
    lua_pushvalue(L, 3);
    lua_rawget(L, 1);
    return 2;
}

/* Begins a traversal of the table at 1. Does so immediately if its list is cached or not needed. */
static int begin(lua_State *L, uint64_t table) {
    plua_cursor *cursors = cursors_of(L);
    for (int i = 0; i < plua_cursor_count; i++) {
        if (cursors[i].table == table) release(L, &cursors[i]);
    }
    keys_found found;
    find_keys(L, 1, &found);
    if (found.scanned == 0) {
        lua_pushnil(L);
        return 1;
    }
    if (!push_known_list(L, 1, &found)) return push_least(L);
    return visit(L, make_cursor(L, table, found.sequence, found.sequence + found.strings.count));
}

static int ordered_next(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2);
    uint64_t table = plua_number_of_block(lua_topointer(L, 1));
    if (lua_isnil(L, 2)) return begin(L, table);
    plua_cursor *cursor = push_found(L, table);
    if (cursor == NULL) {
        lua_Integer sequence, total = push_keys(L, 1, &sequence);
        cursor = make_cursor(L, table, sequence, total);
        cursor->position = position_of(L, 3, sequence, total);
    }
    return visit(L, cursor);
}

int plua_next_in_order(lua_State *L, int table) {
    if (!plua_is_deterministic(L)) return lua_next(L, table);
    table = lua_absindex(L, table);
    lua_pushcfunction(L, ordered_next);
    lua_pushvalue(L, table);
    lua_rotate(L, -3, 2);
    lua_call(L, 2, 2);
    if (!lua_isnil(L, -2)) return 1;
    plua_pop(L, 2);
    return 0;
}

void plua_open_traversal(lua_State *L) {
    plua_context_of(L)->kept_lists = calloc(1, sizeof(memory));
    if (memory_of(L) == NULL) luaL_error(L, "not enough memory");
    for (int i = 0; i < plua_cursor_count; i++) {
        lua_pushboolean(L, false);
        memory_of(L)->cursor_lists[i] = plua_reference(L);
    }
    static const luaL_Reg functions[] = {{"next", ordered_next}, {"pairs", ordered_pairs}, {NULL, NULL}};
    plua_replace_functions(L, functions);
}
