/*
** Recording what changes in a database, and doing the same to another, by SQLite's session extension.
**
** For Swift: nothing here knows Lua. The extension's own functions are hidden from Swift, since sqlite3.h declares them only
** where two macros are defined.
*/
#ifndef PERILUNE_RECORDING_H
#define PERILUNE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

/* MARK: - Recording */

/* Changes of the schema "main" of one connection, on whose thread everything here is called. */
typedef struct psql_recording psql_recording;

typedef enum {
    PSQL_RECORDING_COMPLETE,
    PSQL_RECORDING_TOO_LARGE, /* it would have taken more memory than it may: what came after that is missing */
    PSQL_RECORDING_FAILED,    /* the schema has changed in a way that sessions cannot follow, or memory is short */
} psql_recording_state;

/* Begins. Tables named in `excluded` are not recorded, but it is noted that they were written to; so are tables that were not
** named and have no primary key. `limit` is the memory that the recording may take, in bytes, looked at now and then while
** scripts run statements. Returns SQLite's code. */
int psql_recording_begin(sqlite3 *db, const char *const *excluded, size_t excluded_count, size_t limit,
                             psql_recording **recording);

/* Ends it and frees it. Must come before the connection is closed. */
void psql_recording_end(psql_recording *recording);

psql_recording_state psql_recording_status(psql_recording *recording);

/* The tables that were written to, rolled back or not, but for those of SQLite itself. The names live as long as the
** recording. */
size_t psql_recording_touched_count(psql_recording *recording);
const char *psql_recording_touched_table(psql_recording *recording, size_t index);

/* The net changes since the beginning, to be freed by psql_free_changeset. Returns SQLite's code; if it is not SQLITE_OK, the
** recording has failed. */
int psql_recording_changeset(psql_recording *recording, void **bytes, int *length);

/* The changeset by which "main" differs from an attached schema, in tables that both have, with the same columns and key.
** Returns SQLite's code. */
int psql_compare_schemas(sqlite3 *db, const char *former_schema, const char *const *tables, size_t table_count, void **bytes,
                             int *length);

/* The changeset that undoes another. Returns SQLite's code. */
int psql_invert_changeset(const void *bytes, int length, void **inverse, int *inverse_length);

void psql_free_changeset(void *bytes);

/* Whoever else uses the pre-update hook of connections: has it lifted while sessions are used, and put back. `lift` returns NULL if it
** does not use it on that connection. For the process; the same each time. */
void psql_set_change_hook_owner(void *(*lift)(sqlite3 *db), void (*put_back)(void *lifted));

/* Ends the recordings of a connection that have grown beyond their limit. Called now and then while statements run on it. */
void psql_watch_recordings(sqlite3 *db);

/* Gives up the recordings of a connection: its pre-update hook is taken. */
void psql_interrupt_recordings(sqlite3 *db);

/* MARK: - Reading */

typedef enum {
    PSQL_ROW_INSERTED,
    PSQL_ROW_UPDATED,
    PSQL_ROW_DELETED,
} psql_row_change_kind;

/* A change of one row. The names and values live until the function that was given it returns. */
typedef struct {
    const char *table;
    psql_row_change_kind kind;
    bool is_indirect; /* made by a trigger or a foreign key */
    int column_count;
    const unsigned char *is_key; /* for each column */
    void *iterator;
} psql_row_change;

/* The values of a column before and after; NULL where there is none: of inserted and deleted rows, and of columns that an update
** did not change, but that the key is always there before. */
sqlite3_value *psql_row_change_old(const psql_row_change *change, int column);
sqlite3_value *psql_row_change_new(const psql_row_change *change, int column);

/* Calls the function for each change, until it returns false. Returns SQLite's code, SQLITE_CORRUPT for bytes that are no
** changeset. */
int psql_read_changeset(const void *bytes, int length, bool (*visit)(void *context, const psql_row_change *change),
                            void *context);

/* MARK: - Applying */

typedef enum {
    PSQL_CONFLICT_DIFFERS,    /* the row is not as it was when the changeset was recorded */
    PSQL_CONFLICT_MISSING,    /* the row to be changed or deleted is not there */
    PSQL_CONFLICT_EXISTS,     /* a row with the key of the one to be inserted is there */
    PSQL_CONFLICT_CONSTRAINT, /* UNIQUE, CHECK, NOT NULL */
    PSQL_CONFLICT_TABLE,      /* the table is not there, or has other columns or another key */
} psql_conflict_kind;

/* `current` gives the values of the row that stands in the way (DIFFERS, EXISTS), else NULL. */
typedef struct {
    psql_conflict_kind kind;
    const psql_row_change *change; /* NULL for TABLE */
    const char *table;
} psql_conflict;

sqlite3_value *psql_conflict_current(const psql_conflict *conflict, int column);

/* Applies all changes or none: the first conflict is told and undoes what came before it, with SQLITE_ABORT. Triggers do not run,
** whose effects the changeset holds already; that foreign keys are off, for the same reason, is the caller's part. */
int psql_apply_changeset(sqlite3 *db, const void *bytes, int length,
                             void (*tell)(void *context, const psql_conflict *conflict), void *context);

/* MARK: - Copying */

/* Has a connection leave the write-ahead log alone when it is closed, whoever else may have the file open. */
void psql_keep_log(sqlite3 *db);

#endif
