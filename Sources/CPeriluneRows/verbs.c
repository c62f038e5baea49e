/* The verbs of databases and prepared statements: execute, fetch_all, fetch_one and the like. */
#include "verbs.h"

/* Rows built between two looks at whether the run is to end. */
enum { rows_per_look = 256 };

/* From so many rows on, the collector waits: nothing that a loop builds can be collected before its end. */
enum { rows_before_pause = 100 };

/* MARK: - Stepping */

void perilune_record_read(lua_State *L, perilune_call *call) {
    perilune_rows *rows = call->rows;
    bool may_refuse = perilune_leave_lua(rows);
    int result = rows->callbacks.record(L, call->access->connection->grdb, call->statement->object);
    perilune_return_to_lua(rows, may_refuse);
    if (result != 0) perilune_raise_failure(L, call->statement);
}

void perilune_start(lua_State *L, perilune_call *call, perilune_statement **list) {
    perilune_statement *statement = call->statement;
    perilune_begin_run(statement, list);
    perilune_note_run(call->rows, statement);
    perilune_bind_arguments(L, statement, call->statement_index, &call->arguments);
    if (!call->is_batch) perilune_check_all_used(L, statement, call->statement_index, &call->arguments);
    perilune_mark_rowid(statement);
    if (call->rows->is_recording && statement->is_direct) perilune_record_read(L, call);
}

bool perilune_step(lua_State *L, perilune_call *call) {
    int code = sqlite3_step(call->statement->handle);
    if (call->rows->has_pending_error) perilune_raise_failure(L, call->statement);
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) perilune_raise_sqlite(L, call->access->connection, call->statement, code);
    return false;
}

static int raise_null(lua_State *L, perilune_call *call, lua_Integer row) {
    perilune_end_run(call->statement);
    return perilune_raise(L, "null", "%s: the value of row %I is NULL: leave such rows out in SQL, or use "
                          "fetch_optional_values, which gives perilune.null for them", call->arguments.verb, row);
}

/* MARK: - Many rows */

typedef struct {
    perilune_call *call;
    perilune_row_form form;
    lua_Integer count;
    bool is_done;
} loop;

/* Pushes the first column. Returns false if it is NULL and may not be. */
static bool push_first(lua_State *L, perilune_call *call) {
    perilune_push_value(L, call->statement, 0);
    if (!lua_isnil(L, -1)) return true;
    if (!call->allows_null) return false;
    lua_pop(L, 1);
    perilune_push_null(L);
    return true;
}

/* Pushes the row that the statement stands on, made from keys on the stack. */
static inline void push_row(lua_State *L, perilune_statement *statement, int first_key, int metatable) {
    int count = statement->column_count;
    lua_createtable(L, 0, count);
    for (int i = 0; i < count; i++) {
        if (sqlite3_column_type(statement->handle, i) == SQLITE_NULL) continue;
        lua_pushvalue(L, first_key + i);
        perilune_push_value(L, statement, i);
        lua_rawset(L, -3);
    }
    lua_pushvalue(L, metatable);
    lua_setmetatable(L, -2);
}

static void look(lua_State *L, perilune_call *call, lua_Integer count) {
    if (call->rows->context->limited) perilune_charge(L, call->statement->column_count);
    else if (count % rows_per_look == 0 && perilune_is_doomed(call->rows)) perilune_raise_doom(L);
}

/* The same for records. Index 2: their layout. */
static void take_records(lua_State *L, loop *loop, lua_Integer limit) {
    int top = lua_gettop(L);
    perilune_decoder decoder = perilune_begin_records(L, 2);
    while (loop->count < limit) {
        perilune_decode(L, loop->call->statement, &decoder);
        lua_rawseti(L, 1, ++loop->count);
        look(L, loop->call, loop->count);
        if (!perilune_step(L, loop->call)) {
            loop->is_done = true;
            break;
        }
    }
    lua_settop(L, top);
}

