/* Databases, their connections and handles. */
#include <perilune_arrays.h>

#include "CPeriluneRows/Connections/connections.h"

const char pdb_database_metatable_key;

/* MARK: - Finding */

static const char *const place_texts[] = {
    [PDB_IN_SQL_FUNCTION] = "an SQL function or collation",
    [PDB_IN_ON_CHANGE] = "on_change of an observer, while the change is being made",
    [PDB_IN_WILL_COMMIT] = "will_commit of an observer, while the transaction is being committed",
    [PDB_IN_TRACE] = "a trace function",
    [PDB_IN_MIGRATION_FILE] = "the main chunk of a migration file; return a function(db) that uses it",
    [PDB_IN_BACKUP_PROGRESS] = "the progress function of a backup",
    [PDB_IN_CONFLICT] = "the function that resolves conflicts of a changeset",
};

pdb_handle *pdb_check_handle(lua_State *L, pdb_state *rows, int index, const char *verb) {
    pdb_handle *handle = pdb_to_userdata(L, index, rows->database_metatable);
    if (handle == NULL) {
        plua_raise(L, "argument", "%s: expected a database before the colon (db:%s(...)), got %s", verb, verb,
                       plua_describe(L, index));
    }
    return handle;
}

static pdb_access *access_with_token(pdb_state *rows, uint64_t token) {
    pdb_access *access = rows->access;
    while (access && access->token != token) access = access->outer;
    return access;
}

pdb_access *pdb_access_to(pdb_state *rows, pdb_database *database) {
    pdb_access *access = rows->access;
    while (access && database && access->database != database) access = access->outer;
    return access;
}

void pdb_check_place(lua_State *L, const pdb_state *rows) {
    if (rows->place) plua_raise(L, "nested_access", "a database cannot be used inside %s", place_texts[rows->place]);
}

pdb_access *pdb_find_access(lua_State *L, pdb_state *rows, pdb_database *database, uint64_t token) {
    pdb_check_place(L, rows);
    if (token == 0) return pdb_access_to(rows, database);
    pdb_access *access = access_with_token(rows, token);
    if (access == NULL) plua_raise(L, "dead_handle", "this database handle was used after its block ended");
    return access;
}

pdb_database *pdb_database_at(lua_State *L, int index) {
    pdb_state *rows = pdb_state_of(L);
    pdb_handle *handle = pdb_to_userdata(L, index, rows->database_metatable);
    if (handle == NULL || (handle->token != 0 && !access_with_token(rows, handle->token))) return NULL;
    return handle->database->owner ? handle->database : NULL;
}

bool pdb_is_database(lua_State *L, int index) {
    return pdb_to_userdata(L, index, pdb_state_of(L)->database_metatable) != NULL;
}

bool pdb_database_is_closable(pdb_database *database) {
    return database->flags & PDB_DATABASE_CLOSABLE;
}

int64_t pdb_schema_generation(pdb_database *database) { return database->schema_generation; }

void pdb_forget_schema(pdb_database *database) { pdb_touch_schema(database); }

void pdb_note_interruption(pdb_database *database) { database->interruption_count++; }

void pdb_refuse_in_cluster(lua_State *L, const pdb_database *database, const char *message) {
    if (pdb_is_remote(database)) plua_raise(L, "cluster_refused", "%s", message);
}

void pdb_set_remote(pdb_database *database, const pdb_remote *remote) { database->remote = *remote; }

void *pdb_database_owner(pdb_database *database) { return database->owner; }

pdb_access *pdb_current_access(lua_State *L, pdb_database *database) {
    return pdb_access_to(pdb_state_of(L), database);
}

void *pdb_access_grdb(pdb_access *access) { return access->connection->grdb; }

sqlite3 *pdb_access_handle(pdb_access *access) { return access->connection->handle; }

void pdb_push_database_object(lua_State *L, int index) {
    if (lua_getiuservalue(L, index, 1) == LUA_TUSERDATA) return;
    lua_pop(L, 1);
    lua_pushvalue(L, index);
}

/* MARK: - Databases and connections */

int pdb_release_add(pdb_release_list *list, void *object) {
    /* If memory runs out, the object leaks, because a finalizer cannot report errors. */
    if (!PLUA_ADD_ROOM(list->objects, list->count, list->capacity)) return -1;
    list->objects[list->count++] = object;
    return 0;
}

void pdb_push_database(lua_State *L, void *owner, pdb_release_list *leftover, unsigned flags, const char *path) {
    pdb_state *rows = pdb_state_of(L);
    size_t length = strlen(path) + 1;
    pdb_handle *handle = lua_newuserdatauv(L, sizeof *handle + sizeof(pdb_database) + length, PDB_DATABASE_VALUES);
    pdb_database *database = (pdb_database *)(handle + 1);
    *database = (pdb_database){.rows = rows, .id = ++rows->last_database, .owner = owner, .flags = flags, .leftover = leftover};
    database->path = memcpy((char *)(database + 1), path, length);
    *handle = (pdb_handle){.owner = owner, .database = database};
    pdb_touch_schema(database);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &pdb_database_metatable_key);
    lua_setmetatable(L, -2);
}

