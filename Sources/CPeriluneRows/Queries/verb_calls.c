/* From a call of a script to a verb: its access, its guard, its statement. */
#include "CPeriluneRows/Queries/verbs.h"

/* What a body in a reader of a pool returns when it has to be done again on the writer. */
static const char retry_marker;



static bool wants_writer(const perilune_call *call) {
    return call->access->mode == PERILUNE_READ_STATEMENT &&
           (!call->statement->is_readonly || call->statement->screening.wants_writer);
}

static int run_verb(lua_State *L, const perilune_verb *verb, perilune_call *call) {
    perilune_statement *statement = call->statement;
    call->statement_index = lua_gettop(L);
    if (!verb->takes_several && statement->handle == NULL) {
        return plua_raise(L, "argument", "%s: the SQL has no statement", verb->name);
    }
    if (!verb->takes_several && statement->has_tail) {
        perilune_release_statement(statement);
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
bool perilune_needs_guard(lua_State *L, perilune_database *database) {
    if (!database->has_collations) return false;
    perilune_access *access = perilune_current_access(L, database);
    if (access && access->is_readonly) return false;
    if (access && access->mode == PERILUNE_GUARD && !access->is_taken) {
        access->is_taken = true; /* by the call that it was opened for */
        return false;
    }
    return true;
}

static bool needs_guard(lua_State *L, const perilune_verb *verb, perilune_database *database, int sql_index) {
    if (!verb->runs || !perilune_needs_guard(L, database)) return false;
    size_t length;
    const char *sql = lua_tolstring(L, sql_index, &length);
    return perilune_changes_rows(sql, length);
}

/* Calls a function with everything on the stack as arguments, guarded; `access` is the open one, or NULL. */
int perilune_run_guarded(lua_State *L, perilune_rows *rows, perilune_database *database, perilune_access *access,
                         lua_CFunction function) {
    int count = lua_gettop(L);
    lua_pushcfunction(L, function);
    lua_insert(L, 1);
    if (access) return perilune_enter_nested(L, rows, access, PERILUNE_GUARD, count);
    return perilune_enter(L, rows, database, PERILUNE_GUARD, count);
}

/* Calls a function with everything on the stack as arguments, in an access of its own. */
int perilune_run_in_access(lua_State *L, perilune_rows *rows, perilune_database *database, bool is_read,
                           lua_CFunction function) {
    bool may_read = is_read && (database->flags & PERILUNE_DATABASE_POOL) && !database->wants_writer;
    int count = lua_gettop(L);
    luaL_checkstack(L, count + LUA_MINSTACK, "too many arguments");
    if (may_read) {
        lua_pushcfunction(L, function);
        for (int i = 1; i <= count; i++) lua_pushvalue(L, i);
        int results = perilune_enter(L, rows, database, PERILUNE_READ_STATEMENT, count);
        if (results != 1 || lua_touserdata(L, -1) != &retry_marker) return results;
        lua_settop(L, count);
    }
    lua_pushcfunction(L, function);
    lua_insert(L, 1);
    return perilune_enter(L, rows, database, PERILUNE_WRITE_STATEMENT, count);
}

/* Stack: handle, SQL, arguments. */
int perilune_call_on_database(lua_State *L, const perilune_verb *verb) {
    perilune_rows *rows = perilune_rows_of(L);
    perilune_handle *handle = perilune_check_handle(L, rows, 1, verb->name);
    if (lua_type(L, 2) != LUA_TSTRING) return plua_argument_error(L, verb->name, 1, "SQL as a string", 2);
    perilune_access *access = perilune_find_access(L, rows, handle->database, handle->token);
    if (handle->database->has_collations && needs_guard(L, verb, handle->database, 2)) {
        return perilune_run_guarded(L, rows, handle->database, access, verb->database_function);
    }
    if (access == NULL) return perilune_run_in_access(L, rows, handle->database, verb->is_read, verb->database_function);
    perilune_call call = {.rows = rows, .database = handle->database, .token = handle->token, .access = access};
    call.class_index = verb->takes_class ? 3 : 0;
    call.arguments = perilune_arguments_at(L, verb->name, verb->takes_class ? 4 : 3);
    call.statement = perilune_compile(L, access, 2);
    return run_verb(L, verb, &call);
}

/* Stack: prepared statement, arguments. */
int perilune_call_on_statement(lua_State *L, const perilune_verb *verb) {
    perilune_rows *rows = perilune_rows_of(L);
    perilune_prepared_object *prepared = perilune_check_prepared(L, rows, 1, verb->name);
    if (prepared->is_closed) return plua_raise(L, "closed", "%s: this statement was closed", verb->name);
    perilune_access *access = perilune_find_access(L, rows, prepared->database, prepared->token);
    if (prepared->database->has_collations) {
        lua_getiuservalue(L, 1, PERILUNE_PREPARED_SQL);
        bool is_guarded = needs_guard(L, verb, prepared->database, -1);
        lua_pop(L, 1);
        if (is_guarded) return perilune_run_guarded(L, rows, prepared->database, access, verb->statement_function);
    }
    if (access == NULL) return perilune_run_in_access(L, rows, prepared->database, verb->is_read, verb->statement_function);
    perilune_call call = {.rows = rows, .database = prepared->database, .token = prepared->token, .access = access};
    call.class_index = verb->takes_class ? 2 : 0;
    call.arguments = perilune_arguments_at(L, verb->name, verb->takes_class ? 3 : 2);
    call.statement = perilune_compile_prepared(L, access, 1);
    return run_verb(L, verb, &call);
}
