/*
** SQL functions, aggregates and collations with Lua bodies: the objects that SQLite stores for them.
**
** SQLite calls them during a statement, on the thread that steps it. They run on the current coroutine and must not use the database. Their
** errors end the statement, which raises them unchanged.
*/
#include "CPeriluneRows/Functions/functions.h"

static const char liveness_key;

static void release_liveness(pdb_liveness *state) {
    if (atomic_fetch_sub(&state->owners, 1) == 1) free(state);
}

static int collect_liveness(lua_State *L) {
    pdb_liveness **block = lua_touserdata(L, 1);
    if (*block == NULL) return 0;
    (*block)->rows = NULL;
    release_liveness(*block);
    *block = NULL;
    return 0;
}

/* Returns the liveness record of the state, which is created on first use. [-0, +0, m] */
static pdb_liveness *liveness_of(lua_State *L) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &liveness_key);
    pdb_liveness **block = lua_touserdata(L, -1);
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
    **block = (pdb_liveness){.owners = 1, .rows = pdb_state_of(L)};
    lua_rawsetp(L, LUA_REGISTRYINDEX, &liveness_key);
    return *block;
}

/* Called by SQLite on any thread when a function is replaced or its connection closes. */
static void free_definition(void *user_data) {
    pdb_definition *self = user_data;
    plua_context *context = plua_running_context();
    if (context && self->state->rows && self->state->rows->context == context) {
        luaL_unref(context->running, LUA_REGISTRYINDEX, self->body);
    }
    release_liveness(self->state);
    free(self);
}

lua_State *pdb_enter_callback(pdb_definition *self, pdb_place *former) {
    plua_context *context = plua_running_context();
    pdb_state *rows = self->state->rows;
    if (context == NULL || rows == NULL || context != rows->context) return NULL;
    lua_State *L = context->running;
    if (!lua_checkstack(L, LUA_MINSTACK)) return NULL;
    *former = rows->place;
    rows->place = PDB_IN_SQL_FUNCTION;
    return L;
}

void pdb_leave_callback(pdb_definition *self, pdb_place former) {
    self->state->rows->place = former;
}


bool pdb_invoke(lua_State *L, lua_CFunction body, pdb_invocation *call) {
    lua_pushcfunction(L, body);
    lua_pushlightuserdata(L, call);
    if (plua_pcall(L, 1, 0) == LUA_OK) return true;
    if (call->context) {
        const char *message = "an error was raised in an SQL function";
        if (lua_type(L, -1) == LUA_TSTRING) message = lua_tostring(L, -1);
        sqlite3_result_error(call->context, message, -1);
    }
    pdb_keep_pending_error(L);
    return false;
}

/* MARK: - Defining */

/* The elements of a definition: a list that the database stores and that is applied to each of its connections. */
enum { NAME = 1, KIND, ARGUMENT_COUNT, IS_DETERMINISTIC, BODY };

/* Creates a definition for the function on top of the stack. Everything that may raise comes first. [-1, +0, m] */
static pdb_definition *make_definition(lua_State *L, sqlite3 *handle) {
    pdb_liveness *state = liveness_of(L);
    int body = luaL_ref(L, LUA_REGISTRYINDEX);
    pdb_definition *self = malloc(sizeof *self);
    if (self == NULL) luaL_error(L, "not enough memory");
    *self = (pdb_definition){.state = state, .handle = handle, .body = body};
    atomic_fetch_add(&state->owners, 1);
    return self;
}

/* Pops a definition and defines its function or collation on a connection. Returns an SQLite result code. */
static int define(lua_State *L, sqlite3 *handle) {
    int list = lua_gettop(L);
    for (int i = NAME; i <= BODY; i++) lua_rawgeti(L, list, i);
    const char *name = lua_tostring(L, list + NAME), *kind = lua_tostring(L, list + KIND);
    int count = (int)lua_tointeger(L, list + ARGUMENT_COUNT);
    int flags = SQLITE_UTF8 | (lua_toboolean(L, list + IS_DETERMINISTIC) ? SQLITE_DETERMINISTIC : 0);
    bool is_removal = lua_isboolean(L, list + BODY);
    pdb_definition *self = is_removal ? NULL : make_definition(L, handle);
    void (*destroy)(void *) = is_removal ? NULL : free_definition;
    int code;
    if (strcmp(kind, "collation") == 0) {
        code = sqlite3_create_collation_v2(handle, name, SQLITE_UTF8, self, is_removal ? NULL : pdb_call_collation, destroy);
        if (code != SQLITE_OK && self) free_definition(self); /* on failure, SQLite frees the data of functions, but not of collations */
    } else if (is_removal || strcmp(kind, "function") == 0) {
        code = sqlite3_create_function_v2(handle, name, count, flags, self, is_removal ? NULL : pdb_call_function, NULL, NULL,
                                          destroy);
    } else if (strcmp(kind, "window") == 0) {
        code = sqlite3_create_window_function(handle, name, count, flags, self, pdb_step_aggregate, pdb_finish_aggregate,
                                              pdb_value_of_aggregate, pdb_reverse_aggregate, destroy);
    } else {
        code = sqlite3_create_function_v2(handle, name, count, flags, self, NULL, pdb_step_aggregate, pdb_finish_aggregate,
                                          destroy);
    }
    lua_settop(L, list - 1);
    return code;
}

/* Defines the scripts' functions and collations that a connection still lacks. Raises nothing. Returns an SQLite result code. */
static int apply_definitions(lua_State *L, pdb_connection *connection) {
    pdb_database *database = connection->database;
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

/* Adds the definition at `index` to the list of the database. [-0, +0, m] */
static void add_definition(lua_State *L, pdb_database *database, int index) {
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

void pdb_copy_definitions(lua_State *L, pdb_database *from, pdb_database *to) {
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

/* Runs in an access. Arguments: the database or handle, the definition. */
static int define_now(lua_State *L) {
    pdb_state *rows = pdb_state_of(L);
    pdb_handle *handle = pdb_check_handle(L, rows, 1, "add_function");
    pdb_access *access = pdb_find_access(L, rows, handle->database, handle->token);
    pdb_connection *connection = access->connection;
    add_definition(L, handle->database, 2);
    int code = apply_definitions(L, connection);
    if (code == SQLITE_OK) {
        lua_rawgeti(L, 2, KIND);
        if (strcmp(lua_tostring(L, -1), "collation") == 0) handle->database->has_collations = true;
        return 0;
    }
    handle->database->definition_count--;
    return pdb_raise_sqlite(L, connection, NULL, code);
}

int pdb_define(lua_State *L) {
    lua_settop(L, 2);
    pdb_refuse_in_cluster(L, pdb_check_handle(L, pdb_state_of(L), 1, "add_function")->database,
                          "a cluster runs SQL in its nodes, which know no functions and collations of scripts; compute the value in Lua, "
                          "or sort there");
    lua_pushcfunction(L, define_now);
    lua_insert(L, 1);
    lua_pushvalue(L, 2);
    lua_insert(L, 1);
    return pdb_with_access(L, 1, PDB_WRITE_STATEMENT, 2);
}

/* A definition fails while a cursor is open; the next access tries it again. */
static void will_begin(lua_State *L, pdb_connection *connection) { apply_definitions(L, connection); }

void pdb_open_functions(lua_State *L) {
    static const pdb_connection_hooks hooks = {.will_begin = will_begin};
    pdb_add_connection_hooks(pdb_state_of(L), &hooks);
}