/* Swift owns the release list, and releases the statements when it empties the list. The database's memory stays allocated as long as
** anything refers to the userdata. Handles, statements and cursors that are finalized later detect that the owner is gone. */
static int collect_database(lua_State *L) {
    pdb_handle *handle = lua_touserdata(L, 1);
    if (handle->owner == NULL) return 0;
    pdb_drop_connections(L, handle->database);
    handle->database->owner = NULL;
    return plua_collect_object(L);
}

static void refuse_tokenizer(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count, (void)values;
    sqlite3_result_error(context, "fts3_tokenizer is not available to scripts", -1);
}

/*
** Replaces fts3_tokenizer, which scripts must not call: it returns function pointers, and it makes SQLite call any pointer that is passed
** to it. SQLite's configuration option is not sufficient: it allows calls with bound arguments.
*/
static void replace_tokenizer(sqlite3 *handle) {
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0, NULL);
    for (int count = 1; count <= 2; count++) {
        sqlite3_create_function_v2(handle, "fts3_tokenizer", count, SQLITE_UTF8, NULL, refuse_tokenizer, NULL, NULL, NULL);
    }
}

pdb_connection *pdb_connection_for(pdb_database *database, sqlite3 *handle) {
    pdb_connection *connection = database->connections;
    while (connection && connection->handle != handle) connection = connection->next;
    if (connection) return connection;
    connection = calloc(1, sizeof *connection);
    if (connection == NULL) abort(); /* the caller is a Swift frame; Swift also ends the process if memory runs out */
    connection->database = database;
    connection->handle = handle;
    connection->young = connection->old = LUA_NOREF;
    /* Rejects PRAGMAs that could let a rollback or another program corrupt the file. */
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    replace_tokenizer(handle);
    database->rows->callbacks.did_connect(handle);
    connection->next = database->connections;
    database->connections = connection;
    return connection;
}

/* Removes the connection at `link` from its list and adds the Swift objects of its statements to `leftover`. */
static void drop_connection(lua_State *L, pdb_connection **link) {
    pdb_connection *connection = *link;
    pdb_state *rows = connection->database->rows;
    pdb_release_list *leftover = connection->database->leftover;
    while (connection->statements) pdb_release_add(leftover, pdb_empty_statement(connection->statements));
    for (size_t i = 0; i < connection->released.count; i++) pdb_release_add(leftover, connection->released.objects[i]);
    free(connection->released.objects);
    luaL_unref(L, LUA_REGISTRYINDEX, connection->young);
    luaL_unref(L, LUA_REGISTRYINDEX, connection->old);
    *link = connection->next;
    if (connection->cache_count == rows->cache_count) rows->cache_growth -= connection->cache_growth;
    pdb_will_drop(rows, connection);
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

bool pdb_database_detach(lua_State *L, pdb_database *database) {
    if (pdb_access_to(database->rows, database)) return false;
    pdb_will_detach(L, database);
    pdb_drop_connections(L, database);
    return true;
}

/* MARK: - Metamethods */

static int database_to_string(lua_State *L) {
    pdb_handle *handle = lua_touserdata(L, 1);
    const char *kind = handle->token == 0 ? "database" : "database handle";
    if (handle->token != 0 && !access_with_token(pdb_state_of(L), handle->token)) kind = "database handle, whose block has ended,";
    if (handle->database->path[0] == '\0') lua_pushfstring(L, "%s (in memory)", kind);
    else lua_pushfstring(L, "%s (%s)", kind, handle->database->path);
    return 1;
}

/* A handle equals its database and its other handles. */
static int database_equal(lua_State *L) {
    pdb_state *rows = pdb_state_of(L);
    pdb_handle *left = pdb_to_userdata(L, 1, rows->database_metatable);
    pdb_handle *right = pdb_to_userdata(L, 2, rows->database_metatable);
    lua_pushboolean(L, left && right && left->database == right->database);
    return 1;
}

void pdb_push_database_methods(lua_State *L) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &pdb_database_metatable_key);
    lua_getfield(L, -1, "__index");
    lua_remove(L, -2);
}

/* Raises if a script calls a database, such as `db("customer")`. With other libraries, such a call opens a database or returns a table. */
static int refuse_call(lua_State *L) {
    return plua_raise(L, "argument", "a database cannot be called; use perilune.record(\"table\") for a table, or perilune.queue(path) to open a database");
}

void pdb_open_databases(lua_State *L) {
    static const luaL_Reg metamethods[] = {
        {"__gc", collect_database}, {"__tostring", database_to_string}, {"__eq", database_equal}, {"__call", refuse_call}, {NULL, NULL}};
    pdb_state_of(L)->database_metatable =
        pdb_new_metatable(L, &pdb_database_metatable_key, "database", metamethods);
    lua_pushliteral(L, "db");
    lua_setfield(L, -2, "__receiver");
    lua_createtable(L, 0, 32);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}
