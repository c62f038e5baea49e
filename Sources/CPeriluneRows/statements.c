/* Compiled statements, their cache, and the prepared statements that scripts hold. */
#include "rows_internal.h"

/* A generation of the cache holds so many statements; the one before it is still searched. */
enum { generation_size = 200 };

/* MARK: - Lists */

static void link_statement(perilune_connection *connection, perilune_statement *statement) {
    statement->connection = connection;
    statement->next = connection->statements;
    statement->link = &connection->statements;
    if (statement->next) statement->next->link = &statement->next;
    connection->statements = statement;
}

static void unlink_statement(perilune_statement *statement) {
    *statement->link = statement->next;
    if (statement->next) statement->next->link = statement->link;
}

void perilune_begin_run(perilune_statement *statement, perilune_statement **list) {
    statement->in_use = true;
    statement->run_id++;
    statement->active_next = *list;
    statement->active_link = list;
    if (*list) (*list)->active_link = &statement->active_next;
    *list = statement;
}

/* Marks a run as ended and takes it out of its list. */
static void leave_list(perilune_statement *statement) {
    *statement->active_link = statement->active_next;
    if (statement->active_next) statement->active_next->active_link = statement->active_link;
    statement->in_use = false;
    statement->is_abandoned = false;
    statement->run_id++;
}

/* No row has this id. */
static const sqlite3_int64 marked_rowid = -0x5EEDDEADBEEFL;

void perilune_mark_rowid(perilune_statement *statement) {
    sqlite3 *handle = statement->connection->handle;
    if (statement->screening.keyword != PERILUNE_KEYWORD_INSERT || statement->screening.reads_rowid) return;
    statement->has_marked_rowid = true;
    statement->former_rowid = sqlite3_last_insert_rowid(handle);
    sqlite3_set_last_insert_rowid(handle, marked_rowid);
}

bool perilune_has_inserted(perilune_statement *statement) {
    sqlite3 *handle = statement->connection->handle;
    if (statement->screening.keyword != PERILUNE_KEYWORD_INSERT || sqlite3_changes64(handle) == 0) return false;
    return !statement->has_marked_rowid || sqlite3_last_insert_rowid(handle) != marked_rowid;
}

static void unmark_rowid(perilune_statement *statement) {
    sqlite3 *handle = statement->connection->handle;
    statement->has_marked_rowid = false;
    if (sqlite3_last_insert_rowid(handle) != marked_rowid) return;
    sqlite3_set_last_insert_rowid(handle, statement->former_rowid);
}

void perilune_end_run(perilune_statement *statement) {
    if (!statement->in_use) return;
    if (statement->has_marked_rowid) unmark_rowid(statement);
    /* A trace that shows values is told of the end too: those of a collected cursor may be gone. */
    if (statement->is_abandoned) sqlite3_clear_bindings(statement->handle);
    leave_list(statement);
    /* The bytes of strings belong to Lua, which may now collect them. They stay bound, which is faster than to clear them:
    ** nothing looks at them before the next run, which binds all parameters. */
    sqlite3_reset(statement->handle);
    if (!statement->is_cached) perilune_release_statement(statement);
}

void perilune_end_runs(perilune_statement **list) {
    while (*list) perilune_end_run(*list);
}

/* MARK: - Release */

/* Forgets the statement, and returns what must be released on its queue. */
static void *empty_statement(perilune_statement *statement) {
    void *object = statement->object;
    if (statement->in_use) leave_list(statement);
    unlink_statement(statement);
    free(statement->booleans);
    statement->booleans = NULL;
    statement->connection = NULL;
    statement->handle = NULL;
    statement->object = NULL;
    return object;
}

void perilune_release_statement(perilune_statement *statement) {
    perilune_connection *connection = statement->connection;
    if (connection == NULL) return;
    perilune_rows *rows = connection->database->rows;
    void *object = empty_statement(statement);
    bool may_refuse = perilune_leave_lua(rows);
    rows->callbacks.release(object);
    perilune_return_to_lua(rows, may_refuse);
}

