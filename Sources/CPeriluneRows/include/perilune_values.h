/*
** Conversion between one SQLite value and one Lua value.
*/
#ifndef PERILUNE_VALUES_H
#define PERILUNE_VALUES_H

#include <perilune_state.h>

/* Push and recognize perilune.null, which represents NULL where nil cannot be used. [-0, +1, m] */
void pdb_push_null(lua_State *L);
bool pdb_is_null(lua_State *L, int index);

/* Push and recognize a blob, like the result of perilune.blob. [-0, +1, m] */
void pdb_push_blob(lua_State *L, const char *bytes, size_t length);
bool pdb_is_blob(lua_State *L, int index);

/* Convert the string on top of the stack to a blob and back. [-1, +1, m] and [-1, +1, -] */
void pdb_wrap_blob(lua_State *L);
void pdb_unwrap_blob(lua_State *L);

/* Returns the bytes of a blob, which are valid as long as the value; NULL for other values. [-0, +0, -] */
const char *pdb_blob_bytes(lua_State *L, int index, size_t *length);

/* The Lua function perilune.blob. [-n, +1, v] */
int pdb_make_blob(lua_State *L);

/* Pops and stores the metatable of dates, whose bytes are the microseconds since 1970. [-1, +0, m] */
void pdb_set_date_metatable(lua_State *L);

/* Lua functions: (number, list of values) returns text for a URL; (text, number, count) returns the values, nil if the text is not such a
** list, or "other number" if only the number differs. `number` is an unsigned integer of 32 bits; a list has at most 2,000 values.
** [-n, +(1|2), e] */
int pdb_write_values(lua_State *L);
int pdb_read_values(lua_State *L);

/* A Lua function: (value) returns the value that SQLite would receive. [-n, +1, e] */
int pdb_plain_value(lua_State *L);

/* A Lua function: (left, right, affinity, content) returns whether a column with this affinity stores two values in the same form.
** `content` is "blob" for columns declared as BLOB. [-n, +1, e] */
int pdb_are_same_stored(lua_State *L);

/* Pushes the value at `index` or the result of its __to_database. For C code only. [-0, +1, e] */
void pdb_push_plain(lua_State *L, int index);

/* Binds the value at `index` (nil, boolean, number, string, null, blob or a value with __to_database) to a parameter. The bytes of strings
** are not copied, so the value must stay on the stack until the statement is reset. May push one more value that must stay. Raises for
** values that cannot be bound; `what` is their name in the message. For C code only. [-0, +n, e] */
void pdb_bind_value(lua_State *L, sqlite3_stmt *statement, int parameter, int index, const char *what);

/* Pushes a name in lower case. Like SQLite's comparison of names, changes only ASCII letters. For C code only. [-0, +1, m] */
void pdb_push_folded(lua_State *L, const char *name, size_t length);

/* A Lua function: (name) returns the name in lower case. [-n, +1, v] */
int pdb_fold(lua_State *L);

/*
** Pushes an SQLite value of the given type, such as a column. `is_boolean` means that the column is declared BOOLEAN. [-0, +1, m]
**
** A column is read by one call of sqlite3_column_value, because sqlite3_column_type, _text and _bytes would each search for it again.
** SQLite requires that no other thread uses the connection in the meantime; none does.
*/
void pdb_push_column(lua_State *L, sqlite3_value *value, int type, bool is_boolean);

/* Returns the bytes of a text or blob, never NULL. They are valid as long as the value, or, for a column, until the statement is stepped.
** They are empty if memory ran out, in which case the run is ending. [-0, +0, -] */
const char *pdb_value_bytes(sqlite3_value *value, int type, size_t *length);

#endif