/* Takes rows into the list at index 1 until there are none, or `limit` are in it. Index 2: the list of keys. */
static void take_rows(lua_State *L, loop *loop, lua_Integer limit) {
    perilune_call *call = loop->call;
    perilune_statement *statement = call->statement;
    if (loop->form == PERILUNE_RECORDS) {
        take_records(L, loop, limit);
        return;
    }
    bool has_rows = loop->form == PERILUNE_ROWS;
    int metatable = lua_gettop(L) + 1, first_key = metatable + 1;
    luaL_checkstack(L, statement->column_count + LUA_MINSTACK, "too many columns");
    if (has_rows) lua_rawgeti(L, 2, 0);
    for (int i = 1; has_rows && i <= statement->column_count; i++) lua_rawgeti(L, 2, i);
    while (loop->count < limit) {
        loop->count++;
        if (has_rows) push_row(L, statement, first_key, metatable);
        else if (!push_first(L, call)) raise_null(L, call, loop->count);
        lua_rawseti(L, 1, loop->count);
        look(L, call, loop->count);
        if (!perilune_step(L, call)) {
            loop->is_done = true;
            break;
        }
    }
    lua_settop(L, metatable - 1);
}

/* Arguments: list, list of keys, loop. */
static int take_all_rows(lua_State *L) {
    loop *loop = lua_touserdata(L, 3);
    lua_settop(L, 2);
    take_rows(L, loop, LUA_MAXINTEGER);
    return 0;
}

/* The same with the collector paused; it is started again whatever happens. A state with a memory limit goes without: it
** must be able to collect. */
static void take_all_rows_paused(lua_State *L, loop *loop, int list) {
    bool is_running = lua_gc(L, LUA_GCISRUNNING) && loop->call->rows->context->limit == 0;
    lua_pushcfunction(L, take_all_rows);
    lua_pushvalue(L, list);
    lua_pushvalue(L, list + 1);
    lua_pushlightuserdata(L, loop);
    if (is_running) lua_gc(L, LUA_GCSTOP);
    int status = perilune_pcall(L, 3, 0);
    if (is_running) lua_gc(L, LUA_GCRESTART);
    if (status != LUA_OK) {
        perilune_end_run(loop->call->statement);
        lua_error(L);
    }
}

/* Arguments: list, list of keys, loop. */
static int take_first_rows(lua_State *L) {
    loop *loop = lua_touserdata(L, 3);
    lua_settop(L, 2);
    take_rows(L, loop, rows_before_pause);
    return 0;
}

/* Pushes the list of what a direct statement gives. */
static void fetch_direct(lua_State *L, perilune_call *call, perilune_row_form form) {
    perilune_start(L, call, &call->access->active);
    loop loop = {.call = call, .form = form};
    bool has_row = perilune_step(L, call);
    lua_newtable(L);
    if (has_row) {
        int list = lua_gettop(L);
        perilune_check_columns(call->statement);
        if (form == PERILUNE_ROWS) perilune_push_keys(L, call->statement, call->statement_index);
        else if (form == PERILUNE_RECORDS) perilune_push_layout(L, call);
        else lua_pushnil(L);
        lua_pushcfunction(L, take_first_rows);
        lua_pushvalue(L, list);
        lua_pushvalue(L, list + 1);
        lua_pushlightuserdata(L, &loop);
        lua_call(L, 3, 0);
        if (!loop.is_done) take_all_rows_paused(L, &loop, list);
        lua_settop(L, list);
    }
    perilune_end_run(call->statement);
}

/* MARK: - Through GRDB */

static void push_optional_value(lua_State *L, perilune_statement *statement) {
    perilune_push_value(L, statement, 0);
    if (!lua_isnil(L, -1)) return;
    lua_pop(L, 1);
    perilune_push_null(L);
}

static void push_list(lua_State *L, perilune_statement *statement) {
    lua_createtable(L, statement->column_count, 1);
    for (int i = 0; i < statement->column_count; i++) {
        perilune_push_value(L, statement, i);
        lua_rawseti(L, -2, i + 1);
    }
    lua_pushinteger(L, statement->column_count);
    lua_setfield(L, -2, "n");
}

