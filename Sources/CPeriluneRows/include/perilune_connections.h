/*
** Databases, their connections and compiled statements.
*/
#ifndef PERILUNE_CONNECTIONS_H
#define PERILUNE_CONNECTIONS_H

#include <perilune_state.h>

/* A list of collected statements, owned by Swift, which releases them on the queue of their connection. */
typedef struct {
    void **objects;
    size_t count, capacity;
} pdb_release_list;

/* Flags of a database: permissions of scripts beyond reading and writing, and its kind. */
enum {
    PDB_DATABASE_FILES = 1u << 0,    /* ATTACH, DETACH, VACUUM INTO and so on */
    PDB_DATABASE_CLOSABLE = 1u << 1, /* close() */
    PDB_DATABASE_POOL = 1u << 2,     /* a pool: reads may use different connections than writes */
    PDB_DATABASE_PREVIEW = 1u << 3,  /* no ATTACH of files and no VACUUM INTO, even with PDB_DATABASE_FILES */
    PDB_DATABASE_SNAPSHOT = 1u << 4, /* a snapshot, whose connection stays in one read transaction */
};

/* Pushes the object by which scripts use a database. `owner` is a retained Swift object, which is added to the context's garbage when the
** userdata is collected; `leftover` must live as long as `owner`. `path` is copied and used in messages; it is empty for a database in
** memory. [-0, +1, m] */
void pdb_push_database(lua_State *L, void *owner, pdb_release_list *leftover, unsigned flags, const char *path);

/* A database in a cluster that is represented by a local database. Statements run in the cluster. All pointers must live as long as the
** owner. */
typedef struct {
    void *context;
    const int64_t *change_count; /* the number of rows changed by the last statement */
    /* Allows sending the next statement without waiting for its response. The statement must be an INSERT that changes `change_count` rows.
    ** Its last row must have the id `rowid`, unless `rowid` is NULL. A count of 0 withdraws the permission. Deviations are detected when
    ** the responses arrive. */
    void (*expect)(void *context, int64_t change_count, const int64_t *rowid);
    /* Waits for outstanding responses. Returns false, with a pending error, if the transaction is lost. */
    bool (*settle)(void *context);
    const int64_t *failure_count; /* the number of unexpected responses so far */
} pdb_remote;

/* Makes a local database represent a database in a cluster. */
void pdb_set_remote(pdb_database *database, const pdb_remote *remote);

/* Returns the database of a database object or of a live handle, or NULL. [-0, +0, -] */
pdb_database *pdb_database_at(lua_State *L, int index);

/* Returns whether a value is a database object or a handle, live or not. [-0, +0, -] */
bool pdb_is_database(lua_State *L, int index);

/* Returns whether scripts may close the database. */
bool pdb_database_is_closable(pdb_database *database);

/* Returns a number that changes when the schema of the database may have changed: after statements other than SELECT, INSERT, UPDATE and
** DELETE; at the end of an access with such a statement; when SQLite has recompiled a statement; and after errors that a changed schema can
** cause. The number grows and is unique to the database. Never fails. */
int64_t pdb_schema_generation(pdb_database *database);

/* Records that the schema may have changed by Swift code or by a rollback, which this target does not detect. */
void pdb_forget_schema(pdb_database *database);

/* Records that a script has interrupted the statements of the database. */
void pdb_note_interruption(pdb_database *database);

/* Returns the Swift object of a database. */
void *pdb_database_owner(pdb_database *database);

/* Pushes the database object of the handle at `index`. [-0, +1, -] */
void pdb_push_database_object(lua_State *L, int index);

/* Moves all statements of a database to the release list, before it is closed. Returns false if an access is open. [-0, +0, m] */
bool pdb_database_detach(lua_State *L, pdb_database *database);

/* Moves the statements of a connection to the release list, before it is closed. No access to it may be open. [-0, +0, -] */
void pdb_forget_connection(lua_State *L, pdb_database *database, sqlite3 *handle);

/* Push the method table of databases and handles, or of prepared statements, so that methods can be added. [-0, +1, m] */
void pdb_push_database_methods(lua_State *L);
void pdb_push_statement_methods(lua_State *L);

/* Sets the process-wide functions for recording changes, which are called on the thread of a connection. `check` is called at intervals
** while statements run, `will_begin` before an access, `is_recorded` when observers release the hook that recordings share, and `record`
** for each change, inside the hook. NULL disables recordings. */
void pdb_follow_recordings(void (*check)(sqlite3 *handle), void (*will_begin)(sqlite3 *handle), bool (*is_recorded)(sqlite3 *handle),
                           void (*record)(sqlite3 *handle, int kind, const char *schema, const char *table));

/* MARK: - The access that is open */

typedef enum {
    PDB_READ_STATEMENT,  /* one reading statement in autocommit; a pool may use a reader */
    PDB_WRITE_STATEMENT, /* one call in autocommit, on the writer */
    PDB_READ,            /* a block: a deferred transaction for reading statements; a pool uses a reader */
    PDB_WRITE,           /* a block: one immediate transaction */
    PDB_DEFERRED,        /* blocks: a transaction of the kind that the script specifies */
    PDB_IMMEDIATE,
    PDB_EXCLUSIVE,
    PDB_MIGRATION,           /* in a transaction that GRDB has begun for the migration */
    PDB_WITHOUT_TRANSACTION, /* a block on the writer, in autocommit */
    PDB_SAVEPOINT,           /* a block inside another one */
    PDB_GUARD,               /* one call that is undone if it fails, by a transaction or a savepoint */
} pdb_access_mode;

/* An open access. Lives on the C stack; an inner access refers to the outer one. */
struct pdb_access {
    pdb_access *outer;
    pdb_database *database;
    pdb_connection *connection;
    uint64_t token;
    pdb_access_mode mode;
    bool is_readonly;    /* allows only statements that change nothing */
    bool in_transaction; /* a block has begun the transaction, so SQL must not end it */
    pdb_statement *active; /* running statements, reset when the access ends */
    struct pdb_open_blob *blobs; /* open blobs, closed when the access ends */
    bool is_taken;              /* the call for which the guard was opened has started */
    bool runs_deferred_callbacks;           /* runs observers' callbacks after a transaction */
    bool has_date;
    int64_t date; /* the time of the transaction in microseconds since 1970, once a script has read it */
    bool has_asked, is_unobserved; /* whether GRDB has observers, which is checked at the first change */
    pdb_access_request *request;
};

/* Returns the innermost open access to the database in this state, or to any database if `database` is NULL. Returns NULL if none exists.
** [-0, +0, -] */
pdb_access *pdb_current_access(lua_State *L, pdb_database *database);

/* Return GRDB's object and SQLite's handle for the connection of an open access. */
void *pdb_access_grdb(pdb_access *access);
sqlite3 *pdb_access_handle(pdb_access *access);

/* MARK: - Statements */

void *pdb_statement_object(pdb_statement *statement);

/* Returns the position of the last statement in its text, which is above 0 in a text of several statements. [-0, +0, -] */
size_t pdb_statement_start(lua_State *L);

#endif
