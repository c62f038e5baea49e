/* Compilation of statements: checks whether the access allows them, and reads their parameters and columns. */
#include "CPeriluneRows/Connections/connections.h"

#include <perilune_sessions.h>

/* MARK: - Permissions of an access */

static void check_keyword(lua_State *L, pdb_access *access, const pdb_screening *screening) {
    const char *word = screening->word;
    if (screening->tells_files && !(access->database->flags & PDB_DATABASE_FILES)) {
        plua_raise(L, "forbidden", "pragma_database_list is not allowed here: the host does not grant access to files");
    }
    switch (screening->keyword) {
        case PDB_KEYWORD_FORBIDDEN:
            plua_raise(L, "forbidden", "%s cannot be set by scripts%s", word,
                       sqlite3_stricmp(word, "PRAGMA writable_schema") == 0 ? "; `perilune restore FILE` restores a dump" : "");
            break;
        case PDB_KEYWORD_MEMORY:
            if (access->database->rows->context->limit == 0) break;
            plua_raise(L, "forbidden", "%s cannot be set by scripts whose memory is limited", word);
            break;
        case PDB_KEYWORD_FUNCTIONS:
            if (!access->database->rows->context->limited) break;
            plua_raise(L, "forbidden", "%s cannot be set by scripts with limits", word);
            break;
        case PDB_KEYWORD_FILES:
            if (screening->opens_file && access->database->flags & PDB_DATABASE_PREVIEW) {
                plua_raise(L, "preview", "%s is not allowed in a preview, which cannot open other database files", word);
            }
            if (access->database->flags & PDB_DATABASE_FILES) break;
            plua_raise(L, "forbidden", "%s is not allowed here: the host does not grant access to files", word);
            break;
        case PDB_KEYWORD_CONTROL:
            /* A handle of an outer block uses the same connection. */
            if (!pdb_current_access(L, access->database)->in_transaction) break;
            if (pdb_current_access(L, access->database)->mode == PDB_MIGRATION) {
                plua_raise(L, "transaction_control",
                               "%s cannot be used in a migration, which runs as a single transaction: leave it out, "
                               "or restore a dump with `perilune restore FILE`", word);
            }
            plua_raise(L, "transaction_control",
                           "%s cannot be used inside a transaction block; return \"rollback\" from "
                           "in_transaction, use in_savepoint, or use write_without_transaction to control transactions in SQL", word);
            break;
        case PDB_KEYWORD_UNENFORCED:
            if (sqlite3_get_autocommit(access->connection->handle) || !psql_enable_foreign_keys(access->connection->handle, -1)) break;
            plua_raise(L, "transaction_control",
                       "PRAGMA foreign_keys = OFF has no effect in a transaction; use it in write_without_transaction, or a migration, "
                       "which checks foreign keys at its end");
            break;
        default: break;
    }
}

void pdb_check_allowed(lua_State *L, pdb_access *access, pdb_statement *statement) {
    if (statement->screening.keyword >= PDB_KEYWORD_CONTROL) check_keyword(L, access, &statement->screening);
    if (access->is_readonly && !statement->is_readonly) {
        plua_raise(L, "readonly", "%s writes, which a read block does not allow; use write",
                       statement->screening.word);
    }
    if (pdb_current_access(L, access->database)->in_transaction && sqlite3_get_autocommit(access->connection->handle)) {
        plua_raise(L, "abort", "the transaction of this block was rolled back by an earlier error");
    }
}

/* MARK: - Compiling */