/* Below the list is the list of keys, or nil. Swift frames are below: nothing is refused, and nothing may be raised. */
void perilune_take_row(perilune_run *run) {
    lua_State *L = run->L;
    perilune_statement *statement = run->statement;
    if (run->form == PERILUNE_DISCARD || run->count >= run->limit) return;
    if (run->count++ == 0) {
        perilune_check_columns(statement);
        if (run->form == PERILUNE_ROWS) {
            perilune_push_keys(L, statement, run->statement_index);
            lua_replace(L, run->list - 1);
        }
    }
    switch (run->form) {
        case PERILUNE_VALUES: push_optional_value(L, statement); break;
        case PERILUNE_TUPLES: push_list(L, statement); break;
        case PERILUNE_RECORDS:
            if (!perilune_push_record(L, statement, run->list - 1)) {
                run->is_stale = true;
                return;
            }
            break;
        default: perilune_push_row(L, statement, run->list - 1); break;
    }
    lua_rawseti(L, run->list, run->count);
}

static bool is_change(const perilune_statement *statement) {
    perilune_keyword keyword = statement->screening.keyword;
    return keyword == PERILUNE_KEYWORD_INSERT || keyword == PERILUNE_KEYWORD_CHANGE;
}

/* Changes that go through GRDB before it is asked whether anybody observes them. */
enum { changes_before_asking = 4 };

/*
** Whether a change may be stepped here, which saves a third of an insert. GRDB follows changes for its observers alone: where
** there are none, and a transaction is open before and after, it has nothing to do.
*/
bool perilune_may_step_change(perilune_call *call) {
    perilune_access *access = call->access;
    if (!access->in_transaction || !is_change(call->statement)) return false;
    if (access->change_count < changes_before_asking) {
        access->change_count++;
        return false;
    }
    if (access->change_count == changes_before_asking) {
        access->change_count++;
        bool may_refuse = perilune_leave_lua(call->rows);
        access->is_unobserved = !call->rows->callbacks.is_observed(access->connection->grdb);
        perilune_return_to_lua(call->rows, may_refuse);
    }
    return access->is_unobserved;
}

static bool may_change_schema(const perilune_statement *statement) {
    switch (statement->screening.keyword) {
        case PERILUNE_KEYWORD_READ:
        case PERILUNE_KEYWORD_INSERT:
        case PERILUNE_KEYWORD_CHANGE: return false;
        case PERILUNE_KEYWORD_OTHER: return !statement->is_readonly;
        default: return true;
    }
}

/* Notices that SQLite has compiled the statement anew: perilune_check_columns does it where there are columns. */
static void check_preparation(perilune_statement *statement) {
    int prepare_count = sqlite3_stmt_status(statement->handle, SQLITE_STMTSTATUS_REPREPARE, 0);
    if (statement->prepare_count == prepare_count) return;
    statement->prepare_count = prepare_count;
    perilune_touch_schema(statement->connection->database);
}

/* Takes what the run has changed, before that is forgotten. */
void perilune_end_change(perilune_call *call) {
    if (may_change_schema(call->statement)) perilune_touch_schema(call->database);
    else if (call->statement->column_count == 0) check_preparation(call->statement);
    call->changes = sqlite3_changes64(call->access->connection->handle);
    call->has_inserted = perilune_has_inserted(call->statement);
    if (call->rows->context->limit) perilune_watch_memory(call->access->connection);
    perilune_end_run(call->statement);
}

/* Steps a statement that is no SELECT, through GRDB or here. */
static void step_change(lua_State *L, perilune_call *call, perilune_run *run) {
    perilune_rows *rows = call->rows;
    if (perilune_may_step_change(call)) {
        while (perilune_step(L, call)) perilune_take_row(run);
        return;
    }
    bool may_refuse = perilune_leave_lua(rows);
    int result = rows->callbacks.run(call->statement->object, run);
    perilune_return_to_lua(rows, may_refuse);
    if (result == 0 && !rows->has_pending_error) return;
    perilune_connection *connection = call->access->connection;
    if (connection->hub) perilune_hub_statement_failed(connection->hub);
    if (perilune_has_settlements(rows)) perilune_settle_failed(L, connection);
    perilune_raise_failure(L, call->statement);
}

