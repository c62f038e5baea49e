/* The context of a Lua state, its allocator, and creating and closing states. */
#include <stdio.h>
#include <stdlib.h>

#include <perilune_arrays.h>

#include "CPeriluneShim/State/pool.h"
#include "CPeriluneShim/State/state.h"

_Thread_local plua_context *plua_running;

plua_context *plua_running_context(void) { return plua_running; }

bool plua_is_run_cancelled(void) { return plua_running && plua_poll(plua_running) != PLUA_CANCEL_NONE; }

/* The data of a state: its public context, followed by the private data of the allocator. */
typedef struct {
    plua_context context; /* the first member, so that a pointer to it is a pointer to the whole record */
    plua_pool pool;
    size_t header; /* the size of the header before each block: in a deterministic state, it contains the number of an object; otherwise
                   ** 0 */
    int pause; /* the collector's pause that was set last here, in percent of the memory in use after a collection */
    size_t least_used, most_used; /* the pause is set again when the memory in use leaves this range */
} record;

enum { usual_pause = 200 }; /* Lua's default */

size_t plua_collection_threshold(plua_context *context) {
    enum { least = 4 << 20 };
    size_t bound = context->limit == 0 || context->limit / 16 > least ? least : context->limit / 16;
    return 2 * context->used > bound ? 2 * context->used : bound;
}

/* Sets the collector's pause for the memory in use, unless the script has set the pause itself. */
static void adjust_pause(record *state) {
    enum { longest_pause = 1000 };
    plua_context *context = &state->context;
    size_t used = context->used > 0 ? context->used : 1;
    size_t pause = 100 * plua_collection_threshold(context) / used / 4 * 4; /* Lua stores a fourth of it */
    if (pause > longest_pause) pause = longest_pause;
    int former = lua_gc(context->main, LUA_GCSETPAUSE, (int)pause);
    if (former == -1) return; /* a finalizer is running */
    bool is_own = former == state->pause;
    if (!is_own) lua_gc(context->main, LUA_GCSETPAUSE, former);
    state->pause = (int)pause;
    state->least_used = is_own ? used - used / 8 : 0;
    state->most_used = is_own ? used + used / 8 : SIZE_MAX;
}

static bool is_numbered(int type) {
    return type == LUA_TTABLE || type == LUA_TFUNCTION || type == LUA_TUSERDATA || type == LUA_TTHREAD;
}

/* Writes the header of a new block and returns the part after it, which is for Lua. `type` is the Lua type of a new object, or 0. */
static void *begin_block(record *state, void *block, int type) {
    if (state->header == 0) return block;
    plua_context *context = &state->context;
    *(uint64_t *)block = is_numbered(type) ? ++context->object_count : 0;
    void *start = (char *)block + state->header;
    if (is_numbered(type)) context->last_object = start;
    return start;
}

/* Returns whether this allocation must fail for a test: the n-th one, and its repetition after Lua's emergency collection. */
static bool is_chosen_to_fail(plua_context *context) {
    if (context->fail_at == -1) return false;
    if (context->fail_at == -2) {
        context->fail_at = -1;
        return true;
    }
    if (context->fail_at-- > 0) return false;
    context->fail_at = -2;
    return true;
}

/* Returns whether a block of this size is a Lua stack: it has 40, 80, 160, ... slots of 16 bytes, and 5 more. Tables never have such a
** size. This matters because some Lua releases do not survive a refused allocation of a table. */
static bool is_stack(size_t size) {
    return size >= 32 * 1024 && size % 32 == 16;
}

/* Called while a Lua stack grows. Returns whether the run must end. If the __call of a table is the table itself, Lua shifts arguments for
** minutes without executing an instruction, so the hook does not run. The stack grows during this time. */
static bool is_over_while_growing(plua_context *context) {
    if (context->deadline != 0 && plua_now() >= context->deadline) {
        plua_cancel_run(context, PLUA_CANCEL_TIMEOUT);
    }
    return atomic_load_explicit(&context->cancel_reason, memory_order_relaxed) != PLUA_CANCEL_NONE;
}

/*
** Returns the maximum number of bytes that the pool of a state with a memory limit may hold. The pool rounds sizes up by at most an eighth,
** and a single block may occupy a page. A script that keeps one block on each page and then uses blocks of a different size can therefore
** hold as much memory as one that fills its pages.
*/
static size_t most_held(size_t limit) {
    enum { allowance = 8 << 20 };
    return limit > SIZE_MAX / 4 ? SIZE_MAX : limit + limit / 8 + allowance;
}

static size_t held(plua_context *context) { return ((record *)context)->pool.held + context->external; }

