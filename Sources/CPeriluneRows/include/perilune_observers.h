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

/* A transaction is about to be committed. Returns a Lua status: if it is not LUA_OK, an observer refuses, and its error is on top
** of the stack of perilune_running_context()->running. */
int perilune_hub_will_commit(perilune_hub *hub);

/* A transaction has ended. Calls nothing: the observers are told by perilune_rows_settle. */
void perilune_hub_did_end(perilune_hub *hub, bool is_commit);

/* GRDB has let go of its observer: the connection is gone, or nobody observes it any more. On any thread. */
void perilune_hub_end(perilune_hub *hub);

#endif
