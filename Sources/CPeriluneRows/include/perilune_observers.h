/*
** Observers of a connection's transactions. Scripts in any state may add them.
**
** SQLite's pre-update hook reports each change with the old and new values. GRDB reports the end of transactions through a single observer
** per connection. Without observers, a connection has neither.
*/
#ifndef PERILUNE_OBSERVERS_H
#define PERILUNE_OBSERVERS_H

#include <perilune_accesses.h>

/* A pdb_connection_observers may be used only on the queue of its connection. The exception is pdb_observers_end. */

/* Forgets the known tables. Must be called when a statement is about to change the schema, or the schema may have changed. */
void pdb_observers_forget_tables(pdb_connection_observers *observers);

/* The first function returns whether observers are notified of changes, the second the number of savepoints that they track. */
bool pdb_observers_is_hooked(pdb_connection_observers *observers);
size_t pdb_observers_savepoint_count(pdb_connection_observers *observers);

/* Sets whether statements run inside savepoints that the observers do not track. After the savepoints are released,
** pdb_observers_notify_later reports their changes, without values. */
void pdb_observers_defer(pdb_connection_observers *observers, bool is_deferring);
bool pdb_observers_wants(pdb_connection_observers *observers, const char *table, int kind);
void pdb_observers_notify_later(pdb_connection_observers *observers, int kind, const char *schema, const char *table, sqlite3_int64 rowid);

/* Sets the notifier for observers that are added later. Each observer retains its object. [-0, +0, -] */
void pdb_set_notifier(lua_State *L, pdb_notifier notifier);

/* Handles a commit that is about to happen. Returns a Lua status. If it is not LUA_OK, an observer prevents the commit, and its error is on
** top of the stack of plua_running_context()->running. */
int pdb_observers_will_commit(pdb_connection_observers *observers);

/* Handles the end of a transaction. Does not call observers; pdb_end_observed_access does. */
void pdb_observers_did_end(pdb_connection_observers *observers, bool is_commit);

/* Releases observers that were removed or whose state has closed. Returns whether none is left, so that GRDB can stop its notifications. */
bool pdb_observers_prune(pdb_connection_observers *observers);

/* Called when GRDB releases its observer, because the connection is closed or has no observers left. Any thread may call it. */
void pdb_observers_end(pdb_connection_observers *observers);

/* Notifies observers of the transactions that have ended on the connection. Swift calls it inside the access, after the transaction.
** `has_failed` means that an error is being thrown. Raises nothing. */
void pdb_end_observed_access(pdb_access_request *request, sqlite3 *handle, void *grdb, bool has_failed);

/* Start and stop reporting each change on a connection to its recordings. Must be called on the queue of the connection. */
void pdb_hook_recordings(sqlite3 *handle);
void pdb_unhook_recordings(sqlite3 *handle);

/* Makes SQLite recompile all statements of a connection. Returns false if a cursor is open. A statement that was compiled without a hook
** may empty a table in one step, without reporting the rows. */
bool pdb_expire_statements(sqlite3 *handle);

/* Lua functions for the library. */

/* (database, functions by name, tables or nil, kinds, is_once) adds an observer and returns it; see handles.c. [-n, +1, e] */
int pdb_add_observer(lua_State *L);

/* Pushes the method table of observers, so that methods can be added. [-0, +1, m] */
void pdb_push_observer_methods(lua_State *L);

/* () takes the next pending notification about a transaction of another state or of Swift. Returns the function to call and its
** argument, or nothing if no notification is pending. [-n, +(0|2), m] */
int pdb_take_notification(lua_State *L);

/* set_callback_failure(function): sets the function that receives errors of did_commit and did_rollback. [-n, +0, v] */
int pdb_set_callback_failure(lua_State *L);

/* () returns whether an observer of the database is being called inside SQLite. [-n, +1, v] */
int pdb_is_calling_observer(lua_State *L);

/* (...) returns the fingerprint of the values as a string. [-n, +1, v] */
int pdb_fingerprint(lua_State *L);

#endif
