/* From a call of a script to a verb: its access, its guard, its statement. */
#include "CPeriluneRows/Queries/verbs.h"

/* What a body in a reader of a pool returns when it has to be done again on the writer. */
static const char retry_marker;



static bool wants_writer(const pdb_call *call) {
    return call->access->mode == PDB_READ_STATEMENT &&
           (!call->statement->is_readonly || call->statement->screening.wants_writer);
}

static int run_verb(lua_State *L, const pdb_verb *verb, pdb_call *call) {
    pdb_statement *statement = call->statement;
    call->statement_index = lua_gettop(L);
    if (!verb->takes_several && statement->handle == NULL) {
        return plua_raise(L, "argument", "%s: the SQL has no statement", verb->name);
    }
    if (!verb->takes_several && statement->has_tail) {
        pdb_release_statement(statement);
        return plua_raise(L, "argument", "%s: the SQL has several statements: only execute takes more than one",
                              verb->name);
    }
    if (statement->handle && wants_writer(call)) {
        lua_pushlightuserdata(L, (void *)&retry_marker);
        return 1;
    }
    return verb->body(L, call);
}

/*
** SQLite cannot be told that a collation has failed: the statement goes on to its end, with rows at wrong places in an index.
** So where there are collations of scripts, changes are guarded by a transaction or savepoint, which the error rolls back.
*/
bool pdb_needs_guard(lua_State *L, pdb_database *database) {
    if (!database->has_collations) return false;
    pdb_access *access = pdb_current_access(L, database);
    if (access && access->is_readonly) return false;
    if (access && access->mode == PDB_GUARD && !access->is_taken) {
        access->is_taken = true; /* by the call that it was opened for */
        return false;
    }
    return true;
}

static bool needs_guard(lua_State *L, const pdb_verb *verb, pdb_database *database, int sql_index) {
    if (!verb->runs || !pdb_needs_guard(L, database)) return false;
    size_t length;
    const char *sql = lua_tolstring(L, sql_index, &length);
    return pdb_changes_rows(sql, length);
}

/* Calls a function with everything on the stack as arguments, guarded; `access` is the open one, or NULL. */
int pdb_run_guarded(lua_State *L, pdb_state *rows, pdb_database *database, pdb_access *access,
                         lua_CFunction function) {
    int count = lua_gettop(L);
    lua_pushcfunction(L, function);
    lua_insert(L, 1);
    if (access) return pdb_enter_nested(L, rows, access, PDB_GUARD, count);
    return pdb_enter(L, rows, database, PDB_GUARD, count);
}

/* Calls a function with everything on the stack as arguments, in an access of its own. */
int pdb_run_in_access(lua_State *L, pdb_state *rows, pdb_database *database, bool is_read,
                           lua_CFunction function) {
    bool may_read = is_read && (database->flags & PDB_DATABASE_POOL) && !database->wants_writer;
    int count = lua_gettop(L);
    luaL_checkstack(L, count + LUA_MINSTACK, "too many arguments");
    if (may_read) {
        lua_pushcfunction(L, function);
        for (int i = 1; i <= count; i++) lua_pushvalue(L, i);
        int results = pdb_enter(L, rows, database, PDB_READ_STATEMENT, count);
        if (results != 1 || lua_touserdata(L, -1) != &retry_marker) return results;
        lua_settop(L, count);
    }
    lua_pushcfunction(L, function);
    lua_insert(L, 1);
    return pdb_enter(L, rows, database, PDB_WRITE_STATEMENT, count);
}

/* Stack: handle, SQL, arguments. */
int pdb_call_on_database(lua_State *L, const pdb_verb *verb) {
    pdb_state *rows = pdb_state_of(L);
    pdb_handle *handle = pdb_check_handle(L, rows, 1, verb->name);
    if (lua_type(L, 2) != LUA_TSTRING) return plua_argument_error(L, verb->name, 1, "SQL as a string", 2);
    pdb_access *access = pdb_find_access(L, rows, handle->database, handle->token);
    if (handle->database->has_collations && needs_guard(L, verb, handle->database, 2)) {
        return pdb_run_guarded(L, rows, handle->database, access, verb->database_function);
    }
    if (access == NULL) return pdb_run_in_access(L, rows, handle->database, verb->is_read, verb->database_function);
    pdb_call call = {.rows = rows, .database = handle->database, .token = handle->token, .access = access};
    call.class_index = verb->takes_class ? 3 : 0;
    call.arguments = pdb_arguments_at(L, verb->name, verb->takes_class ? 4 : 3);
    call.statement = pdb_compile(L, access, 2);
    return run_verb(L, verb, &call);
}

/* Stack: prepared statement, arguments. */
int pdb_call_on_statement(lua_State *L, const pdb_verb *verb) {
    pdb_state *rows = pdb_state_of(L);
    pdb_prepared_object *prepared = pdb_check_prepared(L, rows, 1, verb->name);
    if (prepared->is_closed) return plua_raise(L, "closed", "%s: this statement was closed", verb->name);
    pdb_access *access = pdb_find_access(L, rows, prepared->database, prepared->token);
    if (prepared->database->has_collations) {
        lua_getiuservalue(L, 1, PDB_PREPARED_SQL);
        bool is_guarded = needs_guard(L, verb, prepared->database, -1);
        lua_pop(L, 1);
        if (is_guarded) return pdb_run_guarded(L, rows, prepared->database, access, verb->statement_function);
    }
    if (access == NULL) return pdb_run_in_access(L, rows, prepared->database, verb->is_read, verb->statement_function);
    pdb_call call = {.rows = rows, .database = prepared->database, .token = prepared->token, .access = access};
    call.class_index = verb->takes_class ? 2 : 0;
    call.arguments = pdb_arguments_at(L, verb->name, verb->takes_class ? 3 : 2);
    call.statement = pdb_compile_prepared(L, access, 1);
    return run_verb(L, verb, &call);
}
