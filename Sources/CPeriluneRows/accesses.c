/* Databases, the handles that blocks receive, and the accesses that are open. */
#include "rows_internal.h"

/* SQLite's instructions between two looks at flag, clock and budget. */
enum { instructions_per_look = 10000 };

/* MARK: - Finding */

perilune_handle *perilune_check_handle(lua_State *L, perilune_rows *rows, int index, const char *verb) {
    perilune_handle *handle = perilune_block_of(L, index, rows->database_metatable);
    if (handle == NULL) {
        perilune_raise(L, "argument", "%s: expected a database before the colon (db:%s(...)), got %s", verb, verb,
                       perilune_type_name(L, index));
    }
    return handle;
}

static perilune_access *access_with_token(perilune_rows *rows, uint64_t token) {
    perilune_access *access = rows->access;
    while (access && access->token != token) access = access->outer;
    return access;
}

static perilune_access *access_to(perilune_rows *rows, perilune_database *database) {
    perilune_access *access = rows->access;
    while (access && database && access->database != database) access = access->outer;
    return access;
}

perilune_access *perilune_find_access(lua_State *L, perilune_rows *rows, perilune_database *database, uint64_t token) {
    if (rows->forbidden_place) {
        perilune_raise(L, "nested_access", "a database cannot be used inside %s", rows->forbidden_place);
    }
    if (token == 0) return access_to(rows, database);
    perilune_access *access = access_with_token(rows, token);
    if (access == NULL) perilune_raise(L, "dead_handle", "this database handle was used after its block ended");
    return access;
}

perilune_database *perilune_database_at(lua_State *L, int index) {
    perilune_rows *rows = perilune_rows_of(L);
    perilune_handle *handle = perilune_block_of(L, index, rows->database_metatable);
    if (handle == NULL || (handle->token != 0 && !access_with_token(rows, handle->token))) return NULL;
    return handle->database->owner ? handle->database : NULL;
}

bool perilune_is_database(lua_State *L, int index) {
    return perilune_block_of(L, index, perilune_rows_of(L)->database_metatable) != NULL;
}

bool perilune_database_is_closable(perilune_database *database) {
    return database->flags & PERILUNE_DATABASE_CLOSABLE;
}

int64_t perilune_schema_generation(perilune_database *database) { return database->schema_generation; }

void perilune_forget_schema(perilune_database *database) { perilune_touch_schema(database); }

void *perilune_database_owner(perilune_database *database) { return database->owner; }

perilune_access *perilune_current_access(lua_State *L, perilune_database *database) {
    return access_to(perilune_rows_of(L), database);
}

void *perilune_access_grdb(perilune_access *access) { return access->connection->grdb; }

sqlite3 *perilune_access_handle(perilune_access *access) { return access->connection->handle; }

void perilune_push_database_object(lua_State *L, int index) {
    if (lua_getiuservalue(L, index, 1) == LUA_TUSERDATA) return;
    lua_pop(L, 1);
    lua_pushvalue(L, index);
}

/* MARK: - Databases and connections */

int perilune_release_add(perilune_release_list *list, void *object) {
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : 16;
        void **grown = realloc(list->objects, capacity * sizeof *grown);
        if (grown == NULL) return -1; /* the object leaks, which is all that can be done in a collector */
        list->objects = grown;
        list->capacity = capacity;
    }
    list->objects[list->count++] = object;
    return 0;
}

void perilune_push_database(lua_State *L, void *owner, perilune_release_list *leftover, unsigned flags) {
    perilune_rows *rows = perilune_rows_of(L);
    perilune_handle *handle = lua_newuserdatauv(L, sizeof *handle + sizeof(perilune_database), 1);
    perilune_database *database = (perilune_database *)(handle + 1);
    *database = (perilune_database){.rows = rows, .id = ++rows->last_database, .owner = owner, .flags = flags, .leftover = leftover};
    *handle = (perilune_handle){.owner = owner, .database = database};
    perilune_touch_schema(database);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &perilune_database_metatable_key);
    lua_setmetatable(L, -2);
}

/* The release list is Swift's: the statements go when Swift drains it. The database's own memory stays as long as anything
** refers to the userdata: handles, statements and cursors that are finalized later find that the owner is gone. */
static int collect_database(lua_State *L) {
    perilune_handle *handle = lua_touserdata(L, 1);
    if (handle->owner == NULL) return 0;
    perilune_drop_connections(L, handle->database);
    handle->database->owner = NULL;
    return perilune_collect_object(L);
}

static void refuse_tokenizer(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count, (void)values;
    sqlite3_result_error(context, "fts3_tokenizer is not available to scripts", -1);
}

