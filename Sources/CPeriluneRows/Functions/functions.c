/* Calls to SQL functions and aggregates written in Lua. */
#include "CPeriluneRows/Functions/functions.h"

static void push_argument(lua_State *L, sqlite3_value *value) {
    pdb_push_column(L, value, sqlite3_value_type(value), false);
}

static void set_result(lua_State *L, sqlite3_context *context) {
    pdb_push_plain(L, -1);
    switch (lua_type(L, -1)) {
        case LUA_TNIL: sqlite3_result_null(context); return;
        case LUA_TBOOLEAN: sqlite3_result_int(context, lua_toboolean(L, -1)); return;
        case LUA_TNUMBER:
            if (lua_isinteger(L, -1)) {
                sqlite3_result_int64(context, lua_tointeger(L, -1));
            } else {
                double number = lua_tonumber(L, -1);
                if (number != number) {
                    plua_raise(L, "conversion", "an SQL function returned NaN, which SQLite would take for NULL; return nil for NULL");
                }
                sqlite3_result_double(context, number);
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
    if (pdb_is_null(L, -1)) {
        sqlite3_result_null(context);
    } else if ((bytes = pdb_blob_bytes(L, -1, &length)) != NULL) {
        sqlite3_result_blob64(context, bytes, length, SQLITE_TRANSIENT);
    } else {
        plua_raise(L, "conversion", "an SQL function returned %s, which SQLite cannot store",
                       plua_describe(L, -1));
    }
}

static void refuse(sqlite3_context *context) {
    sqlite3_result_error(context, "an SQL function defined by a script can be called only by that script, while it runs", -1);
}

/* MARK: - Functions */

static int call_function(lua_State *L) {
    pdb_invocation *call = lua_touserdata(L, 1);
    luaL_checkstack(L, call->count + 1, "too many arguments");
    lua_rawgeti(L, LUA_REGISTRYINDEX, call->self->body);
    for (int i = 0; i < call->count; i++) push_argument(L, call->values[i]);
    lua_call(L, call->count, 1);
    set_result(L, call->context);
    return 0;
}

void pdb_call_function(sqlite3_context *context, int count, sqlite3_value **values) {
    pdb_definition *self = sqlite3_user_data(context);
    pdb_place place;
    lua_State *L = pdb_enter_callback(self, &place);
    if (L == NULL) {
        refuse(context);
        return;
    }
    pdb_invocation call = {.context = context, .values = values, .count = count, .self = self};
    pdb_invoke(L, call_function, &call);
    pdb_leave_callback(self, place);
}

/* MARK: - Aggregates */

/* The data of one group of an aggregate, in SQLite's memory, which is initially zero. */
typedef struct {
    int state; /* a registry reference; 0 before the first row */
    bool has_failed;
} group;

/* Pushes the initial state of an aggregate: the field `initial`, or its result if it is a function. */
static void push_initial_state(lua_State *L, pdb_definition *self) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, self->body);
    lua_getfield(L, -1, "initial");
    if (lua_isfunction(L, -1)) lua_call(L, 0, 1);
    lua_remove(L, -2);
}

static void push_state(lua_State *L, pdb_definition *self, int state) {
    if (state == 0) {
        push_initial_state(L, self);
    } else {
        lua_rawgeti(L, LUA_REGISTRYINDEX, state);
    }
}

/* Calls step(state, ...) or inverse(state, ...). A result other than nil is the new state. */
static int call_step(lua_State *L) {
    pdb_invocation *call = lua_touserdata(L, 1);
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
    pdb_definition *self = sqlite3_user_data(context);
    group *memory = sqlite3_aggregate_context(context, sizeof *memory);
    if (memory == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    pdb_place place;
    lua_State *L = memory->has_failed ? NULL : pdb_enter_callback(self, &place);
    if (L == NULL) {
        if (!memory->has_failed) refuse(context);
        memory->has_failed = true;
        return;
    }
    pdb_invocation call = {
        .context = context, .values = values, .count = count, .self = self, .state = memory->state, .field = field};
    if (!pdb_invoke(L, call_step, &call)) memory->has_failed = true;
    memory->state = call.state;
    pdb_leave_callback(self, place);
}

void pdb_step_aggregate(sqlite3_context *context, int count, sqlite3_value **values) {
    run_step(context, count, values, "step");
}

void pdb_reverse_aggregate(sqlite3_context *context, int count, sqlite3_value **values) {
    run_step(context, count, values, "inverse");
}

/* Calls final(state). Without this function, the state is the result. */
static int call_final(lua_State *L) {
    pdb_invocation *call = lua_touserdata(L, 1);
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
    pdb_definition *self = sqlite3_user_data(context);
    group *memory = sqlite3_aggregate_context(context, 0);
    pdb_place place;
    lua_State *L = pdb_enter_callback(self, &place);
    if (L == NULL) {
        refuse(context);
        return;
    }
    pdb_invocation call = {.context = context, .self = self, .state = memory ? memory->state : 0};
    if (memory == NULL || !memory->has_failed) pdb_invoke(L, call_final, &call);
    if (is_last && memory && memory->state != 0) {
        luaL_unref(L, LUA_REGISTRYINDEX, memory->state);
        memory->state = 0;
    }
    pdb_leave_callback(self, place);
}

void pdb_finish_aggregate(sqlite3_context *context) {
    finish_group(context, true);
}

void pdb_value_of_aggregate(sqlite3_context *context) {
    finish_group(context, false);
}