bool plua_exceeds_memory_limit(plua_context *context) {
    if (context->limit == 0) return false;
    if (context->used + context->external <= context->limit && held(context) <= most_held(context->limit)) return false;
    lua_gc(context->main, LUA_GCCOLLECT);
    if (context->used + context->external > context->limit) return true;
    if (held(context) <= most_held(context->limit)) return false;
    plua_pool_trim(&((record *)context)->pool);
    return held(context) > most_held(context->limit);
}

/* Returns whether the allocation would exceed the maximum of the pool by too much to wait for the next check of the limit. */
static bool is_far_beyond(plua_context *context, size_t size) {
    enum { allowance = 16 << 20 };
    size_t most = most_held(context->limit);
    return most < SIZE_MAX && held(context) + size > most + allowance;
}

/*
** Returns whether to refuse a string immediately: a long string beyond the memory limit, or any string far beyond it. Otherwise a single
** `..`, or fetching rows, could double the script's memory, because the hook does not run during these operations. After a refusal Lua
** collects garbage, which is safe while a string is created, and tries again.
*/
static bool is_too_long(plua_context *context, int type, size_t size) {
    enum { least = 1 << 14 };
    if (type != LUA_TSTRING || context->limit == 0) return false;
    bool is_second_try = context->refused_size == size;
    bool fits = size < least || context->used + context->external + size <= context->limit;
    if (fits && is_second_try && is_far_beyond(context, size)) plua_pool_trim(&((record *)context)->pool);
    fits = fits && !is_far_beyond(context, size);
    context->refused_size = fits || is_second_try ? 0 : size;
    if (!fits && is_second_try) plua_cancel_run(context, PLUA_CANCEL_MEMORY);
    return !fits;
}

/* Returns whether to refuse an allocation. `type` is the Lua type of a new object, or 0. */
static bool is_refused(plua_context *context, int type, size_t old_size, size_t new_size) {
    if (!context->may_refuse || new_size <= old_size) return false;
    if (is_chosen_to_fail(context)) return true;
    if (is_stack(new_size) && is_over_while_growing(context)) return true;
    if (is_too_long(context, type, new_size)) return true;
    if (context->hard_cap == 0 || context->used - old_size + new_size <= context->hard_cap) return false;
    plua_cancel_run(context, PLUA_CANCEL_MEMORY);
    return true;
}

/* Counts memory, and arms the hook if the limit is exceeded, because a script could allocate gigabytes between two regular checks. */
static void count_use(plua_context *context, size_t old_size, size_t new_size) {
    context->used += new_size - old_size;
    if (context->used > ((record *)context)->most_used) adjust_pause((record *)context);
    if (context->used > context->usage.peak) context->usage.peak = context->used;
    bool is_beyond = context->limit != 0 && context->used + context->external > context->limit;
    if (is_beyond && context->armed != context->running) plua_arm_count_hook(context);
}

/* Handles all requests except for freeing, and for small blocks that the pool can reuse. */
static void *allocate_anew(record *state, void *block, size_t size, size_t new_size) {
    plua_context *context = &state->context;
    size_t old_size = block ? size : 0;
    if (is_refused(context, block ? 0 : (int)size, old_size, new_size)) return NULL;
    state->pool.is_bounded = context->limit != 0;
    size_t header = state->header;
    void *former = block ? (char *)block - header : NULL;
    void *result = plua_pool_resize(&state->pool, former, block ? old_size + header : 0, new_size + header);
    if (result == NULL) {
        if (new_size <= old_size) return block; /* Lua requires that shrinking never fails */
        if (context->may_refuse) return NULL;
        /* Lua would raise an error across Swift frames. The system is out of memory, in which case Swift ends the process, too. */
        fputs("perilune: out of memory\n", stderr);
        abort();
    }
    count_use(context, old_size, new_size);
    bool is_spread = context->limit != 0 && held(context) > most_held(context->limit);
    if (is_spread && context->armed != context->running) plua_arm_count_hook(context);
    return block ? (char *)result + header : begin_block(state, result, (int)size);
}

/* The allocator for Lua. Without a block, `size` is the Lua type of the new object. A small block is neither a stack nor a long string, so
** most checks are skipped. */
static void *allocate(void *user_data, void *block, size_t size, size_t new_size) {
    record *state = user_data;
    plua_context *context = &state->context;
    if (new_size == 0) {
        if (block == NULL || size == 0) return NULL;
        plua_pool_release(&state->pool, (char *)block - state->header, size + state->header);
        context->used -= size;
        if (context->used < state->least_used) adjust_pause(state);
        return NULL;
    }
    bool is_usual = block == NULL && new_size + state->header <= plua_pool_small && context->fail_at == -1 &&
                    (context->hard_cap == 0 || context->used + new_size <= context->hard_cap);
    void *reused = is_usual ? plua_pool_reuse(&state->pool, new_size + state->header) : NULL;
    if (reused == NULL) return allocate_anew(state, block, size, new_size);
    count_use(context, 0, new_size);
    return begin_block(state, reused, (int)size);
}