/* The collector runs at any time, also while another thread uses the connection. */
int perilune_collect_compiled(lua_State *L) {
    perilune_statement *statement = lua_touserdata(L, 1);
    perilune_connection *connection = statement->connection;
    if (connection) perilune_release_add(&connection->released, empty_statement(statement));
    return 0;
}

void perilune_tidy_connection(perilune_connection *connection) {
    perilune_rows_callbacks *callbacks = &connection->database->rows->callbacks;
    perilune_release_list *list = &connection->released;
    while (list->count > 0) callbacks->release(list->objects[--list->count]);
    if (!connection->has_abandoned) return;
    connection->has_abandoned = false;
    perilune_statement *next;
    for (perilune_statement *statement = connection->statements; statement; statement = next) {
        next = statement->next;
        if (statement->is_abandoned) perilune_end_run(statement);
    }
}

/* Takes the connection out of the list that `link` belongs to. The objects of its statements go to `leftover`. */
static void drop_connection(lua_State *L, perilune_connection **link) {
    perilune_connection *connection = *link;
    perilune_rows *rows = connection->database->rows;
    perilune_release_list *leftover = connection->database->leftover;
    while (connection->statements) perilune_release_add(leftover, empty_statement(connection->statements));
    for (size_t i = 0; i < connection->released.count; i++) perilune_release_add(leftover, connection->released.objects[i]);
    free(connection->released.objects);
    luaL_unref(L, LUA_REGISTRYINDEX, connection->young);
    luaL_unref(L, LUA_REGISTRYINDEX, connection->old);
    *link = connection->next;
    if (connection->cache_run == rows->cache_run) rows->cache_growth -= connection->cache_growth;
    if (connection->hub) perilune_release_hub(connection->hub);
    free(connection);
}

void perilune_drop_connections(lua_State *L, perilune_database *database) {
    if (database->definitions) luaL_unref(L, LUA_REGISTRYINDEX, database->definitions);
    database->definitions = database->definition_count = 0;
    database->has_collations = false;
    while (database->connections) drop_connection(L, &database->connections);
}

void perilune_forget_connection(lua_State *L, perilune_database *database, sqlite3 *handle) {
    perilune_connection **link = &database->connections;
    while (*link && (*link)->handle != handle) link = &(*link)->next;
    if (*link) drop_connection(L, link);
}

/* MARK: - The cache: two generations of tables, text -> compiled statement */

/* Pushes what the generation has for the text, or nil. */
static perilune_statement *look_up(lua_State *L, int generation, int sql_index) {
    if (generation == LUA_NOREF) {
        lua_pushnil(L);
        return NULL;
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, generation);
    lua_pushvalue(L, sql_index);
    lua_rawget(L, -2);
    lua_remove(L, -2);
    return lua_touserdata(L, -1);
}

/* The statements of the old generation that nobody has asked for since. */
static void drop_old_generation(lua_State *L, perilune_connection *connection) {
    if (connection->old == LUA_NOREF) return;
    lua_rawgeti(L, LUA_REGISTRYINDEX, connection->old);
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        perilune_statement *statement = lua_touserdata(L, -1);
        statement->is_cached = false;
        if (!statement->in_use) perilune_release_statement(statement);
    }
    lua_pop(L, 1);
    luaL_unref(L, LUA_REGISTRYINDEX, connection->old);
    connection->old = LUA_NOREF;
}

static void begin_generation(lua_State *L, perilune_connection *connection) {
    drop_old_generation(L, connection);
    lua_createtable(L, 0, 16);
    int generation = luaL_ref(L, LUA_REGISTRYINDEX);
    connection->old = connection->young;
    connection->young = generation;
    connection->young_count = 0;
}

