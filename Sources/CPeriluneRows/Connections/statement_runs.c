/* Begins and ends runs of statements, and releases statements. */
#include "CPeriluneRows/Connections/connections.h"

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
    if (!statement->is_direct) statement->connection->write_count++;
    statement->active_next = *list;
    statement->active_link = list;
    if (*list) (*list)->active_link = &statement->active_next;
    *list = statement;
}

/* Marks a run as ended and removes it from its list. */
static void leave_list(pdb_statement *statement) {
    *statement->active_link = statement->active_next;
    if (statement->active_next) statement->active_next->active_link = statement->active_link;
    statement->in_use = false;
    statement->is_abandoned = false;
    statement->run_id++;
}

/* A row id that no row is expected to have. */
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
    if (statement->screening.keyword != PDB_KEYWORD_INSERT || pdb_change_count(statement->connection) == 0) return false;
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
    /* Ending a run may call a trace function that shows the bound values. If the cursor was collected, their bytes may have been freed. */
    if (statement->is_abandoned) sqlite3_clear_bindings(statement->handle);
    leave_list(statement);
    /* The bytes of bound strings belong to Lua, which may collect them from now on. They stay bound, because clearing them takes longer and
    ** nothing reads them: the next run binds all parameters first. */
    sqlite3_reset(statement->handle);
    if (!statement->is_cached) pdb_release_statement(statement);
}

void pdb_end_runs(pdb_statement **list) {
    while (*list) pdb_end_run(*list);
}

/* MARK: - Release */

void *pdb_empty_statement(pdb_statement *statement) {
    void *object = statement->object;
    if (statement->in_use) leave_list(statement);
    unlink_statement(statement);
    free(statement->booleans);
    statement->booleans = NULL;
    statement->connection = NULL;
    statement->handle = NULL;
    statement->sql = NULL;
    statement->object = NULL;
    return object;
}

void pdb_release_statement(pdb_statement *statement) {
    pdb_connection *connection = statement->connection;
    if (connection == NULL) return;
    pdb_state *rows = connection->database->rows;
    void *object = pdb_empty_statement(statement);
    bool may_refuse = pdb_begin_host_call(rows);
    rows->callbacks.release(object);
    pdb_end_host_call(rows, may_refuse);
}

/* The finalizer only moves the statement to a list, because another thread may be using the connection at this time. */
int pdb_collect_compiled(lua_State *L) {
    pdb_statement *statement = lua_touserdata(L, 1);
    pdb_connection *connection = statement->connection;
    if (connection) pdb_release_add(&connection->released, pdb_empty_statement(statement));
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
