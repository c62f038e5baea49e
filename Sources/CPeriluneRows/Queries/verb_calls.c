/* Calls of verbs by scripts: finds the access, the guard and the statement of a call. */
#include "CPeriluneRows/Queries/queries.h"

bool pdb_wants_writer(const pdb_call *call) {
    return call->access->mode == PDB_READ_STATEMENT &&
           (!call->statement->is_readonly || call->statement->screening.wants_writer);
}

/* A call with resolved arguments, which is the context of its task. */
typedef struct {
    const pdb_verb *verb;
    pdb_call call;
} verb_call;

static int run_verb(lua_State *L, pdb_access *access, void *context) {
    verb_call *verb_call = context;
    const pdb_verb *verb = verb_call->verb;
    pdb_call *call = &verb_call->call;
    if (access->mode == PDB_GUARD) access->is_taken = true;
    call->access = access;
    call->statement = call->is_prepared ? pdb_compile_prepared(L, access, 1) : pdb_compile(L, access, 2);
    call->statement_index = lua_gettop(L);
    if (!verb->takes_several && call->statement->handle == NULL) {
        return plua_raise(L, "argument", "%s: the SQL contains no statement", verb->name);
    }
    if (!verb->takes_several && call->statement->has_tail) {
        pdb_release_statement(call->statement);
        return plua_raise(L, "argument", "%s: the SQL contains several statements; only execute accepts more than one", verb->name);
    }
    if (call->statement->handle && pdb_wants_writer(call)) return PDB_WANTS_WRITER;
    return verb->body(L, call);
}

static bool needs_guard(lua_State *L, const pdb_verb *verb, pdb_database *database, int sql_index) {
    if (!verb->runs || !pdb_needs_guard(L, database)) return false;
    size_t length;
    const char *sql = lua_tolstring(L, sql_index, &length);
    return database->rows->callbacks.sql.changes_rows(sql, length);
}

/* Collects the arguments from `first` on and runs the call as a task. */
static int run_call(lua_State *L, const pdb_verb *verb, pdb_call call, int first, bool is_guarded) {
    verb_call context = {verb, call};
    context.call.class_index = verb->takes_class ? first++ : 0;
    context.call.arguments = pdb_arguments_at(L, verb->name, first);
    pdb_task task = {.database = call.database, .access = call.access, .is_read = verb->is_read, .is_guarded = is_guarded,
                     .body = run_verb, .context = &context};
    return pdb_run_task(L, &task);
}

/* Stack: handle, SQL, arguments. */
int pdb_call_on_database(lua_State *L, const pdb_verb *verb) {
    pdb_state *rows = pdb_state_of(L);
    pdb_handle *handle = pdb_check_handle(L, rows, 1, verb->name);
    if (lua_type(L, 2) != LUA_TSTRING) return plua_argument_error(L, verb->name, 1, "SQL as a string", 2);
    pdb_database *database = handle->database;
    pdb_call call = {.rows = rows, .database = database, .token = handle->token,
                     .access = pdb_find_access(L, rows, database, handle->token)};
    return run_call(L, verb, call, 3, database->has_collations && needs_guard(L, verb, database, 2));
}

/* Stack: prepared statement, arguments. */
int pdb_call_on_statement(lua_State *L, const pdb_verb *verb) {
    pdb_state *rows = pdb_state_of(L);
    pdb_prepared_object *prepared = pdb_check_prepared(L, rows, 1, verb->name);
    if (prepared->is_closed) return plua_raise(L, "closed", "%s: this statement was closed", verb->name);
    pdb_database *database = prepared->database;
    pdb_call call = {.rows = rows, .database = database, .token = prepared->token, .is_prepared = true,
                     .access = pdb_find_access(L, rows, database, prepared->token)};
    bool is_guarded = false;
    if (database->has_collations) {
        lua_getiuservalue(L, 1, PDB_PREPARED_SQL);
        is_guarded = needs_guard(L, verb, database, -1);
        lua_pop(L, 1);
    }
    return run_call(L, verb, call, 2, is_guarded);
}
