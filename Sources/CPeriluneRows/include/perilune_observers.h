/*
** What observes the transactions of one connection: the observers that scripts have added, of any state.
**
** SQLite's pre-update hook tells of each change, with the old and the new values; GRDB, through an observer of its own, of the
** ends of transactions. A connection without observers has neither.
*/
#ifndef PERILUNE_OBSERVERS_H
#define PERILUNE_OBSERVERS_H

#include <stdbool.h>

#include <sqlite3.h>

#include <perilune_shim.h>

/* The observers of a connection. Belongs to its queue, on which all of this is called, but for the end. */
typedef struct pdb_connection_observers pdb_connection_observers;

/* To be called when the schema may have changed, and when a statement says that it will change it. */
void pdb_observers_forget_tables(pdb_connection_observers *hub);

/* Whether observers are told of changes, and how many savepoints they know of. */
bool pdb_observers_is_hooked(pdb_connection_observers *hub);
size_t pdb_observers_savepoint_count(pdb_connection_observers *hub);

/* A statement is about to run inside of savepoints that the hub does not know of, or is not. In them changes are told by
** pdb_observers_tell_later, once they are released, without their values. */
void pdb_observers_defer(pdb_connection_observers *hub, bool is_deferring);
bool pdb_observers_wants(pdb_connection_observers *hub, const char *table, int kind);
void pdb_observers_tell_later(pdb_connection_observers *hub, int kind, const char *schema, const char *table, sqlite3_int64 rowid);

/* What tells a state, from any thread, that its observers are to be told of transactions of others. */
typedef struct {
    void *object;
    void (*signal)(void *object);
    void *(*retain)(void *object);
    void (*release)(void *object);
} pdb_notifier;

/* Sets it for the observers that are added from now on. The object is retained by each of them. */
void pdb_set_notifier(lua_State *L, pdb_notifier mail);

/* A transaction is about to be committed. Returns a Lua status: if it is not LUA_OK, an observer refuses, and its error is on top
** of the stack of plua_running_context()->running. */
int pdb_observers_will_commit(pdb_connection_observers *hub);

/* A transaction has ended. Calls nothing: the observers are told by pdb_settle_access. */
void pdb_observers_did_end(pdb_connection_observers *hub, bool is_commit);

/* Lets go of observers that were removed, or whose state is closed. Returns whether none is left: GRDB need tell nothing any more. */
bool pdb_observers_prune(pdb_connection_observers *hub);

/* GRDB has let go of its observer: the connection is gone, or nobody observes it any more. On any thread. */
void pdb_observers_end(pdb_connection_observers *hub);

#endif