/* Puts the compiled statement on top of the stack into the young generation. */
static void keep(lua_State *L, perilune_connection *connection, perilune_statement *statement, int sql_index) {
    if (connection->young == LUA_NOREF || connection->young_count >= generation_size) begin_generation(L, connection);
    lua_rawgeti(L, LUA_REGISTRYINDEX, connection->young);
    lua_pushvalue(L, sql_index);
    lua_pushvalue(L, -3);
    lua_rawset(L, -3);
    lua_pop(L, 1);
    connection->young_count++;
    statement->is_cached = true;
}

/* Takes the text out of the old generation, so that its statement is not dropped with it. */
static void forget_old(lua_State *L, perilune_connection *connection, int sql_index) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, connection->old);
    lua_pushvalue(L, sql_index);
    lua_pushnil(L);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

/* Pushes the cached statement for the text, or nothing. */
static perilune_statement *find_cached(lua_State *L, perilune_connection *connection, int sql_index) {
    perilune_statement *statement = look_up(L, connection->young, sql_index);
    if (statement) return statement;
    lua_pop(L, 1);
    statement = look_up(L, connection->old, sql_index);
    if (statement) {
        forget_old(L, connection, sql_index);
        keep(L, connection, statement, sql_index);
        return statement;
    }
    lua_pop(L, 1);
    return NULL;
}

/* MARK: - What an access allows */

static void check_keyword(lua_State *L, perilune_access *access, const perilune_screening *screening) {
    const char *word = screening->word;
    switch (screening->keyword) {
        case PERILUNE_KEYWORD_FORBIDDEN:
            perilune_raise(L, "forbidden", "%s cannot be set by scripts", word);
            break;
        case PERILUNE_KEYWORD_MEMORY:
            if (access->database->rows->context->limit == 0) break;
            perilune_raise(L, "forbidden", "%s cannot be set by scripts whose memory is limited", word);
            break;
        case PERILUNE_KEYWORD_FILES:
            if (screening->opens_file && access->database->flags & PERILUNE_DATABASE_PREVIEW) {
                perilune_raise(L, "preview", "%s is not run in a preview, which opens no other database files", word);
            }
            if (access->database->flags & PERILUNE_DATABASE_FILES) break;
            perilune_raise(L, "forbidden", "%s is not allowed here: the host has not granted files", word);
            break;
        case PERILUNE_KEYWORD_CONTROL:
            /* The handle of an outer block reaches the same connection. */
            if (!perilune_current_access(L, access->database)->in_transaction) break;
            if (perilune_current_access(L, access->database)->mode == PERILUNE_MIGRATION) {
                perilune_raise(L, "transaction_control",
                               "%s cannot be used in a migration, which is one transaction: all of it is kept, or nothing", word);
            }
            perilune_raise(L, "transaction_control",
                           "%s cannot be used inside a block that is a transaction: return \"rollback\" from "
                           "in_transaction, use in_savepoint, or write_without_transaction for transactions in SQL", word);
            break;
        default: break;
    }
}

void perilune_check_allowed(lua_State *L, perilune_access *access, perilune_statement *statement) {
    if (statement->screening.keyword >= PERILUNE_KEYWORD_CONTROL) check_keyword(L, access, &statement->screening);
    if (access->is_readonly && !statement->is_readonly) {
        perilune_raise(L, "readonly", "%s writes, which a read block does not allow: use write",
                       statement->screening.word);
    }
    if (perilune_current_access(L, access->database)->in_transaction && sqlite3_get_autocommit(access->connection->handle)) {
        perilune_raise(L, "abort", "the transaction of this block was rolled back by an earlier error");
    }
}

/* MARK: - Compiling */

/* Raises if the text cannot be handed to SQLite as it is. */
static const char *check_text(lua_State *L, int sql_index, size_t *length) {
    const char *sql = lua_tolstring(L, sql_index, length);
    const char *nul = memchr(sql, 0, *length);
    if (nul) perilune_raise(L, "argument", "the SQL has a NUL byte at position %I", (lua_Integer)(nul - sql + 1));
    if (!perilune_is_utf8(sql, *length)) {
        perilune_raise(L, "argument", "the SQL is not valid UTF-8: bind bytes as arguments");
    }
    return sql;
}