/*
** SQLite calls through pointers that fts3_tokenizer is given, and hands out its own: no script may have it. To switch it off
** by configuration is not enough, since bound arguments pass. It is put in place of the function itself.
*/
static void replace_tokenizer(sqlite3 *handle) {
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0, NULL);
    for (int count = 1; count <= 2; count++) {
        sqlite3_create_function_v2(handle, "fts3_tokenizer", count, SQLITE_UTF8, NULL, refuse_tokenizer, NULL, NULL, NULL);
    }
}

static perilune_connection *connection_for(perilune_database *database, sqlite3 *handle) {
    perilune_connection *connection = database->connections;
    while (connection && connection->handle != handle) connection = connection->next;
    if (connection) return connection;
    connection = calloc(1, sizeof *connection);
    if (connection == NULL) abort(); /* Swift, whose frame this is called from, would do the same */
    connection->database = database;
    connection->handle = handle;
    connection->young = connection->old = LUA_NOREF;
    /* No PRAGMA of a script may make a later rollback, or the next program, destroy the file. */
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    replace_tokenizer(handle);
    connection->next = database->connections;
    database->connections = connection;
    return connection;
}

bool perilune_database_detach(lua_State *L, perilune_database *database) {
    if (access_to(database->rows, database)) return false;
    perilune_remove_observers(L, database);
    perilune_drop_connections(L, database);
    return true;
}

/* MARK: - Opening an access */

/* SQLite's instructions count like Lua's. */
static int poll_progress(void *user_data) {
    perilune_connection *connection = user_data;
    perilune_context *context = connection->database->rows->context;
    if (context->budget != INT64_MAX) context->budget -= instructions_per_look;
    perilune_watch_memory(connection);
    perilune_watch_recordings(connection->handle);
    return perilune_poll(context) != PERILUNE_DOOM_NONE;
}

/* Runs the body with the access on the stack of accesses. */
static int run_in(perilune_entry *entry, perilune_access *access) {
    perilune_rows *rows = entry->database->rows;
    perilune_connection *connection = access->connection;
    access->outer = rows->access;
    access->token = ++rows->last_token;
    access->entry = entry;
    rows->access = access;
    if (connection->accesses++ == 0) {
        sqlite3_progress_handler(connection->handle, instructions_per_look, poll_progress, connection);
        perilune_begin_bounds(connection);
    }
    perilune_tidy_connection(connection);
    entry->status = perilune_pcall(entry->L, entry->argument_count, LUA_MULTRET);
    perilune_end_runs(&access->active);
    /* What follows ends a transaction, and must not be interrupted. */
    if (--connection->accesses == 0) {
        sqlite3_progress_handler(connection->handle, 0, NULL, NULL);
        perilune_end_bounds(connection);
    }
    rows->access = access->outer;
    return entry->status;
}

perilune_connection *perilune_begin_connection(perilune_database *database, sqlite3 *handle, void *grdb) {
    perilune_connection *connection = connection_for(database, handle);
    connection->grdb = grdb;
    perilune_find_hub(connection);
    if (connection->hub) perilune_prune_hub(connection);
    return connection;
}

int perilune_rows_run(perilune_entry *entry, sqlite3 *handle, void *grdb) {
    perilune_connection *connection = perilune_begin_connection(entry->database, handle, grdb);
    perilune_access_mode mode = entry->mode;
    /* What cannot be defined while a cursor is open is tried again next time. */
    perilune_apply_definitions(entry->L, connection);
    perilune_access access = {
        .database = entry->database,
        .connection = connection,
        .mode = mode,
        .is_readonly = mode == PERILUNE_READ,
        .in_transaction = mode != PERILUNE_READ_STATEMENT && mode != PERILUNE_WRITE_STATEMENT &&
                          mode != PERILUNE_WITHOUT_TRANSACTION,
    };
    int status = run_in(entry, &access);
    connection->grdb = NULL;
    return status;
}

int perilune_rows_run_nested(perilune_entry *entry) {
    perilune_access access = {
        .database = entry->database,
        .connection = entry->connection,
        .mode = entry->mode,
        .is_readonly = entry->is_readonly,
        .in_transaction = true,
    };
    return run_in(entry, &access);
}

int perilune_rows_run_settling(perilune_entry *entry) {
    perilune_access access = {
        .database = entry->database,
        .connection = entry->connection,
        .mode = PERILUNE_WITHOUT_TRANSACTION,
        .is_settling = true,
    };
    return run_in(entry, &access);
}

