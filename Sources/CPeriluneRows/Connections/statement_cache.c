/* Compiled statements while they live: which run, which are kept for the next time, and their release. */
#include "CPeriluneRows/rows_internal.h"

/* A generation of the cache holds so many statements; the one before it is still searched. */
enum { generation_size = 200 };

/* MARK: - Lists */

void pdb_link_statement(pdb_connection *connection, pdb_statement *statement) {
    statement->connection = connection;
    statement->next = connection->statements;
    statement->link = &connection->statements;
    if (statement->next) statement->next->link = &statement->next;
    connection->statements = statement;
}

static void unlink_statement(pdb_statement *statement) {
    *statement->link = statement->next;
    if (statement->next) statement->next->link = statement->link;
}

void pdb_begin_run(pdb_statement *statement, pdb_statement **list) {
    statement->in_use = true;
    statement->run_id++;
    statement->active_next = *list;
    statement->active_link = list;
    if (*list) (*list)->active_link = &statement->active_next;
    *list = statement;
}

/* Marks a run as ended and takes it out of its list. */
static void leave_list(pdb_statement *statement) {
    *statement->active_link = statement->active_next;
    if (statement->active_next) statement->active_next->active_link = statement->active_link;
    statement->in_use = false;
    statement->is_abandoned = false;
    statement->run_id++;
}

/* No row has this id. */
static const sqlite3_int64 marked_rowid = -0x5EEDDEADBEEFL;

void pdb_mark_rowid(pdb_statement *statement) {
    sqlite3 *handle = statement->connection->handle;
    if (statement->screening.keyword != PDB_KEYWORD_INSERT || statement->screening.reads_rowid) return;
    statement->has_marked_rowid = true;
    statement->former_rowid = sqlite3_last_insert_rowid(handle);
    sqlite3_set_last_insert_rowid(handle, marked_rowid);
}

bool pdb_has_inserted(pdb_statement *statement) {
    sqlite3 *handle = statement->connection->handle;
    if (statement->screening.keyword != PDB_KEYWORD_INSERT || sqlite3_changes64(handle) == 0) return false;
    return !statement->has_marked_rowid || sqlite3_last_insert_rowid(handle) != marked_rowid;
}

static void unmark_rowid(pdb_statement *statement) {
    sqlite3 *handle = statement->connection->handle;
    statement->has_marked_rowid = false;
    if (sqlite3_last_insert_rowid(handle) != marked_rowid) return;
    sqlite3_set_last_insert_rowid(handle, statement->former_rowid);
}

void pdb_end_run(pdb_statement *statement) {
    if (!statement->in_use) return;
    if (statement->has_marked_rowid) unmark_rowid(statement);
    /* A trace that shows values is told of the end too: those of a collected cursor may be gone. */
    if (statement->is_abandoned) sqlite3_clear_bindings(statement->handle);
    leave_list(statement);
    /* The bytes of strings belong to Lua, which may now collect them. They stay bound, which is faster than to clear them:
    ** nothing looks at them before the next run, which binds all parameters. */
    sqlite3_reset(statement->handle);
    if (!statement->is_cached) pdb_release_statement(statement);
}

void pdb_end_runs(pdb_statement **list) {
    while (*list) pdb_end_run(*list);
}

/* MARK: - Release */

