/* Compiled statements while they live: which run, which are kept for the next time, and their release. */
#include "CPeriluneRows/rows_internal.h"

/* A generation of the cache holds so many statements; the one before it is still searched. */
enum { generation_size = 200 };

/* MARK: - Lists */

void perilune_link_statement(perilune_connection *connection, perilune_statement *statement) {
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

void perilune_keep_cached(lua_State *L, perilune_connection *connection, perilune_statement *statement, int sql_index) {
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

perilune_statement *perilune_find_cached(lua_State *L, perilune_connection *connection, int sql_index) {
    perilune_statement *statement = look_up(L, connection->young, sql_index);
    if (statement) return statement;
    lua_pop(L, 1);
    statement = look_up(L, connection->old, sql_index);
    if (statement) {
        forget_old(L, connection, sql_index);
        perilune_keep_cached(L, connection, statement, sql_index);
        return statement;
    }
    lua_pop(L, 1);
    return NULL;
}
