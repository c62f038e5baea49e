/*
** Databases, their connections, and the statements that are compiled on them.
*/
#ifndef PERILUNE_CONNECTIONS_H
#define PERILUNE_CONNECTIONS_H

#include <perilune_state.h>

/* Statements that were collected, to be released on the queue of their connection. Owned by Swift. */
typedef struct {
    void **objects;
    size_t count, capacity;
} pdb_release_list;

/* What a script may do with a database, beyond reading and writing it. */
enum {
    PDB_DATABASE_FILES = 1u << 0,    /* ATTACH, DETACH, VACUUM INTO and the like */
    PDB_DATABASE_CLOSABLE = 1u << 1, /* close() */
    PDB_DATABASE_POOL = 1u << 2,     /* reads may run on other connections than writes */
    PDB_DATABASE_PREVIEW = 1u << 3,  /* no ATTACH of files and VACUUM INTO, whatever else is granted */
    PDB_DATABASE_SNAPSHOT = 1u << 4, /* one state of a database: its connection is in a transaction that reads, from its beginning to its end */
};

/* Pushes the object through which scripts use a database. `owner` is a retained Swift object, which goes to the context's
** garbage when the userdata is collected; `leftover` must live as long as it. `path` is copied: what messages call the database, empty
** if it is in memory. [-0, +1, m] */
void pdb_push_database(lua_State *L, void *owner, pdb_release_list *leftover, unsigned flags, const char *path);

/* A database elsewhere, for which another one stands here: statements run there. What is pointed to must live as long as the owner. */
typedef struct {
    void *context;
    const int64_t *change_count; /* rows that the last statement has changed */
    /* Has the next statement be sent without waiting for its answer, if it can be: an INSERT that must change a number of rows, and give the last one
    ** an id, if that is not NULL; with 0, not. What it was instead, if it was, is known when the answers have come. */
    void (*expect)(void *context, int64_t change_count, const int64_t *rowid);
    /* Waits for the answers. Returns false if the transaction is lost, with a pending error that says why. */
    bool (*settle)(void *context);
    const int64_t *failure_count; /* how many answers, so far, were not what was expected */
} pdb_remote;

/* Has a database stand for another one elsewhere. */
void pdb_set_remote(pdb_database *database, const pdb_remote *remote);

/* The database behind a userdata (a database object, or a handle that is alive), or NULL. [-0, +0, -] */
pdb_database *pdb_database_at(lua_State *L, int index);

/* Whether a value is a database object or a handle, alive or not. [-0, +0, -] */
bool pdb_is_database(lua_State *L, int index);

/* Whether scripts may close the database. */
bool pdb_database_is_closable(pdb_database *database);

/* A number that changes when the schema of the database may have changed: after statements that neither read nor insert, update or
** delete; when an access ends in which there was one; when SQLite has compiled a statement anew; after errors that may come
** from it. Grows, and is never that of another database. Never fails. */
int64_t pdb_schema_generation(pdb_database *database);

/* To be called when it may have changed in a way that the row path does not see: by Swift, or by a rollback. */
void pdb_forget_schema(pdb_database *database);

/* The Swift object of a database. */
void *pdb_database_owner(pdb_database *database);

/* Pushes the database object of the handle at `index`. [-0, +1, -] */
void pdb_push_database_object(lua_State *L, int index);

/* Hands over every statement of a database to the release list, for closing. Returns false if an access is open. [-0, +0, m] */
bool pdb_database_detach(lua_State *L, pdb_database *database);

/* Hands over the statements of one connection, which will be closed. No access to it may be open. [-0, +0, -] */
void pdb_forget_connection(lua_State *L, pdb_database *database, sqlite3 *handle);

/* The methods of databases and handles, and those of prepared statements: more may be added. [-0, +1, m] */
void pdb_push_database_methods(lua_State *L);
void pdb_push_statement_methods(lua_State *L);

/* For recordings of changes, of the whole process, on the thread of a connection: `check` is called now and then while statements run,
** `will_begin` before an access, `is_recorded` when observers give up the hook by which recordings follow it, and `record` with each
** change, inside of the hook. NULL: there are no recordings. */
void pdb_follow_recordings(void (*check)(sqlite3 *handle), void (*will_begin)(sqlite3 *handle), bool (*is_recorded)(sqlite3 *handle),
                           void (*record)(sqlite3 *handle, int kind, const char *schema, const char *table));

/* MARK: - The access that is open */

typedef enum {
    PDB_READ_STATEMENT,  /* one reading statement in autocommit: a pool may use a reader */
    PDB_WRITE_STATEMENT, /* one call in autocommit, on the writer */
    PDB_READ,            /* a block: a deferred transaction of reading statements; a pool uses a reader */
    PDB_WRITE,           /* a block: one immediate transaction */
    PDB_DEFERRED,        /* blocks: a transaction of the kind that the script asked for */
    PDB_IMMEDIATE,
    PDB_EXCLUSIVE,
    PDB_MIGRATION,           /* in a transaction that GRDB has begun for it */
    PDB_WITHOUT_TRANSACTION, /* a block on the writer, in autocommit */
    PDB_SAVEPOINT,           /* a block inside another one */
    PDB_GUARD,               /* one call that must be undone if it fails: a transaction, or a savepoint inside one */
} pdb_access_mode;

/* An access that is open. Lives on the C stack; inner accesses point to outer ones. */
struct pdb_access {
    pdb_access *outer;
    pdb_database *database;
    pdb_connection *connection;
    uint64_t token;
    pdb_access_mode mode;
    bool is_readonly;    /* only statements that change nothing */
    bool in_transaction; /* opened by a block, so that scripts may not end it by SQL */
    pdb_statement *active; /* statements being stepped, reset when the access ends */
    struct pdb_open_blob *blobs; /* closed when it ends */
    bool is_taken;              /* a guard, whose call has begun */
    bool runs_deferred_callbacks;           /* after the end of a transaction, for observers */
    bool has_date;
    int64_t date; /* of the transaction, in microseconds since 1970, once a script has asked for it */
    bool has_asked, is_unobserved; /* whether GRDB has observers, which is asked at the first change */
    pdb_access_request *request;
};

/* The innermost access to the database that is open in this state, or NULL. With NULL for the database: to any. [-0, +0, -] */
pdb_access *pdb_current_access(lua_State *L, pdb_database *database);

/* GRDB's connection object and SQLite's of an open access. */
void *pdb_access_grdb(pdb_access *access);
sqlite3 *pdb_access_handle(pdb_access *access);

/* MARK: - Statements */

void *pdb_statement_object(pdb_statement *statement);

/* Where in its text the statement begins that the last call has come to: not at 0 in a text of several. [-0, +0, -] */
size_t pdb_statement_start(lua_State *L);

#endif