/* Returns the SQL text. Raises if it is too long, contains a NUL or is not UTF-8. The length of the whole text is checked here, because
** Swift copies it; SQLite itself limits only the length of each statement. */
static const char *check_text(lua_State *L, pdb_connection *connection, int sql_index, size_t *length) {
    const char *sql = lua_tolstring(L, sql_index, length);
    int most = sqlite3_limit(connection->handle, SQLITE_LIMIT_SQL_LENGTH, -1);
    if (*length > (size_t)most) {
        plua_raise(L, "toobig", "the SQL has %I bytes, more than the %d that a text may have here; execute it in parts", (lua_Integer)*length, most);
    }
    const char *nul = memchr(sql, 0, *length);
    if (nul) plua_raise(L, "argument", "the SQL contains a NUL byte at position %I", (lua_Integer)(nul - sql + 1));
    if (!pdb_is_utf8(sql, *length)) {
        plua_raise(L, "argument", "the SQL is not valid UTF-8; pass bytes as arguments");
    }
    return sql;
}

pdb_statement *pdb_push_statement(lua_State *L, int sql_index) {
    pdb_statement *statement = lua_newuserdatauv(L, sizeof *statement, 4);
    memset(statement, 0, sizeof *statement);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &pdb_compiled_metatable_key);
    lua_setmetatable(L, -2);
    lua_pushvalue(L, sql_index);
    lua_setiuservalue(L, -2, PDB_SQL);
    return statement;
}

/* Stores the names of the parameters of the statement on top of the stack. */
static void read_parameters(lua_State *L, pdb_statement *statement) {
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
    lua_setiuservalue(L, -2, PDB_PARAMETERS);
}

/* Fills in the statement on top of the stack from one that Swift has prepared. */
static void adopt(lua_State *L, pdb_connection *connection, pdb_statement *statement,
                  const pdb_prepared *prepared) {
    statement->handle = prepared->handle;
    statement->object = prepared->object;
    statement->is_carrier = prepared->is_carrier;
    statement->sql = prepared->is_carrier ? prepared->sql : sqlite3_sql(prepared->handle);
    pdb_link_statement(connection, statement);
    statement->column_count = sqlite3_column_count(statement->handle);
    bool is_explanation = sqlite3_stmt_isexplain(statement->handle) != 0;
    statement->is_readonly = is_explanation || sqlite3_stmt_readonly(statement->handle);
    if (prepared->is_carrier) statement->is_readonly = prepared->is_readonly;
    statement->is_direct = statement->is_readonly && statement->column_count > 0 &&
                           statement->screening.keyword == PDB_KEYWORD_READ;
    read_parameters(L, statement);
}

/* Raises the error on top of the stack, with which SQLite has rejected the text at `sql_index`. */
static void raise_unprepared(lua_State *L, pdb_access *access, int sql_index) {
    pdb_touch_schema(access->database); /* a missing table or column suggests that the schema has changed */
    if (plua_is_error(L, -1)) {
        plua_push_error_fields(L, -1);
        bool has_sql = lua_getfield(L, -1, "sql") != LUA_TNIL;
        lua_pop(L, 2);
        if (!has_sql) {
            lua_pushvalue(L, sql_index);
            plua_set_error_field(L, "sql");
        }
    }
    pdb_raise_failure(L, NULL);
}

/* Pushes a newly prepared statement. */
static pdb_statement *prepare(lua_State *L, pdb_access *access, int sql_index) {
    size_t length;
    const char *sql = check_text(L, access->connection, sql_index, &length);
    pdb_state *rows = access->database->rows;
    pdb_screening screening;
    rows->callbacks.sql.screen(sql, length, &screening);
    check_keyword(L, access, &screening);
    pdb_statement *statement = pdb_push_statement(L, sql_index);
    statement->screening = screening;
    if (screening.keyword == PDB_KEYWORD_EMPTY) return statement;
    pdb_prepared prepared = {0};
    bool may_refuse = pdb_begin_statement_call(rows);
    int result = rows->callbacks.prepare(L, access->connection->grdb, sql, &prepared);
    pdb_end_statement_call(rows, may_refuse);
    if (result != 0) raise_unprepared(L, access, sql_index);
    if (prepared.handle == NULL) return statement;
    adopt(L, access->connection, statement, &prepared);
    statement->has_tail = prepared.has_tail;
    if (screening.is_temporary) access->database->wants_writer = true;
    return statement;
}

