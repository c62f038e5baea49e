/* Inserting many records: what the parts of `insert_all` share. */
#ifndef PERILUNE_RECORDS_LISTS_H
#define PERILUNE_RECORDS_LISTS_H

#include "CPeriluneRecords/Writing/writing.h"

/*
** On the stack.
** SAVED: of each record that was inserted by itself its position, the record, a copy of it, and its metatable.
** RANGES: of records that were inserted many at a time: the positions of the first and the last one, whether they had row ids.
** SNAPSHOTS: position -> metatable, of those that had a snapshot.
** INSERTION: the insertion itself, as a light userdata.
** MODEL: that of the class.
*/
enum { CLASS = 1, LIST = 3, SAVED, RANGES, SNAPSHOTS, RESULT, INSERTION, MODEL, DRAFT, TOP = DRAFT };

/* Records that were inserted many at a time. */
typedef struct {
    lua_Integer first, last;
    bool has_key;
    lua_Integer older; /* the number in the list */
} prec_range;

typedef struct {
    pdb_database *database;
    pdb_access *access;
    lua_Integer count;
    lua_Integer position; /* of the record that is worked on, or 0: an error is about it */
    sqlite3_int64 last_rowid;
    int in_sequence;     /* the number of consecutive row ids */
    lua_Integer end;     /* a record for a statement of its own is here: batches end before it */
    lua_Integer singles; /* the records before this one are inserted one by one: some statement for many of them has failed */
    prec_range present; /* that is worked on */
    bool is_ahead;         /* statements may be sent before the answer to the one before has come */
    int64_t failure_count; /* of such statements, before the insertion */
} prec_insertion;

/* Pushes the record at a position of the list, which may be a plain table: a record is made of it then. [-0, +1, e] */
void prec_push_element(lua_State *L, prec_insertion *insertion, lua_Integer position);

/* Pushes the record at a position, its column set and its table layout. [-0, +3, e] */
prec_record_write prec_begin_element(lua_State *L, prec_insertion *insertion, lua_Integer position);

/* Whether the record has a value for the column that is the row id. [-0, +0, -] */
bool prec_has_rowid(lua_State *L, prec_record_write *work);

/* Inserts the record at a position. The stack ends at TOP. [-n, +0, e] */
void prec_insert_one(lua_State *L, prec_insertion *insertion, lua_Integer position);

/* Inserts the records from a position on that one statement can take; returns how many. The stack ends at TOP. [-n, +0, e] */
lua_Integer prec_insert_some(lua_State *L, prec_insertion *insertion, lua_Integer position);

/* MARK: - What is put back if a later record fails */

/* Keeps what the record is. [-0, +0, m] */
void prec_save_element(lua_State *L, lua_Integer position, int record);

/* Makes the range one that the record at a position can be added to. [-0, +0, m] */
void prec_begin_range(lua_State *L, prec_range *range, lua_Integer position, bool has_key);

/* Makes a record that was inserted with others what it was: its metatable is the one that it had, or that of its column set.
** [-0, +0, m] */
void prec_put_back_one(lua_State *L, lua_Integer position, bool has_key);

/* Makes all records what they were, from the last to the first: one may be in the list twice. [-0, +0, m] */
void prec_put_back(lua_State *L, prec_range *range);

/* A Lua function: (class, database or nil, list) -> list of records. [-n, +1, e] */
int prec_insert_all(lua_State *L);

/* For the Lua part: see there. */
extern const luaL_Reg prec_list_functions[];

#endif