/* What observers do in a block db:read, which they need not know to be on a connection that writes. */
static int run_reading(perilune_entry *entry) {
    perilune_access access = {
        .database = entry->database,
        .connection = entry->connection,
        .mode = PERILUNE_READ,
        .is_readonly = true,
    };
    return run_in(entry, &access);
}

int perilune_rows_begin_read(sqlite3 *handle) {
    return sqlite3_exec(handle, "BEGIN DEFERRED TRANSACTION", NULL, NULL, NULL);
}

/* Nothing was written, so that both ends are the same; a commit is not reported to observers as a rollback would be. */
int perilune_rows_end_read(sqlite3 *handle) {
    if (sqlite3_get_autocommit(handle)) return SQLITE_OK;
    int code = sqlite3_exec(handle, "COMMIT TRANSACTION", NULL, NULL, NULL);
    return code == SQLITE_OK ? code : sqlite3_exec(handle, "ROLLBACK TRANSACTION", NULL, NULL, NULL);
}

/* Raises what an entry failed with, now that no Swift frame is left. */
static int finish(lua_State *L, perilune_rows *rows, perilune_entry *entry, int result, int base) {
    if (entry->status != LUA_OK) {
        perilune_drop_pending_error(L); /* one from a trace of the rollback: what the block failed with counts */
        return lua_error(L);
    }
    if (result == 0 && !rows->has_pending_error) return lua_gettop(L) - base;
    if (perilune_is_doomed(rows)) perilune_raise_doom(L);
    return perilune_raise_failure(L, NULL);
}

int perilune_enter(lua_State *L, perilune_rows *rows, perilune_database *database, perilune_access_mode mode,
                   int argument_count) {
    perilune_entry entry = {.L = L, .database = database, .mode = mode, .argument_count = argument_count};
    int base = lua_gettop(L) - argument_count - 1;
    luaL_checkstack(L, LUA_MINSTACK, "too many arguments");
    perilune_check(L);
    if (database->owner == NULL || rows->context->is_closing) {
        perilune_raise(L, "closed", "the database is closed: it was used by a finalizer after it had been collected");
    }
    int64_t generation = database->schema_generation;
    bool may_refuse = perilune_leave_lua(rows);
    int result = rows->callbacks.enter(&entry);
    perilune_return_to_lua(rows, may_refuse);
    /* What was changed may have been rolled back. */
    if (database->schema_generation != generation) perilune_touch_schema(database);
    return finish(L, rows, &entry, result, base);
}

/* In a transaction, or in a savepoint if there is one. */
static int nest(perilune_rows *rows, perilune_entry *entry) {
    perilune_connection *connection = entry->connection;
    bool is_savepoint = !sqlite3_get_autocommit(connection->handle);
    size_t depth = is_savepoint && connection->hub ? perilune_hub_begin_savepoint(connection->hub, NULL) : 0;
    connection->savepoints += is_savepoint;
    bool may_refuse = perilune_leave_lua(rows);
    int result = rows->callbacks.nest(entry, connection->grdb);
    perilune_return_to_lua(rows, may_refuse);
    if (is_savepoint && depth == 0 && connection->hub) depth = (size_t)connection->savepoints;
    connection->savepoints -= is_savepoint;
    bool is_kept = result == 0 && entry->status == LUA_OK && entry->completion == PERILUNE_COMMIT;
    if (depth > 0) perilune_hub_end_savepoint(connection->hub, depth, is_kept);
    return result;
}

int perilune_enter_nested(lua_State *L, perilune_rows *rows, perilune_access *access, perilune_access_mode mode,
                          int argument_count) {
    perilune_entry entry = {.L = L, .database = access->database, .mode = mode, .argument_count = argument_count,
                            .connection = access->connection, .is_readonly = access->is_readonly};
    int base = lua_gettop(L) - argument_count - 1;
    luaL_checkstack(L, LUA_MINSTACK, "too many arguments");
    perilune_check(L);
    int64_t generation = access->database->schema_generation;
    int result = nest(rows, &entry);
    if (access->database->schema_generation != generation) perilune_touch_schema(access->database);
    bool has_failed = result != 0 || entry.status != LUA_OK || rows->has_pending_error;
    if (perilune_has_settlements(rows) && has_failed) perilune_settle_failed(L, access->connection);
    else if (perilune_has_settlements(rows)) perilune_settle(L, access->connection);
    return finish(L, rows, &entry, result, base);
}

static int enter_reading(lua_State *L, perilune_rows *rows, perilune_access *access, int argument_count) {
    perilune_entry entry = {.L = L, .database = access->database, .mode = PERILUNE_READ, .argument_count = argument_count,
                            .connection = access->connection};
    int base = lua_gettop(L) - argument_count - 1;
    luaL_checkstack(L, LUA_MINSTACK, "too many arguments");
    run_reading(&entry);
    return finish(L, rows, &entry, 0, base);
}

