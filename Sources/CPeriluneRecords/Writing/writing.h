/* Declarations shared by the code that writes records. */
#ifndef PERILUNE_WRITING_H
#define PERILUNE_WRITING_H

#include "CPeriluneRecords/Decoding/decoding.h"
#include "CPeriluneRecords/Model/mask.h"

/* The operation of a script on one record or key. */
typedef struct {
    pdb_call call;
    const char *verb;
    int record, values; /* on the stack: the record, and the table with its values */
    int key_values;     /* on the stack: the table with the values of the key, or 0 to use `values` */
    int clause_values;  /* on the stack: the list of values bound by the clause of an INSERT, or 0. Each value follows the position
                        ** of its column, from 1, or 0 for none */
    int column_set, layout_index;    /* on the stack */
    prec_table_layout *layout;
    prec_column_set *set; /* NULL for operations on a key */
    bool has_objects;            /* some value is not a plain Lua value: perilune.null, a date, ... */
    bool has_rows;               /* the update has returned columns */
    bool has_replaced;           /* some field was replaced by the form in which its column stores it */
} prec_record_write;

/* MARK: - Statements */

/* The result of writing a row. */
typedef enum {
    PREC_NO_ROW,  /* no row has the key */
    PREC_KEPT,    /* a conflict clause has left the row unchanged */
    PREC_WRITTEN,
} prec_outcome;

/* An INSERT, UPDATE or DELETE of a set of columns. */
typedef struct {
    int parameter_count, returning_count;
    size_t mask_size;
    int *parameters, *returning; /* column positions */
    unsigned char *mask;         /* the written columns, one bit each */
} prec_write;

enum { WRITE_SQL = 1, WRITE_STATEMENT, WRITE_VALUES = WRITE_STATEMENT };

/* Pushes the list of the names of the columns in the mask. [-0, +1, m] */
void prec_push_names(lua_State *L, const prec_record_write *work, const prec_mask *mask);

/* Pushes the statement for the columns: one of the two used last, which the table layout keeps in its user value `last` and
** the next one, another existing one, or a new one. `kind` is "i" for INSERT, "u" for UPDATE, or "d" for DELETE. `conflict` is
** the stack index of a clause, or 0. `rows` is the number of rows of an INSERT. [-0, +1, e] */
prec_write *prec_push_write(lua_State *L, prec_record_write *work, const prec_mask *mask, const char *kind, int conflict,
                                    int last, int rows);

/* MARK: - Running */

/* Begins to run the compiled statement on top of the stack. [-0, +0, -] */
void prec_begin_write(lua_State *L, prec_record_write *work, pdb_statement *statement);

/* Binds the value at `index` for a column. May push a value that must stay on the stack. [-0, +n, e] */
void prec_bind_column(lua_State *L, prec_record_write *work, int parameter, int column, int index);

/* Binds a value to be written. If the column stores it in a different form, replaces it at `index` and in the record. Raises if the
** column's declared type does not allow it. [-0, +0, v] */
void prec_bind_written(lua_State *L, prec_record_write *work, int parameter, int column, int index);

/* Returns whether a column stores the value at an index unchanged, if this can be decided immediately. A float in a column of texts
** counts as unchanged: SQLite decides how many of its digits are stored. [-0, +0, -] */
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

/* Binds the values of the clause after the given number of parameters. [-0, +n, e] */
void prec_bind_clause(lua_State *L, prec_record_write *work, int parameter_count);

/* Runs the statement. Constraint errors name the record. [-0, +(0|2), e] */
void prec_run_write(lua_State *L, prec_record_write *work, const pdb_row_form *form, lua_Integer limit);

/* MARK: - Operations on a record */

/* Begins an operation on a record, whose column set is on top of the stack, and pushes the table layout. [-0, +1, e] */
prec_record_write prec_begin_work(lua_State *L, pdb_database *database, pdb_access *access, const char *verb, int record);

/* Raises if the record has fields that are not columns of the table, because it was created for other columns. [-0, +0, e] */
void prec_check_fields(lua_State *L, prec_record_write *work);

/* Pushes the values of the key. Returns false and pushes nothing if one of them is nil or null. [-0, +(0|n), m] */
bool prec_push_key_of(lua_State *L, prec_record_write *work);

