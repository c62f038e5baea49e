/*
** Requests for records of a single class, the most common ones. Once the Lua part has compiled such a request, it is fetched without Lua.
**
** A request is a table with its values in order, after two empty positions. Its field `node` contains the data that all requests of the
** same form share. There the Lua part stores the compiled request of each verb under the verb's name: a userdata with the SQL. Scripts can
** access both tables, so their contents are not trusted.
*/
#include "CPeriluneRecords/Requests/requests.h"

typedef struct {
    prec_model *model;
    int64_t generation; /* the schema generation for which it was compiled */
    int count;          /* the number of SQL parameters */
    int slots[];        /* for each parameter, the position of its value in the request; 0 for a constant */
} compiled_request;

enum { REQUEST_SQL = 1, REQUEST_STATEMENT, REQUEST_CLASS, REQUEST_CONSTANTS, REQUEST_VALUES = REQUEST_CONSTANTS };

static const char metatable_key; /* in the registry */

static void push_metatable(lua_State *L) {
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &metatable_key) == LUA_TTABLE) return;
    lua_pop(L, 1);
    pdb_new_metatable(L, &metatable_key, "compiled request", (luaL_Reg[]){{NULL, NULL}});
}

/* compiled_request(SQL, class, generation, list of slots, constants by their positions among the slots): returns a userdata. */
static int make_compiled_request(lua_State *L) {
    lua_settop(L, 5);
    luaL_checktype(L, 1, LUA_TSTRING);
    prec_model *model = prec_model_at(L, 2);
    if (model == NULL) luaL_typeerror(L, 2, "record class");
    luaL_checktype(L, 4, LUA_TTABLE);
    luaL_checktype(L, 5, LUA_TTABLE);
    int count = (int)lua_rawlen(L, 4);
    compiled_request *request = lua_newuserdatauv(L, sizeof *request + (size_t)count * sizeof(int), REQUEST_VALUES);
    *request = (compiled_request){model, luaL_checkinteger(L, 3), count};
    for (int i = 0; i < count; i++) {
        lua_rawgeti(L, 4, i + 1);
        request->slots[i] = (int)lua_tointeger(L, -1);
        lua_pop(L, 1);
    }
    static const int sources[] = {[REQUEST_SQL] = 1, [REQUEST_CLASS] = 2, [REQUEST_CONSTANTS] = 5};
    for (int i = REQUEST_SQL; i <= REQUEST_CONSTANTS; i++) {
        if (i == REQUEST_STATEMENT) continue;
        lua_pushvalue(L, sources[i]);
        lua_setiuservalue(L, 6, i);
    }
    push_metatable(L);
    lua_setmetatable(L, 6);
    return 1;
}

/* MARK: - Verbs */

/* Upvalues of a verb: its name; the Lua function; the name of the field `node`; the metatable. */
enum { NAME = 1, FALLBACK, NODE, METATABLE, UPVALUES = METATABLE };

/* Pushes the compiled form of the request at 1. Returns NULL, with any number of values pushed, if it is not compiled. */
static compiled_request *push_compiled(lua_State *L) {
    if (lua_type(L, 1) != LUA_TTABLE) return NULL;
    lua_pushvalue(L, lua_upvalueindex(NODE));
    if (lua_rawget(L, 1) != LUA_TTABLE) return NULL;
    lua_pushvalue(L, lua_upvalueindex(NAME));
    lua_rawget(L, -2);
    return pdb_to_userdata(L, -1, lua_topointer(L, lua_upvalueindex(METATABLE)));
}

/* Returns whether the request is the only argument, or followed by a database or nil. */
static bool has_usual_arguments(lua_State *L, int count) {
    return count == 1 || (count == 2 && (lua_isnil(L, 2) || pdb_to_userdata(L, 2, pdb_state_of(L)->database_metatable)));
}

/* Returns whether the compiled request can run on the database. It cannot run in the access of a reading statement, because its statement
** may need a writing access instead. It also cannot run before the class's table has been read, because only then is it known whether the
** Lua part must decode the records. (Fetches without rows do not read the table.) */
static bool is_runnable(const compiled_request *request, const pdb_database *database, const pdb_access *access) {
    return (access == NULL || access->mode != PDB_READ_STATEMENT) && request->generation == database->schema_generation &&
           request->model->is_described && !prec_decodes_in_lua(request->model);
}

