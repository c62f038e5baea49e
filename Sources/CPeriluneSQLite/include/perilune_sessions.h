/*
** SQLite's session extension, declared for Swift. sqlite3.h declares it only if two macros are defined, and Swift cannot define macros.
*/
#ifndef PERILUNE_SESSIONS_H
#define PERILUNE_SESSIONS_H

#include <stddef.h>

#include <sqlite3.h>

typedef struct sqlite3_changeset_iter sqlite3_changeset_iter;

int sqlite3changeset_invert(int length, const void *bytes, int *inverse_length, void **inverse);
int sqlite3changeset_concat(int first_length, void *first, int second_length, void *second, int *length, void **bytes);
int sqlite3changeset_start_v2(sqlite3_changeset_iter **iterator, int length, void *bytes, int flags);
int sqlite3changeset_start_v2_strm(sqlite3_changeset_iter **iterator, int (*input)(void *context, void *bytes, int *length), void *context,
                                   int flags);
int sqlite3changeset_next(sqlite3_changeset_iter *iterator);
int sqlite3changeset_op(sqlite3_changeset_iter *iterator, const char **table, int *column_count, int *operation, int *is_indirect);
int sqlite3changeset_pk(sqlite3_changeset_iter *iterator, unsigned char **is_key, int *column_count);
int sqlite3changeset_old(sqlite3_changeset_iter *iterator, int column, sqlite3_value **value);
int sqlite3changeset_new(sqlite3_changeset_iter *iterator, int column, sqlite3_value **value);
int sqlite3changeset_conflict(sqlite3_changeset_iter *iterator, int column, sqlite3_value **value);
int sqlite3changeset_finalize(sqlite3_changeset_iter *iterator);
int sqlite3changeset_apply_v2(sqlite3 *db, int length, void *bytes, int (*filter)(void *context, const char *table),
                              int (*resolve)(void *context, int conflict, sqlite3_changeset_iter *iterator), void *context,
                              void **rebasing, int *rebasing_length, int flags);
int sqlite3changeset_apply_v2_strm(sqlite3 *db, int (*input)(void *context, void *bytes, int *length), void *input_context,
                                   int (*filter)(void *context, const char *table),
                                   int (*resolve)(void *context, int conflict, sqlite3_changeset_iter *iterator), void *context,
                                   void **rebasing, int *rebasing_length, int flags);

int sqlite3_preupdate_count(sqlite3 *db);
int sqlite3_preupdate_depth(sqlite3 *db);
int sqlite3_preupdate_old(sqlite3 *db, int column, sqlite3_value **value);

/* Returns the value of a column of the inserted or updated row. Use it instead of sqlite3_preupdate_new, which crashes if it runs out of
** memory. For a row that ends in zeros it may allocate as much memory as the row has, regardless of the current thread's account. */
int psql_preupdate_new(sqlite3 *db, int column, sqlite3_value **value);

/* The value that the two functions return if the row does not store the column, because it was written before ALTER TABLE added the column.
** It is NULL, but statements read the column's default; see psql_default_value. It is a constant, to be compared by its address. */
sqlite3_value *psql_missing_value(void);

/* Sets `value` to the default of a column, as statements read it from rows that do not store the column. Free it with sqlite3_value_free.
** This is slow, so callers keep the value. May be called in a hook, and then allocates memory regardless of the current thread's account.
** Returns an SQLite result code. */
int psql_default_value(sqlite3 *db, const char *schema, const char *table, int column, sqlite3_value **value);

/* The kinds of conflicts, and the ways to resolve them. */
enum {
    PSQL_CHANGESET_DATA = 1,
    PSQL_CHANGESET_NOTFOUND = 2,
    PSQL_CHANGESET_CONFLICT = 3,
    PSQL_CHANGESET_CONSTRAINT = 4,
    PSQL_CHANGESET_FOREIGN_KEY = 5,
    PSQL_CHANGESET_OMIT = 0,
    PSQL_CHANGESET_REPLACE = 1,
    PSQL_CHANGESET_ABORT = 2,
};

/* Options for reading and applying a changeset. */
enum {
    PSQL_CHANGESET_START_INVERTED = 2,
    PSQL_CHANGESET_APPLY_WITHOUT_SAVEPOINT = 1,
    PSQL_CHANGESET_APPLY_INVERTED = 2,
};

/* The next functions exist because Swift cannot call sqlite3_db_config, which is variadic. */

/* Makes a connection keep the write-ahead log when it closes, even if it is the last connection to the file. */
static inline void psql_keep_log(sqlite3 *db) { sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL); }

/* Sets whether a connection reads unknown names in double quotes as strings, except in CREATE; -1 changes nothing. Returns the previous
** setting. */
static inline int psql_accept_double_quoted_strings(sqlite3 *db, int is_accepted) {
    int former = 0;
    sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, -1, &former);
    if (is_accepted >= 0) sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, is_accepted, NULL);
    return former;
}

/* Makes a connection read unknown names in double quotes as strings everywhere, as SQLite's shell does. */
static inline void psql_accept_double_quoted_definitions(sqlite3 *db) {
    sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 1, NULL);
}

/* Sets whether triggers run on a connection and returns the previous setting. */
static inline int psql_enable_triggers(sqlite3 *db, int is_enabled) {
    int former = 1;
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, -1, &former);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, is_enabled, NULL);
    return former;
}

/* Sets whether foreign keys are enforced; -1 changes nothing. Unlike the PRAGMA, it works inside a transaction, too. Returns the previous
** setting. */
static inline int psql_enable_foreign_keys(sqlite3 *db, int is_enabled) {
    int former = 0;
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_FKEY, -1, &former);
    if (is_enabled >= 0) sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_FKEY, is_enabled, NULL);
    return former;
}

#endif