/* Pushes a compiled statement that holds nothing yet. */
static perilune_statement *new_statement(lua_State *L, int sql_index) {
    perilune_statement *statement = lua_newuserdatauv(L, sizeof *statement, 4);
    memset(statement, 0, sizeof *statement);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &perilune_compiled_metatable_key);
    lua_setmetatable(L, -2);
    lua_pushvalue(L, sql_index);
    lua_setiuservalue(L, -2, PERILUNE_SQL);
    return statement;
}

/* The names of parameters, for the statement on top of the stack. */
static void read_parameters(lua_State *L, perilune_statement *statement) {
    int count = sqlite3_bind_parameter_count(statement->handle);
    statement->parameter_count = count;
    if (count == 0) return;
    lua_createtable(L, count, 0);
    for (int i = 1; i <= count; i++) {
        const char *name = sqlite3_bind_parameter_name(statement->handle, i);
        if (name == NULL || *name == '?') {
            lua_pushboolean(L, false);
            lua_rawseti(L, -2, i);
            continue;
        }
        lua_pushstring(L, name + 1);
        lua_pushvalue(L, -1);
        lua_rawseti(L, -3, i);
        lua_pushboolean(L, true);
        lua_rawset(L, -3);
    }
    lua_setiuservalue(L, -2, PERILUNE_PARAMETERS);
}

/* Fills in a statement, on top of the stack, that Swift has prepared. */
static void adopt(lua_State *L, perilune_connection *connection, perilune_statement *statement,
                  const perilune_prepared *prepared) {
    statement->handle = prepared->handle;
    statement->object = prepared->object;
    link_statement(connection, statement);
    statement->column_count = sqlite3_column_count(statement->handle);
    bool is_explanation = sqlite3_stmt_isexplain(statement->handle) != 0;
    statement->is_readonly = is_explanation || sqlite3_stmt_readonly(statement->handle);
    statement->is_direct = statement->is_readonly && statement->column_count > 0 &&
                           statement->screening.keyword == PERILUNE_KEYWORD_READ;
    read_parameters(L, statement);
}

/* Raises the error on top of the stack, which SQLite had with the text at `sql_index`. */
static void raise_unprepared(lua_State *L, perilune_access *access, int sql_index) {
    perilune_touch_schema(access->database); /* it may lack what was believed to be there */
    if (perilune_is_error(L, -1)) {
        perilune_push_error_fields(L, -1);
        bool has_sql = lua_getfield(L, -1, "sql") != LUA_TNIL;
        lua_pop(L, 2);
        if (!has_sql) {
            lua_pushvalue(L, sql_index);
            perilune_set_error_field(L, "sql");
        }
    }
    perilune_raise_failure(L, NULL);
}

/* Pushes a newly prepared statement. */
static perilune_statement *prepare(lua_State *L, perilune_access *access, int sql_index) {
    size_t length;
    const char *sql = check_text(L, sql_index, &length);
    perilune_screening screening = perilune_screen(sql, length);
    check_keyword(L, access, &screening);
    perilune_statement *statement = new_statement(L, sql_index);
    statement->screening = screening;
    if (screening.keyword == PERILUNE_KEYWORD_EMPTY) return statement;
    perilune_rows *rows = access->database->rows;
    perilune_prepared prepared = {0};
    bool may_refuse = perilune_leave_lua(rows);
    int result = rows->callbacks.prepare(L, access->connection->grdb, sql, &prepared);
    perilune_return_to_lua(rows, may_refuse);
    if (result != 0) raise_unprepared(L, access, sql_index);
    if (prepared.handle == NULL) return statement;
    adopt(L, access->connection, statement, &prepared);
    size_t consumed = strlen(sqlite3_sql(statement->handle));
    statement->has_tail = !perilune_is_blank(sql + consumed, length - consumed);
    if (screening.is_temporary) access->database->wants_writer = true;
    return statement;
}

