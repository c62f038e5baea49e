/* What the writing of records shares. */
#ifndef PERILUNE_WRITING_H
#define PERILUNE_WRITING_H

#include "CPeriluneRecords/Decoding/decoding.h"
#include "CPeriluneRecords/Model/mask.h"

/* What a script does with one record, or with a key. */
typedef struct {
    pdb_call call;
    const char *verb;
    int record, values; /* on the stack: the record, and the table that its values are taken from */
    int key_values;     /* on the stack: the table that the values of the key are taken from, or 0 for that of all values */
    int clause_values;  /* on the stack: a list of what the clause of an INSERT binds, or 0: the position of a column, from 1, or 0
                        ** for none, and a value, in turn */
    int column_set, layout_index;    /* on the stack */
    prec_table_layout *layout;
    prec_column_set *set; /* NULL for a key */
    bool has_objects;            /* some value is not a plain Lua value: perilune.null, a date, ... */
    bool has_rows;               /* the update has given columns back */
} prec_record_write;

/* MARK: - Statements */

/* What became of a row that was to be written. */
typedef enum {
    PREC_NO_ROW,  /* none has the key */
    PREC_KEPT,    /* a conflict clause has kept it as it was */
    PREC_WRITTEN,
} prec_outcome;

/* An INSERT, UPDATE or DELETE of some columns. */
typedef struct {
    int parameter_count, returning_count;
    size_t mask_size;
    int *parameters, *returning; /* positions of columns */
    unsigned char *mask;         /* the columns that are written, a bit for each */
} prec_write;

enum { WRITE_SQL = 1, WRITE_STATEMENT, WRITE_VALUES = WRITE_STATEMENT };

/* Pushes the list of the names of the columns in the mask. [-0, +1, m] */
void prec_push_names(lua_State *L, const prec_record_write *work, const prec_mask *mask);

/* Pushes the statement for the columns: one of the two used last, which the table layout keeps as its value `last` and the next, one that it
** has, or a new one. `kind` is "i" for an INSERT, "u" for an UPDATE, "d" for a DELETE.
** `conflict` is the stack index of a clause, or 0. With `rows`, of an INSERT of this number of rows. [-0, +1, e] */
prec_write *prec_push_write(lua_State *L, prec_record_write *work, const prec_mask *mask, const char *kind, int conflict,
                                    int last, int rows);

/* MARK: - Running */

/* Begins a run of the compiled statement on top of the stack. [-0, +0, -] */
void prec_begin_write(lua_State *L, prec_record_write *work, pdb_statement *statement);

/* Binds the value at `index`, for a column. May push a value that must stay. [-0, +n, e] */
void prec_bind_column(lua_State *L, prec_record_write *work, int parameter, int column, int index);

/* The same for a value that is written: raises for one that the column does not declare to hold. [-0, +0, v] */
void prec_bind_written(lua_State *L, prec_record_write *work, int parameter, int column, int index);

/* Whether the value at an index, of a type, is one that a column declares to hold, as far as that is told at once. [-0, +0, -] */
static inline bool prec_fits(lua_State *L, const prec_record_column *column, int type, int index) {
    if (column->holds == HOLDS_ANYTHING || type == LUA_TNIL) return true;
    if (type == LUA_TSTRING) return column->holds == HOLDS_TEXTS;
    if (type == LUA_TBOOLEAN) return column->holds == HOLDS_INTEGERS || column->holds == HOLDS_NUMBERS;
    if (type != LUA_TNUMBER) return false;
    if (column->holds == HOLDS_INTEGERS) return lua_isinteger(L, index);
    const lua_Integer largest = (lua_Integer)1 << 53;
    if (column->holds != HOLDS_FLOATS || !lua_isinteger(L, index)) return true;
    lua_Integer integer = lua_tointeger(L, index);
    return -largest <= integer && integer <= largest;
}

/* Binds the values of the clause, after this number of parameters. [-0, +n, e] */
void prec_bind_clause(lua_State *L, prec_record_write *work, int parameter_count);

/* Runs the statement; the error of a constraint names the record. [-0, +(0|2), e] */
void prec_run_write(lua_State *L, prec_record_write *work, const pdb_row_form *form, lua_Integer limit);

/* MARK: - Work on a record */

/* Prepares to work on the record, whose column set is on top of the stack; pushes the table layout. [-0, +1, e] */
prec_record_write prec_begin_work(lua_State *L, pdb_database *database, pdb_access *access, const char *verb, int record);