/* Observers may have to know of a savepoint. */
static void tell_of_savepoint(lua_State *L, perilune_call *call) {
    perilune_connection *connection = call->access->connection;
    if (connection->hub == NULL || call->statement->screening.keyword != PERILUNE_KEYWORD_CONTROL) return;
    perilune_hub_take_control(connection->hub, sqlite3_sql(call->statement->handle));
    if (call->rows->has_pending_error) perilune_raise_failure(L, call->statement);
}

/* Runs a statement whose arguments are bound. Pushes the list of its rows, in the form asked for, unless they are discarded. */
void perilune_run_bound(lua_State *L, perilune_call *call, perilune_row_form form, lua_Integer limit) {
    perilune_run run = {.L = L, .statement = call->statement, .form = form, .limit = limit,
                        .statement_index = call->statement_index};
    if (form != PERILUNE_DISCARD) {
        luaL_checkstack(L, LUA_MINSTACK * 2, "too many arguments");
        if (form == PERILUNE_RECORDS) perilune_push_layout(L, call);
        else lua_pushnil(L);
        lua_newtable(L);
        run.list = lua_gettop(L);
    }
    step_change(L, call, &run);
    if (run.is_stale) perilune_raise_stale(L, call);
    tell_of_savepoint(L, call);
    perilune_end_change(call);
    if (perilune_has_settlements(call->rows)) perilune_settle(L, call->access->connection);
    perilune_charge(L, 100);
    if (perilune_is_doomed(call->rows)) perilune_raise_doom(L);
}

static void run_through_grdb(lua_State *L, perilune_call *call, perilune_row_form form, lua_Integer limit) {
    perilune_start(L, call, &call->access->active);
    perilune_run_bound(L, call, form, limit);
}

/* Pushes the list of what a statement gives. */
void perilune_fetch(lua_State *L, perilune_call *call, perilune_row_form form, lua_Integer limit) {
    if (call->statement->is_direct) fetch_direct(L, call, form);
    else run_through_grdb(L, call, form, limit);
}

/* MARK: - The verbs */

static int fetch_all(lua_State *L, perilune_call *call) {
    perilune_fetch(L, call, PERILUNE_ROWS, LUA_MAXINTEGER);
    return 1;
}

/* Steps to the first row of a direct statement. */
static bool step_once(lua_State *L, perilune_call *call) {
    perilune_start(L, call, &call->access->active);
    return perilune_step(L, call);
}

/* Pushes the first of the rows of a statement that goes through GRDB. */
static int first_through_grdb(lua_State *L, perilune_call *call, perilune_row_form form) {
    run_through_grdb(L, call, form, 1);
    lua_rawgeti(L, -1, 1);
    return 1;
}

static int fetch_one(lua_State *L, perilune_call *call) {
    if (!call->statement->is_direct) return first_through_grdb(L, call, PERILUNE_ROWS);
    if (step_once(L, call)) {
        perilune_push_keys(L, call->statement, call->statement_index);
        perilune_push_row(L, call->statement, lua_gettop(L));
    } else {
        lua_pushnil(L);
    }
    perilune_end_run(call->statement);
    return 1;
}

static int fetch_value(lua_State *L, perilune_call *call) {
    if (!call->statement->is_direct) {
        first_through_grdb(L, call, PERILUNE_VALUES);
        if (perilune_is_null(L, -1)) lua_pushnil(L);
        return 1;
    }
    if (step_once(L, call)) {
        perilune_check_columns(call->statement);
        perilune_push_value(L, call->statement, 0);
    } else {
        lua_pushnil(L);
    }
    perilune_end_run(call->statement);
    return 1;
}

