/* Rows into records. */
#ifndef PERILUNE_DECODING_H
#define PERILUNE_DECODING_H

#include "CPeriluneRecords/Snapshots/snapshots.h"

/* MARK: - Keys */

enum { NOT_IN_TABLE = -1, NOT_TAKEN = -2 };

/* Pushes the key under which a column of a result is kept, and returns its position in the table layout, from 0, or one of these.
** `positions` and `names` are the table layout's, `taken` a table of keys. [-0, +1, m] */
int prec_push_record_key(lua_State *L, const char *name, int positions, int names, int taken);

/* Pushes the column set for the list of names on top of the stack, which is popped: an existing one, or a new one. [-1, +1, m] */
prec_column_set *prec_push_column_set_for(lua_State *L, int layout_index, const int *order, int count, int extras);

/* MARK: - Layouts */

typedef struct {
    prec_column_set *column_set;
    int first, count; /* columns of the result, from 0 */
    int parent;       /* the segment whose records hold those of this one; -1 for the root */
    bool is_optional; /* all NULL: there is no record */
    bool tracks_changes;
    bool keeps_blobs; /* fields hold blobs as blobs, not as strings: texts of the same bytes are other values */
} prec_segment;

/* Depth first: a parent comes before its children. */
struct prec_row_layout {
    const void *source; /* the class or the list of segments that it was made for */
    int64_t generation;
    int prepare_count;
    int column_count, segment_count;
    int *positions; /* of each column of the result: in the table layout from 0; or NOT_IN_TABLE, for a field; or NOT_TAKEN */
    prec_segment segments[];
};
typedef struct prec_row_layout prec_row_layout;

enum {
    ROW_LAYOUT_KEYS = 1, /* list: the key of each column of the result; false for nothing */
    ROW_LAYOUT_COLUMN_SETS,   /* list: by segment */
    ROW_LAYOUT_FIELDS,   /* list: by segment, the field of its parent; false for the root */
    ROW_LAYOUT_SOURCE,
    ROW_LAYOUT_VALUES = ROW_LAYOUT_SOURCE,
};

/* Pushes the row layout for the rows of the call's statement, which stands on a row or has not run. [-0, +1, e] */
prec_row_layout *prec_push_row_layout(lua_State *L, pdb_call *call);

/* A loop that makes records. */
typedef struct {
    prec_row_layout *row_layout;
    int row_layout_index, keys, metatables; /* on the stack; of each segment its metatable and its chunk */
    prec_chunk *chunk; /* of the root, or NULL: none is there yet */
} prec_decoder;

/* Pushes what decoding needs on the stack. [-0, +n, m] */
prec_decoder prec_begin_records(lua_State *L, int row_layout_index);

/* Pushes the record of the row that the statement stands on. [-0, +1, m] */
void prec_decode(lua_State *L, pdb_statement *statement, prec_decoder *decoder);

/* The same for one record. Returns false, and pushes nothing, if the columns are others than those of the row layout.
** [-0, +(0|1), m] */
bool prec_push_record(lua_State *L, pdb_statement *statement, int row_layout_index);

/* Raises for a record, or a list of them, on top of the stack whose field does not match the type of its column, unless the class
** accepts it: if there may be one, which is known from making them. [-0, +0, e] */
void prec_raise_type_mismatch(lua_State *L);

/* Does that if there may be one. [-0, +0, e] */
static inline void prec_check_types(lua_State *L, const pdb_state *rows) {
    if (prec_state_of(rows)->has_type_mismatch) prec_raise_type_mismatch(L);
}

/* MARK: - Fetching */

/* The rows of a statement as records of the class at the call's `class_index`. */
extern const pdb_row_form prec_records_form;

/* Push the list of the records, and the first record or nil; return 1. [-0, +n, e] */
int prec_fetch_records(lua_State *L, pdb_call *call);
int prec_fetch_record(lua_State *L, pdb_call *call);

/* For the Lua part: see there. */
extern const luaL_Reg prec_record_fetches[], prec_decoding_functions[];

#endif