perilune_statement *perilune_compile(lua_State *L, perilune_access *access, int sql_index) {
    perilune_connection *connection = access->connection;
    if (connection->has_abandoned) perilune_tidy_connection(connection);
    access->database->rows->statement_start = 0;
    perilune_statement *statement = find_cached(L, connection, sql_index);
    bool is_taken = statement != NULL;
    if (statement && !statement->in_use) {
        perilune_check_allowed(L, access, statement);
        return statement;
    }
    if (statement) lua_pop(L, 1);
    statement = prepare(L, access, sql_index);
    if (statement->handle == NULL) return statement;
    if (!is_taken && !statement->has_tail) keep(L, connection, statement, sql_index);
    perilune_check_allowed(L, access, statement);
    return statement;
}

perilune_statement *perilune_next_in_batch(lua_State *L, perilune_access *access, perilune_batch *batch, int sql_index) {
    perilune_rows *rows = access->database->rows;
    const char *rest = batch->sql + batch->offset;
    perilune_screening screening = perilune_screen(rest, batch->length - batch->offset);
    if (screening.keyword == PERILUNE_KEYWORD_EMPTY) return NULL;
    rows->statement_start = batch->offset;
    check_keyword(L, access, &screening);
    perilune_statement *statement = new_statement(L, sql_index);
    statement->screening = screening;
    perilune_prepared prepared = {0};
    bool may_refuse = perilune_leave_lua(rows);
    int result = rows->callbacks.next(L, access->connection->grdb, batch->object, &prepared);
    perilune_return_to_lua(rows, may_refuse);
    if (result != 0) raise_unprepared(L, access, sql_index);
    if (prepared.handle == NULL) {
        lua_pop(L, 1);
        return NULL;
    }
    adopt(L, access->connection, statement, &prepared);
    batch->offset += strlen(sqlite3_sql(statement->handle));
    if (screening.is_temporary) access->database->wants_writer = true;
    perilune_check_allowed(L, access, statement);
    return statement;
}

size_t perilune_statement_start(lua_State *L) { return perilune_rows_of(L)->statement_start; }

/* MARK: - Columns */

bool perilune_is_boolean_type(const char *type) {
    return type && (sqlite3_stricmp(type, "boolean") == 0 || sqlite3_stricmp(type, "bool") == 0);
}

/* Swift frames may be below, so that nothing may be raised. */
static void read_booleans(perilune_statement *statement) {
    free(statement->booleans);
    statement->booleans = NULL;
    for (int i = 0; i < statement->column_count; i++) {
        if (!perilune_is_boolean_type(sqlite3_column_decltype(statement->handle, i))) continue;
        if (statement->booleans == NULL) statement->booleans = calloc((size_t)statement->column_count, 1);
        if (statement->booleans == NULL) abort();
        statement->booleans[i] = 1;
    }
}

void perilune_check_columns(perilune_statement *statement) {
    int prepare_count = sqlite3_stmt_status(statement->handle, SQLITE_STMTSTATUS_REPREPARE, 0);
    if (statement->has_columns && statement->prepare_count == prepare_count) return;
    /* SQLite compiles a statement anew when the schema has changed: its columns may be others now. */
    if (statement->has_columns || prepare_count > 0) perilune_touch_schema(statement->connection->database);
    statement->column_count = sqlite3_column_count(statement->handle);
    read_booleans(statement);
    statement->prepare_count = prepare_count;
    statement->has_columns = true;
    statement->has_shape = false;
}

void perilune_push_keys(lua_State *L, perilune_statement *statement, int statement_index) {
    perilune_check_columns(statement);
    if (statement->has_shape) {
        lua_getiuservalue(L, statement_index, PERILUNE_KEYS);
        return;
    }
    perilune_push_shape(L, statement);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, statement_index, PERILUNE_KEYS);
    statement->has_shape = true;
}