/* For values that came through GRDB, where NULL is perilune.null. */
static void check_no_null(lua_State *L, perilune_call *call, int list) {
    lua_Integer count = (lua_Integer)lua_rawlen(L, list);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, list, i);
        if (perilune_is_null(L, -1)) raise_null(L, call, i);
        lua_pop(L, 1);
    }
}

static int fetch_values(lua_State *L, perilune_call *call) {
    bool is_direct = call->statement->is_direct;
    perilune_fetch(L, call, PERILUNE_VALUES, LUA_MAXINTEGER);
    if (!is_direct && !call->allows_null) check_no_null(L, call, lua_gettop(L));
    return 1;
}

static int fetch_optional_values(lua_State *L, perilune_call *call) {
    call->allows_null = true;
    return fetch_values(L, call);
}

static int fetch_set(lua_State *L, perilune_call *call) {
    fetch_values(L, call);
    int list = lua_gettop(L);
    lua_Integer count = (lua_Integer)lua_rawlen(L, list);
    lua_newtable(L);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, list, i);
        lua_pushboolean(L, true);
        lua_rawset(L, list + 1);
    }
    return 1;
}

/* Pushes what a script gets for an INSERT, whose row id only counts if it has inserted something. */
static int push_insertion(lua_State *L, sqlite3 *handle, lua_Integer changed_rows, bool has_inserted) {
    lua_Integer rowid = has_inserted ? sqlite3_last_insert_rowid(handle) : 0;
    perilune_push_changes(L, changed_rows, has_inserted ? &rowid : NULL);
    return 1;
}

/* Steps a statement and throws its rows away. */
static void run_to_end(lua_State *L, perilune_call *call) {
    if (!call->statement->is_direct) {
        run_through_grdb(L, call, PERILUNE_DISCARD, 0);
        return;
    }
    bool has_row = step_once(L, call);
    for (lua_Integer i = 1; has_row; i++) {
        look(L, call, i);
        has_row = perilune_step(L, call);
    }
    perilune_end_run(call->statement);
}

/* MARK: - Several statements */

/* The statements of a batch, in turn. Arguments are handed out in order; names are shared. */
static int run_batch(lua_State *L, perilune_call *call, perilune_batch *batch, int sql_index) {
    sqlite3 *handle = call->access->connection->handle;
    lua_Integer total = 0;
    bool has_inserted = false;
    lua_newtable(L);
    call->arguments.used = lua_gettop(L);
    int top = lua_gettop(L);
    while ((call->statement = perilune_next_in_batch(L, call->access, batch, sql_index))) {
        call->statement_index = lua_gettop(L);
        run_to_end(L, call);
        if (is_change(call->statement)) {
            total += call->changes;
            has_inserted = call->has_inserted;
        }
        lua_settop(L, top);
    }
    perilune_check_all_used(L, NULL, 0, &call->arguments);
    return push_insertion(L, handle, total, has_inserted);
}

static int execute_batch(lua_State *L, perilune_call *call, int sql_index) {
    perilune_rows *rows = call->rows;
    perilune_batch batch = {0};
    batch.sql = lua_tolstring(L, sql_index, &batch.length);
    /* If something is raised, the collector finds the batch. */
    void **guard = lua_newuserdatauv(L, sizeof *guard, 0);
    *guard = NULL;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &perilune_guard_key);
    lua_setmetatable(L, -2);
    bool may_refuse = perilune_leave_lua(rows);
    int result = rows->callbacks.open_batch(L, call->access->connection->grdb, batch.sql, &batch.object);
    perilune_return_to_lua(rows, may_refuse);
    if (result != 0) perilune_raise_failure(L, NULL);
    *guard = batch.object;
    call->is_batch = true;
    call->arguments.taken = 0;
    run_batch(L, call, &batch, sql_index);
    *guard = NULL;
    rows->callbacks.release(batch.object);
    return 1;
}