/* Raises if the key of the record differs from its row's key, because another row would be written. [-0, +0, e] */
void prec_check_key(lua_State *L, prec_record_write *work);

/* Returns whether a key column is in the mask. */
bool prec_has_key(const prec_record_write *work, const prec_mask *mask);

/* Raises an error that the table or the record has no key. [-0, +0, v] */
int prec_raise_no_key(lua_State *L, prec_record_write *work);

/* Sets a field of the record and of its table of values, by the position of the column. The value is on top of the stack.
** [-1, +0, m] */
void prec_set_column(lua_State *L, prec_record_write *work, int names, int column);

/* Sets the columns returned in the statement's first row, whose list is on top of the stack. [-0, +n, m] */
void prec_take_returned(lua_State *L, prec_record_write *work, int names, const prec_write *write);

/* Sets fields with perilune.null to nil, like fetched NULLs. [-0, +0, m] */
void prec_drop_nulls(lua_State *L, prec_record_write *work, int names, const prec_write *write, int first_value);

/* Returns whether a script has created the record, instead of fetching or writing it: only its fields are known. [-0, +0, m] */
bool prec_is_made(lua_State *L, const prec_record_write *work);

/* Makes the current values the snapshot of the record. [-0, +0, e] */
void prec_keep_snapshot(lua_State *L, prec_record_write *work, bool has_all);

/* Inserts the values; returns the number of changed rows. `conflict` is the stack index of a clause, or 0. [-0, +n, e] */
lua_Integer prec_insert_row(lua_State *L, prec_record_write *work, int conflict);

/* Marks the columns that an INSERT writes: those with a value in the record. [-0, +0, e] */
void prec_mark_inserted(lua_State *L, prec_record_write *work, prec_mask *mask);

/* Marks the columns that an UPDATE writes: all that the record has ever had, except generated ones and, unless `with_key`, the
** key. [-0, +0, e] */
void prec_mark_updated(lua_State *L, prec_record_write *work, bool with_key, prec_mask *mask);

/* Updates the columns in the mask. `conflict` is the stack index of a clause, or 0. [-0, +n, e] */
prec_outcome prec_update_columns(lua_State *L, prec_record_write *work, const prec_mask *mask, int conflict);

/* Updates the row of the record, and takes a snapshot. `columns` is the stack index of a list of names, or 0 for all columns;
** `conflict` is the stack index of a conflict clause, or 0. [-0, +n, e] */
prec_outcome prec_update_row(lua_State *L, prec_record_write *work, int columns, int conflict);

/* Updates the row, or inserts it if the key is missing or identifies no row; returns whether it was written. `conflict` is the stack index of the
** UPDATE's clause, `insert_conflict` of the INSERT's; 0 means none. [-0, +n, e] */
bool prec_save_row(lua_State *L, prec_record_write *work, int conflict, int insert_conflict);

/* Deletes the row of the record; returns whether it existed. `clause` is the stack index of a clause that returns the deleted
** values into the record, or 0. [-0, +0, e] */
bool prec_delete_row(lua_State *L, prec_record_write *work, int clause);

/* Returns whether a row with the key of the record exists. [-0, +0, e] */
bool prec_row_exists(lua_State *L, prec_record_write *work);

/* Detaches the record from its row. [-0, +0, -] */
void prec_forget_row(lua_State *L, prec_record_write *work);

/* Raises an error that no row has the key of the record. [-0, +0, v] */
int prec_raise_row_not_found(lua_State *L, prec_record_write *work);

/* Binds the values of the key, which start at `first`, to a statement in a user value of the table layout, and begins to run
** it. [-0, +n, e] */
void prec_begin_by_key(lua_State *L, prec_record_write *work, int first, int sql_value, int kept_value);

/* The function `explain_failure` of the state: adds details about the record to the error on top of the stack, if it comes
** from the statement that writes the record. [-0, +0, m] */
void prec_explain_failure(lua_State *L, pdb_state *rows, pdb_statement *statement);

/* Functions for the Lua part, which documents them. */
extern const luaL_Reg prec_record_writes[];

#endif
