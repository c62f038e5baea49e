/* Operations for Swift that may run metamethods or allocate, each in a protected call. */
#include <stdlib.h>
#include <string.h>

#include <perilune_arrays.h>

#include "CPeriluneShim/Calls/calls.h"
#include "CPeriluneShim/Text/source_scanner.h"

/* Calls `body` with the topmost `argument_count` values as arguments. */
static int protect(lua_State *L, lua_CFunction body, int argument_count, int result_count) {
    lua_pushcfunction(L, body);
    lua_insert(L, -argument_count - 1);
    return plua_pcall(L, argument_count, result_count);
}

static int get(lua_State *L) {
    lua_gettable(L, 1);
    return 1;
}

/* Sets an entry and checks the memory limit. The hook runs only between Lua instructions, so a Swift function could otherwise fill a table
** without any check. */
static int set(lua_State *L) {
    lua_settable(L, 1);
    plua_check_memory(L);
    return 0;
}

static int raw_set(lua_State *L) {
    lua_rawset(L, 1);
    plua_check_memory(L);
    return 0;
}

static int length(lua_State *L) {
    lua_len(L, 1);
    return 1;
}

static int equal(lua_State *L) {
    lua_pushboolean(L, lua_compare(L, 1, 2, LUA_OPEQ));
    return 1;
}

static int less(lua_State *L) {
    lua_pushboolean(L, lua_compare(L, 1, 2, LUA_OPLT));
    return 1;
}

static int to_string(lua_State *L) {
    plua_tolstring(L, 1, NULL);
    return 1;
}

static int next(lua_State *L) {
    if (lua_next(L, 1)) return 2;
    lua_pushnil(L);
    lua_pushnil(L);
    return 2;
}

int plua_get(lua_State *L) { return protect(L, get, 2, 1); }
int plua_set(lua_State *L) { return protect(L, set, 3, 0); }
int plua_raw_set(lua_State *L) { return protect(L, raw_set, 3, 0); }
int plua_length(lua_State *L) { return protect(L, length, 1, 1); }
int plua_equal(lua_State *L) { return protect(L, equal, 2, 1); }
int plua_less(lua_State *L) { return protect(L, less, 2, 1); }
int plua_to_string(lua_State *L) { return protect(L, to_string, 1, 1); }
int plua_next(lua_State *L) { return protect(L, next, 2, 2); }

int plua_collect(lua_State *L) {
    lua_gc(L, LUA_GCCOLLECT);
    return LUA_OK;
}

void plua_begin_loading(lua_State *L) { lua_gc(L, LUA_GCSTOP); }

void plua_end_loading(lua_State *L) {
    plua_context *context = plua_context_of(L);
    lua_gc(L, LUA_GCRESTART);
    /* A negative step reduces the collector's debt, so that the next collection begins at the threshold. */
    lua_gc(L, LUA_GCSTEP, -(int)((plua_collection_threshold(context) - context->used) >> 10));
}

/* MARK: - Loading */

typedef struct {
    const char *bytes;
    size_t length;
    size_t given; /* the number of bytes passed to the compiler so far */
    const char *name;
    plua_scanner scanner;
} source;

static int raise_too_many_steps(lua_State *L, const source *rest) {
    bool is_file = *rest->name == '@' || *rest->name == '=';
    lua_pushfstring(L, "%s:%d: more than %d indexing steps in one expression", is_file ? rest->name + 1 : "chunk",
                    rest->scanner.line, PLUA_STEP_LIMIT);
    return plua_throw(L);
}

/* Passes the text to the compiler in small pieces, so that the limits are checked during compilation: a chain of 40,000 operands takes
** quadratic time. */
static const char *read_piece(lua_State *L, void *data, size_t *size) {
    source *rest = data;
    plua_count_work(L, plua_cost_of_piece(rest->given));
    *size = rest->length < 256 ? rest->length : 256;
    rest->given += *size;
    const char *piece = rest->bytes;
    rest->bytes += *size;
    rest->length -= *size;
    bool is_limited = plua_context_of(L)->limited;
    if (is_limited && !plua_scan(&rest->scanner, piece, *size)) raise_too_many_steps(L, rest);
    return *size > 0 ? piece : NULL;
}

int plua_load(lua_State *L, const char *bytes, size_t length, const char *name) {
    plua_context *context = plua_context_of(L);
    bool may_refuse = context->may_refuse;
    source whole = {.bytes = bytes, .length = length, .name = name};
    plua_scan_begin(&whole.scanner);
    context->may_refuse = true;
    int status = lua_load(L, read_piece, &whole, name, "t");
    context->may_refuse = may_refuse;
    return status;
}

/* MARK: - Compiled chunks */

typedef struct {
    char *bytes;
    size_t length, capacity;
} compiled;

/* Appends a piece of bytecode. Called by lua_dump, so it raises nothing. */
static int append_piece(lua_State *L, const void *piece, size_t size, void *data) {
    (void)L;
    compiled *result = data;
    if (!plua_make_room(&result->bytes, result->length + size, &result->capacity, 1)) return 1;
    memcpy(result->bytes + result->length, piece, size);
    result->length += size;
    return 0;
}

char *plua_dump(lua_State *L, size_t *length) {
    compiled result = {0};
    if (lua_dump(L, append_piece, &result, false) != 0) {
        free(result.bytes);
        return NULL;
    }
    *length = result.length;
    return result.bytes;
}

static const char *read_compiled(lua_State *L, void *data, size_t *size) {
    (void)L;
    compiled *rest = data;
    *size = rest->length;
    rest->length = 0;
    return *size > 0 ? rest->bytes : NULL;
}

int plua_load_compiled(lua_State *L, const char *bytes, size_t length, const char *name) {
    plua_context *context = plua_context_of(L);
    bool may_refuse = context->may_refuse;
    compiled whole = {.bytes = (char *)bytes, .length = length};
    context->may_refuse = true;
    int status = lua_load(L, read_compiled, &whole, name, "b");
    context->may_refuse = may_refuse;
    return status;
}