int perilune_with_access(lua_State *L, int handle_index, perilune_access_mode mode, int argument_count) {
    perilune_rows *rows = perilune_rows_of(L);
    perilune_handle *handle = perilune_check_handle(L, rows, handle_index, "access");
    if (perilune_find_access(L, rows, handle->database, handle->token) == NULL) {
        return perilune_enter(L, rows, handle->database, mode, argument_count);
    }
    int base = lua_gettop(L) - argument_count - 1;
    lua_call(L, argument_count, LUA_MULTRET);
    return lua_gettop(L) - base;
}

/* MARK: - Blocks */

/* Takes the first result of a block that ends a transaction, which says how. Leaves the others. */
static int take_completion(lua_State *L, perilune_entry *entry, int first) {
    const char *completion = lua_type(L, first) == LUA_TSTRING ? lua_tostring(L, first) : "";
    if (strcmp(completion, "commit") == 0) entry->completion = PERILUNE_COMMIT;
    else if (strcmp(completion, "rollback") == 0) entry->completion = PERILUNE_ROLLBACK;
    else {
        return perilune_raise(L, "argument", "%s: the block must return \"commit\" or \"rollback\" first, got %s",
                              entry->mode == PERILUNE_SAVEPOINT ? "in_savepoint" : "in_transaction",
                              lua_gettop(L) < first ? "nothing" : perilune_type_name(L, first));
    }
    return lua_gettop(L) - first;
}

void perilune_push_handle(lua_State *L, perilune_access *access) {
    perilune_handle *handle = lua_newuserdatauv(L, sizeof *handle, 1);
    *handle = (perilune_handle){.database = access->database, .token = access->token};
    lua_rawgetp(L, LUA_REGISTRYINDEX, &perilune_database_metatable_key);
    lua_setmetatable(L, -2);
}

/* Arguments: the database object, the function, and what else it is to be given. Runs inside the access. */
static int run_block(lua_State *L) {
    perilune_access *access = perilune_rows_of(L)->access;
    perilune_push_handle(L, access);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
    lua_insert(L, 3);
    int base = 1;
    lua_call(L, lua_gettop(L) - 2, LUA_MULTRET);
    bool has_completion = access->mode == PERILUNE_DEFERRED || access->mode == PERILUNE_IMMEDIATE ||
                          access->mode == PERILUNE_EXCLUSIVE || access->mode == PERILUNE_SAVEPOINT;
    return has_completion ? take_completion(L, access->entry, base + 1) : lua_gettop(L) - base;
}

void perilune_push_block(lua_State *L) { lua_pushcfunction(L, run_block); }

/* The same, for a guard that more than one call is made in. */
static int run_guarded_block(lua_State *L) {
    perilune_rows_of(L)->access->is_taken = true;
    return run_block(L);
}

int perilune_call_guarded(lua_State *L) {
    perilune_rows *rows = perilune_rows_of(L);
    perilune_handle *handle = perilune_check_handle(L, rows, 1, "guarded");
    perilune_access *access = perilune_find_access(L, rows, handle->database, handle->token);
    perilune_database *database = handle->database;
    luaL_checktype(L, 2, LUA_TFUNCTION);
    perilune_push_database_object(L, 1);
    lua_replace(L, 1);
    lua_pushcfunction(L, run_guarded_block);
    lua_insert(L, 1);
    int argument_count = lua_gettop(L) - 1;
    if (access == NULL) return perilune_enter(L, rows, database, PERILUNE_GUARD, argument_count);
    return perilune_enter_nested(L, rows, access_to(rows, database), PERILUNE_GUARD, argument_count);
}

static bool is_transaction(perilune_access_mode mode) {
    return mode == PERILUNE_DEFERRED || mode == PERILUNE_IMMEDIATE || mode == PERILUNE_EXCLUSIVE;
}

