/* Declarations shared by the parts of `insert_all`. */
#ifndef PERILUNE_RECORDS_LISTS_H
#define PERILUNE_RECORDS_LISTS_H

#include "CPeriluneRecords/Writing/writing.h"

/*
** Stack indices.
** SAVED: for each record that is inserted individually, its position, the record, a copy of it, and its metatable.
** RANGES: for each range of records that are inserted in batches, the positions of the first and last one, and whether they had row ids.
** SNAPSHOTS: position -> metatable, for records that had a snapshot.
** INSERTION: the insertion, as a light userdata.
** MODEL: the model of the class.
*/
enum { CLASS = 1, LIST = 3, SAVED, RANGES, SNAPSHOTS, RESULT, INSERTION, MODEL, DRAFT, TOP = DRAFT };

/* A range of records that are inserted in batches. */
typedef struct {
    lua_Integer first, last;
    bool has_key;
    lua_Integer older; /* the number of earlier ranges in the list */
} prec_range;

typedef struct {
    pdb_database *database;
    pdb_access *access;
    lua_Integer count;
    lua_Integer position; /* the position of the current record, for errors; or 0 */
    sqlite3_int64 last_rowid;
    int in_sequence;     /* the number of consecutive row ids so far */
    lua_Integer end;     /* batches end before this position, because its record must be inserted individually */
    lua_Integer singles; /* records before this position are inserted individually, because a batch has failed */
    prec_range present; /* the current range */
    bool is_ahead;         /* statements may be sent before the previous one has been answered */
    int64_t failure_count; /* the cluster's count of failures when the insertion began */
} prec_insertion;

/* Pushes the record at a position of the list. Converts a plain table to a record first. [-0, +1, e] */
void prec_push_element(lua_State *L, prec_insertion *insertion, lua_Integer position);

/* Pushes the record at a position, its column set and its table layout. [-0, +3, e] */
prec_record_write prec_begin_element(lua_State *L, prec_insertion *insertion, lua_Integer position);

/* Returns whether the record has a value for the row id column. [-0, +0, -] */
bool prec_has_rowid(lua_State *L, prec_record_write *work);

/* Inserts the record at a position. The top of the stack must be TOP. [-n, +0, e] */
void prec_insert_one(lua_State *L, prec_insertion *insertion, lua_Integer position);

/* Inserts as many records from a position on as fit into one statement. Returns their number. The top of the stack must be TOP.
** [-n, +0, e] */
lua_Integer prec_insert_some(lua_State *L, prec_insertion *insertion, lua_Integer position);

/* MARK: - Restoring records after a failure */

/* Saves a record, so that it can be restored. [-0, +0, m] */
void prec_save_element(lua_State *L, lua_Integer position, int record);

/* Begins a new range, unless the record at `position` can be added to the current one. [-0, +0, m] */
void prec_begin_range(lua_State *L, prec_range *range, lua_Integer position, bool has_key);

/* Restores a record that was inserted in a batch. The record gets the saved metatable or, if none was saved, the metatable of its column
** set. [-0, +0, m] */
void prec_put_back_one(lua_State *L, lua_Integer position, bool has_key);

/* Restores all records, the last one first, because a record may be in the list twice. [-0, +0, m] */
void prec_put_back(lua_State *L, prec_range *range);

/* Lua function: (class, database or nil, list) -> list of records. [-n, +1, e] */
int prec_insert_all(lua_State *L);

/* Functions that the Lua part calls and documents. */
extern const luaL_Reg prec_list_functions[];

#endif
