/* Completes function names in messages by the receiver in the script: `Author:exists: argument 1: ...` for `exists: argument 1: ...`. */
#include <string.h>

#include "CPeriluneShim/Calls/calls.h"

/* The maximum length of names that are replaced or written. */
enum { LONGEST_NAME = 80 };

/* How many of a C function's stack values are searched for its receiver. */
enum { SEARCHED = 12 };

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The function name at the beginning of a message, such as `exists`, `Class:exists` or `perilune.queue`. */
typedef struct {
    size_t length; /* 0 if the message does not begin with a name */
    const char *method;
    size_t method_length;
    char separator; /* the character before the method, or 0 */
} place;

/* Returns whether the text begins with parameters and a colon, like the text after `page` in `page(number, size): ...`. */
static bool has_parameters(const char *text) { return *text == '(' && strstr(text, "): ") != NULL; }

static place place_of(const char *message) {
    place found = {.method = message};
    const char *at = message;
    for (;;) {
        const char *word = at;
        while (is_word(*at)) at++;
        if (at == word) return (place){0};
        found.method = word, found.method_length = (size_t)(at - word);
        if ((*at != ':' && *at != '.') || !is_word(at[1])) break;
        found.separator = *at++;
    }
    found.length = (size_t)(at - message);
    bool has_end = strncmp(at, ": ", 2) == 0 || strncmp(at, " on `", 5) == 0 || strncmp(at, "{}: ", 4) == 0
        || strncmp(at, "{...}: ", 7) == 0 || has_parameters(at);
    return has_end && found.length <= LONGEST_NAME ? found : (place){0};
}

/* MARK: - The call */

/* A script's call of a library function. It is the outermost running function below the script's innermost function. A script that ends
** with a tail call (`return db:write(...)`), like each line in the console, is no longer on the stack; the call is then the outermost
** function that was tail-called. */
typedef struct {
    lua_Debug function, inner, script; /* `inner`: the function that `function` calls */
    bool has_inner, has_script;
    const char *name; /* the name in the call; NULL if it is unknown, for example after a tail call or in `object[verb](...)` */
    bool is_method;
} call;

/* Returns whether the function is pcall or xpcall, which call their first argument. */
static bool is_protected_call(const lua_Debug *activation) {
    if (*activation->what != 'C' || !activation->name) return false;
    return strcmp(activation->name, "pcall") == 0 || strcmp(activation->name, "xpcall") == 0;
}

static bool find_call(lua_State *L, call *found) {
    bool has_function = false;
    lua_Debug activation;
    call tail_call = {.has_script = false};
    found->has_inner = found->has_script = false;
    for (int level = 0; !found->has_script && lua_getstack(L, level, &activation); level++) {
        lua_getinfo(L, "Slntu", &activation);
        found->has_script = plua_is_of_script(&activation);
        if (found->has_script) {
            found->script = activation;
        } else if (!is_protected_call(&activation)) {
            found->has_inner = has_function;
            if (has_function) found->inner = found->function;
            found->function = activation;
            has_function = true;
            if (activation.istailcall) tail_call = *found;
        }
    }
    if (!found->has_script) {
        *found = tail_call;
        has_function = found->function.istailcall;
    }
    if (!has_function) return false;
    const char *kind = found->function.namewhat;
    if (strcmp(kind, "metamethod") == 0 || strcmp(kind, "for iterator") == 0 || strcmp(kind, "hook") == 0) return false;
    found->is_method = strcmp(kind, "method") == 0;
    const char *name = found->function.name;
    found->name = found->function.istailcall || !name || strpbrk(name, "? ") ? NULL : name; /* Lua's other names are "?" and "integer
                                                                                            ** index" */
    return true;
}

/* MARK: - The receiver */

/* Copies a name. Returns false for one that is too long. */
static bool copy_name(char *target, const char *name) {
    size_t length = strlen(name);
    if (length > LONGEST_NAME) return false;
    memcpy(target, name, length + 1);
    return true;
}