/* Stack: handle, function, arguments. `position` is that of the function, for messages. */
static int open_block(lua_State *L, const char *verb, perilune_access_mode mode, int position) {
    perilune_rows *rows = perilune_rows_of(L);
    perilune_handle *handle = perilune_check_handle(L, rows, 1, verb);
    if (lua_type(L, 2) != LUA_TFUNCTION) {
        return perilune_argument_error(L, verb, position, "a function", 2);
    }
    perilune_database *database = handle->database;
    bool is_open = perilune_find_access(L, rows, database, handle->token) != NULL;
    perilune_push_database_object(L, 1);
    lua_replace(L, 1);
    lua_pushcfunction(L, run_block);
    lua_insert(L, 1);
    int argument_count = lua_gettop(L) - 1;
    if (!is_open) return perilune_enter(L, rows, database, mode, argument_count);
    perilune_access *access = access_to(rows, database);
    if (access->is_settling && mode == PERILUNE_READ) return enter_reading(L, rows, access, argument_count);
    if (access->is_settling && mode == PERILUNE_WRITE) mode = PERILUNE_GUARD;
    bool can_begin = access->mode == PERILUNE_WITHOUT_TRANSACTION && (is_transaction(mode) || mode == PERILUNE_GUARD);
    if (mode == PERILUNE_SAVEPOINT || can_begin) return perilune_enter_nested(L, rows, access, mode, argument_count);
    return perilune_raise(L, "nested_access",
                          "%s: an access to this database is open already: use the handle that the block was given, "
                          "with in_savepoint where part of it may have to be undone", verb);
}

static int block_read(lua_State *L) { return open_block(L, "read", PERILUNE_READ, 1); }
static int block_write(lua_State *L) { return open_block(L, "write", PERILUNE_WRITE, 1); }
static int block_in_savepoint(lua_State *L) { return open_block(L, "in_savepoint", PERILUNE_SAVEPOINT, 1); }

static int block_write_without_transaction(lua_State *L) {
    return open_block(L, "write_without_transaction", PERILUNE_WITHOUT_TRANSACTION, 1);
}

/* in_transaction([kind,] function, ...) */
static int block_in_transaction(lua_State *L) {
    static const struct {
        const char *name;
        perilune_access_mode mode;
    } kinds[] = {{"deferred", PERILUNE_DEFERRED}, {"immediate", PERILUNE_IMMEDIATE}, {"exclusive", PERILUNE_EXCLUSIVE}};
    if (lua_type(L, 2) != LUA_TSTRING) return open_block(L, "in_transaction", PERILUNE_IMMEDIATE, 1);
    for (int i = 0; i < 3; i++) {
        if (strcmp(lua_tostring(L, 2), kinds[i].name) != 0) continue;
        lua_remove(L, 2);
        return open_block(L, "in_transaction", kinds[i].mode, 2);
    }
    return perilune_raise(L, "argument",
                          "in_transaction: argument 1: expected \"deferred\", \"immediate\" or \"exclusive\", got \"%s\"",
                          lua_tostring(L, 2));
}

static int is_inside_transaction(lua_State *L) {
    perilune_rows *rows = perilune_rows_of(L);
    perilune_handle *handle = perilune_check_handle(L, rows, 1, "is_inside_transaction");
    perilune_access *access = perilune_find_access(L, rows, handle->database, handle->token);
    lua_pushboolean(L, access && !sqlite3_get_autocommit(access->connection->handle));
    return 1;
}

/* MARK: - Metamethods */

static int database_to_string(lua_State *L) {
    perilune_handle *handle = lua_touserdata(L, 1);
    if (handle->token == 0) lua_pushliteral(L, "database");
    else if (access_with_token(perilune_rows_of(L), handle->token)) lua_pushliteral(L, "database handle");
    else lua_pushliteral(L, "database handle (its block has ended)");
    return 1;
}

/* A handle and its database are the same thing to talk to. */
static int database_equal(lua_State *L) {
    perilune_rows *rows = perilune_rows_of(L);
    perilune_handle *left = perilune_block_of(L, 1, rows->database_metatable);
    perilune_handle *right = perilune_block_of(L, 2, rows->database_metatable);
    lua_pushboolean(L, left && right && left->database == right->database);
    return 1;
}

void perilune_push_database_methods(lua_State *L) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &perilune_database_metatable_key);
    lua_getfield(L, -1, "__index");
    lua_remove(L, -2);
}

void perilune_open_accesses(lua_State *L, perilune_rows *rows) {
    static const luaL_Reg metamethods[] = {
        {"__gc", collect_database}, {"__tostring", database_to_string}, {"__eq", database_equal}, {NULL, NULL}};
    static const luaL_Reg blocks[] = {
        {"read", block_read},
        {"write", block_write},
        {"in_transaction", block_in_transaction},
        {"in_savepoint", block_in_savepoint},
        {"write_without_transaction", block_write_without_transaction},
        {"is_inside_transaction", is_inside_transaction},
        {NULL, NULL},
    };
    rows->database_metatable =
        perilune_new_metatable(L, &perilune_database_metatable_key, "database", metamethods);
    lua_createtable(L, 0, 32);
    luaL_setfuncs(L, blocks, 0);
    luaL_setfuncs(L, perilune_database_verbs, 0);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}
