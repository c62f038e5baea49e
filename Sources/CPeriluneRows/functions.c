/*
** SQL functions, aggregates and collations whose bodies are Lua functions.
**
** SQLite calls them in the middle of a statement, on the thread that steps it. They run on the coroutine that runs then;
** what they raise ends the statement, and comes out of it as the value that was raised. They must not use the database.
*/
#include "rows_internal.h"

/*
** What the functions of one Lua state share. Databases may outlive the state, and with them the functions that SQLite keeps:
** so they reach the state through a record of its own, which says whether it is still there.
*/
typedef struct {
    _Atomic(int) owners; /* the state, and each function that SQLite keeps */
    perilune_rows *rows; /* NULL once the state is closed */
} liveness;

/* What SQLite keeps for each function; freed by it. */
typedef struct {
    liveness *state;
    sqlite3 *handle;
    int body; /* reference to the function, or to the table of an aggregate */
} definition;

static const char liveness_key, pending_error_key;

static void release_liveness(liveness *state) {
    if (atomic_fetch_sub(&state->owners, 1) == 1) free(state);
}

static int collect_liveness(lua_State *L) {
    liveness **block = lua_touserdata(L, 1);
    if (*block == NULL) return 0;
    (*block)->rows = NULL;
    release_liveness(*block);
    *block = NULL;
    return 0;
}

/* The record of the state, made when it is first asked for. [-0, +0, m] */
static liveness *liveness_of(lua_State *L) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &liveness_key);
    liveness **block = lua_touserdata(L, -1);
    lua_pop(L, 1);
    if (block) return *block;
    block = lua_newuserdatauv(L, sizeof *block, 0);
    *block = NULL;
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, collect_liveness);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    *block = calloc(1, sizeof **block);
    if (*block == NULL) luaL_error(L, "not enough memory");
    **block = (liveness){.owners = 1, .rows = perilune_rows_of(L)};
    lua_rawsetp(L, LUA_REGISTRYINDEX, &liveness_key);
    return *block;
}

/* Called by SQLite when a function is replaced or its connection closes, on any thread. */
static void free_definition(void *user_data) {
    definition *self = user_data;
    perilune_context *context = perilune_running_context();
    if (context && self->state->rows && self->state->rows->context == context) {
        luaL_unref(context->running, LUA_REGISTRYINDEX, self->body);
    }
    release_liveness(self->state);
    free(self);
}

/* The coroutine on which the function may run, or NULL: another thread steps a statement that uses it, or the state is
** closed. Databases are out of reach until leave_callback. */
static lua_State *enter_callback(definition *self, const char **forbidden_place) {
    perilune_context *context = perilune_running_context();
    perilune_rows *rows = self->state->rows;
    if (context == NULL || rows == NULL || context != rows->context) return NULL;
    lua_State *L = context->running;
    if (!lua_checkstack(L, LUA_MINSTACK)) return NULL;
    *forbidden_place = rows->forbidden_place;
    rows->forbidden_place = "an SQL function or collation";
    return L;
}

static void leave_callback(definition *self, const char *forbidden_place) {
    self->state->rows->forbidden_place = forbidden_place;
}

/* SQLite is on the stack when an error is kept: the slot must be there, so that nothing is allocated. It never holds nil, which
** would free it: scripts raise nil too. */
void perilune_open_functions(lua_State *L) {
    lua_newtable(L);
    lua_pushboolean(L, false);
    lua_rawseti(L, -2, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &pending_error_key);
}

/* Sets the slot to the value on top of the stack, nil by another value. [-1, +0, -] */
static void set_pending_error(lua_State *L) {
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_pushboolean(L, false);
        perilune_rows_of(L)->pending_is_nil = true;
    } else {
        perilune_rows_of(L)->pending_is_nil = false;
    }
    lua_rawgetp(L, LUA_REGISTRYINDEX, &pending_error_key);
    lua_insert(L, -2);
    lua_rawseti(L, -2, 1);
    lua_pop(L, 1);
}

void perilune_keep_pending_error(lua_State *L) {
    set_pending_error(L);
    perilune_rows_of(L)->has_pending_error = true;
}

void perilune_drop_pending_error(lua_State *L) {
    perilune_rows *rows = perilune_rows_of(L);
    if (!rows->has_pending_error) return;
    rows->has_pending_error = false;
    lua_pushboolean(L, false);
    set_pending_error(L);
}

bool perilune_take_pending_error(lua_State *L) {
    perilune_rows *rows = perilune_rows_of(L);
    if (!rows->has_pending_error) return false;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &pending_error_key);
    if (rows->pending_is_nil) lua_pushnil(L);
    else lua_rawgeti(L, -1, 1);
    lua_remove(L, -2);
    perilune_drop_pending_error(L);
    return true;
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
    perilune_keep_pending_error(L);
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
    const char *place;
    lua_State *L = enter_callback(self, &place);
    if (L == NULL) {
        refuse(context);
        return;
    }
    invocation call = {.context = context, .values = values, .count = count, .self = self};
    invoke(L, call_function, &call);
    leave_callback(self, place);
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
    const char *place;
    lua_State *L = memory->has_failed ? NULL : enter_callback(self, &place);
    if (L == NULL) {
        if (!memory->has_failed) refuse(context);
        memory->has_failed = true;
        return;
    }
    invocation call = {
        .context = context, .values = values, .count = count, .self = self, .state = memory->state, .field = field};
    if (!invoke(L, call_step, &call)) memory->has_failed = true;
    memory->state = call.state;
    leave_callback(self, place);
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
    const char *place;
    lua_State *L = enter_callback(self, &place);
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
    leave_callback(self, place);
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
    const char *place;
    lua_State *L = enter_callback(self, &place);
    if (L == NULL) {
        sqlite3_interrupt(self->handle);
        return 0;
    }
    if (self->state->rows->has_pending_error) {
        leave_callback(self, place);
        return 0;
    }
    invocation call = {
        .self = self, .texts = {left ? left : "", right ? right : ""}, .lengths = {left_length, right_length}};
    invoke(L, call_collation, &call);
    /* A collation cannot fail in SQLite: the statement is interrupted instead. */
    if (self->state->rows->has_pending_error) sqlite3_interrupt(self->handle);
    leave_callback(self, place);
    return call.comparison;
}