static int panic(lua_State *L) {
    const char *message = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "unknown";
    fprintf(stderr, "perilune: a Lua error was raised outside a protected call: %s\n", message);
    abort();
}

lua_State *plua_make_state(void *owner, int (*call)(lua_State *, void *), lua_CFunction prepare, bool is_deterministic) {
    plua_context *context = calloc(1, sizeof(record));
    if (context == NULL) return NULL;
    context->fail_at = -1;
    context->budget = INT64_MAX;
    context->disk_left = INT64_MAX;
    context->output_left = SIZE_MAX;
    context->owner = owner;
    context->call = call;
    context->may_refuse = true;
    context->is_deterministic = is_deterministic;
    ((record *)context)->header = is_deterministic ? plua_number_header : 0;
    ((record *)context)->most_used = SIZE_MAX;
    lua_State *L = lua_newstate(allocate, context);
    if (L == NULL) {
        free(context);
        return NULL;
    }
    context->main = L;
    context->running = L;
    *(plua_context **)lua_getextraspace(L) = context;
    lua_atpanic(L, panic);
    lua_pushcfunction(L, prepare);
    if (lua_pcall(L, 0, 0, 0) != LUA_OK) {
        plua_close_state(L, NULL);
        return NULL;
    }
    context->may_refuse = false;
    lua_gc(L, LUA_GCSETPAUSE, usual_pause);
    ((record *)context)->pause = usual_pause;
    adjust_pause((record *)context);
    return L;
}

static void release_garbage(plua_context *context, void (*release)(void *)) {
    void **objects;
    size_t count = plua_take_garbage(context, &objects);
    for (size_t i = 0; i < count; i++) {
        if (release) release(objects[i]);
    }
    free(objects);
}

void plua_close_state(lua_State *L, void (*release)(void *object)) {
    plua_context *context = plua_context_of(L);
    context->is_closing = true;
    ((record *)context)->least_used = 0;
    ((record *)context)->most_used = SIZE_MAX;
    context->limit = context->hard_cap = 0; /* finalizers run without limits */
    lua_close(L);
    plua_pool_close(&((record *)context)->pool);
    release_garbage(context, release);
    free(context->garbage);
    free(context->kept_lists);
    plua_free_coverage(context->coverage);
    free(context);
}

size_t plua_take_garbage(plua_context *context, void ***objects) {
    size_t count = context->garbage_count;
    *objects = context->garbage;
    context->garbage = NULL;
    context->garbage_count = context->garbage_capacity = 0;
    return count;
}

void plua_free(void *block) {
    free(block);
}

int plua_collect_object(lua_State *L) {
    void **block = lua_touserdata(L, 1);
    if (block == NULL || *block == NULL) return 0;
    plua_context *context = plua_context_of(L);
    /* If memory runs out, the object leaks, because a finalizer cannot report errors. */
    if (!PLUA_ADD_ROOM(context->garbage, context->garbage_count, context->garbage_capacity)) return 0;
    context->garbage[context->garbage_count++] = *block;
    *block = NULL;
    return 0;
}

void plua_push_object(lua_State *L, void *object) {
    void **block = lua_newuserdatauv(L, sizeof *block, 1);
    *block = NULL; /* until the userdata has the metatable with the finalizer */
    lua_insert(L, -2);
    lua_setmetatable(L, -2);
    *block = object;
}

void *plua_push_bytes(lua_State *L, size_t size) {
    void *block = lua_newuserdatauv(L, size, 0);
    lua_insert(L, -2);
    lua_setmetatable(L, -2);
    return block;
}

void plua_push_weak_table(lua_State *L, const void *key, const char *mode) {
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, key) == LUA_TTABLE) return;
    plua_pop(L, 1);
    lua_newtable(L);
    lua_createtable(L, 0, 1);
    lua_pushstring(L, mode);
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, key);
}

void plua_replace_functions(lua_State *L, const luaL_Reg *functions) {
    for (; functions->name; functions++) {
        lua_pushstring(L, functions->name);
        lua_pushvalue(L, -1);
        if (lua_rawget(L, -3) == LUA_TNIL) {
            plua_pop(L, 2);
            continue;
        }
        plua_pop(L, 1);
        lua_pushcfunction(L, functions->func);
        lua_rawset(L, -3);
    }
}