/* Finds a local variable or an upvalue of the script's function that contains the value on top of the stack. */
static bool find_variable(lua_State *L, const lua_Debug *script, char *target) {
    int value = lua_gettop(L);
    bool is_found = false;
    const char *name;
    for (int i = 1; (name = lua_getlocal(L, script, i)) != NULL; i++) {
        /* The search continues, because a later variable may shadow this one. */
        if (is_word(*name) && lua_rawequal(L, -1, value)) is_found = copy_name(target, name) || is_found;
        plua_pop(L, 1);
    }
    lua_Debug activation = *script;
    if (is_found || !lua_getinfo(L, "f", &activation)) return is_found;
    for (int i = 1; !is_found && (name = lua_getupvalue(L, value + 1, i)) != NULL; i++) {
        if (is_word(*name) && lua_rawequal(L, -1, value)) is_found = copy_name(target, name);
        plua_pop(L, 1);
    }
    plua_pop(L, 1);
    return is_found;
}

/* Finds a global variable that contains the value on top of the stack: the first one in alphabetical order. */
static bool find_global(lua_State *L, char *target) {
    int value = lua_gettop(L);
    bool is_found = false;
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    for (lua_pushnil(L); lua_next(L, value + 1); plua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING || !lua_rawequal(L, -1, value)) continue;
        const char *name = lua_tostring(L, -2);
        if (!is_found || strcmp(name, target) < 0) is_found = copy_name(target, name) || is_found;
    }
    plua_pop(L, 1);
    return is_found;
}

/* Copies the first word of a metafield of the value on top of the stack, without the prefix `perilune.`. Returns false if the metafield is
** not a string. */
static bool read_word(lua_State *L, const char *metafield, char *word) {
    static const char prefix[] = "perilune.";
    int type = luaL_getmetafield(L, -1, metafield);
    bool is_read = false;
    if (type == LUA_TSTRING) {
        const char *text = lua_tostring(L, -1);
        if (strncmp(text, prefix, sizeof prefix - 1) == 0) text += sizeof prefix - 1;
        const char *end = text;
        while (is_word(*end)) end++;
        is_read = end > text && *end == '\0' && copy_name(word, text);
    }
    if (type != LUA_TNIL) plua_pop(L, 1);
    return is_read;
}

/* Returns whether the value on top of the stack may be a receiver: messages must have a word for it. Dates, NULL and blobs are usually
** arguments, so they are accepted only if `is_first`. */
static bool has_word(lua_State *L, bool is_first, bool *is_database) {
    static const char *const values[] = {"date", "null", "blob"};
    char word[LONGEST_NAME + 1];
    if (!read_word(L, "__receiver", word) && !read_word(L, "__name", word)) return false;
    *is_database = strcmp(word, "db") == 0;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (!is_first && strcmp(word, values[i]) == 0) return false;
    }
    return !plua_is_error(L, -1);
}

/* Pushes the receiver of a method call, the value before the colon. Pushes nothing and returns false if it is not found.
**
** In a Lua function, the receiver is the first argument. A C function may have moved its arguments, and a tail call replaces them. In these
** cases the receiver is the first object among the function's values, and a database only if no other object is found. */
static bool push_receiver_of(lua_State *L, const lua_Debug *function) {
    bool is_c = *function->what == 'C', is_searched = is_c || function->istailcall, is_database = false;
    bool is_in_list = !is_c && function->isvararg && function->nparams == 0;
    if (is_in_list) return lua_getlocal(L, function, -1) != NULL;
    if (!is_c && function->nparams == 0) return false;
    int count = is_c ? SEARCHED : function->nparams, database = 0;
    for (int i = 1; i <= (is_searched ? count : 1) && lua_getlocal(L, function, i) != NULL; i++) {
        bool is_object = has_word(L, i == 1, &is_database);
        if (is_object && (!is_database || i == 1)) return true;
        if (is_object && database == 0) database = i;
        plua_pop(L, 1);
    }
    for (int i = 1; !is_c && is_searched && i <= SEARCHED && lua_getlocal(L, function, -i) != NULL; i++) {
        if (has_word(L, false, &is_database) && !is_database) return true;
        plua_pop(L, 1);
    }
    return database > 0 && lua_getlocal(L, function, database) != NULL;
}

