/*
** What observes the transactions of one connection: the observers that scripts have added, of any state.
**
** SQLite's pre-update hook reports each change, with the old and the new values; GRDB, through an observer of its own, of the
** ends of transactions. A connection without observers has neither.
*/
#ifndef PERILUNE_OBSERVERS_H
#define PERILUNE_OBSERVERS_H

#include <perilune_accesses.h>

/* The observers of a connection, pdb_connection_observers, belong to its queue, on which all of this is called, but for the end. */

/* To be called when the schema may have changed, and when a statement says that it will change it. */
void pdb_observers_forget_tables(pdb_connection_observers *observers);

/* Whether observers are notified of changes, and the number of savepoints that they know of. */
bool pdb_observers_is_hooked(pdb_connection_observers *observers);
size_t pdb_observers_savepoint_count(pdb_connection_observers *observers);

/* A statement is about to run inside of savepoints that the observers of the connection do not know of, or it no longer is. In them changes are reported by
** pdb_observers_notify_later, once they are released, without their values. */
void pdb_observers_defer(pdb_connection_observers *observers, bool is_deferring);
bool pdb_observers_wants(pdb_connection_observers *observers, const char *table, int kind);
void pdb_observers_notify_later(pdb_connection_observers *observers, int kind, const char *schema, const char *table, sqlite3_int64 rowid);

/* Sets it for the observers that are added from now on. The object is retained by each of them. [-0, +0, -] */
void pdb_set_notifier(lua_State *L, pdb_notifier notifier);

/* A transaction is about to be committed. Returns a Lua status: if it is not LUA_OK, an observer refuses, and its error is on top
** of the stack of plua_running_context()->running. */
int pdb_observers_will_commit(pdb_connection_observers *observers);

/* A transaction has ended. Calls nothing: pdb_end_observed_access notifies the observers. */
void pdb_observers_did_end(pdb_connection_observers *observers, bool is_commit);

/* Lets go of observers that were removed, or whose state is closed. Returns whether none is left: GRDB need not notify them any more. */
bool pdb_observers_prune(pdb_connection_observers *observers);

/* GRDB has let go of its observer: the connection is gone, or has no observers any more. On any thread. */
void pdb_observers_end(pdb_connection_observers *observers);

/* Notifies observers of the transactions that have ended on the connection. To be called by Swift inside the access to
** it, after the transaction; `has_failed` if an error is on its way. Raises nothing. */
void pdb_end_observed_access(pdb_access_request *request, sqlite3 *handle, void *grdb, bool has_failed);

/* Begins to report each change of a connection to its recordings, and ends that. On the queue of the connection. */
void pdb_hook_recordings(sqlite3 *handle);
void pdb_unhook_recordings(sqlite3 *handle);

/* Has SQLite compile all statements of a connection anew. Returns whether it does: not while a cursor is open. Those that were compiled
** before there was a hook may empty a table at once, without reporting its rows. */
bool pdb_expire_statements(sqlite3 *handle);

/* For the library: Lua functions. */

/* (database, functions by name, tables or nil, kinds, is_once) adds an observer and returns it; see handles.c. [-n, +1, e] */
int pdb_add_observer(lua_State *L);

/* For observers with notifications of the transactions of others: () returns a function and its argument, or nothing.
** [-n, +(0|2), m] */
int pdb_take_notification(lua_State *L);

/* set_callback_failure(function): what is called with an error of did_commit or did_rollback. [-n, +0, v] */
int pdb_set_callback_failure(lua_State *L);

/* Whether an observer of the database is being called inside SQLite. [-n, +1, v] */
int pdb_is_calling_observer(lua_State *L);

/* (...) returns the fingerprint of the values, a string. [-n, +1, v] */
int pdb_fingerprint(lua_State *L);

#endif
