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
typedef struct perilune_hub perilune_hub;

/* To be called when the schema may have changed, and when a statement says that it will change it. */
void perilune_hub_forget_tables(perilune_hub *hub);

/* Whether observers are told of changes, and how many savepoints they know of. */
bool perilune_hub_is_hooked(perilune_hub *hub);
size_t perilune_hub_savepoint_count(perilune_hub *hub);

/* A statement is about to run inside of savepoints that the hub does not know of, or is not. In them changes are told by
** perilune_hub_tell_later, once they are released, without their values. */
void perilune_hub_defer(perilune_hub *hub, bool is_deferring);
bool perilune_hub_wants(perilune_hub *hub, const char *table, int kind);
void perilune_hub_tell_later(perilune_hub *hub, int kind, const char *schema, const char *table, sqlite3_int64 rowid);

/* What tells a state, from any thread, that its observers are to be told of transactions of others. */
typedef struct {
    void *object;
    void (*signal)(void *object);
    void *(*retain)(void *object);
    void (*release)(void *object);
} perilune_mail;

/* Sets it for the observers that are added from now on. The object is retained by each of them. */
void perilune_set_mail(lua_State *L, perilune_mail mail);

/* A transaction is about to be committed. Returns a Lua status: if it is not LUA_OK, an observer refuses, and its error is on top
** of the stack of plua_running_context()->running. */
int perilune_hub_will_commit(perilune_hub *hub);

/* A transaction has ended. Calls nothing: the observers are told by perilune_rows_settle. */
void perilune_hub_did_end(perilune_hub *hub, bool is_commit);

/* Lets go of observers that were removed, or whose state is closed. Returns whether none is left: GRDB need tell nothing any more. */
bool perilune_hub_prune(perilune_hub *hub);

/* GRDB has let go of its observer: the connection is gone, or nobody observes it any more. On any thread. */
void perilune_hub_end(perilune_hub *hub);

#endif