static int execute(lua_State *L, perilune_call *call) {
    perilune_statement *statement = call->statement;
    sqlite3 *handle = call->access->connection->handle;
    if (statement->handle == NULL) {
        perilune_check_all_used(L, NULL, 0, &call->arguments);
        return push_insertion(L, handle, 0, false);
    }
    if (statement->has_tail) {
        lua_getiuservalue(L, call->statement_index, PERILUNE_SQL);
        perilune_release_statement(statement);
        return execute_batch(L, call, lua_gettop(L));
    }
    run_to_end(L, call);
    return push_insertion(L, handle, is_change(statement) ? call->changes : 0, call->has_inserted);
}

static int prepare(lua_State *L, perilune_call *call) {
    perilune_handle *handle = lua_touserdata(L, 1);
    return perilune_push_prepared(L, handle, call->statement_index);
}

static int columns(lua_State *L, perilune_call *call) {
    perilune_statement *statement = call->statement;
    lua_createtable(L, statement->column_count, 0);
    for (int i = 0; i < statement->column_count; i++) {
        lua_pushstring(L, sqlite3_column_name(statement->handle, i));
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

/* The names of the parameters; false for those without. */
static int parameters(lua_State *L, perilune_call *call) {
    int count = call->statement->parameter_count;
    lua_createtable(L, count, 0);
    if (count == 0) return 1;
    lua_getiuservalue(L, call->statement_index, PERILUNE_PARAMETERS);
    for (int i = 1; i <= count; i++) {
        lua_rawgeti(L, -1, i);
        lua_rawseti(L, -3, i);
    }
    lua_pop(L, 1);
    return 1;
}

static int is_readonly(lua_State *L, perilune_call *call) {
    lua_pushboolean(L, call->statement->is_readonly);
    return 1;
}

/* MARK: - From a call of a script to a verb */

/* What a body in a reader of a pool returns when it has to be done again on the writer. */
static const char retry_marker;

typedef struct {
    const char *name;
    int (*body)(lua_State *L, perilune_call *call);
    lua_CFunction database_function, statement_function;
    bool is_read;       /* a pool may try it on a reader */
    bool takes_several; /* statements in one text */
    bool runs;          /* and does not only look at a statement */
    bool takes_class;   /* of records, after the SQL or the statement */
} verb;

static bool wants_writer(const perilune_call *call) {
    return call->access->mode == PERILUNE_READ_STATEMENT &&
           (!call->statement->is_readonly || call->statement->screening.wants_writer);
}

static int run_verb(lua_State *L, const verb *verb, perilune_call *call) {
    perilune_statement *statement = call->statement;
    call->statement_index = lua_gettop(L);
    if (!verb->takes_several && statement->handle == NULL) {
        return perilune_raise(L, "argument", "%s: the SQL has no statement", verb->name);
    }
    if (!verb->takes_several && statement->has_tail) {
        perilune_release_statement(statement);
        return perilune_raise(L, "argument", "%s: the SQL has several statements: only execute takes more than one",
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

static bool needs_guard(lua_State *L, const verb *verb, perilune_database *database, int sql_index) {
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
static int call_on_database(lua_State *L, const verb *verb) {
    perilune_rows *rows = perilune_rows_of(L);
    perilune_handle *handle = perilune_check_handle(L, rows, 1, verb->name);
    if (lua_type(L, 2) != LUA_TSTRING) return perilune_argument_error(L, verb->name, 1, "SQL as a string", 2);
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
static int call_on_statement(lua_State *L, const verb *verb) {
    perilune_rows *rows = perilune_rows_of(L);
    perilune_prepared_object *prepared = perilune_check_prepared(L, rows, 1, verb->name);
    if (prepared->is_closed) return perilune_raise(L, "closed", "%s: this statement was closed", verb->name);
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

#define FULL_VERB(name, body, text, is_read, takes_several, runs, takes_class)                              \
    static const verb name##_verb;                                                                          \
    static int database_##name(lua_State *L) { return call_on_database(L, &name##_verb); }                  \
    static int statement_##name(lua_State *L) { return call_on_statement(L, &name##_verb); }                \
    static const verb name##_verb = {text, body, database_##name, statement_##name, is_read, takes_several, \
                                     runs, takes_class};

#define VERB(name, is_read, takes_several, runs) FULL_VERB(name, name, #name, is_read, takes_several, runs, false)

static int rows(lua_State *L, perilune_call *call) { return perilune_open_cursor(L, call, PERILUNE_ROWS); }
static int tuples(lua_State *L, perilune_call *call) { return perilune_open_cursor(L, call, PERILUNE_TUPLES); }

static int record_rows(lua_State *L, perilune_call *call) { return perilune_open_cursor(L, call, PERILUNE_RECORDS); }

int perilune_fetch_records(lua_State *L, perilune_call *call) {
    perilune_fetch(L, call, PERILUNE_RECORDS, LUA_MAXINTEGER);
    perilune_check_fit(L, call->rows);
    return 1;
}

int perilune_fetch_record(lua_State *L, perilune_call *call) {
    if (!call->statement->is_direct) {
        first_through_grdb(L, call, PERILUNE_RECORDS);
    } else if (step_once(L, call)) {
        perilune_check_columns(call->statement);
        perilune_push_layout(L, call);
        perilune_push_record(L, call->statement, lua_gettop(L));
        if (call->rows->has_pending_error) perilune_raise_failure(L, call->statement);
    } else {
        lua_pushnil(L);
    }
    perilune_end_run(call->statement);
    perilune_check_fit(L, call->rows);
    return 1;
}

VERB(execute, false, true, true)
VERB(fetch_all, true, false, true)
VERB(fetch_one, true, false, true)
VERB(fetch_value, true, false, true)
VERB(fetch_values, true, false, true)
VERB(fetch_optional_values, true, false, true)
VERB(fetch_set, true, false, true)
VERB(rows, false, false, true)
VERB(tuples, false, false, true)
VERB(prepare, false, false, false)
VERB(columns, false, false, false)
VERB(parameters, false, false, false)
VERB(is_readonly, false, false, false)
FULL_VERB(fetch_records, perilune_fetch_records, "fetch_all", true, false, true, true)
FULL_VERB(fetch_record, perilune_fetch_record, "fetch_one", true, false, true, true)
FULL_VERB(record_rows, record_rows, "rows", false, false, true, true)

const luaL_Reg perilune_database_verbs[] = {
    {"execute", database_execute},
    {"fetch_all", database_fetch_all},
    {"fetch_one", database_fetch_one},
    {"fetch_value", database_fetch_value},
    {"fetch_values", database_fetch_values},
    {"fetch_optional_values", database_fetch_optional_values},
    {"fetch_set", database_fetch_set},
    {"rows", database_rows},
    {"tuples", database_tuples},
    {"prepare", database_prepare},
    {NULL, NULL},
};

const luaL_Reg perilune_statement_verbs[] = {
    {"execute", statement_execute},
    {"fetch_all", statement_fetch_all},
    {"fetch_one", statement_fetch_one},
    {"fetch_value", statement_fetch_value},
    {"fetch_values", statement_fetch_values},
    {"fetch_optional_values", statement_fetch_optional_values},
    {"fetch_set", statement_fetch_set},
    {"rows", statement_rows},
    {"tuples", statement_tuples},
    {"columns", statement_columns},
    {"parameters", statement_parameters},
    {"is_readonly", statement_is_readonly},
    {NULL, NULL},
};

/* For the library: database, SQL, class, arguments; or statement, class, arguments. */
const luaL_Reg perilune_record_fetches[] = {
    {"fetch_records", database_fetch_records},
    {"fetch_record", database_fetch_record},
    {"record_rows", database_record_rows},
    {"fetch_statement_records", statement_fetch_records},
    {"fetch_statement_record", statement_fetch_record},
    {"statement_record_rows", statement_record_rows},
    {NULL, NULL},
};