/* MARK: - Defining */

/* A definition as the database keeps it for its connections: a list with these elements. */
enum { NAME = 1, KIND, ARGUMENT_COUNT, IS_DETERMINISTIC, BODY };

/* Of the function on top of the stack. What may raise comes first. [-1, +0, m] */
static definition *make_definition(lua_State *L, sqlite3 *handle) {
    liveness *state = liveness_of(L);
    int body = luaL_ref(L, LUA_REGISTRYINDEX);
    definition *self = malloc(sizeof *self);
    if (self == NULL) luaL_error(L, "not enough memory");
    *self = (definition){.state = state, .handle = handle, .body = body};
    atomic_fetch_add(&state->owners, 1);
    return self;
}

/* Defines on a connection what the list on top of the stack says. Pops it. Returns SQLite's code. */
static int define(lua_State *L, sqlite3 *handle) {
    int list = lua_gettop(L);
    for (int i = NAME; i <= BODY; i++) lua_rawgeti(L, list, i);
    const char *name = lua_tostring(L, list + NAME), *kind = lua_tostring(L, list + KIND);
    int count = (int)lua_tointeger(L, list + ARGUMENT_COUNT);
    int flags = SQLITE_UTF8 | (lua_toboolean(L, list + IS_DETERMINISTIC) ? SQLITE_DETERMINISTIC : 0);
    bool is_removal = lua_isboolean(L, list + BODY);
    definition *self = is_removal ? NULL : make_definition(L, handle);
    void (*destroy)(void *) = is_removal ? NULL : free_definition;
    int code;
    if (strcmp(kind, "collation") == 0) {
        code = sqlite3_create_collation_v2(handle, name, SQLITE_UTF8, self, is_removal ? NULL : collation, destroy);
        if (code != SQLITE_OK && self) free_definition(self); /* SQLite does so only for functions */
    } else if (is_removal || strcmp(kind, "function") == 0) {
        code = sqlite3_create_function_v2(handle, name, count, flags, self, is_removal ? NULL : function, NULL, NULL,
                                          destroy);
    } else if (strcmp(kind, "window") == 0) {
        code = sqlite3_create_window_function(handle, name, count, flags, self, aggregate_step, aggregate_final,
                                              aggregate_value, aggregate_inverse, destroy);
    } else {
        code = sqlite3_create_function_v2(handle, name, count, flags, self, NULL, aggregate_step, aggregate_final,
                                          destroy);
    }
    lua_settop(L, list - 1);
    return code;
}

int perilune_apply_definitions(lua_State *L, perilune_connection *connection) {
    perilune_database *database = connection->database;
    if (database->definition_count == connection->definition_count || !lua_checkstack(L, LUA_MINSTACK)) return SQLITE_OK;
    int code = SQLITE_OK;
    lua_rawgeti(L, LUA_REGISTRYINDEX, database->definitions);
    while (code == SQLITE_OK && connection->definition_count < database->definition_count) {
        lua_rawgeti(L, -1, connection->definition_count + 1);
        code = define(L, connection->handle);
        if (code == SQLITE_OK) connection->definition_count++;
    }
    lua_pop(L, 1);
    return code;
}

/* Adds the list of the definition at `index` to those of the database. [-0, +0, m] */
static void add_definition(lua_State *L, perilune_database *database, int index) {
    if (database->definitions == 0) {
        lua_newtable(L);
        database->definitions = luaL_ref(L, LUA_REGISTRYINDEX);
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, database->definitions);
    lua_pushvalue(L, index);
    lua_rawseti(L, -2, database->definition_count + 1);
    lua_pop(L, 1);
    database->definition_count++;
}

void perilune_copy_definitions(lua_State *L, perilune_database *from, perilune_database *to) {
    if (from->definitions == 0) return;
    lua_rawgeti(L, LUA_REGISTRYINDEX, from->definitions);
    for (int i = 1; i <= from->definition_count; i++) {
        lua_rawgeti(L, -1, i);
        add_definition(L, to, lua_gettop(L));
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    to->has_collations = from->has_collations;
}

/* Arguments: the database or handle, the definition. Runs in an access. */
static int define_now(lua_State *L) {
    perilune_rows *rows = perilune_rows_of(L);
    perilune_handle *handle = perilune_check_handle(L, rows, 1, "add_function");
    perilune_access *access = perilune_find_access(L, rows, handle->database, handle->token);
    perilune_connection *connection = access->connection;
    add_definition(L, handle->database, 2);
    int code = perilune_apply_definitions(L, connection);
    if (code == SQLITE_OK) {
        lua_rawgeti(L, 2, KIND);
        if (strcmp(lua_tostring(L, -1), "collation") == 0) handle->database->has_collations = true;
        return 0;
    }
    handle->database->definition_count--;
    return perilune_raise_sqlite(L, connection, NULL, code);
}

int perilune_define(lua_State *L) {
    lua_settop(L, 2);
    lua_pushcfunction(L, define_now);
    lua_insert(L, 1);
    lua_pushvalue(L, 2);
    lua_insert(L, 1);
    return perilune_with_access(L, 1, PERILUNE_WRITE_STATEMENT, 2);
}
