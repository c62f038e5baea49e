/* Declarations shared by the code that writes records. */
#ifndef PERILUNE_WRITING_H
#define PERILUNE_WRITING_H

#include "CPeriluneRecords/Decoding/decoding.h"
#include "CPeriluneRecords/Model/mask.h"

/* An operation on one record or key. */
typedef struct {
    pdb_call call;
    const char *verb;
    int record, values; /* stack indices of the record, and of the table with its values */
    int key_values;     /* the stack index of the table with the values of the key, or 0 to use `values` */
    int clause_values;  /* the stack index of the list of values that the clause of an INSERT binds, or 0. Each value follows the position
                        ** of its column, from 1, or 0 without a column */
    int column_set, layout_index;    /* stack indices */
    prec_table_layout *layout;
    prec_column_set *set; /* NULL for operations on a key */
    bool has_objects;            /* some values are not plain: perilune.null, a date, ... */
    bool has_rows;               /* the UPDATE has returned columns */
    bool has_replaced;           /* some fields were replaced by the form in which their columns store them */
} prec_record_write;

/* MARK: - Statements */

/* The result of writing a row. */
typedef enum {
    PREC_NO_ROW,  /* no row has the key */
    PREC_KEPT,    /* a conflict clause has left the row unchanged */
    PREC_WRITTEN,
} prec_outcome;

/* An INSERT, UPDATE or DELETE statement for a set of columns. */
typedef struct {
    int parameter_count, returning_count;
    size_t mask_size;
    int *parameters, *returning; /* column positions */
    unsigned char *mask;         /* the written columns, one bit each */
} prec_write;

enum { WRITE_SQL = 1, WRITE_STATEMENT, WRITE_VALUES = WRITE_STATEMENT };

/* Pushes the list of the names of the columns in the mask. [-0, +1, m] */
void prec_push_names(lua_State *L, const prec_record_write *work, const prec_mask *mask);

/* Pushes the statement for the columns in the mask. Reuses an existing statement if possible. The two statements used last are in the table
** layout's user values `last` and `last + 1`. `kind` is "i" for INSERT, "u" for UPDATE, or "d" for DELETE. `conflict` is the stack index of
** a clause, or 0. `rows` is the number of rows of an INSERT. [-0, +1, e] */
prec_write *prec_push_write(lua_State *L, prec_record_write *work, const prec_mask *mask, const char *kind, int conflict,
                                    int last, int rows);

/* MARK: - Running */

/* Begins to run the compiled statement on top of the stack. [-0, +0, -] */
void prec_begin_write(lua_State *L, prec_record_write *work, pdb_statement *statement);

/* Binds the value at `index` for a column. May push a value that must stay on the stack. [-0, +n, e] */
void prec_bind_column(lua_State *L, prec_record_write *work, int parameter, int column, int index);

/* Binds a value to write. If the column stores it in a different form, replaces it at `index` and in the record. Raises if the column's
** declared type does not allow it. [-0, +0, v] */
void prec_bind_written(lua_State *L, prec_record_write *work, int parameter, int column, int index);

/* Returns whether a column stores the value at `index` unchanged; false if this is unclear. A float in a column for text counts as
** unchanged, because SQLite determines how many digits it stores. [-0, +0, -] */
static inline bool prec_fits(lua_State *L, const prec_record_column *column, int type, int index) {
    if (column->holds == HOLDS_ANYTHING || type == LUA_TNIL) return true;
    if (type == LUA_TSTRING) return column->holds == HOLDS_TEXTS;
    if (type != LUA_TNUMBER) return false;
    if (column->holds == HOLDS_INTEGERS) return lua_isinteger(L, index);
    if (column->holds == HOLDS_NUMBERS || !lua_isinteger(L, index)) return true;
    if (column->holds == HOLDS_TEXTS) return false;
    const lua_Integer largest = (lua_Integer)1 << 53;
    lua_Integer integer = lua_tointeger(L, index);
    return -largest <= integer && integer <= largest;
}

/* Binds the values of the clause after the first `parameter_count` parameters. [-0, +n, e] */
void prec_bind_clause(lua_State *L, prec_record_write *work, int parameter_count);

/* Runs the statement. Constraint errors name the record. [-0, +(0|2), e] */
void prec_run_write(lua_State *L, prec_record_write *work, const pdb_row_form *form, lua_Integer limit);

/* MARK: - Operations on a record */

/* Begins an operation on a record, whose column set is on top of the stack. Pushes the table layout. [-0, +1, e] */
prec_record_write prec_begin_work(lua_State *L, pdb_database *database, pdb_access *access, const char *verb, int record);

