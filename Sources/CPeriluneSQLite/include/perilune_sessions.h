/*
** Recording what changes in a database, and doing the same to another, by SQLite's session extension.
**
** For Swift: nothing here knows Lua. The extension's own functions are hidden from Swift, since sqlite3.h declares them only
** where two macros are defined.
*/
#ifndef PERILUNE_SESSIONS_H
#define PERILUNE_SESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

/* MARK: - Recording */

/* Changes of the schema "main" of one connection, on whose thread everything here is called. */
typedef struct perilune_recording perilune_recording;

typedef enum {
    PERILUNE_RECORDING_COMPLETE,
    PERILUNE_RECORDING_TOO_LARGE, /* it would have taken more memory than it may: what came after that is missing */
    PERILUNE_RECORDING_FAILED,    /* the schema has changed in a way that sessions cannot follow, or memory is short */
} perilune_recording_state;

/* Begins. Tables named in `excluded` are not recorded, but it is noted that they were written to; so are tables that were not
** named and have no primary key. `limit` is the memory that the recording may take, in bytes, looked at now and then while
** scripts run statements. Returns SQLite's code. */
int perilune_recording_begin(sqlite3 *db, const char *const *excluded, size_t excluded_count, size_t limit,
                             perilune_recording **recording);

/* Ends it and frees it. Must come before the connection is closed. */
void perilune_recording_end(perilune_recording *recording);

perilune_recording_state perilune_recording_status(perilune_recording *recording);

/* The tables that were written to, rolled back or not, but for those of SQLite itself. The names live as long as the
** recording. */
size_t perilune_recording_touched_count(perilune_recording *recording);
const char *perilune_recording_touched_table(perilune_recording *recording, size_t index);

/* The net changes since the beginning, to be freed by perilune_free_changeset. Returns SQLite's code; if it is not SQLITE_OK, the
** recording has failed. */
int perilune_recording_changeset(perilune_recording *recording, void **bytes, int *length);

/* The changeset by which "main" differs from an attached schema, in tables that both have, with the same columns and key.
** Returns SQLite's code. */
int perilune_compare_schemas(sqlite3 *db, const char *former_schema, const char *const *tables, size_t table_count, void **bytes,
                             int *length);

/* The changeset that undoes another. Returns SQLite's code. */
int perilune_invert_changeset(const void *bytes, int length, void **inverse, int *inverse_length);

void perilune_free_changeset(void *bytes);

/* MARK: - Reading */

typedef enum {
    PERILUNE_ROW_INSERTED,
    PERILUNE_ROW_UPDATED,
    PERILUNE_ROW_DELETED,
} perilune_row_change_kind;

/* A change of one row. The names and values live until the function that was given it returns. */
typedef struct {
    const char *table;
    perilune_row_change_kind kind;
    bool is_indirect; /* made by a trigger or a foreign key */
    int column_count;
    const unsigned char *is_key; /* for each column */
    void *iterator;
} perilune_row_change;

/* The values of a column before and after; NULL where there is none: of inserted and deleted rows, and of columns that an update
** did not change, but that the key is always there before. */
sqlite3_value *perilune_row_change_old(const perilune_row_change *change, int column);
sqlite3_value *perilune_row_change_new(const perilune_row_change *change, int column);

/* Calls the function for each change, until it returns false. Returns SQLite's code, SQLITE_CORRUPT for bytes that are no
** changeset. */
int perilune_read_changeset(const void *bytes, int length, bool (*visit)(void *context, const perilune_row_change *change),
                            void *context);

/* MARK: - Applying */

typedef enum {
    PERILUNE_CONFLICT_DIFFERS,    /* the row is not as it was when the changeset was recorded */
    PERILUNE_CONFLICT_MISSING,    /* the row to be changed or deleted is not there */
    PERILUNE_CONFLICT_EXISTS,     /* a row with the key of the one to be inserted is there */
    PERILUNE_CONFLICT_CONSTRAINT, /* UNIQUE, CHECK, NOT NULL */
    PERILUNE_CONFLICT_TABLE,      /* the table is not there, or has other columns or another key */
} perilune_conflict_kind;

/* `current` gives the values of the row that stands in the way (DIFFERS, EXISTS), else NULL. */
typedef struct {
    perilune_conflict_kind kind;
    const perilune_row_change *change; /* NULL for TABLE */
    const char *table;
} perilune_conflict;

sqlite3_value *perilune_conflict_current(const perilune_conflict *conflict, int column);

/* Applies all changes or none: the first conflict is told and undoes what came before it, with SQLITE_ABORT. Triggers do not run,
** whose effects the changeset holds already; that foreign keys are off, for the same reason, is the caller's part. */
int perilune_apply_changeset(sqlite3 *db, const void *bytes, int length,
                             void (*tell)(void *context, const perilune_conflict *conflict), void *context);

/* MARK: - Copying */

/* Has a connection leave the write-ahead log alone when it is closed, whoever else may have the file open. */
void perilune_keep_log(sqlite3 *db);

#endif
