/* Insertion of many records: declarations shared by the parts of `insert_all`. */
#ifndef PERILUNE_RECORDS_LISTS_H
#define PERILUNE_RECORDS_LISTS_H

#include "CPeriluneRecords/Writing/writing.h"

/*
** Stack indices.
** SAVED: for each record that was inserted individually: its position, the record, a copy of it, and its metatable.
** RANGES: for records that were inserted in batches: the positions of the first and last one, and whether they had row ids.
** SNAPSHOTS: position -> metatable, for records that had a snapshot.
** INSERTION: the insertion as a light userdata.
** MODEL: the model of the class.
*/
enum { CLASS = 1, LIST = 3, SAVED, RANGES, SNAPSHOTS, RESULT, INSERTION, MODEL, DRAFT, TOP = DRAFT };

/* A range of records that were inserted in one batch. */
typedef struct {
    lua_Integer first, last;
    bool has_key;
    lua_Integer older; /* the number of ranges in the list */
} prec_range;

typedef struct {
    pdb_database *database;
    pdb_access *access;
    lua_Integer count;
    lua_Integer position; /* of the current record, to which errors refer, or 0 */
    sqlite3_int64 last_rowid;
    int in_sequence;     /* the number of consecutive row ids */
    lua_Integer end;     /* the record here needs its own statement, so batches end before it */
    lua_Integer singles; /* the records before this one are inserted individually, because a batch has failed */
    prec_range present; /* the current range */
    bool is_ahead;         /* statements may be sent before the previous one is answered */
    int64_t failure_count; /* of statements sent ahead, before the insertion */
} prec_insertion;

/* Pushes the record at a position of the list. A plain table is converted to a record first. [-0, +1, e] */
void prec_push_element(lua_State *L, prec_insertion *insertion, lua_Integer position);

/* Pushes the record at a position, its column set and its table layout. [-0, +3, e] */
prec_record_write prec_begin_element(lua_State *L, prec_insertion *insertion, lua_Integer position);

/* Returns whether the record has a value for the row id column. [-0, +0, -] */
bool prec_has_rowid(lua_State *L, prec_record_write *work);

/* Inserts the record at a position. The stack must end at TOP. [-n, +0, e] */
void prec_insert_one(lua_State *L, prec_insertion *insertion, lua_Integer position);

/* Inserts as many records from a position as fit into one statement, and returns their number. The stack must end at TOP.
** [-n, +0, e] */
lua_Integer prec_insert_some(lua_State *L, prec_insertion *insertion, lua_Integer position);

/* MARK: - Restoring records if a later one fails */

/* Saves the state of the record. [-0, +0, m] */
void prec_save_element(lua_State *L, lua_Integer position, int record);

/* Prepares the range for adding the record at a position, starting a new one if necessary. [-0, +0, m] */
void prec_begin_range(lua_State *L, prec_range *range, lua_Integer position, bool has_key);

/* Restores a record that was inserted in a batch. Its metatable becomes the saved one or its column set's. [-0, +0, m] */
void prec_put_back_one(lua_State *L, lua_Integer position, bool has_key);

/* Restores all records from the last to the first, because a record may be in the list twice. [-0, +0, m] */
void prec_put_back(lua_State *L, prec_range *range);

/* Lua function: (class, database or nil, list) -> list of records. [-n, +1, e] */
int prec_insert_all(lua_State *L);

/* Functions for the Lua part, which documents them. */
extern const luaL_Reg prec_list_functions[];

#endif
