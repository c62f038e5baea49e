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
    int shape, plan;    /* on the stack */
    prec_plan *block;
    prec_shape *shape_block; /* NULL for a key */
    bool has_objects;            /* some value is none that Lua has by itself: perilune.null, a date, ... */
    bool has_rows;               /* the update has given columns back */
} prec_record_write;

/* MARK: - Statements */

/* An INSERT or UPDATE of some columns. */
typedef struct {
    int parameter_count, returning_count;
    size_t mask_size;
    int *parameters, *returning; /* positions of columns */
    unsigned char *mask;         /* the columns that are written, a bit for each */
} prec_write;

enum { WRITE_SQL = 1, WRITE_STATEMENT, WRITE_VALUES = WRITE_STATEMENT };

/* Pushes the statement for the columns: one of the two used last, which the plan keeps as its value `last` and the next, one that it
** has, or a new one.
** `conflict` is the stack index of a clause, or 0. With `rows`, of an INSERT of so many rows. [-0, +1] */
prec_write *prec_push_write(lua_State *L, prec_record_write *work, const prec_mask *mask, const char *kind, int conflict,
                                    int last, int rows);

/* MARK: - Running */

/* Begins a run of the compiled statement on top of the stack. [-0, +0, -] */
void prec_begin_write(lua_State *L, prec_record_write *work, pdb_statement *statement);

/* Binds the value at `index`, for a column. May push a value that must stay. [-0, +n, e] */
void prec_bind_column(lua_State *L, prec_record_write *work, int parameter, int column, int index);

/* Runs the statement; an error of a constraint is told by the record then. [-0, +(0|2), e] */
void prec_run_write(lua_State *L, prec_record_write *work, const pdb_row_form *form, lua_Integer limit);

/* MARK: - Work on a record */

/* Prepares to work on the record, whose shape is on top of the stack; pushes the plan. [-0, +1] */
prec_record_write prec_begin_work(lua_State *L, pdb_database *database, pdb_access *access, const char *verb, int record);

/* Raises if the record, made for other columns than the table has in this database, has fields that are none. */
void prec_check_fields(lua_State *L, prec_record_write *work);

/* Pushes the values of the key; returns false, and pushes nothing, if one of them is nil or null. */
bool prec_push_key_of(lua_State *L, prec_record_write *work);

/* Raises if the key of the record is another one than that of the row that it stands for: it would write another row. */
void prec_check_key(lua_State *L, prec_record_write *work);

/* Whether a column of the key is in the mask. */
bool prec_has_key(const prec_record_write *work, const prec_mask *mask);

/* Raises that the table has no key, or that the record has none. */
int prec_raise_no_key(lua_State *L, prec_record_write *work);

/* Sets a field of the record, and of the table that its values were taken from, by the position of the column. The value is on top
** of the stack. [-1, +0] */
void prec_set_column(lua_State *L, prec_record_write *work, int names, int column);

/* Fields that are perilune.null become nil, as they are when they are fetched. */
void prec_drop_nulls(lua_State *L, prec_record_write *work, int names, const prec_write *write, int first_value);

/* The record now is what its row is. */
void prec_keep_snapshot(lua_State *L, prec_record_write *work, bool has_all);

/* Inserts the values; returns the number of rows changed. `conflict` is the stack index of a clause, or 0. */
lua_Integer prec_insert_row(lua_State *L, prec_record_write *work, int conflict);

/* Updates the columns of the mask; returns whether there is such a row. `conflict` is the stack index of a clause, or 0. */
bool prec_update_columns(lua_State *L, prec_record_write *work, const prec_mask *mask, int conflict);

/* Updates the row of the record; returns whether there is one. `columns` is the stack index of a list of names, or 0 for all;
** `conflict` that of a clause, or 0. */
bool prec_update_row(lua_State *L, prec_record_write *work, int columns, int conflict);

/* Updates, or inserts where there is no key or no row. */
bool prec_save_row(lua_State *L, prec_record_write *work);

bool prec_delete_row(lua_State *L, prec_record_write *work);
bool prec_row_exists(lua_State *L, prec_record_write *work);

/* The record stands for no row any more. */
void prec_forget_row(lua_State *L, prec_record_write *work);

int prec_raise_row_not_found(lua_State *L, prec_record_write *work);

/* Binds the values of the key, which begin at `first`, to a statement that is a user value of the plan, and begins its run. */
void prec_begin_by_key(lua_State *L, prec_record_write *work, int first, int sql_value, int kept_value);

/* The state's `explain_failure`: adds what is known of a record to the error on top of the stack, if it comes from the statement that
** writes one. [-0, +0] */
void prec_explain_failure(lua_State *L, pdb_state *rows, pdb_statement *statement);

/* For the Lua part: see there. */
extern const luaL_Reg prec_record_writes[];

#endif
