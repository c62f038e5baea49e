/* Decoding of rows into records. */
#ifndef PERILUNE_DECODING_H
#define PERILUNE_DECODING_H

#include "CPeriluneRecords/Snapshots/snapshots.h"

/* MARK: - Keys */

enum { NOT_IN_TABLE = -1, NOT_TAKEN = -2 };

/* Pushes the key under which records store a result column. Returns the column's position in the table layout, from 0, or one of the
** constants above. `positions` and `names` belong to the table layout; `taken` is a table of the keys used so far. [-0, +1, m] */
int prec_push_record_key(lua_State *L, const char *name, int positions, int names, int taken);

/* Pops a list of names and pushes its column set, which is created if it does not exist. [-1, +1, m] */
prec_column_set *prec_push_column_set_for(lua_State *L, int layout_index, const int *order, int count, int extras);

/* MARK: - Layouts */

typedef struct {
    prec_column_set *column_set;
    int first, count; /* result columns, from 0 */
    int parent;       /* the segment whose records contain these; -1 for the root */
    bool is_optional; /* there is no record if all columns are NULL */
    bool tracks_changes;
    bool keeps_blobs; /* fields contain blobs instead of strings, to distinguish them from text with the same bytes */
} prec_segment;

/* Segments in depth-first order: parents precede their children. */
struct prec_row_layout {
    const void *source; /* the class or the list of segments for which it was created */
    int64_t generation;
    int prepare_count;
    int column_count, segment_count;
    int *positions; /* for each result column, its position in the table layout, from 0, or NOT_IN_TABLE or NOT_TAKEN */
    prec_segment segments[];
};
typedef struct prec_row_layout prec_row_layout;

enum {
    ROW_LAYOUT_KEYS = 1, /* list: the key of each result column, or false */
    ROW_LAYOUT_COLUMN_SETS,   /* list: by segment */
    ROW_LAYOUT_FIELDS,   /* list: by segment, the field in its parent; false for the root */
    ROW_LAYOUT_SOURCE,
    ROW_LAYOUT_VALUES = ROW_LAYOUT_SOURCE,
};

/* Pushes the row layout for the call's statement, which is at a row or has not run yet. [-0, +1, e] */
prec_row_layout *prec_push_row_layout(lua_State *L, pdb_call *call);

/* The data of a loop that creates records. */
typedef struct {
    prec_row_layout *row_layout;
    int row_layout_index, keys, metatables; /* stack indices; at `metatables`, a metatable and a chunk for each segment */
    prec_chunk *chunk; /* the chunk of the root, or NULL before its first record */
} prec_decoder;

/* Pushes the values that decoding needs on the stack. [-0, +n, m] */
prec_decoder prec_begin_records(lua_State *L, int row_layout_index);

/* Pushes the record of the statement's current row. [-0, +1, m] */
void prec_decode(lua_State *L, pdb_statement *statement, prec_decoder *decoder);

/* Pushes a single record. Pushes nothing and returns false if the statement's columns do not match the row layout. [-0, +(0|1), m] */
bool prec_push_record(lua_State *L, pdb_statement *statement, int row_layout_index);

/* Raises if a field of the record or list on top of the stack does not match its column's type, unless the class accepts it. Only called if
** decoding has found a possible mismatch. [-0, +0, e] */
void prec_raise_type_mismatch(lua_State *L);

/* Raises on a type mismatch if decoding has found a possible one. [-0, +0, e] */
static inline void prec_check_types(lua_State *L, const pdb_state *rows) {
    if (prec_state_of(rows)->has_type_mismatch) prec_raise_type_mismatch(L);
}

/* MARK: - Fetching */

/* The form of rows as records of the class at the call's `class_index`. */
extern const pdb_row_form prec_records_form;

/* Push the list of all records; or the first record, or nil if none exists. Return 1. [-0, +n, e] */
int prec_fetch_records(lua_State *L, pdb_call *call);
int prec_fetch_record(lua_State *L, pdb_call *call);

/* Functions that the Lua part calls and documents. */
extern const luaL_Reg prec_record_fetches[], prec_decoding_functions[];

#endif