/* Raises if the record, made for other columns than the table has in this database, has fields that are not columns of the table.
** [-0, +0, e] */
void prec_check_fields(lua_State *L, prec_record_write *work);

/* Pushes the values of the key; returns false, and pushes nothing, if one of them is nil or null. [-0, +(0|n), m] */
bool prec_push_key_of(lua_State *L, prec_record_write *work);

/* Raises if the key of the record is another one than that of the row that it stands for: it would write another row. [-0, +0, e] */
void prec_check_key(lua_State *L, prec_record_write *work);

/* Whether a column of the key is in the mask. */
bool prec_has_key(const prec_record_write *work, const prec_mask *mask);

/* Raises that the table has no key, or that the record has none. [-0, +0, v] */
int prec_raise_no_key(lua_State *L, prec_record_write *work);

/* Sets a field of the record, and of the table that its values were taken from, by the position of the column. The value is on top
** of the stack. [-1, +0, m] */
void prec_set_column(lua_State *L, prec_record_write *work, int names, int column);

/* Sets the columns that the statement has returned from its first row, whose list is on top of the stack. [-0, +n, m] */
void prec_take_returned(lua_State *L, prec_record_write *work, int names, const prec_write *write);

/* Fields that are perilune.null become nil, like fetched ones. [-0, +0, m] */
void prec_drop_nulls(lua_State *L, prec_record_write *work, int names, const prec_write *write, int first_value);

/* Whether a script has made the record, and not fetched or written it: only its fields are known of its row. [-0, +0, m] */
bool prec_is_made(lua_State *L, const prec_record_write *work);

/* The record now is what its row is. [-0, +0, e] */
void prec_keep_snapshot(lua_State *L, prec_record_write *work, bool has_all);

/* Inserts the values; returns the number of rows changed. `conflict` is the stack index of a clause, or 0. [-0, +n, e] */
lua_Integer prec_insert_row(lua_State *L, prec_record_write *work, int conflict);

/* Marks the columns that an INSERT writes: those that the record has a value for. [-0, +0, e] */
void prec_mark_inserted(lua_State *L, prec_record_write *work, prec_mask *mask);

/* Marks the columns that an UPDATE writes: those of the table, as far as the record has ever had them, without generated ones, and
** without the key unless `with_key`. [-0, +0, e] */
void prec_mark_updated(lua_State *L, prec_record_write *work, bool with_key, prec_mask *mask);

/* Updates the columns of the mask. `conflict` is the stack index of a clause, or 0. [-0, +n, e] */
prec_outcome prec_update_columns(lua_State *L, prec_record_write *work, const prec_mask *mask, int conflict);

/* Updates the row of the record, and notes what that holds now. `columns` is the stack index of a list of names, or 0 for all;
** `conflict` that of a clause, or 0. [-0, +n, e] */
prec_outcome prec_update_row(lua_State *L, prec_record_write *work, int columns, int conflict);

/* Updates, or inserts where there is no key or no row; returns whether something was written. `conflict` is the stack index of the clause
** of the UPDATE, or 0; `insert_conflict` that of the INSERT. [-0, +n, e] */
bool prec_save_row(lua_State *L, prec_record_write *work, int conflict, int insert_conflict);

/* Deletes the row of the record; returns whether there was one. `clause` is the stack index of a clause, with which the record gets
** what was in the row, or 0. [-0, +0, e] */
bool prec_delete_row(lua_State *L, prec_record_write *work, int clause);

/* Whether there is a row with the key of the record. [-0, +0, e] */
bool prec_row_exists(lua_State *L, prec_record_write *work);

/* The record stands for no row any more. [-0, +0, -] */
void prec_forget_row(lua_State *L, prec_record_write *work);

/* Raises that no row has the key of the record. [-0, +0, v] */
int prec_raise_row_not_found(lua_State *L, prec_record_write *work);

/* Binds the values of the key, which begin at `first`, to a statement that is a user value of the table layout, and begins its
** run. [-0, +n, e] */
void prec_begin_by_key(lua_State *L, prec_record_write *work, int first, int sql_value, int kept_value);

/* The state's `explain_failure`: adds what is known of a record to the error on top of the stack, if it comes from the statement
** that writes one. [-0, +0, m] */
void prec_explain_failure(lua_State *L, pdb_state *rows, pdb_statement *statement);

/* For the Lua part: see there. */
extern const luaL_Reg prec_record_writes[];

#endif