static int finish(lua_State *L, int status, lua_KContext context) {
    (void)status, (void)context;
    return lua_gettop(L);
}

static int call_fallback(lua_State *L, int count) {
    lua_settop(L, count);
    lua_pushvalue(L, lua_upvalueindex(FALLBACK));
    lua_insert(L, 1);
    lua_callk(L, count, LUA_MULTRET, 0, finish);
    return finish(L, LUA_OK, 0);
}

/* Pushes the values of the parameters. */
static void push_values(lua_State *L, const compiled_request *request, int index) {
    for (int i = 0; i < request->count; i++) {
        if (request->slots[i] > 0) {
            lua_rawgeti(L, 1, request->slots[i]);
        } else {
            lua_getiuservalue(L, index, REQUEST_CONSTANTS);
            lua_rawgeti(L, -1, i + 1);
            lua_remove(L, -2);
        }
    }
}

typedef struct {
    const char *name;
    int (*fetch)(lua_State *L, pdb_call *call);
} request_verb;

/* Fetches the records in an access. Stack: request, optional database, ..., compiled request. */
static int run_request(lua_State *L, pdb_access *access, void *context) {
    const request_verb *verb = context;
    int index = lua_gettop(L);
    const compiled_request *request = lua_touserdata(L, index);
    luaL_checkstack(L, request->count + LUA_MINSTACK * 2, "too many arguments");
    pdb_call call = {.rows = access->database->rows, .database = access->database, .access = access, .class_index = index + 1};
    lua_getiuservalue(L, index, REQUEST_CLASS);
    push_values(L, request, index);
    call.arguments = (pdb_arguments){
        .verb = verb->name, .first = index + 2, .count = request->count, .list_count = request->count};
    call.statement = prec_compile_kept(L, access, index, REQUEST_SQL, REQUEST_STATEMENT);
    call.statement_index = lua_gettop(L);
    if (pdb_wants_writer(&call)) return PDB_WANTS_WRITER;
    return verb->fetch(L, &call);
}

/* Fetches the records of a request, or calls the Lua function. Stack: request, optional database. */
static int fetch_request(lua_State *L, int (*fetch)(lua_State *, pdb_call *)) {
    int count = lua_gettop(L);
    compiled_request *request = has_usual_arguments(L, count) ? push_compiled(L) : NULL;
    if (request == NULL) return call_fallback(L, count);
    request_verb verb = {lua_tostring(L, lua_upvalueindex(NAME)), fetch};
    pdb_task task = {.is_read = true, .body = run_request, .context = &verb};
    task.database = pdb_resolve_database(L, count == 2 ? 2 : 0, verb.name, &task.access);
    if (!is_runnable(request, task.database, task.access)) return call_fallback(L, count);
    return pdb_run_task(L, &task);
}

static int fetch_all(lua_State *L) { return fetch_request(L, prec_fetch_records); }
static int fetch_one(lua_State *L) { return fetch_request(L, prec_fetch_record); }

/* request_verb(name, function): returns `fetch_all` or `fetch_one`. The method calls the function for requests that are not compiled. */
static int make_verb(lua_State *L) {
    static const char *const names[] = {"fetch_all", "fetch_one", NULL};
    int verb = luaL_checkoption(L, 1, NULL, names);
    lua_settop(L, 2);
    lua_pushliteral(L, "node");
    push_metatable(L);
    lua_pushcclosure(L, verb == 0 ? fetch_all : fetch_one, UPVALUES);
    return 1;
}

/* MARK: - The schema */

/* current_generation(): returns the schema generation of the innermost access's database or else of the default database; nothing without
** either. */
static int current_generation(lua_State *L) {
    pdb_state *rows = pdb_state_of(L);
    pdb_database *database = pdb_implied_database(rows);
    if (database == NULL) return 0;
    lua_pushinteger(L, database->schema_generation);
    return 1;
}

const luaL_Reg prec_request_functions[] = {
    {"compiled_request", make_compiled_request},
    {"request_verb", make_verb},
    {"current_generation", current_generation},
    {NULL, NULL},
};