/* MARK: - Prepared statements, as scripts hold them */

perilune_prepared_object *perilune_check_prepared(lua_State *L, perilune_rows *rows, int index, const char *verb) {
    perilune_prepared_object *prepared = perilune_block_of(L, index, rows->statement_metatable);
    if (prepared == NULL) {
        perilune_raise(L, "argument", "%s: expected a prepared statement before the colon (statement:%s(...)), got %s",
                       verb, verb, perilune_type_name(L, index));
    }
    return prepared;
}

/* Stack: handle, SQL; the compiled statement on top. */
int perilune_push_prepared(lua_State *L, perilune_handle *handle, int statement_index) {
    perilune_prepared_object *prepared = lua_newuserdatauv(L, sizeof *prepared, 3);
    *prepared = (perilune_prepared_object){handle->database, handle->token, false};
    lua_rawgetp(L, LUA_REGISTRYINDEX, &perilune_statement_metatable_key);
    lua_setmetatable(L, -2);
    perilune_push_database_object(L, 1);
    lua_setiuservalue(L, -2, PERILUNE_PREPARED_DATABASE);
    lua_pushvalue(L, 2);
    lua_setiuservalue(L, -2, PERILUNE_PREPARED_SQL);
    lua_pushvalue(L, statement_index);
    lua_setiuservalue(L, -2, PERILUNE_PREPARED_COMPILED);
    return 1;
}

perilune_statement *perilune_compile_prepared(lua_State *L, perilune_access *access, int index) {
    lua_getiuservalue(L, index, PERILUNE_PREPARED_COMPILED);
    perilune_statement *statement = lua_touserdata(L, -1);
    if (statement->connection == access->connection && !statement->in_use) {
        perilune_check_allowed(L, access, statement);
        return statement;
    }
    lua_pop(L, 1);
    lua_getiuservalue(L, index, PERILUNE_PREPARED_SQL);
    statement = perilune_compile(L, access, lua_gettop(L));
    lua_remove(L, -2);
    if (statement->is_cached) {
        lua_pushvalue(L, -1);
        lua_setiuservalue(L, index, PERILUNE_PREPARED_COMPILED);
    }
    return statement;
}

static int prepared_close(lua_State *L) {
    perilune_check_prepared(L, perilune_rows_of(L), 1, "close")->is_closed = true;
    return 0;
}

static int prepared_sql(lua_State *L) {
    perilune_check_prepared(L, perilune_rows_of(L), 1, "sql");
    lua_getiuservalue(L, 1, PERILUNE_PREPARED_SQL);
    return 1;
}

static int prepared_to_string(lua_State *L) {
    prepared_sql(L);
    lua_pushfstring(L, "statement (%s)", lua_tostring(L, -1));
    return 1;
}

void perilune_push_statement_methods(lua_State *L) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &perilune_statement_metatable_key);
    lua_getfield(L, -1, "__index");
    lua_remove(L, -2);
}

void perilune_open_statements(lua_State *L, perilune_rows *rows) {
    static const luaL_Reg compiled[] = {{"__gc", perilune_collect_compiled}, {NULL, NULL}};
    static const luaL_Reg metamethods[] = {{"__tostring", prepared_to_string}, {"__close", prepared_close}, {NULL, NULL}};
    static const luaL_Reg methods[] = {{"sql", prepared_sql}, {"close", prepared_close}, {NULL, NULL}};
    rows->compiled_metatable = perilune_new_metatable(L, &perilune_compiled_metatable_key, "compiled", compiled);
    lua_pop(L, 1);
    rows->statement_metatable =
        perilune_new_metatable(L, &perilune_statement_metatable_key, "statement", metamethods);
    lua_createtable(L, 0, 16);
    luaL_setfuncs(L, methods, 0);
    luaL_setfuncs(L, perilune_statement_verbs, 0);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}
