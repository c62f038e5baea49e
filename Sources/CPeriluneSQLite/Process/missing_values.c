/*
** Works around SQLite before 3.47, whose hook before changes returns NULL for values that a row does not store. Such rows were written
** before ALTER TABLE added the column, or copied from such rows by INSERT ... SELECT; statements read the column's default from them.
*/
#include <perilune_memory.h>
#include <perilune_sessions.h>

#include "CPeriluneSQLite/Process/work.h"

sqlite3_value *psql_missing_value(void) {
    /* SQLite has one constant NULL for values that do not exist, whether in a row or in a statement. */
    return sqlite3_column_value(NULL, 0);
}

/* Executes SQL and passes it the strings. Returns an SQLite result code. */
static int execute(sqlite3 *handle, const char *format, const char *first, const char *second) {
    char *sql = sqlite3_mprintf(format, first, second);
    int code = sql ? sqlite3_exec(handle, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return code;
}

/* Copies the value in the first row of a statement. Returns an SQLite result code. */
static int copy_value(sqlite3 *handle, const char *sql, sqlite3_value **value) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(handle, sql, -1, &statement, NULL);
    if (code == SQLITE_OK) code = sqlite3_step(statement);
    if (code == SQLITE_ROW) code = (*value = sqlite3_value_dup(sqlite3_column_value(statement, 0))) ? SQLITE_OK : SQLITE_NOMEM;
    else if (code == SQLITE_DONE) code = SQLITE_ERROR;
    sqlite3_finalize(statement);
    return code;
}

/* Adds a column with this type and default to a row of a database in memory, and reads it there. SQLite itself thus parses the default and
** converts it to the type of the column. */
static int evaluate(const char *type, const char *expression, bool is_strict, sqlite3_value **value) {
    sqlite3 *handle = NULL;
    enum { flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_PRIVATECACHE };
    int code = sqlite3_open_v2(":memory:", &handle, flags, NULL);
    if (code == SQLITE_OK) code = execute(handle, "CREATE TABLE t(a INTEGER) %s; INSERT INTO t VALUES (1)", is_strict ? "STRICT" : "", "");
    /* Strict tables require the plain name of a type. In other tables a type may be any text, or missing. */
    bool is_plain = is_strict || *type == 0;
    if (code == SQLITE_OK) {
        const char *format = is_plain ? "ALTER TABLE t ADD COLUMN d %s DEFAULT %s" : "ALTER TABLE t ADD COLUMN d \"%w\" DEFAULT %s";
        code = execute(handle, format, type, expression);
    }
    if (code == SQLITE_ERROR) { /* the schema has expressions without their parentheses */
        const char *format = is_plain ? "ALTER TABLE t ADD COLUMN d %s DEFAULT (%s\n)" : "ALTER TABLE t ADD COLUMN d \"%w\" DEFAULT (%s\n)";
        code = execute(handle, format, type, expression);
    }
    if (code == SQLITE_OK) code = copy_value(handle, "SELECT d FROM t", value);
    sqlite3_close(handle);
    return code;
}

/* Reads whether a table is strict. Returns an SQLite result code. */
static int read_is_strict(sqlite3 *handle, const char *schema, const char *table, bool *is_strict) {
    enum { STRICT = 5 };
    char *sql = sqlite3_mprintf(PSQL_OWN_SQL "PRAGMA \"%w\".table_list(%Q)", schema, table);
    sqlite3_stmt *statement = NULL;
    int code = sql ? sqlite3_prepare_v2(handle, sql, -1, &statement, NULL) : SQLITE_NOMEM;
    if (code == SQLITE_OK) code = sqlite3_step(statement);
    if (code == SQLITE_ROW) *is_strict = sqlite3_column_int(statement, STRICT) != 0;
    sqlite3_finalize(statement);
    sqlite3_free(sql);
    return code == SQLITE_ROW ? SQLITE_OK : code == SQLITE_DONE ? SQLITE_ERROR : code;
}

/* Reads the default of the column in the current row of PRAGMA table_xinfo. Returns an SQLite result code. */
static int read_default(sqlite3 *handle, const char *schema, const char *table, sqlite3_stmt *statement, sqlite3_value **value) {
    enum { TYPE = 2, DEFAULT = 4 };
    const char *type = (const char *)sqlite3_column_text(statement, TYPE);
    if (sqlite3_column_type(statement, DEFAULT) == SQLITE_NULL) {
        return (*value = sqlite3_value_dup(psql_missing_value())) ? SQLITE_OK : SQLITE_NOMEM;
    }
    const char *expression = (const char *)sqlite3_column_text(statement, DEFAULT);
    if (type == NULL || expression == NULL) return SQLITE_NOMEM;
    bool is_strict = false;
    int code = read_is_strict(handle, schema, table, &is_strict);
    return code == SQLITE_OK ? evaluate(type, expression, is_strict, value) : code;
}

int psql_default_value(sqlite3 *handle, const char *schema, const char *table, int column, sqlite3_value **value) {
    *value = NULL;
    psql_allow_all(true);
    char *sql = sqlite3_mprintf(PSQL_OWN_SQL "PRAGMA \"%w\".table_xinfo(%Q)", schema, table);
    sqlite3_stmt *statement = NULL;
    int code = sql ? sqlite3_prepare_v2(handle, sql, -1, &statement, NULL) : SQLITE_NOMEM;
    for (int i = 0; i <= column && (code == SQLITE_OK || code == SQLITE_ROW); i++) code = sqlite3_step(statement);
    if (code == SQLITE_ROW) code = read_default(handle, schema, table, statement, value);
    else if (code == SQLITE_DONE) code = SQLITE_ERROR;
    sqlite3_finalize(statement);
    sqlite3_free(sql);
    psql_allow_all(false);
    return code;
}