pdb_statement *pdb_compile(lua_State *L, pdb_access *access, int sql_index) {
    pdb_connection *connection = access->connection;
    if (connection->has_abandoned) pdb_tidy_connection(connection);
    access->database->rows->statement_start = 0;
    pdb_statement *statement = pdb_find_cached(L, connection, sql_index);
    bool is_taken = statement != NULL;
    if (statement && !statement->in_use) {
        pdb_check_allowed(L, access, statement);
        return statement;
    }
    if (statement) lua_pop(L, 1);
    statement = prepare(L, access, sql_index);
    if (statement->handle == NULL) return statement;
    if (!is_taken && !statement->has_tail) pdb_keep_cached(L, connection, statement, sql_index);
    pdb_check_allowed(L, access, statement);
    return statement;
}

pdb_statement *pdb_next_in_batch(lua_State *L, pdb_access *access, pdb_batch *batch, int sql_index, int holder) {
    pdb_state *rows = access->database->rows;
    const char *rest = batch->sql + batch->offset;
    pdb_screening screening;
    rows->callbacks.sql.screen(rest, batch->length - batch->offset, &screening);
    if (screening.keyword == PDB_KEYWORD_EMPTY) return NULL;
    rows->statement_start = batch->offset;
    check_keyword(L, access, &screening);
    lua_pushvalue(L, holder);
    pdb_statement *statement = lua_touserdata(L, -1);
    pdb_release_statement(statement);
    *statement = (pdb_statement){.screening = screening};
    for (int value = PDB_KEYS; value <= PDB_PARAMETERS; value++) {
        lua_pushnil(L);
        lua_setiuservalue(L, -2, value);
    }
    pdb_prepared prepared = {0};
    bool may_refuse = pdb_begin_statement_call(rows);
    int result = rows->callbacks.next(L, access->connection->grdb, batch->object, &prepared);
    pdb_end_statement_call(rows, may_refuse);
    if (result != 0) raise_unprepared(L, access, sql_index);
    if (prepared.handle == NULL) {
        lua_pop(L, 1);
        return NULL;
    }
    adopt(L, access->connection, statement, &prepared);
    batch->offset += strlen(statement->sql);
    if (screening.is_temporary) access->database->wants_writer = true;
    pdb_check_allowed(L, access, statement);
    return statement;
}

size_t pdb_statement_start(lua_State *L) { return pdb_state_of(L)->statement_start; }

/* MARK: - Columns */

/* Raises nothing, because Swift frames may be on the stack. */
static void read_booleans(pdb_statement *statement) {
    const pdb_sql_callbacks *sql = &statement->connection->database->rows->callbacks.sql;
    free(statement->booleans);
    statement->booleans = NULL;
    for (int i = 0; i < statement->column_count; i++) {
        const char *type = sqlite3_column_decltype(statement->handle, i);
        if (type == NULL || !sql->is_boolean(type)) continue;
        if (statement->booleans == NULL) statement->booleans = calloc((size_t)statement->column_count, 1);
        if (statement->booleans == NULL) abort();
        statement->booleans[i] = 1;
    }
}

void pdb_check_columns(pdb_statement *statement) {
    int prepare_count = sqlite3_stmt_status(statement->handle, SQLITE_STMTSTATUS_REPREPARE, 0);
    if (statement->has_columns && statement->prepare_count == prepare_count) return;
    /* SQLite recompiles a statement after the schema has changed. Its columns may then differ. */
    if (statement->has_columns || prepare_count > 0) pdb_touch_schema(statement->connection->database);
    statement->column_count = sqlite3_column_count(statement->handle);
    read_booleans(statement);
    statement->prepare_count = prepare_count;
    statement->has_columns = true;
    statement->has_shape = false;
}