/* Raises if a field of the record is not a column of the table, because the record was created with a different table layout.
** [-0, +0, e] */
void prec_check_fields(lua_State *L, prec_record_write *work);

/* Pushes the values of the key. Pushes nothing and returns false if one of them is nil or null. [-0, +(0|n), m] */
bool prec_push_key_of(lua_State *L, prec_record_write *work);

/* Raises if the key of the record differs from the key of its row, because a different row would be written. [-0, +0, e] */
void prec_check_key(lua_State *L, prec_record_write *work);

/* Returns whether the mask contains a key column. */
bool prec_has_key(const prec_record_write *work, const prec_mask *mask);

/* Raises an error that the table or the record has no key. [-0, +0, v] */
int prec_raise_no_key(lua_State *L, prec_record_write *work);

/* Sets a field of the record, and of its table of values, to the value on top of the stack. `column` is the position of the column.
** [-1, +0, m] */
void prec_set_column(lua_State *L, prec_record_write *work, int names, int column);

/* Sets the fields for the columns that the statement has returned. The list of its rows is on top of the stack. [-0, +n, m] */
void prec_take_returned(lua_State *L, prec_record_write *work, int names, const prec_write *write);

/* Sets fields that contain perilune.null to nil, like NULLs that were fetched. [-0, +0, m] */
void prec_drop_nulls(lua_State *L, prec_record_write *work, int names, const prec_write *write, int first_value);

/* Returns whether a script has created the record, and it was neither fetched nor written since. Only its fields are known then, not its
** row. [-0, +0, m] */
bool prec_is_made(lua_State *L, const prec_record_write *work);

/* Stores the current values as the record's snapshot. [-0, +0, e] */
void prec_keep_snapshot(lua_State *L, prec_record_write *work, bool has_all);

/* Inserts the values; returns the number of changed rows. `conflict` is the stack index of a clause, or 0. [-0, +n, e] */
lua_Integer prec_insert_row(lua_State *L, prec_record_write *work, int conflict);

/* Marks the columns that an INSERT writes: the columns with a value in the record. [-0, +0, e] */
void prec_mark_inserted(lua_State *L, prec_record_write *work, prec_mask *mask);

/* Marks the columns that an UPDATE writes: all columns that the record has ever had, except generated ones and, unless `with_key`, the key.
** [-0, +0, e] */
void prec_mark_updated(lua_State *L, prec_record_write *work, bool with_key, prec_mask *mask);

/* Updates the columns in the mask. `conflict` is the stack index of a clause, or 0. [-0, +n, e] */
prec_outcome prec_update_columns(lua_State *L, prec_record_write *work, const prec_mask *mask, int conflict);

/* Updates the row of the record and takes a snapshot. `columns` is the stack index of a list of names, or 0 for all columns; `conflict` is
** the stack index of a conflict clause, or 0. [-0, +n, e] */
prec_outcome prec_update_row(lua_State *L, prec_record_write *work, int columns, int conflict);

/* Updates the row, or inserts it if the key is missing or no row has it. Returns whether the row was written. `conflict` is the stack index
** of the clause of the UPDATE, `insert_conflict` of the clause of the INSERT; 0 means none. [-0, +n, e] */
bool prec_save_row(lua_State *L, prec_record_write *work, int conflict, int insert_conflict);

/* Deletes the row of the record. Returns whether the row existed. `clause` is 0 or the stack index of a clause that returns the deleted
** values, which are then stored in the record. [-0, +0, e] */
bool prec_delete_row(lua_State *L, prec_record_write *work, int clause);

/* Returns whether a row with the key of the record exists. [-0, +0, e] */
bool prec_row_exists(lua_State *L, prec_record_write *work);

/* Detaches the record from its row: removes its snapshot. [-0, +0, -] */
void prec_forget_row(lua_State *L, prec_record_write *work);

/* Raises an error that no row has the key of the record. [-0, +0, v] */
int prec_raise_row_not_found(lua_State *L, prec_record_write *work);

/* Binds the values of the key, whose stack indices start at `first`, to a statement in a user value of the table layout, and begins to run
** it. [-0, +n, e] */
void prec_begin_by_key(lua_State *L, prec_record_write *work, int first, int sql_value, int kept_value);

/* The state's `explain_failure`: adds details about the record to the error on top of the stack, if the error comes from the statement that
** writes the record. [-0, +0, m] */
void prec_explain_failure(lua_State *L, pdb_state *rows, pdb_statement *statement);

/* Functions that the Lua part calls and documents. */
extern const luaL_Reg prec_record_writes[];

#endif