/* Like push_receiver_of, but also searches the inner function: a C function that has passed on all its arguments no longer has its
** receiver. */
static bool push_receiver(lua_State *L, const call *call) {
    if (push_receiver_of(L, &call->function)) return true;
    return *call->function.what == 'C' && call->has_inner && push_receiver_of(L, &call->inner);
}

/* Writes the name of the receiver on top of the stack: the script's variable that contains it, or else the word for it in the reference. A
** database handle is always called `db`, because scripts use many variables for it. */
static bool name_receiver(lua_State *L, const call *call, bool needs_word, char *target) {
    char word[LONGEST_NAME + 1];
    if (!read_word(L, "__receiver", word) && !read_word(L, "__name", word)) return false;
    bool is_searched = strcmp(word, "db") != 0;
    if (is_searched && call->has_script && find_variable(L, &call->script, target)) return true;
    if (is_searched && find_global(L, target)) return true;
    return needs_word && copy_name(target, word);
}

/* MARK: - The message */

/* Returns whether the message begins with the name of the called function. */
static bool is_called(const place *place, const char *name) {
    return name && strlen(name) == place->method_length && memcmp(name, place->method, place->method_length) == 0;
}

/* Chooses the method to name in the message. Returns false if the message needs no change.
**
** Messages about arguments and options begin with the name of a function, or with neither a name nor a colon. If the script has not called
** this function itself, the message names the function that the script has called instead. Other messages may begin with a column name. */
static bool choose_method(const call *call, bool is_about_call, place *place) {
    if (place->length > 0 && (is_called(place, call->name) || !call->name)) {
        return place->separator != '.' && (call->name || is_about_call);
    }
    if (!is_about_call || !call->name || (place->length == 0 && !call->is_method)) return false;
    place->method = call->name;
    place->method_length = strlen(call->name);
    return true;
}

/* Writes `receiver:method` for the message. Returns false if the message needs no change. */
static bool write_name(lua_State *L, const char *message, bool is_about_call, place *place, char *target) {
    call call;
    *place = place_of(message);
    const char *written = place->method;
    if (!find_call(L, &call) || !choose_method(&call, is_about_call, place) || place->method_length > LONGEST_NAME) return false;
    /* `m:register` already contains a word for the receiver, unless the method is replaced. */
    bool has_own_word = place->separator == ':' && place->method == written;
    /* If the script used a dot by mistake, the word before it may not be the receiver: `task.wait(timer)`. */
    static const char has_dot[] = ": call it with a colon";
    if (has_own_word && strncmp(message + place->length, has_dot, sizeof has_dot - 1) == 0) return false;
    if (!push_receiver(L, &call)) return false;
    bool has_receiver = name_receiver(L, &call, !has_own_word, target);
    plua_pop(L, 1);
    if (!has_receiver) return false;
    size_t start = strlen(target);
    target[start] = ':';
    memcpy(target + start + 1, place->method, place->method_length);
    target[start + 1 + place->method_length] = '\0';
    return true;
}

void plua_name_function(lua_State *L) {
    enum { SLOTS = 12 };
    if (!lua_checkstack(L, SLOTS)) return;
    lua_getiuservalue(L, -1, 1);
    int fields = lua_gettop(L);
    const char *kind = lua_getfield(L, fields, "kind") == LUA_TSTRING ? lua_tostring(L, -1) : "";
    bool is_about_call = strcmp(kind, "argument") == 0 || strcmp(kind, "unknown_option") == 0;
    if (lua_getfield(L, fields, "message") == LUA_TSTRING) {
        char name[2 * LONGEST_NAME + 2];
        place place;
        size_t length;
        const char *message = lua_tolstring(L, -1, &length);
        if (write_name(L, message, is_about_call, &place, name)) {
            lua_pushstring(L, name);
            if (place.length == 0) lua_pushliteral(L, ": ");
            lua_pushlstring(L, message + place.length, length - place.length);
            lua_concat(L, place.length == 0 ? 3 : 2);
            lua_setfield(L, fields, "message");
        }
    }
    lua_settop(L, fields - 1);
}
