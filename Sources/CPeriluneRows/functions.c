/*
** SQL functions, aggregates and collations whose bodies are Lua functions.
**
** SQLite calls them in the middle of a statement, on the thread that steps it. They run on the coroutine that runs then;
** what they raise ends the statement, and comes out of it as the value that was raised. They must not use the database.
*/
#include "rows_internal.h"

/* What SQLite keeps for each function; freed by it. */
typedef struct {
    perilune_rows *rows;
    int body;      /* reference to the function, or to the table of an aggregate */
    bool is_alive; /* false once the state is closed */
} definition;

static void free_definition(void *user_data) {
    free(user_data);
}

/* The coroutine on which the function may run, or NULL: another thread steps a statement that uses it. */
static lua_State *enter_callback(definition *self) {
    perilune_context *context = perilune_running_context();
    if (context == NULL || context != self->rows->context) return NULL;
    lua_State *L = context->running;
    if (!lua_checkstack(L, LUA_MINSTACK)) return NULL;
    self->rows->callback_depth++;
    return L;
}

static void leave_callback(definition *self) {
    self->rows->callback_depth--;
}

/* Keeps the error on top of the stack, to be raised when the statement has failed; pops it. */
static void keep_pending_error(perilune_rows *rows, lua_State *L) {
    lua_rawsetp(L, LUA_REGISTRYINDEX, &perilune_pending_error_key);
    rows->has_pending_error = true;
}

static void push_argument(lua_State *L, sqlite3_value *value) {
    switch (sqlite3_value_type(value)) {
        case SQLITE_INTEGER: lua_pushinteger(L, sqlite3_value_int64(value)); break;
        case SQLITE_FLOAT: lua_pushnumber(L, sqlite3_value_double(value)); break;
        case SQLITE_TEXT: {
            const char *bytes = (const char *)sqlite3_value_text(value);
            lua_pushlstring(L, bytes ? bytes : "", bytes ? (size_t)sqlite3_value_bytes(value) : 0);
            break;
        }
        case SQLITE_BLOB: {
            const char *bytes = sqlite3_value_blob(value);
            lua_pushlstring(L, bytes ? bytes : "", bytes ? (size_t)sqlite3_value_bytes(value) : 0);
            break;
        }
        default: lua_pushnil(L);
    }
}

/* What a protected call of a body gets, as light userdata below its other arguments. */
typedef struct {
    sqlite3_context *context; /* NULL where no result is wanted */
    sqlite3_value **values;
    int count;
    definition *self;
    int state; /* of an aggregate: a reference */
    const char *field; /* of an aggregate: which function */
    int comparison; /* of a collation */
    const char *texts[2];
    int lengths[2];
} invocation;

static void set_result(lua_State *L, sqlite3_context *context) {
    perilune_push_plain(L, -1);
    switch (lua_type(L, -1)) {
        case LUA_TNIL: sqlite3_result_null(context); return;
        case LUA_TBOOLEAN: sqlite3_result_int(context, lua_toboolean(L, -1)); return;
        case LUA_TNUMBER:
            if (lua_isinteger(L, -1)) {
                sqlite3_result_int64(context, lua_tointeger(L, -1));
            } else {
                sqlite3_result_double(context, lua_tonumber(L, -1));
            }
            return;
        case LUA_TSTRING: {
            size_t length;
            const char *bytes = lua_tolstring(L, -1, &length);
            sqlite3_result_text64(context, bytes, length, SQLITE_TRANSIENT, SQLITE_UTF8);
            return;
        }
        default: break;
    }
    size_t length;
    const char *bytes;
    if (perilune_is_null(L, -1)) {
        sqlite3_result_null(context);
    } else if ((bytes = perilune_blob_bytes(L, -1, &length)) != NULL) {
        sqlite3_result_blob64(context, bytes, length, SQLITE_TRANSIENT);
    } else {
        perilune_raise(L, "conversion", "an SQL function returned %s, which SQLite cannot store",
                       perilune_type_name(L, -1));
    }
}