/* Forgets the statement, and returns what must be released on its queue. */
static void *empty_statement(pdb_statement *statement) {
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

void pdb_release_statement(pdb_statement *statement) {
    pdb_connection *connection = statement->connection;
    if (connection == NULL) return;
    pdb_state *rows = connection->database->rows;
    void *object = empty_statement(statement);
    bool may_refuse = pdb_begin_host_call(rows);
    rows->callbacks.release(object);
    pdb_end_host_call(rows, may_refuse);
}

/* The collector runs at any time, also while another thread uses the connection. */
int pdb_collect_compiled(lua_State *L) {
    pdb_statement *statement = lua_touserdata(L, 1);
    pdb_connection *connection = statement->connection;
    if (connection) pdb_release_add(&connection->released, empty_statement(statement));
    return 0;
}

void pdb_tidy_connection(pdb_connection *connection) {
    pdb_callbacks *callbacks = &connection->database->rows->callbacks;
    pdb_release_list *list = &connection->released;
    while (list->count > 0) callbacks->release(list->objects[--list->count]);
    if (!connection->has_abandoned) return;
    connection->has_abandoned = false;
    pdb_statement *next;
    for (pdb_statement *statement = connection->statements; statement; statement = next) {
        next = statement->next;
        if (statement->is_abandoned) pdb_end_run(statement);
    }
}

/* Takes the connection out of the list that `link` belongs to. The objects of its statements go to `leftover`. */
static void drop_connection(lua_State *L, pdb_connection **link) {
    pdb_connection *connection = *link;
    pdb_state *rows = connection->database->rows;
    pdb_release_list *leftover = connection->database->leftover;
    while (connection->statements) pdb_release_add(leftover, empty_statement(connection->statements));
    for (size_t i = 0; i < connection->released.count; i++) pdb_release_add(leftover, connection->released.objects[i]);
    free(connection->released.objects);
    luaL_unref(L, LUA_REGISTRYINDEX, connection->young);
    luaL_unref(L, LUA_REGISTRYINDEX, connection->old);
    *link = connection->next;
    if (connection->cache_run == rows->cache_run) rows->cache_growth -= connection->cache_growth;
    if (connection->hub) pdb_release_observers(connection->hub);
    free(connection);
}

void pdb_drop_connections(lua_State *L, pdb_database *database) {
    if (database->definitions) luaL_unref(L, LUA_REGISTRYINDEX, database->definitions);
    database->definitions = database->definition_count = 0;
    database->has_collations = false;
    while (database->connections) drop_connection(L, &database->connections);
}

void pdb_forget_connection(lua_State *L, pdb_database *database, sqlite3 *handle) {
    pdb_connection **link = &database->connections;
    while (*link && (*link)->handle != handle) link = &(*link)->next;
    if (*link) drop_connection(L, link);
}

/* MARK: - The cache: two generations of tables, text -> compiled statement */

/* Pushes what the generation has for the text, or nil. */
static pdb_statement *look_up(lua_State *L, int generation, int sql_index) {
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
static void drop_old_generation(lua_State *L, pdb_connection *connection) {
    if (connection->old == LUA_NOREF) return;
    lua_rawgeti(L, LUA_REGISTRYINDEX, connection->old);
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        pdb_statement *statement = lua_touserdata(L, -1);
        statement->is_cached = false;
        if (!statement->in_use) pdb_release_statement(statement);
    }
    lua_pop(L, 1);
    luaL_unref(L, LUA_REGISTRYINDEX, connection->old);
    connection->old = LUA_NOREF;
}

static void begin_generation(lua_State *L, pdb_connection *connection) {
    drop_old_generation(L, connection);
    lua_createtable(L, 0, 16);
    int generation = luaL_ref(L, LUA_REGISTRYINDEX);
    connection->old = connection->young;
    connection->young = generation;
    connection->young_count = 0;
}

void pdb_keep_cached(lua_State *L, pdb_connection *connection, pdb_statement *statement, int sql_index) {
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
static void forget_old(lua_State *L, pdb_connection *connection, int sql_index) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, connection->old);
    lua_pushvalue(L, sql_index);
    lua_pushnil(L);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

pdb_statement *pdb_find_cached(lua_State *L, pdb_connection *connection, int sql_index) {
    pdb_statement *statement = look_up(L, connection->young, sql_index);
    if (statement) return statement;
    lua_pop(L, 1);
    statement = look_up(L, connection->old, sql_index);
    if (statement) {
        forget_old(L, connection, sql_index);
        pdb_keep_cached(L, connection, statement, sql_index);
        return statement;
    }
    lua_pop(L, 1);
    return NULL;
}