/* Runs `body` protected; a failure becomes the statement's, and the pending error. */
static bool invoke(lua_State *L, lua_CFunction body, invocation *call) {
    lua_pushcfunction(L, body);
    lua_pushlightuserdata(L, call);
    if (perilune_pcall(L, 1, 0) == LUA_OK) return true;
    if (call->context) {
        const char *message = "an error was raised in an SQL function";
        if (lua_type(L, -1) == LUA_TSTRING) message = lua_tostring(L, -1);
        sqlite3_result_error(call->context, message, -1);
    }
    keep_pending_error(call->self->rows, L);
    return false;
}

static void refuse(sqlite3_context *context) {
    sqlite3_result_error(context, "an SQL function of a script can be used only by that script, while it runs", -1);
}

/* MARK: - Functions */

static int call_function(lua_State *L) {
    invocation *call = lua_touserdata(L, 1);
    luaL_checkstack(L, call->count + 1, "too many arguments");
    lua_rawgeti(L, LUA_REGISTRYINDEX, call->self->body);
    for (int i = 0; i < call->count; i++) push_argument(L, call->values[i]);
    lua_call(L, call->count, 1);
    set_result(L, call->context);
    return 0;
}

static void function(sqlite3_context *context, int count, sqlite3_value **values) {
    definition *self = sqlite3_user_data(context);
    lua_State *L = enter_callback(self);
    if (L == NULL) {
        refuse(context);
        return;
    }
    invocation call = {.context = context, .values = values, .count = count, .self = self};
    invoke(L, call_function, &call);
    leave_callback(self);
}

/* MARK: - Aggregates */

/* SQLite's memory for one group: zero at first. */
typedef struct {
    int state; /* a reference; 0 before the first row */
    bool has_failed;
} group;

/* Pushes the initial state: the field `initial`, called if it is a function. */
static void push_initial_state(lua_State *L, definition *self) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, self->body);
    lua_getfield(L, -1, "initial");
    if (lua_isfunction(L, -1)) lua_call(L, 0, 1);
    lua_remove(L, -2);
}

static void push_state(lua_State *L, definition *self, int state) {
    if (state == 0) {
        push_initial_state(L, self);
    } else {
        lua_rawgeti(L, LUA_REGISTRYINDEX, state);
    }
}

/* step(state, ...) or inverse(state, ...): the result, unless it is nil, is the new state. */
static int call_step(lua_State *L) {
    invocation *call = lua_touserdata(L, 1);
    luaL_checkstack(L, call->count + 4, "too many arguments");
    lua_rawgeti(L, LUA_REGISTRYINDEX, call->self->body);
    lua_getfield(L, -1, call->field);
    push_state(L, call->self, call->state);
    int state = lua_gettop(L);
    for (int i = 0; i < call->count; i++) push_argument(L, call->values[i]);
    lua_pushvalue(L, state - 1);
    lua_pushvalue(L, state);
    for (int i = 1; i <= call->count; i++) lua_pushvalue(L, state + i);
    lua_call(L, call->count + 1, 1);
    if (lua_isnil(L, -1)) lua_pushvalue(L, state);
    if (call->state == 0) {
        call->state = luaL_ref(L, LUA_REGISTRYINDEX);
    } else {
        lua_rawseti(L, LUA_REGISTRYINDEX, call->state);
    }
    return 0;
}

static void run_step(sqlite3_context *context, int count, sqlite3_value **values, const char *field) {
    definition *self = sqlite3_user_data(context);
    group *memory = sqlite3_aggregate_context(context, sizeof *memory);
    if (memory == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    lua_State *L = memory->has_failed ? NULL : enter_callback(self);
    if (L == NULL) {
        if (!memory->has_failed) refuse(context);
        memory->has_failed = true;
        return;
    }
    invocation call = {
        .context = context, .values = values, .count = count, .self = self, .state = memory->state, .field = field};
    if (!invoke(L, call_step, &call)) memory->has_failed = true;
    memory->state = call.state;
    leave_callback(self);
}

static void aggregate_step(sqlite3_context *context, int count, sqlite3_value **values) {
    run_step(context, count, values, "step");
}

static void aggregate_inverse(sqlite3_context *context, int count, sqlite3_value **values) {
    run_step(context, count, values, "inverse");
}

/* final(state), or without it the state itself. */
static int call_final(lua_State *L) {
    invocation *call = lua_touserdata(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, call->self->body);
    lua_getfield(L, -1, "final");
    push_state(L, call->self, call->state);
    if (lua_isnil(L, -2)) {
        lua_remove(L, -2);
    } else {
        lua_call(L, 1, 1);
    }
    set_result(L, call->context);
    return 0;
}

static void finish_group(sqlite3_context *context, bool is_last) {
    definition *self = sqlite3_user_data(context);
    group *memory = sqlite3_aggregate_context(context, 0);
    lua_State *L = enter_callback(self);
    if (L == NULL) {
        refuse(context);
        return;
    }
    invocation call = {.context = context, .self = self, .state = memory ? memory->state : 0};
    if (memory == NULL || !memory->has_failed) invoke(L, call_final, &call);
    if (is_last && memory && memory->state != 0) {
        luaL_unref(L, LUA_REGISTRYINDEX, memory->state);
        memory->state = 0;
    }
    leave_callback(self);
}

static void aggregate_final(sqlite3_context *context) {
    finish_group(context, true);
}

static void aggregate_value(sqlite3_context *context) {
    finish_group(context, false);
}

/* MARK: - Collations */

static int call_collation(lua_State *L) {
    invocation *call = lua_touserdata(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, call->self->body);
    for (int i = 0; i < 2; i++) lua_pushlstring(L, call->texts[i], (size_t)call->lengths[i]);
    lua_call(L, 2, 1);
    if (lua_type(L, -1) != LUA_TNUMBER) {
        perilune_raise(L, "conversion", "a collation must return a number, got %s", perilune_type_name(L, -1));
    }
    lua_Number order = lua_tonumber(L, -1);
    call->comparison = (order > 0) - (order < 0);
    return 0;
}

static int collation(void *user_data, int left_length, const void *left, int right_length, const void *right) {
    definition *self = user_data;
    if (self->rows->has_pending_error) return 0;
    lua_State *L = enter_callback(self);
    if (L == NULL) return 0;
    invocation call = {
        .self = self, .texts = {left ? left : "", right ? right : ""}, .lengths = {left_length, right_length}};
    invoke(L, call_collation, &call);
    /* A collation cannot fail in SQLite: the statement is interrupted instead. */
    if (self->rows->has_pending_error && self->rows->access) sqlite3_interrupt(self->rows->access->connection->handle);
    leave_callback(self);
    return call.comparison;
}

/* MARK: - Defining */

static definition *make_definition(lua_State *L, int index) {
    definition *self = malloc(sizeof *self);
    if (self == NULL) luaL_error(L, "not enough memory");
    self->rows = perilune_rows_of(L);
    lua_pushvalue(L, index);
    self->body = luaL_ref(L, LUA_REGISTRYINDEX);
    self->is_alive = true;
    return self;
}

/* The arguments of perilune_define are checked by the caller, in Lua: name, kind, argument count, flags, body.
** Returns SQLite's code. */
int perilune_define(lua_State *L) {
    perilune_access *access = perilune_current_access(L, perilune_database_at(L, 1));
    if (access == NULL) return perilune_raise(L, "usage", "no access is open");
    sqlite3 *handle = perilune_access_handle(access);
    const char *name = luaL_checkstring(L, 2), *kind = luaL_checkstring(L, 3);
    int count = (int)luaL_checkinteger(L, 4);
    int flags = SQLITE_UTF8 | (lua_toboolean(L, 5) ? SQLITE_DETERMINISTIC : 0);
    bool is_removal = lua_isnil(L, 6);
    definition *self = is_removal ? NULL : make_definition(L, 6);
    int code;
    if (strcmp(kind, "collation") == 0) {
        code = sqlite3_create_collation_v2(handle, name, SQLITE_UTF8, self, is_removal ? NULL : collation, free_definition);
        if (code != SQLITE_OK) free(self); /* SQLite does so only for functions */
    } else if (is_removal || strcmp(kind, "function") == 0) {
        code = sqlite3_create_function_v2(handle, name, count, flags, self, is_removal ? NULL : function, NULL, NULL,
                                          free_definition);
    } else if (strcmp(kind, "window") == 0) {
        code = sqlite3_create_window_function(handle, name, count, flags, self, aggregate_step, aggregate_final,
                                              aggregate_value, aggregate_inverse, free_definition);
    } else {
        code = sqlite3_create_function_v2(handle, name, count, flags, self, NULL, aggregate_step, aggregate_final,
                                          free_definition);
    }
    lua_pushinteger(L, code);
    return 1;
}
